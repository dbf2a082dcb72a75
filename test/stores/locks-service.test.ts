/**
 * Locks in Redis shared by several services: a lock of one stops the writes of the other, and no fault of the server
 * lets two in at once. These run on SQLite, because the engine makes no difference.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { limits } from "../../core/values/limits.ts";
import type { Answer } from "../contract/harness.ts";
import { createTables } from "../contract/tables.ts";
import { type FreshDatabase, freshDatabase } from "../servers/database.ts";
import { openSession, type PlainSession } from "../servers/session.ts";
import { type OwnRedis, startRedis, writtenDown } from "./own-redis.ts";
import { openOver, type RunningService } from "./services.ts";
import { settleLocks } from "./settle.ts";

let database: FreshDatabase;
let session: PlainSession;
let redis: OwnRedis;
const services: RunningService[] = [];

beforeEach(async () => {
  database = await freshDatabase("sqlite");
  session = await openSession("sqlite", database.url);
  const columns = { id: "key", mark: "text(200)", qty: "integer" } as const;
  for (const text of createTables("sqlite", [{ name: "goods", columns }])) await session.run(text);
  await session.run("insert into goods values ('1', 'one', 0), ('2', 'two', 0)");
});
afterEach(async () => {
  await Promise.all(services.splice(0).map((service) => service.close()));
  await session.close();
  await redis.stop();
  await database.drop();
});

const goods = {
  tableName: "goods",
  primaryKey: "id",
  action: {
    create: true,
    read: true,
    first: true,
    update: true,
    delete: true,
    adjust: true,
    lock: true,
    "change-status": true,
  },
  workflow: { statusField: "mark" },
  adjustConfig: { fields: { qty: { type: "integer" } } },
};

async function open(locking: object): Promise<RunningService> {
  const service = await openOver({
    projects: { shop: { database: { url: database.url }, locking } },
    endpoints: { goods },
    redisUrl: redis.url,
  });
  services.push(service);
  return service;
}

async function startSettled(...args: string[]): Promise<void> {
  redis = await startRedis(...args);
  await settleLocks(redis, "shop");
}

const keys = [{ key: "id", value: "1" }];
const acquire = (service: RunningService, more: object = {}) =>
  service.post("shop/goods/lock/acquire", { lock_keys: keys, ttl: 60, owner: "anna", ...more });
const update = (service: RunningService, token?: string) =>
  service.post(
    "shop/goods/update",
    { id: "1", mark: "new" },
    token === undefined ? {} : { "X-Lock-Token": token },
  );
const adjust = (service: RunningService) =>
  service.post("shop/goods/adjust", { id: "1", adjustments: [{ field: "qty", value: 1 }] });
const changeStatus = (service: RunningService, status: string) =>
  service.post("shop/goods/change-status", { id: "1", status });
const remove = (service: RunningService) => service.post("shop/goods/delete", { where: keys });
const named = ({ status, body }: Answer) => `${status} ${body.error ?? "fine"}`;

/** How the answer is named, and that it came within a second. */
async function quickly(asked: () => Promise<Answer>): Promise<string> {
  const startedMs = performance.now();
  const answer = await asked();
  expect(performance.now() - startedMs).toBeLessThan(1_000);
  return named(answer);
}

describe("two services with one Redis", () => {
  test("respect each other's locks, also through a restart of the server", async () => {
    await startSettled();
    const enforced = { enforceResourceLocks: true };
    const [left, right] = [await open(enforced), await open(enforced)];
    const { lock_token: token, fence } = (await acquire(left)).body.data;
    expect(named(await acquire(right))).toBe("409 Lock conflict");
    expect(named(await update(right))).toBe("409 Lock conflict");
    expect(named(await update(right, token))).toBe("200 fine");

    await redis.kill();
    await redis.start();
    const restartedMs = performance.now();
    // While locks can be missing, none is granted. Requests that need no lock still succeed.
    await sleep(1_500);
    expect(named(await acquire(right))).toBe("503 Service unavailable");
    expect(named(await update(right))).toBe("503 Service unavailable");
    expect((await right.post("shop/goods/read", { limit: 5 })).status).toBe(200);
    expect((await right.post("shop/goods/create", { id: "3", mark: "three" })).status).toBe(201);
    while (named(await acquire(right)).startsWith("503")) {
      expect(performance.now() - restartedMs).toBeLessThan(8_000);
      await sleep(100);
    }
    expect((await acquire(right)).body).toMatchObject({
      error: "Lock conflict",
      data: { locked_by: "anna" },
    });
    expect(named(await update(right, token))).toBe("200 fine");
    const released = await right.post("shop/goods/lock/release", {
      lock_keys: keys,
      lock_token: token,
    });
    expect(released.body.data).toEqual({ released_keys: 1, total_keys: 1 });
    expect((await acquire(right)).body.data.fence).toBeGreaterThan(fence);
    expect(named(await update(left, token))).toBe("409 Lock conflict");
  });

  test("take turns on one record, whichever of them is asked", async () => {
    await startSettled();
    const patient = { enabled: true, retries: 100, retryDelayMs: 10 };
    const both = [await open(patient), await open(patient)];
    const answers = await Promise.all(Array.from({ length: 20 }, (_, at) => adjust(both[at % 2]!)));
    expect(answers.map(named)).toEqual(answers.map(() => "200 fine"));
    expect(await redis.client.keys("rowgate:locks:*held*")).toEqual([]);
    expect(await session.run("select qty from goods where id = '1'")).toMatchObject([{ qty: 20 }]);
  });
});

describe("a Redis that has just started", () => {
  const everything = { enabled: true, enforceResourceLocks: true };

  test("with the whole installation makes the first requests wait, and refuses none", async () => {
    redis = await startRedis();
    const services = [await open(everything), await open(everything)];
    const answers = await Promise.all(
      services.flatMap((service) => [
        acquire(service, { lock_keys: [{ key: "id", value: "2" }], owner: crypto.randomUUID() }),
        adjust(service),
        adjust(service),
      ]),
    );
    expect(answers.map(named).sort()).toEqual([
      "200 fine",
      "200 fine",
      "200 fine",
      "200 fine",
      "200 fine",
      "409 Lock conflict",
    ]);
  });

  test("again, after it was in use, refuses with 503 what needs a lock", async () => {
    await startSettled();
    const service = await open(everything);
    expect(named(await adjust(service))).toBe("200 fine");
    await redis.kill();
    await redis.start();
    await expect.poll(() => redis.client.status).toBe("ready");
    await expect
      .poll(async () => (await adjust(service)).body.message)
      .toBe("The lock server has just started; locks are granted again in a few seconds");
    expect(named(await adjust(service))).toBe("503 Service unavailable");
    expect(named(await acquire(service))).toBe("503 Service unavailable");
  });
});

describe("a Redis that is away", () => {
  const everything = { enabled: true, enforceResourceLocks: true };
  const refused = "500 Internal server error";

  test("refuses every lock and every write that needs one within a second, and nothing else", async () => {
    await startSettled();
    const service = await open(everything);
    expect(named(await acquire(service, { lock_keys: [{ key: "id", value: "2" }] }))).toBe(
      "200 fine",
    );
    await redis.kill();
    const body = { lock_keys: keys, lock_token: "t" };
    expect(await quickly(() => acquire(service))).toBe("503 Service unavailable");
    expect(await quickly(() => service.post("shop/goods/lock/release", body))).toBe(
      "503 Service unavailable",
    );
    expect(await quickly(() => service.post("shop/goods/lock/status", body))).toBe(
      "503 Service unavailable",
    );
    expect(await quickly(() => update(service))).toBe(refused);
    expect(await quickly(() => adjust(service))).toBe(refused);
    expect(await quickly(() => remove(service))).toBe(refused);
    expect((await update(service)).body.message).toMatch(/lock/);
    expect(await quickly(() => service.post("shop/goods/first", { where: keys }))).toBe("200 fine");
    expect(await quickly(() => service.post("shop/goods/create", { id: "9" }))).toBe("201 fine");
    expect(await session.run("select mark, qty from goods where id = '1'")).toEqual([
      { mark: "one", qty: expect.anything() },
    ]);
  });

  test.each([
    ["no locking is configured", {}, "200 fine"],
    ["record locks are", { enabled: true }, "503 Service unavailable"],
    ["resource locks are", { enforceResourceLocks: true }, "503 Service unavailable"],
  ])("and change-status where %s", async (_, locking, expected) => {
    await startSettled();
    const service = await open(locking);
    expect(named(await changeStatus(service, "two"))).toBe("200 fine");
    await redis.kill();
    expect(await quickly(() => changeStatus(service, "three"))).toBe(expected);
  });

  test("that does not answer refuses within a second too, and leaves no lock behind", async () => {
    await startSettled(...writtenDown);
    const service = await open(everything);
    expect(named(await update(service))).toBe("200 fine");
    redis.pause();
    expect(await quickly(() => update(service))).toBe(refused);
    expect(await quickly(() => acquire(service))).toBe("503 Service unavailable");
    redis.goOn();
    await sleep(300);
    expect(await redis.client.keys("rowgate:locks:*held*")).toEqual([]);
    expect(named(await update(service))).toBe("200 fine");
  });

  test("at the start refuses locks until it comes", async () => {
    await startSettled();
    await redis.kill();
    const service = await open(everything);
    expect(named(await acquire(service))).toBe("503 Service unavailable");
    await redis.start();
    const startedMs = performance.now();
    while (named(await acquire(service)) !== "200 fine") {
      expect(performance.now() - startedMs).toBeLessThan(10_000);
      await sleep(100);
    }
    expect(performance.now() - startedMs).toBeGreaterThan(limits.lockSettleMs - 1_500);
  });
});
