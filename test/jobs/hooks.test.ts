/**
 * Non-blocking hooks survive the process that queued them: services that are killed or stopped, receivers that are
 * down, two instances, and a Redis that goes down. The services are separate processes.
 */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, inject, test } from "vitest";
import { Redis } from "ioredis";
import { limits } from "../../core/values/limits.ts";
import { type FreshDatabase, freshDatabase } from "../servers/database.ts";
import { startRedis, writtenDown } from "../stores/own-redis.ts";
import { kill, openTown, secret, type Town } from "./hook-places.ts";
import { startDatabase } from "./own-database.ts";

let town: Town;
let jobs: FreshDatabase | undefined;
afterEach(async () => {
  await town?.close();
  await jobs?.drop();
  jobs = undefined;
});

/** The hooks of a dead process are taken over only after its lock has ended. */
const takenOverMs = 25_000;

const places = {
  "in files": async () => ({}),
  "in Redis": async () => ({ REDIS_URL: inject("serverUrls")!.redis! }),
  "in PostgreSQL": async () => {
    jobs = await freshDatabase("postgres");
    return { JOBS_DATABASE_URL: jobs.url };
  },
};

/** Everything that is kept of hooks, as text. */
const kept = {
  "in files": async () => {
    const folder = join(town.filesFolder, "hooks");
    const names = await readdir(folder).catch(() => []);
    return Promise.all(names.map((name) => readFile(join(folder, name), "utf8")));
  },
  "in Redis": async () => {
    const redis = new Redis(inject("serverUrls")!.redis!);
    const keys = await redis.keys(`{rowgate}:${town.queueName}/hooks:*-*`);
    const found = await Promise.all(keys.map((key) => redis.hgetall(key).catch(() => ({}))));
    redis.disconnect();
    return found.map((one) => JSON.stringify(one)).filter((text) => text.includes("told"));
  },
  "in PostgreSQL": null,
};

describe.each(Object.keys(places) as (keyof typeof places)[])("a hook that is kept %s", (place) => {
  // PostgreSQL differs from Redis only in the connection.
  const isFirst = place !== "in PostgreSQL";
  const open = async () => (town = await openTown(await places[place]()));

  test("is called once, with its headers and the body", async () => {
    const { receiver, change, start } = await open();
    const path = await change(await start());
    const [call] = await receiver.hears(path);
    expect(call!.headers).toMatchObject({
      authorization: secret,
      "content-type": "application/json",
      "idempotency-key": expect.stringMatching(/^[0-9a-f-]{36}$/),
      "x-hook-depth": "1",
      "x-request-id": expect.any(String),
    });
    expect(JSON.parse(call!.body)).toEqual({ id: path.slice(6), note: "n" });
    await sleep(2_500);
    expect(receiver.heard).toHaveLength(1);
  });

  test("may lead back into the service", async () => {
    const { change, start } = await open();
    const service = await start();
    const id = (await change(service, "own")).slice(6);
    const note = async () => {
      const { body } = await service.post("items/first", { where: [{ key: "id", value: id }] });
      return (body["data"] as { note: string }).note;
    };
    await expect.poll(note, { timeout: 8_000 }).toBe("by a hook");
  });

  test.runIf(isFirst)(
    "is called by the next process when its service is killed before the call",
    { timeout: 60_000 },
    async () => {
      const { receiver, change, start } = await open();
      await receiver.leave();
      const service = await start();
      const path = await change(service);
      await kill(service);
      await receiver.comeBack();
      await start();
      const [call] = await receiver.hears(path, 1, takenOverMs);
      expect(call!.headers.authorization).toBe(secret);
    },
  );

  test(
    "is called again, with the same key, when its service is killed during the call",
    { timeout: 60_000 },
    async () => {
      const { receiver, change, start } = await open();
      receiver.answers(null);
      const service = await start();
      const path = await change(service);
      await receiver.hears(path);
      await kill(service);
      receiver.answers(200);
      await start();
      const calls = await receiver.hears(path, 2, takenOverMs);
      expect(new Set(calls.map(({ headers }) => headers["idempotency-key"])).size).toBe(1);
      await sleep(2_500);
      expect(receiver.heard).toHaveLength(2);
    },
  );

  test.runIf(isFirst)(
    "is called by the next process when its service was stopped during the call",
    { timeout: 60_000 },
    async () => {
      const { receiver, change, start } = await open();
      receiver.answers(null);
      const service = await start();
      const path = await change(service);
      await receiver.hears(path);
      const exited = new Promise((resolve) => service.process.once("exit", resolve));
      const beganMs = performance.now();
      service.process.kill("SIGTERM");
      expect(await exited).toBe(0);
      expect(performance.now() - beganMs).toBeLessThan(10_000);
      receiver.answers(200);
      await start();
      await receiver.hears(path, 2, takenOverMs);
    },
  );

  test("is called when its receiver is back, again and again until then", async () => {
    const { receiver, change, start } = await open();
    const service = await start();
    receiver.answers(503);
    const path = await change(service);
    await receiver.hears(path, 2);
    await receiver.leave();
    await sleep(1_500);
    receiver.answers(200);
    await receiver.comeBack();
    const calls = await receiver.hears(path, 3, 15_000);
    expect(new Set(calls.map(({ headers }) => headers["idempotency-key"])).size).toBe(1);
  });

  test.runIf(isFirst)("is given up when the receiver's answer is its last word", async () => {
    const { receiver, change, start } = await open();
    const service = await start();
    receiver.answers(404);
    const path = await change(service);
    await receiver.hears(path);
    await sleep(2_500);
    expect(receiver.heard).toHaveLength(1);
  });

  test.runIf(kept[place])("is kept without the headers of the configuration", async () => {
    const { receiver, change, start } = await open();
    await receiver.leave();
    await change(await start());
    const texts = await kept[place]!();
    expect(texts).toHaveLength(1);
    expect(texts[0]).toContain("/told/");
    expect(texts[0]).not.toContain("3f9c");
  });
});

test("two instances over one Redis call each hook once", { timeout: 30_000 }, async () => {
  town = await openTown(await places["in Redis"]());
  const { receiver, change, start } = town;
  const services = await Promise.all([start(), start()]);
  const changes = Array.from({ length: 60 }, (_, at) => change(services[at % 2]!));
  const paths = await Promise.all(changes);
  await Promise.all(paths.map((path) => receiver.hears(path)));
  await sleep(1_000);
  expect(receiver.heard).toHaveLength(60);
});

/** A Redis that has just started grants no locks, and change-status needs one. */
const settledMs = limits.lockSettleMs + 2_000;
/** Bounds what is waited for beyond the hook that is waited for. */
const soonMs = 8_000;

describe("the queue's server", () => {
  let stop: (() => Promise<void>) | undefined;
  afterEach(async () => {
    await town?.close();
    await stop?.();
    stop = undefined;
  });

  // change-status needs a lock from Redis, so Redis goes down later.
  test.each([
    ["is killed", "kill"],
    ["falls silent", "pause"],
  ] as const)(
    "that %s before a hook is kept holds up neither answer nor hook: Redis",
    async (_, how) => {
      const redis = await startRedis();
      stop = redis.stop;
      town = await openTown({ REDIS_URL: redis.url });
      const { receiver, change, start } = town;
      const service = await start();
      await sleep(settledMs);
      const changing = change(service, "slow");
      await expect.poll(() => receiver.heard.length, { timeout: soonMs }).toBe(1);
      await redis[how]();
      const beganMs = performance.now();
      const path = await changing;
      expect(performance.now() - beganMs).toBeLessThan(soonMs);
      const [call] = await receiver.hears(path);
      expect(call!.headers.authorization).toBe(secret);
    },
  );

  test("that crashes holds up neither answer nor hook: PostgreSQL", async () => {
    const database = await startDatabase("postgres");
    stop = database.stop;
    town = await openTown({ JOBS_DATABASE_URL: database.url });
    const { receiver, change, start } = town;
    const service = await start();
    await receiver.hears(await change(service));
    await database.crash();
    const beganMs = performance.now();
    const path = await change(service);
    expect(performance.now() - beganMs).toBeLessThan(soonMs);
    await receiver.hears(path);
  });

  test("that comes after the service gets its hooks", { timeout: 60_000 }, async () => {
    const redis = await startRedis();
    stop = redis.stop;
    await redis.kill();
    town = await openTown({ REDIS_URL: redis.url });
    const { receiver, change, start } = town;
    const service = await start();
    await redis.start();
    await sleep(settledMs);
    receiver.answers(503);
    const path = await change(service);
    await receiver.hears(path);
    await kill(service);
    receiver.answers(200);
    await start();
    await receiver.hears(path, 2, takenOverMs);
  });

  test(
    "that was killed and came back goes on giving hooks to call",
    { timeout: 60_000 },
    async () => {
      const redis = await startRedis(...writtenDown);
      stop = redis.stop;
      town = await openTown({ REDIS_URL: redis.url });
      const { receiver, change, start } = town;
      const service = await start();
      await sleep(settledMs);
      receiver.answers(503);
      const path = await change(service);
      await receiver.hears(path);
      await redis.kill();
      await sleep(1_000);
      await redis.start();
      await sleep(settledMs);
      receiver.answers(200);
      await receiver.hears(await change(service), 1, takenOverMs);
      await receiver.hears(path, 2, takenOverMs);
    },
  );
});
