/**
 * lock/acquire: locks records for a client, all of them or none, until they are released or expire. With the
 * `lock_token` of an earlier answer it extends these locks instead.
 */
import { type About, defineAction } from "../calls/action.ts";
import {
  described,
  type Grammar,
  type Meaning,
  object,
  optional,
  wholeNumber,
} from "../grammar/grammar.ts";
import { invalidParameter } from "../values/errors.ts";
import { limits } from "../values/limits.ts";
import { lockMembers, lockPlan, type LockPlan, lockToken } from "../locks/lock-keys.ts";
import { isLonger, textFault } from "../values/text.ts";
import { acquiredSchema } from "../locks/lock-schema.ts";

export const lockAcquire = defineAction<LockPlan, Meaning<ReturnType<typeof acquireGrammar>>>({
  name: "lock/acquire",
  summary: "Locks records for a client, all of them or none.",
  mode: "reads",
  methods: ["POST"],
  group: "lock",
  requires: ["source", "locks"],
  errors: ["invalidParameter", "invalidField", "lockConflict", "tooManyRequests"],
  isProjectWide: true,
  needs: lockPlan,
  grammar: acquireGrammar,
  answer: () => ({ status: 200, schema: acquiredSchema }),

  async run({ input, entity, locks }) {
    const { lock_keys: keys, ttl: seconds, owner: claimed, lock_token: token } = input;
    const acquired = await locks.acquire(keys, { token, owner: claimed, ttlMs: seconds * 1_000 });
    return {
      status: 200,
      body: {
        data: {
          lock_token: acquired.token,
          resource: entity.name,
          locked_keys: keys.map(({ shown }) => shown),
          ttl: seconds,
          owner: acquired.owner,
          acquired_at: new Date(acquired.acquiredAtMs).toISOString(),
          fence: acquired.fence,
        },
      },
    };
  },
});

/** With the token of an earlier answer it extends its locks. */
function acquireGrammar(plan: LockPlan, { entity }: About) {
  const members = {
    ...lockMembers(plan, entity),
    ttl: ttl(entity.settings.lockTtlSecondsMax),
    owner: optional(owner, null),
    lock_token: optional(lockToken, null),
  };
  return object(members, { required: ["lock_keys"] });
}

const ttl = (secondsMax: number): Grammar<number> => {
  const fault = () =>
    invalidParameter(`ttl must be a whole number of seconds from 1 to ${secondsMax}`);
  const byDefault = Math.min(limits.lockTtlSecondsDefault, secondsMax);
  return described(optional(wholeNumber({ min: 1, max: secondsMax }, fault), byDefault), {
    default: byDefault,
  });
};

const owner: Grammar<string> = {
  read(sent) {
    if (typeof sent !== "string") throw invalidParameter("owner must be text");
    const fault = textFault(sent);
    if (fault !== null) throw invalidParameter(`owner ${fault}`);
    if (isLonger(sent, limits.lockOwnerLengthMax))
      throw invalidParameter(`owner must have at most ${limits.lockOwnerLengthMax} characters`);
    return sent;
  },
  schema: () => ({ type: "string", maxLength: limits.lockOwnerLengthMax }),
};
