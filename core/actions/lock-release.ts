/**
 * lock/release: releases the locks that the token holds on these records. A wrong token releases nothing and is not an
 * error.
 */
import { defineAction } from "../calls/action.ts";
import { lockKeysOf, lockPlan, type LockPlan, lockTokenOf } from "../locks/lock-keys.ts";
import { releasedSchema, releaseSchema } from "../locks/lock-schema.ts";

export const lockRelease = defineAction<LockPlan>({
  name: "lock/release",
  summary: "Gives back the locks that a token holds.",
  mode: "reads",
  methods: ["POST"],
  group: "lock",
  requires: ["source", "locks"],
  errors: ["invalidParameter", "invalidField"],
  takesOptions: false,
  takesEmptyBody: false,
  isProjectWide: true,
  needs: lockPlan,
  input: (plan, { entity }) => releaseSchema(plan, entity),
  answer: () => ({ status: 200, schema: releasedSchema }),

  async run(call, plan) {
    const keys = lockKeysOf(call, plan);
    const released = await call.locks.release(keys, lockTokenOf(call.body));
    return {
      status: 200,
      body: { data: { released_keys: released, total_keys: keys.length } },
    };
  },
});
