/**
 * lock/acquire: locks records for a client, all of them or none, until they are released or expire. With the
 * `lock_token` of an earlier answer it extends these locks instead.
 */
import { defineAction } from "../calls/action.ts";
import { invalidParameter } from "../values/errors.ts";
import { limits } from "../values/limits.ts";
import { lockKeysOf, lockPlan, type LockPlan, lockTokenOf } from "../locks/lock-keys.ts";
import { isLonger, textFault } from "../values/text.ts";
import { acquiredSchema, acquireSchema } from "../locks/lock-schema.ts";

export const lockAcquire = defineAction<LockPlan>({
  name: "lock/acquire",
  summary: "Locks records for a client, all of them or none.",
  mode: "reads",
  methods: ["POST"],
  group: "lock",
  requires: ["source", "locks"],
  errors: ["invalidParameter", "invalidField", "lockConflict", "tooManyRequests"],
  takesOptions: false,
  takesEmptyBody: false,
  isProjectWide: true,
  needs: lockPlan,
  input: (plan, { entity }) => acquireSchema(plan, entity),
  answer: () => ({ status: 200, schema: acquiredSchema }),

  async run(call, plan) {
    const { body, entity, locks } = call;
    const keys = lockKeysOf(call, plan);
    const ttl = ttlOf(body["ttl"], entity.settings.lockTtlSecondsMax);
    const owner = ownerOf(body["owner"]);
    const token = (body["lock_token"] ?? null) === null ? null : lockTokenOf(body);
    const acquired = await locks.acquire(keys, { token, owner, ttlMs: ttl * 1_000 });
    return {
      status: 200,
      body: {
        data: {
          lock_token: acquired.token,
          resource: entity.name,
          locked_keys: keys.map(({ shown }) => shown),
          ttl,
          owner: acquired.owner,
          acquired_at: new Date(acquired.acquiredAtMs).toISOString(),
          fence: acquired.fence,
        },
      },
    };
  },
});

function ttlOf(ttl: unknown, secondsMax: number): number {
  if (ttl === undefined || ttl === null) return Math.min(limits.lockTtlSecondsDefault, secondsMax);
  if (typeof ttl !== "number" || !Number.isInteger(ttl) || ttl < 1 || ttl > secondsMax)
    throw invalidParameter(`ttl must be a whole number of seconds from 1 to ${secondsMax}`);
  return ttl;
}

function ownerOf(owner: unknown): string | null {
  if (owner === undefined || owner === null) return null;
  if (typeof owner !== "string") throw invalidParameter("owner must be text");
  const fault = textFault(owner);
  if (fault !== null) throw invalidParameter(`owner ${fault}`);
  if (isLonger(owner, limits.lockOwnerLengthMax))
    throw invalidParameter(`owner must have at most ${limits.lockOwnerLengthMax} characters`);
  return owner;
}
