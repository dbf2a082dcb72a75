/** What the cache expects of a store, tested on each one, and the limit of the one in memory. */
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { openStores } from "../../app/stores/open-stores.ts";
import type { Stores } from "../../app/stores/stores.ts";
import { createMemoryCache } from "../../app/stores/memory-cache.ts";
import { underOneParent } from "./under-one-parent.ts";
import type { CacheStore } from "../../core/cache/cache-store.ts";

/** Names unique to this run, because the server is shared. */
const name = (text: string) => `test-${run}-${text}`;
const run = crypto.randomUUID();

describe.each(["memory", "a parent", "Redis"])("the store in %s", (kind) => {
  let stores: Stores;
  let store: CacheStore;
  beforeAll(async () => {
    const redisUrl = kind === "Redis" ? (inject("serverUrls")?.redis ?? null) : null;
    stores = kind === "a parent" ? underOneParent()[0] : await openStores(redisUrl);
    store = stores.cache;
    expect(stores.ping === null).toBe(kind !== "Redis");
  });
  afterAll(() => stores.close());

  test("gives the same stamp until one of the names is raised", async () => {
    const names = [name("a"), name("b")];
    const first = await store.stamp(names);
    expect(await store.stamp(names)).toBe(first);
    await store.raise([name("c")]);
    expect(await store.stamp(names)).toBe(first);
    await store.raise([name("b")]);
    expect(await store.stamp(names)).not.toBe(first);
  });

  test("gives no stamp twice, and no two questions at once different ones", async () => {
    const seen = new Set<string>();
    for (let round = 0; round < 50; round++) {
      const stamps = await Promise.all([1, 2, 3].map(() => store.stamp([name("d"), name("e")])));
      expect(new Set(stamps).size).toBe(1);
      seen.add(stamps[0]!);
      await store.raise(round % 2 === 0 ? [name("d")] : [name("d"), name("e")]);
    }
    expect(seen.size).toBe(50);
  });

  test("gives stamps without a line break, of one name and of many", async () => {
    const many = Array.from({ length: 60 }, (_, at) => name(`many-${at}`));
    for (const names of [[name("f")], many]) expect(await store.stamp(names)).not.toMatch(/\n/);
  });

  test.each([
    "",
    "null",
    "1e3",
    '{"a":1}',
    "base64:AAAA",
    "\u2028 ’ 𝄞 \n\t",
    "x".repeat(1_000_000),
  ])("gives back the text as it was kept: %.20j", async (text) => {
    await store.set(`svc:${name("t")}:list:1`, text, 10);
    expect(await store.get(`svc:${name("t")}:list:1`)).toBe(text);
    expect(await store.get(`svc:${name("t")}:list:2`)).toBeNull();
  });

  test("forgets a text when its time is over", async () => {
    await store.set(name("short"), "soon gone", 1);
    expect(await store.get(name("short"))).toBe("soon gone");
    await sleep(1_050);
    expect(await store.get(name("short"))).toBeNull();
  });
});

test("the store in memory keeps what was used last, within its bytes", async () => {
  const store = createMemoryCache(100_000);
  const text = "x".repeat(4_000);
  for (let at = 0; at < 50; at++) {
    await store.set(`key:${at}`, text, 60);
    expect(await store.get("key:0"), "used all the time").toBe(text);
  }
  const kept = await Promise.all(Array.from({ length: 50 }, (_, at) => store.get(`key:${at}`)));
  const count = kept.filter((one) => one !== null).length;
  // Two bytes for each character, and what is around it.
  expect(count).toBe(Math.floor(100_000 / (2 * 4_000 + 300)));
  expect(kept.at(-1)).toBe(text);
});

test("the store in memory does not throw out the rest for a text that is too long", async () => {
  const store = createMemoryCache(100_000);
  await store.set("small", "kept", 60);
  await store.set("large", "x".repeat(100_000), 60);
  expect(await store.get("large")).toBeNull();
  expect(await store.get("small")).toBe("kept");
});
