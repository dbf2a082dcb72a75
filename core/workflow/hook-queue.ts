/**
 * Durable queues of calls that no request waits for, and the handling of failed calls. `jobs/queue` has one in files
 * and one over BullMQ; calls that are only held in memory count their tries in the same way.
 */
import { limits } from "../values/limits.ts";
import type { HookCall } from "../plans/hook-call.ts";
import type { HookPlace } from "../plans/outbound-port.ts";
import type { Log } from "../plans/log-port.ts";
import type { QueueCounts } from "../jobs/queue.ts";

/** Why a call was not made. */
export interface HookFailure {
  readonly error: unknown;
  /** True: the same call would fail again. */
  readonly isFinal: boolean;
}

/** Makes the call once; null when it succeeded. Never rejects. `signal`: the process ends. */
export type MakeCall = (call: HookCall, signal: AbortSignal) => Promise<HookFailure | null>;

/** Durable calls: each is made at least once, by any process, or is given up after `limits.hookTriesMax` tries. */
export interface HookQueue {
  /** Resolves when the call will not be forgotten; rejects when the queue is unreachable. */
  add(call: HookCall): Promise<void>;
  /** From now on calls are made, those of earlier processes first. */
  start(): void;
  /** Rejects if the queue is unreachable. `failed`: given up, and still stored. */
  counts(): Promise<QueueCounts>;
  /** Calls that can be made until this moment (of `performance.now()`) are made; the next process makes the rest. */
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

/** Whether the call is given up; logged either way. */
export function isGivenUp(
  log: Log,
  { id, requestId, label }: Pick<HookCall, "id" | "requestId" | "label">,
  { error, isFinal, tries, triesMax }: FailedTry,
): boolean {
  const about = { requestId, hook: label, call: id, tries, err: error };
  const isLast = isFinal || tries >= triesMax;
  if (isLast) log.error(about, "A hook failed for the last time; it is not tried again");
  else log.warn(about, "A hook failed; it will be tried again");
  return isLast;
}

/** Pause after so many tries, partly random, so that calls which failed together are not retried together. */
export const retryDelayMs = (tries: number): number =>
  limits.hookRetryFirstMs * 2 ** (tries - 1) * (0.5 + Math.random() / 2);
