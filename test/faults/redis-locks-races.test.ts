/**
 * Twenty processes compete for the same locks on two servers; some are stopped for longer than their locks last, and
 * both servers are killed and restarted, one with its data and one empty. Each holder's own clock decides.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { limits } from "../../core/values/limits.ts";
import { type Hold, nowMs, type Span, type Task } from "./lock-holder.ts";
import { type OwnRedis, startRedis, writtenDown } from "../stores/own-redis.ts";
import { settleLocks } from "../stores/settle.ts";

const holdersCount = 20;
const kinds = ["without memory", "with memory"] as const;

let servers: OwnRedis[] = [];
let holders: Holder[] = [];
const holds: Hold[] = [];
let restartedMs = 0;
const failures: string[] = [];

interface Holder {
  readonly child: ChildProcess;
  readonly ready: Promise<void>;
  /** What it held is in `holds` then. */
  readonly ended: Promise<void>;
}

function startHolder(task: Task): Holder {
  const program = join(import.meta.dirname, "lock-holder.ts");
  const child = spawn(process.execPath, [program, JSON.stringify(task)]);
  child.stderr.setEncoding("utf8").on("data", (text: string) => failures.push(text));
  const lines = createInterface(child.stdout);
  lines.on("line", (line) => {
    if (line !== "ready") holds.push(JSON.parse(line) as Hold);
  });
  const ended = once(lines, "close").then(() => undefined);
  return { child, ready: Promise.race([once(lines, "line"), ended]).then(() => undefined), ended };
}

beforeAll(async () => {
  servers = [await startRedis(), await startRedis(...writtenDown)];
  await Promise.all(servers.map((server) => settleLocks(server, "races")));
  const urls = servers.map(({ url }) => url);
  holders = Array.from({ length: holdersCount }, (_, holder) => startHolder({ holder, urls }));
  await Promise.all(holders.map(({ ready }) => ready));
  const fromMs = nowMs() + 200;
  const span: Span = { fromMs, untilMs: fromMs + 9_000 };
  for (const { child } of holders) child.stdin!.end(`${JSON.stringify(span)}\n`);
  const untilThen = (afterMs: number) => sleep(Math.max(0, fromMs + afterMs - nowMs()));

  // Each is stopped once, for longer than the brief locks last.
  const stopped = holders.slice(0, 8).map(async ({ child }, at) => {
    await untilThen(300 + at * 900);
    child.kill("SIGSTOP");
    await sleep(800);
    child.kill("SIGCONT");
  });
  await untilThen(1_800);
  await Promise.all(servers.map((server) => server.kill()));
  restartedMs = nowMs();
  await Promise.all(servers.map((server) => server.start()));
  await Promise.all([...stopped, ...holders.map(({ ended }) => ended)]);
}, 40_000);

afterAll(async () => {
  for (const { child } of holders) child.kill("SIGKILL");
  await Promise.all(servers.map((server) => server.stop()));
});

test("no holder fails", () => {
  expect(failures).toEqual([]);
});

describe.each(kinds.map((kind, at) => ({ kind, at })))(
  "of a server that comes back $kind",
  ({ at }) => {
    const ofServer = () => holds.filter(({ url }) => url === servers[at]!.url);
    /** Holds of each lock, in the order of their begin. */
    const byName = () =>
      Object.values(Object.groupBy(ofServer(), ({ name }) => name)).map((same) =>
        same!.toSorted((left, right) => left.fromMs - right.fromMs),
      );

    test("locks are taken before the restart, across it and after it", () => {
      const settledMs = restartedMs + limits.lockSettleMs;
      const count = (isCounted: (hold: Hold) => boolean) => ofServer().filter(isCounted).length;
      expect(count(({ untilMs }) => untilMs < restartedMs)).toBeGreaterThan(5);
      expect(
        count(({ fromMs, untilMs }) => fromMs < restartedMs && untilMs > settledMs),
      ).toBeGreaterThan(0);
      expect(count(({ fromMs }) => fromMs > settledMs)).toBeGreaterThan(5);
      expect(byName()).toHaveLength(5);
    });

    test("a lock never has two holders", () => {
      for (const same of byName()) {
        const pairs = same.slice(1).map((hold, index) => ({ before: same[index]!, hold }));
        expect(pairs.filter(({ before, hold }) => hold.fromMs < before.untilMs)).toEqual([]);
      }
    });

    test("fences only grow", () => {
      for (const same of byName()) {
        const fences = same.map(({ fence }) => fence);
        expect(fences).toEqual(fences.toSorted((left, right) => left - right));
        expect(new Set(fences).size).toBe(fences.length);
      }
    });
  },
);
