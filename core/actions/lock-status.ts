/** lock/status: which of these records are locked by lock/acquire, by which owner, and for how much longer. */
import { defineAction } from "../calls/action.ts";
import { object } from "../grammar/grammar.ts";
import { lockMembers, lockPlan, type LockPlan } from "../locks/lock-keys.ts";
import { secondsLeft } from "../locks/lock-conflict.ts";
import type { LockKey } from "../locks/locks.ts";
import { lockStatesSchema } from "../locks/lock-schema.ts";

export const lockStatus = defineAction<LockPlan, { readonly lock_keys: readonly LockKey[] }>({
  name: "lock/status",
  summary: "Tells which records are locked, by whom and for how long yet.",
  mode: "reads",
  methods: ["POST"],
  group: "lock",
  requires: ["source", "locks"],
  errors: ["invalidParameter", "invalidField"],
  isProjectWide: true,
  needs: lockPlan,
  grammar: (plan, { entity }) => object(lockMembers(plan, entity), { required: ["lock_keys"] }),
  answer: () => ({ status: 200, schema: lockStatesSchema }),

  async run({ input: { lock_keys: keys }, locks }) {
    const states = await locks.status(keys);
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
