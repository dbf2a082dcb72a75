/**
 * Queues in which calls that are not waited for outlive the process, and what becomes of a call that failed.
 * `jobs/queue` has one in files and one over BullMQ; calls that are kept in memory alone (`app/outbound/background.ts`)
 * count their tries in the same way.
 */
import { limits } from "../values/limits.ts";
import type { HookCall, Log } from "../plans/ports.ts";

/** Why a call was not made. */
export interface HookFailure {
  readonly error: unknown;
  /** True: the same call would fail again. */
  readonly isFinal: boolean;
}

/** Makes the call once; null when it succeeded. Never rejects. `signal`: the process ends. */
export type MakeCall = (call: HookCall, signal: AbortSignal) => Promise<HookFailure | null>;

/** Calls that outlive the process: each is made at least once, by this process or another one, or is given up after `limits.hookTriesMax`. */
export interface HookQueue {
  /** Resolves when the call will not be forgotten; rejects when the queue is unreachable. */
  add(call: HookCall): Promise<void>;
  /** From now on calls are made, those of earlier processes first. */
  start(): void;
  /** What can be made until this moment (of `performance.now()`) still is; the next process has the rest. */
  stop(untilMs: number): Promise<void>;
}

/** The tries that were made, with the one that failed. */
export interface FailedTry extends HookFailure {
  readonly tries: number;
  readonly triesMax: number;
}

/** Whether the call is given up; the log hears of it either way. */
export function isGivenUp(
  log: Log,
  { id, requestId, label }: HookCall,
  { error, isFinal, tries, triesMax }: FailedTry,
): boolean {
  const about = { requestId, hook: label, call: id, tries, err: error };
  const isLast = isFinal || tries >= triesMax;
  if (isLast) log.error(about, "A hook failed for the last time; it is not tried again");
  else log.warn(about, "A hook failed; it will be tried again");
  return isLast;
}

/** Pause after so many tries; a part of it is left to chance, so that calls which failed together do not come back together. */
export const retryDelayMs = (tries: number): number =>
  limits.hookRetryFirstMs * 2 ** (tries - 1) * (0.5 + Math.random() / 2);
