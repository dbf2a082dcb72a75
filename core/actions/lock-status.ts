/** lock/status: which of these records somebody holds through lock/acquire, who, and for how long yet. */
import { defineAction } from "../action.ts";
import { lockKeysOf, lockPlan, type LockPlan, shownKey } from "../locks/lock-keys.ts";
import { secondsLeft } from "../locks/locks.ts";

export const lockStatus = defineAction<LockPlan>({
  name: "lock/status",
  mode: "reads",
  methods: ["POST"],
  takesOptions: false,
  takesEmptyBody: false,
  isProjectWide: true,
  needs: lockPlan,

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
              ...shownKey(key),
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
