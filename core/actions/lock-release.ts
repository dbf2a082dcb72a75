/**
 * lock/release: releases the locks that the token holds on these records. A wrong token releases nothing and is not an
 * error.
 */
import { type About, defineAction } from "../calls/action.ts";
import { type Meaning, object } from "../grammar/grammar.ts";
import { lockMembers, lockPlan, type LockPlan, lockToken } from "../locks/lock-keys.ts";
import { releasedSchema } from "../locks/lock-schema.ts";

export const lockRelease = defineAction<LockPlan, Meaning<ReturnType<typeof releaseGrammar>>>({
  name: "lock/release",
  summary: "Gives back the locks that a token holds.",
  mode: "reads",
  methods: ["POST"],
  group: "lock",
  requires: ["source", "locks"],
  errors: ["invalidParameter", "invalidField"],
  isProjectWide: true,
  needs: lockPlan,
  grammar: releaseGrammar,
  answer: () => ({ status: 200, schema: releasedSchema }),

  async run({ input: { lock_keys: keys, lock_token: token }, locks }) {
    const released = await locks.release(keys, token);
    return { status: 200, body: { data: { released_keys: released, total_keys: keys.length } } };
  },
});

function releaseGrammar(plan: LockPlan, { entity }: About) {
  return object(
    { ...lockMembers(plan, entity), lock_token: lockToken },
    { required: ["lock_keys", "lock_token"] },
  );
}
