/**
 * Queues in which calls that are not waited for outlive the process, and what becomes of a call that failed.
 * `jobs/queue` has one in files and one over BullMQ; calls that are kept in memory alone (`app/outbound/background.ts`)
 * count their tries in the same way.
 */
import { limits } from "../values/limits.ts";
import type { HookCall, HookPlace, Log, QueueCounts } from "../plans/ports.ts";

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
  /** Rejects when the queue is unreachable. `failed`: given up, and still kept. */
  counts(): Promise<QueueCounts>;
  /** What can be made until this moment (of `performance.now()`) still is; the next process has the rest. */
  stop(untilMs: number): Promise<void>;
}

/** A call that was given up, as operators see it. */
export interface DeadCall {
  readonly id: string;
  readonly place: HookPlace;
  readonly requestId: string;
  readonly url: string;
  readonly tries: number;
  /** Milliseconds since 1970. */
  readonly failedAtMs: number;
  /** Of the last try. */
  readonly reason: string;
}

/** The calls that were given up. Every call rejects when the queue is unreachable. */
export interface DeadCalls {
  /** The oldest first. */
  list(): Promise<readonly DeadCall[]>;
  /** Puts the call back into the queue, with the same id and all of its tries. False: it is not there any more. */
  retry(id: string): Promise<boolean>;
  close(): Promise<void>;
}

/** Why a call was given up, in one line for operators. */
export const briefReason = ({ error }: Pick<HookFailure, "error">): string =>
  (error instanceof Error ? error.message || error.name : String(error)).slice(0, 500);

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
