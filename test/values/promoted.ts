/**
 * A program: prints how many megabytes V8 moved to its old space during 500,000 requests, 16 at a time, which the
 * deadlines or a connection pool held meanwhile. None of them needs to live on.
 */
import { getHeapSpaceStatistics } from "node:v8";
import { createDeadlines } from "../../core/values/deadlines.ts";
import { Pool } from "../../db/connections/pool.ts";
import type { Connection } from "../../db/engines/engine.ts";

interface Request {
  end(): void;
}

const requests = 500_000;
const atOnce = 16;

/** Each starts a request that holds an array. */
const parts: Readonly<Record<string, () => Promise<() => Promise<Request>>>> = {
  async deadlines() {
    const deadlines = createDeadlines();
    return async () => {
      const own = Array.from({ length: 20 }, () => 0);
      const entry = deadlines.watch(Infinity, () => own.push(1));
      return { end: () => deadlines.unwatch(entry) };
    };
  },
  async pool() {
    // The connections are never used.
    const connect = async () => ({ alive: true, carries: ["reads"] }) as unknown as Connection;
    const pool = new Pool(connect, atOnce);
    return async () => {
      const own = Array.from({ length: 20 }, () => 0);
      const connection = await pool.acquire(Infinity, {
        shares: own.length > 0 ? "reads" : null,
        caller: "one",
      });
      return { end: () => pool.release(connection, "one") };
    };
  },
};

const oldMb = () =>
  getHeapSpaceStatistics().find((space) => space.space_name === "old_space")!.space_used_size / 1e6;

const begin = await parts[process.argv[2]!]!();
const underWay = await Promise.all(Array.from({ length: atOnce / 2 }, begin));
const waiting: Promise<Request>[] = [];
// What lives as long as the process is an old object by then.
globalThis.gc!();
globalThis.gc!();
const beforeMb = oldMb();
for (let at = 0; at < requests; at++) {
  waiting.push(begin());
  if (waiting.length < atOnce / 2) continue;
  underWay.shift()!.end();
  underWay.push(await waiting.shift()!);
}
process.stdout.write(String(oldMb() - beforeMb));
process.exit(0);
