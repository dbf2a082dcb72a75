/** Rate limits that instances share through Redis, and how they work while it is down. */
import { Redis } from "ioredis";
import { afterEach, beforeEach, describe, expect, inject, test, vi } from "vitest";
import { limits } from "../../core/values/limits.ts";
import { createReach } from "../../core/cache/reach.ts";
import type { Counters } from "../../core/plans/counters.ts";
import { createLog } from "../../app/start/observing/log.ts";
import { countersReach, withFallback } from "../../app/stores/fallback-counters.ts";
import { createMemoryCounters } from "../../app/stores/memory-counters.ts";
import { createRedisCounters } from "../../app/stores/redis-counters.ts";
import { type FreshDatabase, freshDatabase } from "../servers/database.ts";
import { openSession } from "../servers/session.ts";
import { fillGoods } from "./goods.ts";
import { type OwnRedis, startRedis } from "./own-redis.ts";
import { openOver, type RunningService } from "./services.ts";

const goods = { tableName: "goods", primaryKey: "id", action: { read: true } };

describe("two services over one Redis", () => {
  let database: FreshDatabase;
  let redis: OwnRedis;
  const services: RunningService[] = [];

  beforeEach(async () => {
    database = await freshDatabase("sqlite");
    const session = await openSession("sqlite", database.url);
    await fillGoods(session, 0);
    await session.close();
    redis = await startRedis();
    for (let opened = 0; opened < 2; opened++) {
      services.push(
        await openOver({
          projects: {
            shop: {
              database: { url: database.url },
              cache: { enabled: false },
              rateLimit: { windowSeconds: 600, max: 3 },
            },
          },
          endpoints: { goods },
          redisUrl: redis.url,
        }),
      );
    }
  });
  afterEach(async () => {
    await Promise.all(services.splice(0).map((service) => service.close()));
    await redis.stop();
    await database.drop();
  });

  const statuses = async (...asked: number[]): Promise<number[]> => {
    const found: number[] = [];
    for (const at of asked)
      found.push((await services[at]!.post("shop/goods/read", { limit: 1 })).status);
    return found;
  };

  test("count together", async () => {
    expect(await statuses(0, 1, 0, 1, 0)).toEqual([200, 200, 200, 429, 429]);
  });

  test("count each by itself while Redis is away, and say so once", async () => {
    await statuses(0, 0, 0);
    await redis.kill();
    expect(await statuses(0, 0, 0, 0, 1, 1)).toEqual([200, 200, 200, 429, 200, 200]);
    const said = services[0]!.lines.filter((line) => line.includes("rate limits"));
    expect(said).toEqual([countersReach.away]);
  });
});

describe("the counters in Redis", () => {
  let client: Redis;
  let counters: Counters;
  beforeEach(() => {
    client = new Redis(inject("serverUrls")!.redis!);
    counters = createRedisCounters(client);
  });
  afterEach(() => client.disconnect());

  const name = (): string => crypto.randomUUID();

  test("count several names at once, and end by themselves", async () => {
    const [one, other] = [name(), name()];
    await counters.count([one], 60_000);
    const found = await counters.count([one, other], 60_000);
    expect(found.map(({ count }) => count)).toEqual([2, 1]);
    for (const { endsInMs } of found) expect(endsInMs).toBeGreaterThan(50_000);
    expect(await client.pttl(`rowgate:rate:${other}`)).toBeGreaterThan(50_000);
  });

  test("begin again after the window", async () => {
    const one = name();
    await counters.count([one], 600_000);
    // As if it were over.
    await client.pexpire(`rowgate:rate:${one}`, 0);
    expect(await counters.count([one], 60_000)).toMatchObject([{ count: 1 }]);
  });

  test("are read without counting", async () => {
    const [one, other] = [name(), name()];
    await counters.count([one], 60_000);
    expect([await counters.read([one, other]), await counters.read([one])]).toEqual([[1, 0], [1]]);
  });

  test("take one call of the server for each request", async () => {
    await counters.count([name()], 60_000);
    const sent = vi.spyOn(client, "sendCommand");
    await counters.count([name(), name()], 60_000);
    expect(sent.mock.calls.map(([command]) => command.name)).toEqual(["evalsha"]);
  });
});

test("a store that failed is left alone for a moment", async () => {
  let asked = 0;
  const failing: Counters = {
    count: async () => {
      asked++;
      throw new Error("away");
    },
    read: async () => [],
  };
  const reach = createReach({ log: createLog("silent"), ...countersReach });
  const { count } = withFallback(failing, { own: createMemoryCounters(), reach });
  const found = [await count(["a"], 1_000), await count(["a"], 1_000)];
  expect([asked, found.flat().map((one) => one.count)]).toEqual([1, [1, 2]]);
  expect(limits.cacheRestMs).toBeGreaterThan(100);
});
