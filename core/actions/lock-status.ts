/** lock/status: which of these records are locked by lock/acquire, by which owner, and for how much longer. */
import { defineAction } from "../calls/action.ts";
import { lockKeysOf, lockPlan, type LockPlan } from "../locks/lock-keys.ts";
import { secondsLeft } from "../locks/locks.ts";
import { lockKeysSchema, lockStatesSchema } from "../locks/lock-schema.ts";

export const lockStatus = defineAction<LockPlan>({
  name: "lock/status",
  summary: "Tells which records are locked, by whom and for how long yet.",
  mode: "reads",
  methods: ["POST"],
  group: "lock",
  requires: ["source", "locks"],
  errors: ["invalidParameter", "invalidField"],
  takesOptions: false,
  takesEmptyBody: false,
  isProjectWide: true,
  needs: lockPlan,
  input: (plan, { entity }) => lockKeysSchema(plan, entity),
  answer: () => ({ status: 200, schema: lockStatesSchema }),

  async run(call, plan) {
    const keys = lockKeysOf(call, plan);
    const states = await call.locks.status(keys);
    return {
      status: 200,
      body: {
        data: {
          keys: keys.map((key, at) => {
            const state = states[at] ?? null;
            return {
              ...key.shown,
              locked: state !== null,
              owner: state?.owner ?? null,
              ttl_remaining: secondsLeft(state),
            };
          }),
        },
      },
    };
  },
});
