/** The thread of a process in which its jobs run: `job-thread.ts`, with the host that talks to it. */
import {
  createThreadHost,
  type ThreadHost,
  type ThreadHostOptions,
} from "../../../jobs/thread/thread-host.ts";

/** The thread starts with the first job. */
export const openJobThread = (options: Omit<ThreadHostOptions, "program">): ThreadHost =>
  createThreadHost({ ...options, program: new URL("./job-thread.ts", import.meta.url) });
