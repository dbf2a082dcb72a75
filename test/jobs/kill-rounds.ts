/**
 * Rounds of kill -9: start a batch of jobs, kill their process at a random moment, and start another one. Every job
 * must end as if nothing had happened. TEST_KILLS: number of rounds for each entry of `places`.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import type { Place } from "./places.ts";

const kills = Number(process.env["TEST_KILLS"] ?? 1);

/** Time-out of a test: start, a batch, and takeover for each kill. */
export const killsTimeoutMs = 60_000 + kills * 40_000;

/** Jobs of one round. Two run at a time, so that each kill finds some that wait, that run, and that have ended. */
export const batchSize = 5;

export interface Jobs<T> {
  /** Starts a batch; resolves when all its jobs are accepted. */
  start(): Promise<T[]>;
  hasEnded(job: T): Promise<boolean>;
  /** What the job is doing, for the count that is printed. Asked before the kill. */
  stage(job: T): Promise<string>;
  /** The same after the kill, where the database says more than the service did. */
  afterKill?(job: T, before: string): Promise<string>;
  /** Fails unless the job is completed and its result is whole. */
  check(job: T): Promise<void>;
}

/** Resolves with the number of jobs in each stage at the kill of their process. */
export async function killRounds<T>(place: Place, jobs: Jobs<T>): Promise<string> {
  const stages: Record<string, number> = {};
  const windowMs = (await undisturbed(jobs)) * 1.1;
  for (let killed = 0; killed < kills; killed++) {
    const batch = await jobs.start();
    await sleep(Math.random() * windowMs);
    const before = await Promise.all(batch.map((job) => jobs.stage(job)));
    await place.kill();
    for (const [at, job] of batch.entries()) {
      const stage = (await jobs.afterKill?.(job, before[at]!)) ?? before[at]!;
      stages[stage] = (stages[stage] ?? 0) + 1;
    }
    await place.start();
    const ended = batch.filter((_, at) => before[at] === "ended");
    for (const job of ended) await jobs.check(job);
    await allEnded(batch, jobs);
    for (const job of batch) await jobs.check(job);
  }
  const sum = Object.values(stages).reduce((total, count) => total + count, 0);
  expect(sum).toBe(kills * batchSize);
  return `${kills} kills: ${JSON.stringify(stages)}`;
}

/** How long a batch takes without a kill. */
async function undisturbed<T>(jobs: Jobs<T>): Promise<number> {
  // The first one opens connections.
  await allEnded(await jobs.start(), jobs);
  const batch = await jobs.start();
  const startedMs = performance.now();
  await allEnded(batch, jobs);
  const lastedMs = performance.now() - startedMs;
  for (const job of batch) await jobs.check(job);
  return lastedMs;
}

async function allEnded<T>(batch: readonly T[], jobs: Jobs<T>): Promise<void> {
  const giveUpAtMs = performance.now() + 40_000;
  for (const job of batch) {
    while (!(await jobs.hasEnded(job))) {
      if (performance.now() > giveUpAtMs) throw new Error("A job does not end");
      await sleep(30);
    }
  }
}
