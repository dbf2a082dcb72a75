/**
 * What a lock store must do: the cases run on each store, on Redis through two connections, as with two instances, and
 * in a parent by the calls of two processes.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { beforeEach, describe, expect, inject, test } from "vitest";
import { createMemoryLocks } from "../../app/stores/memory-locks.ts";
import { connectRedis } from "../../app/stores/open-redis.ts";
import { createRedisLocks } from "../../app/stores/redis-locks.ts";
import { underOneParent } from "./under-one-parent.ts";
import type { LockStore } from "../../core/locks/lock-store.ts";
import { openForTests } from "../contract/harness.ts";

interface Pair {
  /** The same locks through two instances, where the store knows several. */
  open(): [LockStore, LockStore];
  close(): void;
}

/** Locks of one caller in the cases below. */
const shareMax = 5;

const pairs: Record<string, () => Promise<Pair>> = {
  async memory() {
    return {
      open() {
        const store = createMemoryLocks({ shareMax });
        return [store, store];
      },
      close: () => undefined,
    };
  },
  async "a parent"() {
    const processes = underOneParent({ shareMax });
    return {
      open() {
        const project = `p-${crypto.randomUUID()}`;
        return [processes[0].locks(project), processes[1].locks(project)];
      },
      close: () => undefined,
    };
  },
  async Redis() {
    const url = inject("serverUrls")!.redis!;
    const [left, right] = [connectRedis(url), connectRedis(url)];
    await Promise.all([left.ready, right.ready]);
    const stores = [left, right].map(({ redis }) => createRedisLocks(redis, shareMax));
    return {
      open() {
        const project = `p-${crypto.randomUUID()}`;
        return [stores[0]!(project), stores[1]!(project)];
      },
      close() {
        left.redis.disconnect();
        right.redis.disconnect();
      },
    };
  },
};

describe.each(Object.entries(pairs))("locks in %s", (_, openPair) => {
  let store: LockStore;
  let other: LockStore;
  const pair = openForTests(openPair);
  beforeEach(() => {
    [store, other] = pair.open();
  });

  const ttlMs = 10_000;
  const claim = (token: string, more: object = {}) => ({
    token,
    owner: null,
    share: null,
    ttlMs,
    ...more,
  });
  const fenceOf = (outcome: Awaited<ReturnType<LockStore["acquire"]>>): number => {
    if (!outcome.ok) throw new Error(`refused by ${outcome.name}`);
    return outcome.fence;
  };

  describe("the share of a caller", () => {
    const five = ["a", "b", "c", "d", "e"];
    const kindOf = (asked: Promise<unknown>): Promise<string> =>
      asked.then(
        () => "fine",
        (error: { kind?: string }) => error.kind ?? String(error),
      );
    const anna = (token: string, more: object = {}) => claim(token, { share: "anna", ...more });

    test("bounds its locks, whatever their tokens, and nobody else's", async () => {
      await store.acquire(five.slice(0, 3), anna("t1"));
      await other.acquire(five.slice(3), anna("t2"));
      expect(await kindOf(store.acquire(["f"], anna("t3")))).toBe("tooManyRequests");
      expect(await kindOf(store.acquire(["f"], claim("t4", { share: "ben" })))).toBe("fine");
      expect(await kindOf(store.acquire(five, claim("t5")))).toBe("fine");
    });

    test("is refused as a whole, and nothing of it is taken", async () => {
      await store.acquire(five.slice(0, 3), anna("t1"));
      expect(await kindOf(store.acquire(["x", "y", "z"], anna("t2")))).toBe("tooManyRequests");
      expect(await other.status(["x", "y", "z"], [])).toEqual([null, null, null]);
    });

    test("counts a lock once, however often its token takes it or keeps it on", async () => {
      await store.acquire(five, anna("t1"));
      await other.acquire(five, anna("t1"));
      await store.extend(five, { token: "t1", ttlMs });
      expect(await kindOf(store.acquire(["f"], anna("t1")))).toBe("tooManyRequests");
      expect(await kindOf(other.acquire(five, anna("t1")))).toBe("fine");
    });

    test("is free again for what was released", async () => {
      await store.acquire(five, anna("t1"));
      await other.release(five.slice(0, 2), "t1");
      expect(await kindOf(store.acquire(["f", "g", "h"], anna("t2")))).toBe("tooManyRequests");
      expect(await kindOf(store.acquire(["f", "g"], anna("t2")))).toBe("fine");
    });

    test("is free again for what has ended", async () => {
      await store.acquire(five, anna("t1", { ttlMs: 30 }));
      await sleep(60);
      expect(await kindOf(other.acquire(["v", "w", "x", "y", "z"], anna("t2")))).toBe("fine");
    });
  });

  test("a lock is held by one token", async () => {
    expect(await store.acquire(["a"], claim("t1", { owner: "anna é 😀" }))).toMatchObject({
      ok: true,
      owner: "anna é 😀",
    });
    const refused = await other.acquire(["a"], claim("t2"));
    expect(refused).toEqual({
      ok: false,
      name: "a",
      holder: { owner: "anna é 😀", remainingMs: expect.any(Number) },
    });
    if (refused.ok) return;
    expect(refused.holder!.remainingMs).toBeGreaterThan(ttlMs - 2_000);
    expect(refused.holder!.remainingMs).toBeLessThanOrEqual(ttlMs);
  });

  test("an acquisition says when it was made, by the clock", async () => {
    const outcome = await store.acquire(["a"], claim("t1"));
    expect(outcome.ok && Math.abs(outcome.acquiredAtMs - Date.now())).toBeLessThan(5_000);
  });

  test("several names are taken together or not at all", async () => {
    await store.acquire(["b"], claim("t1"));
    expect(await store.acquire(["a", "b", "c"], claim("t2"))).toMatchObject({
      ok: false,
      name: "b",
    });
    expect(await store.status(["a", "b", "c"], ["t1"])).toMatchObject([
      null,
      { isOwn: true },
      null,
    ]);
    expect(await store.acquire(["a", "c"], claim("t3"))).toMatchObject({ ok: true });
  });

  test("the status says of each name whether one of several tokens holds it", async () => {
    await store.acquire(["a"], claim("t1"));
    await store.acquire(["b"], claim("t2"));
    await store.acquire(["c"], claim("t3"));
    expect(await store.status(["a", "b", "c", "d"], ["t3", "t1", "none"])).toMatchObject([
      { isOwn: true },
      { isOwn: false },
      { isOwn: true },
      null,
    ]);
  });

  test("of several held names the first is named", async () => {
    await store.acquire(["b"], claim("t1"));
    await store.acquire(["c"], claim("t2"));
    expect(await store.acquire(["a", "c", "b"], claim("t3"))).toMatchObject({ name: "c" });
  });

  test("a token may take what it holds once more, and further names with it", async () => {
    await store.acquire(["a"], claim("t1", { ttlMs: 1_000 }));
    expect(await other.acquire(["a", "b"], claim("t1"))).toMatchObject({ ok: true });
    const [first] = await store.status(["a"], []);
    expect(first!.remainingMs).toBeGreaterThan(5_000);
  });

  test("fences grow with every acquisition, whatever its names", async () => {
    const fences: number[] = [];
    for (let at = 0; at < 50; at++) {
      const one = at % 2 ? store : other;
      fences.push(fenceOf(await one.acquire([`n${at % 7}`], claim(`t${at}`))));
      await one.release([`n${at % 7}`], `t${at}`);
    }
    expect(fences.every((fence) => Number.isSafeInteger(fence))).toBe(true);
    expect(fences.every((fence, at) => at === 0 || fence > fences[at - 1]!)).toBe(true);
  });

  test("release gives back what the token holds, and says how much that was", async () => {
    await store.acquire(["a", "b"], claim("t1"));
    await store.acquire(["c"], claim("t2"));
    expect(await other.release(["a", "b", "c", "d"], "t1")).toBe(2);
    expect(await store.status(["a", "b", "c", "d"], [])).toMatchObject([
      null,
      null,
      { isOwn: false },
      null,
    ]);
    expect(await store.release(["a", "b"], "t1")).toBe(0);
  });

  test.each(["t2", "", "T1", "t1 ", "null", "*"])(
    "release with the token %j gives back nothing",
    async (token) => {
      await store.acquire(["a"], claim("t1"));
      expect(await store.release(["a"], token)).toBe(0);
      expect(await store.status(["a"], ["t1"])).toMatchObject([{ isOwn: true }]);
    },
  );

  test("extend keeps a lock on, with its fence, owner and time", async () => {
    const taken = await store.acquire(["a", "b"], claim("t1", { owner: "o", ttlMs: 1_000 }));
    expect(await other.extend(["b", "a"], { token: "t1", ttlMs })).toEqual(taken);
    for (const state of await store.status(["a", "b"], []))
      expect(state!.remainingMs).toBeGreaterThan(5_000);
  });

  test("extend by another token, or of names that are free, changes nothing", async () => {
    await store.acquire(["a"], claim("t1", { ttlMs: 2_000 }));
    expect(await store.extend(["a"], { token: "t2", ttlMs })).toMatchObject({
      ok: false,
      holder: { owner: null },
    });
    const mixed = await store.extend(["a", "free"], { token: "t1", ttlMs });
    expect(mixed).toEqual({ ok: false, name: "free", holder: null });
    expect((await store.status(["a"], ["t1"]))[0]!.remainingMs).toBeLessThanOrEqual(2_000);
    expect(await store.status(["free"], [])).toEqual([null]);
  });

  test("status tells who holds what, and whether it is the token that asks", async () => {
    await store.acquire(["a"], claim("t1", { owner: "anna" }));
    const state = { owner: "anna", remainingMs: expect.any(Number) };
    expect(await store.status(["x", "a"], ["t1"])).toEqual([null, { ...state, isOwn: true }]);
    expect(await other.status(["a", "x"], ["t2"])).toEqual([{ ...state, isOwn: false }, null]);
    expect(await store.status(["a"], [])).toEqual([{ ...state, isOwn: false }]);
  });

  test("a lock ends by itself, and nobody keeps it on afterwards", async () => {
    await store.acquire(["a"], claim("t1", { ttlMs: 60 }));
    await sleep(120);
    expect(await store.status(["a"], ["t1"])).toEqual([null]);
    expect(await store.extend(["a"], { token: "t1", ttlMs })).toEqual({
      ok: false,
      name: "a",
      holder: null,
    });
    expect(await store.acquire(["a"], claim("t2"))).toMatchObject({ ok: true });
    expect(await store.release(["a"], "t1")).toBe(0);
  });

  test("of a hundred who want the same lock at once one gets it", async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 100 }, (_each, at) =>
        (at % 2 ? store : other).acquire(["a"], claim(`t${at}`)),
      ),
    );
    expect(outcomes.filter(({ ok }) => ok)).toHaveLength(1);
  });

  test("of many who want overlapping names no two hold one", async () => {
    const wanted = Array.from({ length: 60 }, (_each, at) => [`k${at % 5}`, `k${(at + 1) % 5}`]);
    const outcomes = await Promise.all(
      wanted.map((names, at) => (at % 2 ? store : other).acquire(names, claim(`t${at}`))),
    );
    const got = wanted.filter((_each, at) => outcomes[at]!.ok).flat();
    expect(got.length).toBeGreaterThan(0);
    expect(new Set(got).size).toBe(got.length);
  });

  test("names and owners may be any text", async () => {
    const names = ["a b", "a\nb", "{a}", "a:b", "é", "\u{1f600}", "*", "run", "fence"];
    expect(await store.acquire(names, claim("t1", { owner: '"}\n{ \\' }))).toMatchObject({
      ok: true,
    });
    for (const state of await other.status(names, ["t1"]))
      expect(state).toMatchObject({ isOwn: true, owner: '"}\n{ \\' });
    expect(await store.release(names, "t1")).toBe(names.length);
  });
});

test("locks of running requests find room where those of callers have none", async () => {
  const store = createMemoryLocks({ locksMax: 10 });
  const names = Array.from({ length: 10 }, (_, at) => `n${at}`);
  const claim = { token: "t1", owner: null, ttlMs: 10_000 };
  await store.acquire(names, { ...claim, share: "anna" });
  await expect(store.acquire(["x"], { ...claim, share: "ben" })).rejects.toThrow("too many locks");
  expect(await store.acquire(["x"], { ...claim, share: null })).toMatchObject({ ok: true });
});

test("locks in memory are refused when there is no room, until some have ended", async () => {
  const store = createMemoryLocks({ locksMax: 10 });
  const names = Array.from({ length: 8 }, (_, at) => `n${at}`);
  await store.acquire(names, { token: "t1", owner: null, share: null, ttlMs: 50 });
  const more = ["x", "y", "z"];
  const late = { token: "t2", owner: null, share: null, ttlMs: 1_000 };
  await expect(store.acquire(more, late)).rejects.toThrow("too many locks");
  expect(await store.status(more, [])).toEqual([null, null, null]);
  await sleep(80);
  expect(await store.acquire(more, late)).toMatchObject({ ok: true });
});
