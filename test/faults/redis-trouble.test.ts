/**
 * Faults of every kind in the Redis that two services share: requests stay fast, the log stays short, and no list shows
 * data from before a write.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { limits } from "../../core/values/limits.ts";
import { inReach, outOfReach, quantities, said, timed, useGoods, write } from "../stores/goods.ts";
import { writtenDown } from "../stores/own-redis.ts";

const shop = useGoods();

async function until(condition: () => Promise<boolean>, timeoutMs: number): Promise<void> {
  const endMs = performance.now() + timeoutMs;
  while (!(await condition())) {
    expect(performance.now(), "in time").toBeLessThan(endMs);
    await sleep(50);
  }
}

describe("a Redis in trouble", () => {
  test("that is killed leaves reads and writes quick and right, with one line in the log", async () => {
    const redis = await shop.startRedis();
    const both = [await shop.open(), await shop.open()];
    for (const service of both) expect(await shop.keeps(service)).toBe(true);
    await redis.kill();
    for (let round = 0; round < 20; round++) {
      const { value: qty, tookMs } = await timed(write(both[round % 2]!));
      expect(tookMs).toBeLessThan(1_000);
      for (const service of both) {
        const asked = await timed(quantities(service));
        expect(asked.value).toEqual([qty, qty]);
        expect(asked.tookMs).toBeLessThan(1_000);
      }
    }
    expect(both.map(said)).toEqual([[outOfReach], [outOfReach]]);
  });

  test("that comes back with what it had gives nothing from before, and is used again", async () => {
    const redis = await shop.startRedis(...writtenDown);
    const both = [await shop.open(), await shop.open()];
    const rounds = 2;
    for (let round = 0; round < rounds; round++) {
      for (const service of both) await quantities(service);
      await redis.kill();
      let qty = await write(both[round % 2]!);
      const starting = redis.start();
      const endMs = performance.now() + 2_000;
      while (performance.now() < endMs) {
        for (const service of both) expect(await quantities(service)).toEqual([qty, qty]);
        if (Math.random() < 0.05) qty = await write(both[round % 2]!);
      }
      await starting;
      expect(await redis.client.keys("svc:*"), "what was written down").not.toEqual([]);
      for (const service of both) await until(() => shop.keeps(service), 10_000);
    }
    await sleep(limits.cacheSteadyMs);
    for (const service of both) {
      await quantities(service);
      // Two short outages can be logged as one.
      const lines = said(service);
      expect(lines.length).toBeLessThanOrEqual(2 * rounds);
      expect(lines).toEqual(lines.map((_, at) => (at % 2 === 0 ? outOfReach : inReach)));
      expect(lines.at(-1)).toBe(inReach);
    }
  }, 60_000);

  test("that is away at the start is used when it comes", async () => {
    const redis = await shop.startRedis();
    await redis.kill();
    const { value: service, tookMs } = await timed(shop.open());
    expect(tookMs).toBeLessThan(3_000);
    expect(await quantities(service)).toEqual([0, 0]);
    await redis.start();
    await until(() => shop.keeps(service), 10_000);
  });

  test("that stops for three seconds delays each request by less than 1.5 s", async () => {
    const redis = await shop.startRedis();
    const both = [await shop.open(), await shop.open()];
    let qty = await write(both[0]!);
    for (const service of both) await quantities(service);
    redis.pause();
    const resumed = sleep(3_000).then(() => redis.goOn());
    const endMs = performance.now() + 5_000;
    let slowestMs = 0;
    for (let round = 0; performance.now() < endMs; round++) {
      if (round % 10 === 0) {
        const { value, tookMs } = await timed(write(both[round % 2]!));
        qty = value;
        slowestMs = Math.max(slowestMs, tookMs);
      }
      for (const service of both) {
        const { value, tookMs } = await timed(quantities(service));
        expect(value).toEqual([qty, qty]);
        slowestMs = Math.max(slowestMs, tookMs);
      }
    }
    await resumed;
    expect(slowestMs).toBeLessThan(1_500);
    for (const service of both) await until(() => shop.keeps(service), 10_000);
    for (const service of both) expect(said(service)[0]).toBe(outOfReach);
    for (const service of both) expect(said(service).length).toBeLessThanOrEqual(2);
  }, 30_000);

  test("that goes on after a pause gives the other service nothing from before a write of the pause", async () => {
    const redis = await shop.startRedis();
    const [writer, reader] = [await shop.open(), await shop.open()];
    for (let round = 0; round < 3; round++) {
      await write(writer);
      for (const service of [writer, reader]) await until(() => shop.keeps(service), 10_000);
      redis.pause();
      // The server will serve the connections in the order in which they spoke up: the reader's first.
      const early = quantities(reader);
      await sleep(20);
      const qty = await write(writer);
      await early;
      await sleep(limits.cacheRestMs + 20);
      const asked = quantities(reader);
      await sleep(20);
      redis.goOn();
      expect(await asked, `round ${round}`).toEqual([qty, qty]);
      expect(await quantities(reader)).toEqual([qty, qty]);
    }
  }, 60_000);

  test("that refuses to store anything from the start leaves the database, with one line", async () => {
    await shop.startRedis("--maxmemory", "1mb", "--maxmemory-policy", "noeviction");
    const both = [await shop.open(), await shop.open()];
    const endMs = performance.now() + 3_500;
    while (performance.now() < endMs) {
      const qty = await write(both[Math.floor(Math.random() * 2)]!);
      for (const service of both) expect(await quantities(service)).toEqual([qty, qty]);
      await sleep(20);
    }
    for (const service of both) expect(said(service)).toEqual([outOfReach]);
  });

  test("that is full all at once still hears of writes", async () => {
    const redis = await shop.startRedis("--maxmemory-policy", "noeviction");
    const both = [await shop.open(), await shop.open()];
    const rounds = 4;
    for (let round = 0; round < rounds; round++) {
      await write(both[0]!);
      for (const service of both) expect(await shop.keeps(service)).toBe(true);
      await redis.client.config("SET", "maxmemory", "1");
      for (let at = 0; at < 5; at++) {
        const qty = await write(both[at % 2]!);
        for (const service of both) expect(await quantities(service)).toEqual([qty, qty]);
      }
      await redis.client.config("SET", "maxmemory", "0");
      for (const service of both) await until(() => shop.keeps(service), 10_000);
    }
    for (const service of both) expect(said(service).length).toBeLessThanOrEqual(2 * rounds);
  }, 30_000);

  test("that loses its connections in the middle of everything never gives an older answer", async () => {
    const redis = await shop.startRedis();
    const both = [await shop.open(), await shop.open()];
    const endMs = performance.now() + 4_000;
    while (performance.now() < endMs) {
      const service = both[Math.floor(Math.random() * 2)]!;
      const killing =
        Math.random() < 0.1
          ? redis.client.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
          : null;
      const qty = await write(service);
      for (const each of both) expect(await quantities(each)).toEqual([qty, qty]);
      await killing;
    }
    for (const service of both) await until(() => shop.keeps(service), 10_000);
  }, 30_000);
});
