/** The lock policy, with locks in memory and with a failing store: retries, deadlines, and what a request loses. */
import { hash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { createMemoryLocks } from "../../app/stores/memory-locks.ts";
import { createLog } from "../../app/start/observing/log.ts";
import type { WritePlan } from "../../core/plans/write-plan.ts";
import { AppError } from "../../core/values/errors.ts";
import { createLocks, type LockSettings, type RequestLocks } from "../../core/locks/locks.ts";
import { limits } from "../../core/values/limits.ts";
import type { LockStore } from "../../core/locks/lock-store.ts";
import { column } from "../values/column.ts";

const given: LockSettings = {
  enabled: true,
  ttlSeconds: 10,
  strategy: "retry",
  retries: 3,
  retryDelayMs: 20,
  maxResourceTtlSeconds: 300,
  enforceResourceLocks: true,
};
const key = column("text", { name: "id" });
const write = {
  table: { identity: "main.goods" },
  key: [key],
  shown: new Map([["id", key]]),
} as unknown as WritePlan;

function open(store: LockStore, settings: Partial<LockSettings> = {}, deadlineMs = 15_000) {
  const all = { ...given, ...settings };
  const deps = {
    db: { equalForms: async () => [] },
    digest: (text: string) => hash("sha256", text),
    newId: () => crypto.randomUUID(),
  };
  const locks = createLocks({ store, ownStore: createMemoryLocks(), settings: all, ...deps });
  const log = createLog("silent");
  return (): RequestLocks =>
    locks({
      tokens: [],
      share: () => "address:",
      deadlineAtMs: performance.now() + deadlineMs,
      log,
    });
}

const kindOf = (asked: Promise<unknown>): Promise<string> =>
  asked.then(
    () => "fine",
    (error: unknown) => (error instanceof AppError ? error.kind : String(error)),
  );
const elapsed = async (work: () => Promise<unknown>): Promise<number> => {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
};

/** Counts the calls of `acquire`. */
function counting(store: LockStore) {
  const asked = { acquire: 0 };
  const counted: LockStore = {
    ...store,
    acquire: (names, claim) => (asked.acquire++, store.acquire(names, claim)),
  };
  return { asked, counted };
}

/** Fails while the test sets `isAway`. */
function failing(store: LockStore) {
  const state = { isAway: false };
  const unlessAway = <T>(work: () => Promise<T>): Promise<T> =>
    state.isAway ? Promise.reject(new Error("away")) : work();
  const wrapped: LockStore = {
    acquire: (...args) => unlessAway(() => store.acquire(...args)),
    extend: (...args) => unlessAway(() => store.extend(...args)),
    release: (...args) => unlessAway(() => store.release(...args)),
    status: (...args) => unlessAway(() => store.status(...args)),
  };
  return { state, wrapped };
}

describe("record locks", () => {
  test("are tried again as often as the settings say", async () => {
    const { asked, counted } = counting(createMemoryLocks());
    const request = open(counted, { retries: 4, retryDelayMs: 1 });
    await request().takeRecords(write, [["a"]]);
    expect(await kindOf(request().takeRecords(write, [["a"]]))).toBe("lockConflict");
    expect(asked.acquire).toBe(1 + 5);
  });

  test("are tried once with the strategy fail", async () => {
    const { asked, counted } = counting(createMemoryLocks());
    const request = open(counted, { strategy: "fail", retries: 50 });
    await request().takeRecords(write, [["a"]]);
    expect(await kindOf(request().takeRecords(write, [["a"]]))).toBe("lockConflict");
    expect(asked.acquire).toBe(2);
  });

  test("are taken by the one who waits, once they are given back", async () => {
    const request = open(createMemoryLocks(), { retries: 20, retryDelayMs: 10 });
    const first = request();
    await first.takeRecords(write, [["a"]]);
    const waiting = kindOf(request().takeRecords(write, [["a"]]));
    await sleep(40);
    await first.close();
    expect(await waiting).toBe("fine");
  });

  test("are not waited for beyond the request's deadline", async () => {
    const request = open(createMemoryLocks(), { retries: 100, retryDelayMs: 500 }, 1_600);
    await request().takeRecords(write, [["a"]]);
    const tookMs = await elapsed(() => kindOf(request().takeRecords(write, [["a"]])));
    expect(tookMs).toBeLessThan(800);
  });

  test("are kept on while the request runs, and are free when it is over", async () => {
    const request = open(createMemoryLocks(), { ttlSeconds: 1, strategy: "fail" });
    const first = request();
    await first.takeRecords(write, [["a"], ["b"]]);
    await sleep(1_500);
    expect(await kindOf(request().takeRecords(write, [["b"]]))).toBe("lockConflict");
    expect(await kindOf(first.checkWrite(write, [["a"]]))).toBe("fine");
    await first.close();
    expect(await kindOf(request().takeRecords(write, [["a"], ["b"]]))).toBe("fine");
  });

  test("that could not be kept on stop the write", async () => {
    const { state, wrapped } = failing(createMemoryLocks());
    const request = open(wrapped, { ttlSeconds: 1, enforceResourceLocks: false });
    const first = request();
    await first.takeRecords(write, [["a"]]);
    state.isAway = true;
    expect(await kindOf(first.checkWrite(write, [["a"]]))).toBe("fine");
    await sleep(1_100);
    expect(await kindOf(first.checkWrite(write, [["a"]]))).toBe("lockConflict");
    await first.close();
  });

  test("that somebody took away stop the write", async () => {
    const store = createMemoryLocks();
    const request = open(
      { ...store, extend: async (names) => ({ ok: false, name: names[0]!, holder: null }) },
      { ttlSeconds: 1 },
    );
    const first = request();
    await first.takeRecords(write, [["a"]]);
    await sleep(500);
    expect(await kindOf(first.checkWrite(write, [["a"]]))).toBe("lockConflict");
    await first.close();
  });

  test("may be taken twice by one request", async () => {
    const request = open(createMemoryLocks(), { strategy: "fail" })();
    await request.takeRecords(write, [["a"]]);
    expect(await kindOf(request.takeRecords(write, [["a"], ["b"]]))).toBe("fine");
  });

  test("of more records than the store takes at once are taken and given back", async () => {
    const request = open(createMemoryLocks(), { strategy: "fail" });
    const first = request();
    const values = Array.from({ length: 1_234 }, (_, at) => [`r${at}`]);
    await first.takeRecords(write, values);
    expect(await kindOf(request().takeRecords(write, [["r1233"]]))).toBe("lockConflict");
    await first.close();
    expect(await kindOf(request().takeRecords(write, values))).toBe("fine");
  });
});

describe.each([true, false])("with resource locks enforced and locking.enabled %s", (enabled) => {
  const wanted = {
    shown: { key: "id", value: "a" },
    locked: { resource: "table main.goods", key: [key], value: ["a"] },
    isShared: false,
  };
  const claim = { token: null, owner: null, ttlMs: 10_000 };

  test("nobody is granted a lock while a write that was let through runs", async () => {
    const request = open(createMemoryLocks(), { enabled, strategy: "fail" });
    const writing = request();
    await writing.guardWrite(write, [["a"]]);
    expect(await kindOf(request().acquire([wanted], claim))).toBe("lockConflict");
    await writing.close();
    expect(await kindOf(request().acquire([wanted], claim))).toBe("fine");
  });

  test("writes of other records go on at the same time", async () => {
    const request = open(createMemoryLocks(), { enabled, strategy: "fail" });
    await request().guardWrite(write, [["a"]]);
    expect(await kindOf(request().guardWrite(write, [["b"]]))).toBe("fine");
  });
});

describe("with resource locks enforced alone", () => {
  const settings = { enabled: false, strategy: "fail" } as const;

  test("a write waits for another one of the record, whatever the strategy says", async () => {
    const request = open(createMemoryLocks(), settings);
    const first = request();
    await first.guardWrite(write, [["a"]]);
    const second = kindOf(request().guardWrite(write, [["a"]]));
    await first.close();
    expect(await second).toBe("fine");
  });

  test("a write waits for another one of the record no longer than to its deadline", async () => {
    const request = open(createMemoryLocks(), settings, limits.lockReserveMs);
    await request().guardWrite(write, [["a"]]);
    expect(await kindOf(request().guardWrite(write, [["a"]]))).toBe("lockConflict");
  });
});

describe("with a store that is away", () => {
  const away = failing(createMemoryLocks());
  away.state.isAway = true;

  test("writes are refused, and nobody tries again", async () => {
    const request = open(away.wrapped, { retries: 100, retryDelayMs: 1_000 });
    const tookMs = await elapsed(async () => {
      expect(await kindOf(request().guardWrite(write, [["a"]]))).toBe("lockNotTaken");
      expect(await kindOf(request().takeRecords(write, [["a"]]))).toBe("unavailable");
    });
    expect(tookMs).toBeLessThan(200);
  });

  test("writes are refused also where only resource locks count", async () => {
    const request = open(away.wrapped, { enabled: false });
    expect(await kindOf(request().guardWrite(write, [["a"]]))).toBe("unavailable");
  });

  test("writes go on where no lock counts", async () => {
    const request = open(away.wrapped, { enabled: false, enforceResourceLocks: false });
    expect(await kindOf(request().guardWrite(write, [["a"]]))).toBe("fine");
  });

  test.each([
    [true, false],
    [false, true],
  ])("a lock that is configured is not taken elsewhere: %s, %s", async (enabled, enforced) => {
    const request = open(away.wrapped, { enabled, enforceResourceLocks: enforced });
    expect(await kindOf(request().takeRecords(write, [["a"]]))).toBe("unavailable");
  });

  test("a record is locked in the process where no lock is configured", async () => {
    const settings = { enabled: false, enforceResourceLocks: false, strategy: "fail" } as const;
    const request = open(away.wrapped, settings);
    const first = request();
    expect(await kindOf(first.takeRecords(write, [["a"]]))).toBe("fine");
    expect(await kindOf(first.checkWrite(write, [["a"]]))).toBe("fine");
    expect(await kindOf(request().takeRecords(write, [["a"]]))).toBe("lockConflict");
    await first.close();
    expect(await kindOf(request().takeRecords(write, [["a"]]))).toBe("fine");
  });

  test("a request that is over says nothing", async () => {
    const { state, wrapped } = failing(createMemoryLocks());
    const request = open(wrapped)();
    await request.takeRecords(write, [["a"]]);
    state.isAway = true;
    expect(await kindOf(request.close())).toBe("fine");
  });
});
