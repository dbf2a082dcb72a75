/** The pool, with connections of SQLite: who waits, who is served, and what happens when connections break. */
import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { AppError } from "../../../core/values/errors.ts";
import { createDeadlines } from "../../../core/values/deadlines.ts";
import { limits } from "../../../core/values/limits.ts";
import type { Connection } from "../../../db/engines/engine.ts";
import { Pool } from "../../../db/connections/pool.ts";
import { createPools } from "../../../db/connections/pools.ts";
import { open } from "../../../db/engines/sqlite/engine.ts";

const engine = await open("sqlite::memory:", {
  connectionsMax: 1,
  statementTimeoutMs: 0,
  decimals: "number",
});
const connect = (): Promise<Connection> => engine.connect("read");
const connectShared = async (): Promise<Connection> =>
  Object.assign(await connect(), { carries: { reads: most, writes: most } });
const most = limits.sharedStatementsMax;
const soon = (ms = 1_000): number => performance.now() + ms;

async function kindOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  return error instanceof AppError ? error.kind : String(error);
}

describe("a pool", () => {
  test("opens no more connections than it may, and serves those who wait in order", async () => {
    let opened = 0;
    const pool = new Pool(async () => {
      opened++;
      await wait(5);
      return connect();
    }, 2);
    const served: number[] = [];
    await Promise.all(
      Array.from({ length: 10 }, async (_, at) => {
        const connection = await pool.acquire(soon());
        served.push(at);
        await wait(2);
        pool.release(connection);
      }),
    );
    expect(served).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(opened).toBe(2);
  });

  test("uses the connection again that was given back", async () => {
    const pool = new Pool(connect, 2);
    const first = await pool.acquire(soon());
    pool.release(first);
    expect(pool.tryAcquire()).toBe(first);
    expect(pool.tryAcquire()).toBeNull();
  });

  test("lets nobody wait longer than the deadline", async () => {
    const pool = new Pool(connect, 1);
    const held = await pool.acquire(soon());
    const startedAtMs = performance.now();
    expect(await kindOf(pool.acquire(soon(100)))).toBe("unavailable");
    expect(performance.now() - startedAtMs).toBeLessThan(300);
    // Who gave up is not served any more.
    pool.release(held);
    expect(pool.tryAcquire()).toBe(held);
  });

  test("refuses at once when too many wait", async () => {
    const pool = new Pool(connect, 1);
    await pool.acquire(soon());
    const waiting = Array.from({ length: limits.acquireQueueMax }, () =>
      kindOf(pool.acquire(soon(10_000))),
    );
    expect(await kindOf(pool.acquire(soon(10_000)))).toBe("unavailable");
    await pool.close();
    expect(new Set(await Promise.all(waiting))).toEqual(new Set(["unavailable"]));
  });

  test("never hands out a connection that broke, idle or given back, and opens another", async () => {
    const pool = new Pool(connect, 2);
    const [one, two] = [await pool.acquire(soon()), await pool.acquire(soon())];
    pool.release(one);
    one.destroy();
    two.destroy();
    pool.release(two);
    const fresh = [await pool.acquire(soon()), await pool.acquire(soon())];
    expect(fresh.every((connection) => connection.alive)).toBe(true);
    expect(new Set([...fresh, one, two]).size).toBe(4);
  });

  test("serves who waits with a new connection when the one in use breaks", async () => {
    const pool = new Pool(connect, 1);
    const held = await pool.acquire(soon());
    const waiting = pool.acquire(soon());
    held.destroy();
    pool.release(held);
    expect((await waiting).alive).toBe(true);
  });

  test("tells everyone who waits why it cannot connect, and tries again for the next", async () => {
    let isUp = false;
    const pool = new Pool(() => (isUp ? connect() : Promise.reject(new Error("refused"))), 3);
    const waiting = Array.from({ length: 5 }, () => kindOf(pool.acquire(soon())));
    expect(new Set(await Promise.all(waiting))).toEqual(new Set(["Error: refused"]));
    isUp = true;
    expect((await pool.acquire(soon())).alive).toBe(true);
  });

  test("goes on with what it has when one connection more is refused", async () => {
    let opened = 0;
    const pool = new Pool(
      () => (++opened === 1 ? connect() : Promise.reject(new Error("too many"))),
      3,
    );
    const only = await pool.acquire(soon());
    const waiting = pool.acquire(soon());
    await wait(20);
    pool.release(only);
    expect(await waiting).toBe(only);
    pool.release(only);
    await pool.close();
  });

  test("destroys a connection that opens after it was given up", async () => {
    const late: Connection[] = [];
    const connectLate = async () => {
      await wait(60);
      const connection = await connect();
      late.push(connection);
      return connection;
    };
    const pool = new Pool(connectLate, 1, { connectTimeoutMs: 20 });
    expect(await kindOf(pool.acquire(soon(60_000)))).toBe("unavailable");
    await expect.poll(() => late.map(({ alive }) => alive)).toEqual([false]);
  });

  test("for long reads waits as long as the request when a process starts slowly", async () => {
    const connectSlowly = () => wait(limits.acquireTimeoutMs + 500).then(connect);
    const slow = { ...engine, connectionsMax: 4, longReadsMax: 1, connect: connectSlowly };
    const { longReads } = createPools(slow, {
      connectionsMax: 4,
      isForOneCaller: undefined,
      deadlines: createDeadlines(),
      observer: undefined,
      reachLog: undefined,
    });
    expect((await longReads!.acquire(soon(limits.requestDeadlineMs))).alive).toBe(true);
    await longReads!.close();
  });

  test("waits a moment for those in use when it closes, and takes nobody in", async () => {
    const pool = new Pool(connect, 2);
    const [one, two] = [await pool.acquire(soon()), await pool.acquire(soon())];
    const closing = pool.close();
    expect(await kindOf(pool.acquire(soon()))).toBe("unavailable");
    await wait(50);
    expect([one.alive, two.alive]).toEqual([true, true]);
    pool.release(one);
    pool.release(two);
    await closing;
    expect([one.alive, two.alive]).toEqual([false, false]);
  });

  test("destroys what is still in use some time after it was closed", async () => {
    const pool = new Pool(connect, 1);
    const held = await pool.acquire(soon());
    await pool.close();
    expect(held.alive).toBe(false);
  });
});

describe("a pool whose connections can be shared", () => {
  const opened = async (sizeMax = 1): Promise<Pool> => {
    const pool = new Pool(connectShared, sizeMax);
    pool.release(await pool.acquire(soon()));
    return pool;
  };

  test("gives one to as many quick statements as it may carry, and no more", async () => {
    const pool = await opened();
    const taken = Array.from({ length: most + 1 }, () => pool.tryAcquire({ shares: "reads" }));
    expect(new Set(taken.slice(0, most)).size).toBe(1);
    expect(taken).not.toContain(undefined);
    expect(taken.at(-1)).toBeNull();
  });

  test("gives it to somebody else only after the last of them has given it back", async () => {
    const pool = await opened();
    const [one, two] = [
      pool.tryAcquire({ shares: "reads" })!,
      pool.tryAcquire({ shares: "reads" })!,
    ];
    expect(two).toBe(one);
    pool.release(one);
    expect(pool.tryAcquire()).toBeNull();
    pool.release(two);
    expect(pool.tryAcquire()).toBe(one);
  });

  test("lets nobody join a connection that somebody has to himself", async () => {
    const pool = await opened();
    pool.tryAcquire();
    expect(pool.tryAcquire({ shares: "reads" })).toBeNull();
  });

  test("lets reads and writes join only their own kind", async () => {
    const pool = await opened(2);
    const reads = pool.tryAcquire({ shares: "reads" })!;
    expect(pool.tryAcquire({ shares: "writes" })).toBeNull();
    const writes = await pool.acquire(soon(), { shares: "writes" });
    expect(pool.tryAcquire({ shares: "reads" })).toBe(reads);
    expect(pool.tryAcquire({ shares: "writes" })).toBe(writes);
  });

  test("lets nobody join while another kind waits, and then serves that", async () => {
    const pool = await opened();
    const shared = pool.tryAcquire({ shares: "reads" })!;
    const kinds = ["writes", "writes", "reads"] as const;
    const given: string[] = [];
    for (const shares of kinds)
      void pool.acquire(soon(), { shares }).then(() => given.push(shares));
    expect(pool.tryAcquire({ shares: "reads" })).toBeNull();
    pool.release(shared);
    await wait(0);
    expect(given).toEqual(["writes", "writes"]);
    pool.release(shared);
    pool.release(shared);
    await wait(0);
    expect(given).toEqual(kinds);
  });

  test("lets nobody join while somebody waits for a connection to himself", async () => {
    const pool = await opened();
    const shared = pool.tryAcquire({ shares: "reads" })!;
    const waiting = pool.acquire(soon());
    expect(pool.tryAcquire({ shares: "reads" })).toBeNull();
    pool.release(shared);
    expect(await waiting).toBe(shared);
    expect(pool.tryAcquire({ shares: "reads" })).toBeNull();
  });

  test("lets nobody join a connection whose statement takes long", async () => {
    const pool = await opened();
    pool.tryAcquire({ shares: "reads" });
    await wait(limits.sharedWaitMs * 2);
    expect(pool.tryAcquire({ shares: "reads" })).toBeNull();
  });

  test("serves several of those who wait to share at once", async () => {
    const pool = await opened();
    const held = pool.tryAcquire()!;
    const waiting = Array.from({ length: most }, () => pool.acquire(soon(), { shares: "reads" }));
    pool.release(held);
    expect(new Set(await Promise.all(waiting))).toEqual(new Set([held]));
  });

  test("closes a broken one once, and gives the next caller another", async () => {
    const pool = await opened();
    const broken = pool.tryAcquire({ shares: "reads" })!;
    pool.tryAcquire({ shares: "reads" });
    broken.destroy();
    expect(pool.tryAcquire({ shares: "reads" })).toBeNull();
    pool.release(broken);
    pool.release(broken);
    expect(pool.counts()).toMatchObject({ busy: 0, idle: 0 });
    expect(await pool.acquire(soon())).not.toBe(broken);
  });

  test("shares none that cannot be shared", async () => {
    const pool = new Pool(connect, 1);
    pool.release(await pool.acquire(soon()));
    expect(pool.tryAcquire({ shares: "reads" })).not.toBeNull();
    expect(pool.tryAcquire({ shares: "reads" })).toBeNull();
  });
});

describe("a caller of a pool", () => {
  const waits = async (waiting: Promise<unknown>): Promise<boolean> =>
    (await Promise.race([waiting.then(() => "given"), wait(20)])) === undefined;

  test.each([
    [1, 1],
    [2, 1],
    [3, 1],
    [4, 2],
    [10, 5],
  ])("holds of %i connections %i at most, and others get the rest", async (size, most) => {
    const pool = new Pool(connect, size);
    const caller = "greedy";
    for (let held = 0; held < most; held++) await pool.acquire(soon(), { caller });
    expect(await waits(pool.acquire(soon(), { caller }))).toBe(true);
    expect(pool.tryAcquire({ caller })).toBeNull();
    for (let held = most; held < size; held++)
      expect(await waits(pool.acquire(soon(), { caller: `other ${held}` }))).toBe(false);
    expect(await waits(pool.acquire(soon(), { caller: "last" }))).toBe(true);
  });

  test("who holds enough is passed by others, and gets the next one after giving one back", async () => {
    const pool = new Pool(connect, 2);
    const caller = "greedy";
    const held = await pool.acquire(soon(), { caller });
    const more = pool.acquire(soon(), { caller });
    const other = await pool.acquire(soon(), { caller: "other" });
    pool.release(other, "other");
    expect(await waits(more)).toBe(true);
    expect(pool.counts()).toMatchObject({ busy: 1, idle: 1, waiting: 1 });
    pool.release(held, caller);
    expect((await more).alive).toBe(true);
  });

  test("gets another in place of a broken one", async () => {
    const pool = new Pool(connect, 2);
    const caller = "greedy";
    const held = await pool.acquire(soon(), { caller });
    const more = pool.acquire(soon(), { caller });
    held.destroy();
    pool.release(held, caller);
    expect(await more).not.toBe(held);
  });

  test("has no limit where it is the service itself, or where all connections are its own", async () => {
    const shared = new Pool(connect, 2);
    for (let held = 0; held < 2; held++) await shared.acquire(soon());
    const own = new Pool(connect, 2, { isForOneCaller: true });
    for (let held = 0; held < 2; held++) await own.acquire(soon(), { caller: "one" });
    expect([shared.counts().busy, own.counts().busy]).toEqual([2, 2]);
  });

  test("who waits too long no longer stands in the queue", async () => {
    const pool = new Pool(connect, 2, { acquireTimeoutMs: 30 });
    const caller = "greedy";
    const held = await pool.acquire(soon(), { caller });
    expect(await kindOf(pool.acquire(soon(), { caller }))).toBe("unavailable");
    pool.release(held, caller);
    expect(pool.counts()).toMatchObject({ busy: 0, idle: 1, waiting: 0 });
    expect(pool.tryAcquire({ caller })).toBe(held);
  });

  test("may join shared connections of others, and holds one of them when it is left to it", async () => {
    const pool = new Pool(connectShared, 2);
    const one = await pool.acquire(soon(), { caller: "other", shares: "reads" });
    const two = await pool.acquire(soon(), { caller: "greedy", shares: "reads" });
    expect(pool.tryAcquire({ caller: "greedy", shares: "reads" })).toBe(one);
    pool.release(one, "other");
    pool.release(two, "greedy");
    expect(pool.tryAcquire({ caller: "greedy" })).toBeNull();
    expect(pool.tryAcquire({ caller: "other" })).toBe(two);
  });
});
