/** The cache's policy, with a store that the test controls: shared queries, invalidation, and a store that fails. */
import { hash } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createCache, dependenciesOf, type ProjectCache } from "../../core/cache/cache.ts";
import type { Table } from "../../core/values/types/column.ts";
import type { Entity } from "../../core/plans/entity.ts";
import { limits } from "../../core/values/limits.ts";
import type { CacheStore } from "../../core/cache/cache-store.ts";
import { databaseOf } from "../../db/open.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

type Call = keyof CacheStore;

/** A store in memory whose calls can be made to fail, or to wait. */
function scriptedStore() {
  const versions = new Map<string, number>();
  const entries = new Map<string, string>();
  const failing = new Set<Call>();
  const counts: Record<Call, number> = { stamp: 0, raise: 0, get: 0, set: 0 };
  let gate: Promise<void> | null = null;
  let last = 0;
  const ttls: number[] = [];

  async function called<Value>(call: Call, work: () => Value): Promise<Value> {
    counts[call]++;
    if (failing.has(call)) throw new Error(`the store refuses to ${call}`);
    if (gate) await gate;
    return work();
  }
  const store: CacheStore = {
    stamp: (names) => called("stamp", () => names.map((name) => versions.get(name) ?? 0).join()),
    raise: (names) =>
      called("raise", () => {
        for (const name of names) versions.set(name, ++last);
      }),
    get: (key) => called("get", () => entries.get(key) ?? null),
    set: (key, text, ttlSeconds) =>
      called("set", () => {
        ttls.push(ttlSeconds);
        entries.set(key, text);
      }),
  };
  return {
    store,
    entries,
    failing,
    counts,
    ttls,
    /** Every call waits until the result is called. */
    hold(): () => void {
      const { promise, resolve } = Promise.withResolvers<void>();
      gate = promise;
      return () => {
        gate = null;
        resolve();
      };
    },
  };
}

const table = (identity: string, changesWith: readonly string[] | null = []): Table =>
  ({ kind: "table", identity, changesWith }) as unknown as Table;
const items = table("main.items");
const orders = table("main.orders", ["main.lines"]);
const lines = table("main.lines");
const entity = (name: string, definition = "d", project = "shop"): Entity =>
  ({ project, name, definition }) as unknown as Entity;

function open(settings: { enabled?: boolean; ttlSeconds?: number } = {}) {
  const scripted = scriptedStore();
  const lines: string[] = [];
  const say = (level: string) => (_fields: object, message: string) =>
    void lines.push(`${level}: ${message}`);
  const log = { debug: say("debug"), info: say("info"), warn: say("warn"), error: say("error") };
  const cache = createCache({ store: scripted.store, digest: (text) => hash("sha256", text), log });
  const forProject = (database: string) =>
    cache.forProject({ database, enabled: true, ttlSeconds: 60, ...settings });
  const project = forProject("one");
  return { ...scripted, cache, project, forProject, lines };
}

const items1 = entity("items");
/** Returns a function that sends a question; by default the answer is the number of reads of the database. */
function asker(project: ProjectCache, dependsOn = dependenciesOf([items]), from = items1) {
  let reads = 0;
  const ask = (answer: unknown = { data: ++reads }, parameters: unknown = {}) =>
    project.keeping({ entity: from, kind: "list", dependsOn })(parameters, async () => answer);
  return ask;
}

describe("an answer", () => {
  test("is kept, and given until a write", async () => {
    const { project, ttls } = open();
    const ask = asker(project);
    expect(await ask({ data: 1 })).toBe('{"data":1}');
    expect(await ask({ data: 2 })).toBe('{"data":1}');
    await project.wrote([items]);
    expect(await ask({ data: 3 })).toBe('{"data":3}');
    expect(await ask({ data: 4 })).toBe('{"data":3}');
    expect(ttls).toEqual([60, 60]);
  });

  test("is asked of the database once by equal questions at the same time", async () => {
    const { project } = open();
    const work = Promise.withResolvers<unknown>();
    const make = vi.fn(() => work.promise);
    const subject = { entity: items1, kind: "list", dependsOn: ["t"] } as const;
    const all = Array.from({ length: 20 }, () => project.keeping(subject)({ a: 1 }, make));
    await vi.waitFor(() => expect(make).toHaveBeenCalled());
    work.resolve({ data: "once" });
    expect(new Set(await Promise.all(all))).toEqual(new Set(['{"data":"once"}']));
    expect(make).toHaveBeenCalledTimes(1);
  });

  test("that was begun before a write is joined by nobody who asks after it", async () => {
    const { project } = open();
    const ask = (make: () => Promise<unknown>) =>
      project.keeping({ entity: items1, kind: "list", dependsOn: dependenciesOf([items]) })(
        0,
        make,
      );
    const slow = Promise.withResolvers<unknown>();
    const makeOld = vi.fn(() => slow.promise);
    const old = ask(makeOld);
    await vi.waitFor(() => expect(makeOld).toHaveBeenCalled());
    await project.wrote([items]);
    expect(await ask(async () => "new")).toBe('"new"');
    slow.resolve("old");
    expect(await old).toBe('"old"');
    // The old one was stored last, over the new one, and still does not count.
    expect(await ask(async () => "newer")).toBe('"newer"');
  });

  test("that could not be made is not kept, and fails for all who waited for it", async () => {
    const { project, counts } = open();
    const keep = project.keeping({ entity: items1, kind: "list", dependsOn: ["t"] });
    const work = Promise.withResolvers<unknown>();
    const all = [1, 2, 3].map(() => keep(0, () => work.promise));
    const ends = Promise.allSettled(all);
    work.reject(new Error("the database is away"));
    expect((await ends).map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
    expect(counts.set).toBe(0);
    expect(await keep(0, async () => "well")).toBe('"well"');
  });

  test("longer than the limit is given and not kept", async () => {
    const { project, counts } = open();
    const long = "x".repeat(limits.cacheEntryLengthMax);
    expect(await asker(project)(long)).toHaveLength(long.length + 2);
    expect(counts.set).toBe(0);
    expect(await asker(project)("x".repeat(limits.cacheEntryLengthMax - 2))).toHaveLength(
      limits.cacheEntryLengthMax,
    );
    expect(counts.set).toBe(1);
  });

  test("is neither kept nor looked for where the project's cache is off, but its writes are told to the others", async () => {
    const { cache, project: other, counts } = open();
    const off = cache.forProject({ database: "one", enabled: false, ttlSeconds: 60 });
    expect(await asker(off)(1)).toBe("1");
    expect(await asker(off)(2)).toBe("2");
    expect(counts).toEqual({ stamp: 0, raise: 0, get: 0, set: 0 });
    await asker(other)("old");
    await off.wrote([items]);
    expect(await asker(other)("new")).toBe('"new"');
  });

  test("is kept under the documented key, which holds nothing of the request but a hash", async () => {
    const { project, entries } = open();
    for (const kind of ["list", "datatables", "lookup"] as const) {
      const keep = project.keeping({ entity: items1, kind, dependsOn: ["t"] });
      await keep({ name: "Ann" }, async () => 1);
    }
    expect([...entries.keys()].map((key) => key.replace(/[0-9a-f]{40}$/, "…"))).toEqual([
      "svc:shop:items:list:…",
      "svc:shop:items:datatables:…",
      "svc:shop:items:lookup:…",
    ]);
  });

  const other: [string, (opened: ReturnType<typeof open>) => Promise<unknown>][] = [
    ["other parameters", ({ project }) => asker(project)("other", { a: "1" })],
    [
      "another endpoint",
      ({ project }) => asker(project, undefined, entity("goods"))("other", { a: 1 }),
    ],
    [
      "another project's endpoint of the same name",
      ({ project }) => asker(project, undefined, entity("items", "d", "store"))("other", { a: 1 }),
    ],
    [
      "the endpoint after its definition changed",
      ({ project }) => asker(project, undefined, entity("items", "e"))("other", { a: 1 }),
    ],
    [
      "the endpoint over another database",
      ({ forProject }) => asker(forProject("two"))("other", { a: 1 }),
    ],
  ];
  test.each(other)("is not given for %s", async (_name, askOther) => {
    const opened = open();
    await asker(opened.project)("first", { a: 1 });
    expect(await askOther(opened)).toBe('"other"');
    expect(await asker(opened.project)("again", { a: 1 })).toBe('"first"');
  });
});

describe("a write", () => {
  const cases: [string, Table, readonly string[], boolean][] = [
    ["counts for lists of its table", items, dependenciesOf([items]), true],
    ["does not count for lists of another table", items, dependenciesOf([lines]), false],
    ["counts for lists of a table that changes with it", orders, dependenciesOf([lines]), true],
    [
      "does not count for lists of a table that it only depends on",
      lines,
      dependenciesOf([orders]),
      false,
    ],
    ["counts for views and queries, whatever its table is", items, dependenciesOf(null), true],
    ["counts for a list of several tables", lines, dependenciesOf([items, lines]), true],
    [
      "to a table with triggers counts for every list",
      table("main.log", null),
      dependenciesOf([items]),
      true,
    ],
  ];
  test.each(cases)("%s", async (_name, written, dependsOn, counts) => {
    const { project } = open();
    await asker(project, dependsOn)("old");
    await project.wrote([written]);
    expect(await asker(project, dependsOn)("new")).toBe(counts ? '"new"' : '"old"');
  });

  test("counts for another project on the same database, and for none on another", async () => {
    const { project, forProject } = open();
    const [same, foreign] = [forProject("one"), forProject("two")];
    await asker(same)("old");
    await asker(foreign)("old");
    await project.wrote([items]);
    expect(await asker(same)("new")).toBe('"new"');
    expect(await asker(foreign)("new")).toBe('"old"');
  });

  test("of nothing asks nothing of the store", async () => {
    const { project, counts } = open();
    await project.wrote([]);
    expect(counts.raise).toBe(0);
  });
});

const away = "warn: The cache is not reachable; lists are read from the database";
const back = "info: The cache is reachable again";

describe("a store that fails", () => {
  test.each<Call>(["stamp", "get"])(
    "at %s leaves the database, with one line for many requests",
    async (call) => {
      const { project, failing, lines, counts } = open();
      await asker(project)("old");
      failing.add(call);
      for (let at = 0; at < 50; at++) expect(await asker(project)(at)).toBe(String(at));
      expect(lines).toEqual([away]);
      // The cache does not call the store for a while, then tries again.
      expect(counts[call]).toBe(2);
      await vi.advanceTimersByTimeAsync(limits.cacheRestMs + 1);
      expect(await asker(project)("new")).toBe('"new"');
      expect(counts[call]).toBe(3);
      expect(lines).toEqual([away]);
    },
  );

  test("at set costs nothing and is not worth a line", async () => {
    const { project, failing, lines } = open();
    failing.add("set");
    expect(await asker(project)("first")).toBe('"first"');
    expect(await asker(project)("second")).toBe('"second"');
    expect(lines).toEqual([]);
  });

  test("and comes back is told of once", async () => {
    const { project, failing, lines } = open();
    failing.add("get");
    await asker(project)("away");
    failing.clear();
    await vi.advanceTimersByTimeAsync(limits.cacheSteadyMs + 1);
    for (let at = 0; at < 10; at++) await asker(project)(at);
    expect(lines).toEqual([away, back]);
    expect(await asker(project)("kept again")).toBe("0");
  });

  test("at every other call does not fill the log", async () => {
    const { project, failing, lines } = open();
    for (let at = 0; at < 20; at++) {
      if (at % 2 === 0) failing.add("stamp");
      else failing.clear();
      await asker(project)(at);
      await vi.advanceTimersByTimeAsync(limits.cacheRestMs + 1);
    }
    expect(lines).toEqual([away]);
  });

  test("that hangs while it keeps an answer holds nobody up", async () => {
    const { project, store } = open();
    store.set = () => new Promise(() => {});
    expect(await asker(project)("first")).toBe('"first"');
    expect(await asker(project)("second")).toBe('"second"');
  });
});

describe("a raise that failed", () => {
  test("is owed: nothing kept is trusted until it is done", async () => {
    const { project, failing, counts } = open();
    await asker(project)("old");
    failing.add("raise");
    await expect(project.wrote([items])).resolves.toBeUndefined();
    expect(await asker(project)("new")).toBe('"new"');
    await vi.advanceTimersByTimeAsync(3 * limits.cacheRestMs);
    expect(counts.raise).toBeGreaterThan(2);
    expect(await asker(project)("newer")).toBe('"newer"');
    failing.clear();
    await vi.advanceTimersByTimeAsync(2 * limits.cacheRestMs);
    expect(await asker(project)("made anew")).toBe('"made anew"');
    expect(await asker(project)("kept")).toBe('"made anew"');
  });

  test("is done by the first question after the rest, before it looks", async () => {
    const { project, failing, counts, cache } = open();
    await asker(project)("old");
    failing.add("raise");
    await project.wrote([items]);
    // No timer helps it.
    cache.close();
    failing.clear();
    vi.advanceTimersByTime(limits.cacheRestMs + 1);
    expect(await asker(project)("new")).toBe('"new"');
    expect(counts.raise).toBe(2);
    expect(await asker(project)("newer")).toBe('"new"');
  });

  test("is not left out because another call failed a moment ago: other instances may reach the store", async () => {
    const { project, failing, counts } = open();
    failing.add("stamp");
    await asker(project)("away");
    await project.wrote([items]);
    expect(counts.raise).toBe(1);
  });

  test("does not forget a write that failed while it was being done again", async () => {
    const { project, failing, hold } = open();
    await asker(project, dependenciesOf([lines]))("old lines");
    await asker(project)("old items");
    failing.add("raise");
    await project.wrote([items]);
    failing.clear();
    const release = hold();
    await vi.advanceTimersByTimeAsync(limits.cacheRestMs + 1);
    failing.add("raise");
    await project.wrote([lines]);
    release();
    await vi.advanceTimersByTimeAsync(0);
    expect(await asker(project, dependenciesOf([lines]))("new lines")).toBe('"new lines"');
    failing.clear();
    await vi.advanceTimersByTimeAsync(2 * limits.cacheRestMs);
    expect(await asker(project, dependenciesOf([lines]))("newer")).toBe('"newer"');
    expect(await asker(project)("new items")).toBe('"new items"');
  });

  test("is told before the end, as soon as the store takes it", async () => {
    const { project, cache, failing, counts } = open();
    failing.add("raise");
    await project.wrote([items]);
    const settled = cache.settle(performance.now() + 10_000);
    await vi.advanceTimersByTimeAsync(3_000);
    failing.clear();
    await vi.advanceTimersByTimeAsync(limits.cacheRestMs);
    expect(await settled).toBe(true);
    const tries = counts.raise;
    expect(await cache.settle(performance.now() + 10_000)).toBe(true);
    expect(counts.raise).toBe(tries);
  });

  test("is said to be owed when it cannot be told in time", async () => {
    const { project, cache, failing } = open();
    failing.add("raise");
    await project.wrote([items]);
    const settled = cache.settle(performance.now() + 2_000);
    await vi.advanceTimersByTimeAsync(2_000 + limits.cacheRestMs);
    expect(await settled).toBe(false);
    cache.close();
  });

  test("leaves no timer behind when the cache is closed", async () => {
    const { project, failing, cache } = open();
    failing.add("raise");
    await project.wrote([items]);
    expect(vi.getTimerCount()).toBe(1);
    cache.close();
    expect(vi.getTimerCount()).toBe(0);
    await project.wrote([items]);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe("a database whose address tells nothing", () => {
  test("keeps nothing, and its writes count for every database", async () => {
    const { cache, forProject, project } = open();
    const unknown = cache.forProject({ database: null, enabled: true, ttlSeconds: 60 });
    const own = asker(unknown);
    expect([await own("first"), await own("second")]).toEqual(['"first"', '"second"']);
    const others = [asker(project), asker(forProject("two"))];
    for (const ask of others)
      expect([await ask("old"), await ask("kept?")]).toEqual(['"old"', '"old"']);
    await unknown.wrote([items]);
    for (const ask of others) expect(await ask("new")).toBe('"new"');
    await unknown.wrote([]);
    for (const ask of others) expect(await ask("newer")).toBe('"new"');
  });
});

describe("two addresses", () => {
  test.each([
    ["postgres://ann:pw@db:5432/shop", "postgresql://bob@DB/shop?sslmode=require"],
    ["mysql://ann@db/shop", "mariadb://bob:p%40w@db:3306/shop?ssl=true"],
    ["sqlite:./data/shop.db", "sqlite:data/../data/shop.db"],
  ])("are those of one database: %s and %s", (one, other) => {
    expect(databaseOf(one)).toBe(databaseOf(other));
  });

  test.each([
    ["postgres://db/shop", "postgres://db/shop2"],
    ["postgres://db/shop", "postgres://db/Shop"],
    ["postgres://db/shop", "postgres://db2/shop"],
    ["postgres://db/shop", "postgres://db:5433/shop"],
    ["postgres://db:3306/shop", "mysql://db:3306/shop"],
    ["sqlite:./data/shop.db", "sqlite:/data/shop.db"],
    ["sqlite:shop.db", "sqlite:Shop.db"],
  ])("are those of two databases: %s and %s", (one, other) => {
    expect(databaseOf(one)).not.toBe(databaseOf(other));
  });
});
