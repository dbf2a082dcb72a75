/**
 * One of many processes that compete for the same locks: `node lock-holder.ts <Task as JSON>`. Prints "ready", reads a
 * Span, and prints a Hold as JSON for each lock that it held. Times: monotonic clock, shared by all processes.
 */
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { connectRedis } from "../../app/stores/open-redis.ts";
import { createRedisLocks } from "../../app/stores/redis-locks.ts";
import type { LockStore } from "../../core/locks/lock-store.ts";

export interface Task {
  readonly holder: number;
  readonly urls: readonly string[];
}

/** On the shared clock: when to begin, and when to stop taking locks. */
export interface Span {
  readonly fromMs: number;
  readonly untilMs: number;
}

export interface Hold {
  readonly url: string;
  readonly name: string;
  readonly holder: number;
  readonly fence: number;
  readonly fromMs: number;
  /** When it gave the lock back, or when its time was over by its own reckoning. */
  readonly untilMs: number;
}

/** Locks that are taken often and briefly, and locks that are held for long. */
const kinds = [
  { names: ["a", "b", "c"], ttlMs: 500, holdMs: 60, pauseMs: 10 },
  { names: ["x", "y"], ttlMs: 9_000, holdMs: 6_500, pauseMs: 100 },
];

export const nowMs = (): number => Number(process.hrtime.bigint()) / 1e6;

async function compete(task: Task & Span, url: string, store: LockStore): Promise<void> {
  await Promise.all(
    kinds.map(async ({ names, ttlMs, holdMs, pauseMs }) => {
      for (let round = 0; nowMs() < task.untilMs; round++) {
        const token = `${task.holder}-${names[0]}-${round}`;
        const at = Math.floor(Math.random() * names.length);
        const wanted = Math.random() < 0.3 ? names : [names[at]!];
        const askedMs = nowMs();
        const outcome = await store
          .acquire(wanted, { token, owner: token, share: token, ttlMs })
          .catch(() => null);
        const fromMs = nowMs();
        if (outcome?.ok) {
          const mayHoldMs = Math.max(0, task.untilMs - fromMs);
          await sleep(Math.min(holdMs * (0.9 + Math.random() / 10), mayHoldMs));
          const untilMs = Math.min(nowMs(), askedMs + ttlMs);
          const { holder } = task;
          // Stopped before it could look at its answer: by its own clock it never held them.
          for (const name of fromMs < untilMs ? wanted : []) {
            const hold: Hold = { url, name, holder, fence: outcome.fence, fromMs, untilMs };
            process.stdout.write(`${JSON.stringify(hold)}\n`);
          }
          await store.release(wanted, token).catch(() => 0);
        }
        await sleep(pauseMs * (0.5 + Math.random()));
      }
    }),
  );
}

if (import.meta.main) {
  const task = JSON.parse(process.argv[2] ?? "") as Task;
  const connections = task.urls.map((url) => ({ url, ...connectRedis(url) }));
  await Promise.all(connections.map(({ ready }) => ready));
  const stores = connections.map(({ redis }) => createRedisLocks(redis)("races"));
  console.log("ready");
  const span = JSON.parse(await once(createInterface(process.stdin), "line").then(String)) as Span;
  await sleep(Math.max(0, span.fromMs - nowMs()));
  const all = { ...task, ...span };
  await Promise.all(connections.map(({ url }, at) => compete(all, url, stores[at]!)));
  for (const { redis } of connections) redis.disconnect();
}
