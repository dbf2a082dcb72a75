/**
 * Jobs stand back for requests: on Linux the calling thread, and the threads that it starts from now on, get what is left of the processors when
 * others want them. Elsewhere a priority is always that of the whole process, so nothing is done. Called by `thread.ts`, and by `app/cli.ts` for
 * a worker's own process.
 */
import { constants, getPriority, setPriority } from "node:os";

export function lowerPriority(): void {
  if (process.platform !== "linux") return;
  try {
    // An operator may have gone lower already.
    setPriority(0, Math.max(getPriority(0), constants.priority.PRIORITY_BELOW_NORMAL));
  } catch {
    // A runtime or a sandbox that does not allow it: jobs run all the same.
  }
}
