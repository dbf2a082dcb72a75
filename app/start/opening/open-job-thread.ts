/** The thread of a process in which its jobs run: `job-thread.ts`, with the host that talks to it. */
import {
  createThreadHost,
  type ThreadHost,
  type ThreadHostOptions,
} from "../../../jobs/thread/thread-host.ts";
import { offeredLocks } from "../../stores/parent-stores.ts";
import { createProcessCalls } from "../../stores/process-calls.ts";
import type { Stores } from "../../stores/stores.ts";

export interface JobThreadOptions extends Omit<ThreadHostOptions, "program" | "connect"> {
  /** Tells the cache of this process what a job wrote. */
  raise(names: readonly string[]): Promise<void>;
  /** Those that jobs look at without Redis. */
  readonly locks: Stores["locks"];
}

/** The thread starts with the first job. */
export const openJobThread = ({ raise, locks, ...options }: JobThreadOptions): ThreadHost =>
  createThreadHost({
    ...options,
    program: new URL("./job-thread.ts", import.meta.url),
    connect(send) {
      const calls = createProcessCalls(send);
      calls.offer({ cache: { raise }, locks: offeredLocks(locks) });
      return calls;
    },
  });
