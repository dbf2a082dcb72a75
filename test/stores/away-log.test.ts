/** A Redis that goes down while the service runs is logged once, however many requests need it. */
import { pino } from "pino";
import { expect, test } from "vitest";
import { openFixture, openForTests } from "../contract/harness.ts";
import { startRedis } from "./own-redis.ts";

const lines: { level: number; msg: string }[] = [];
const redis = openForTests(startRedis);
const place = openForTests(() =>
  openFixture({
    engine: "sqlite",
    tables: [{ name: "goods", columns: { id: "key", mark: "text(20)" } }],
    setUp: () => ["insert into goods values ('a', 'A')"],
    endpoints: { goods: { tableName: "goods", action: { read: true, update: true, lock: true } } },
    env: { REDIS_URL: redis.url },
    log: pino({ level: "info" }, { write: (line: string) => void lines.push(JSON.parse(line)) }),
  }),
);

const acquire = () => place.post("goods/lock/acquire", { lock_keys: [{ key: "id", value: "a" }] });
const read = () => place.post("goods/read", { limit: 1 });
const troubles = () => lines.filter(({ level }) => level >= 40).map(({ msg }) => msg);

test("is logged once for each part that needs it, and when it is back", async () => {
  expect((await read()).status).toBe(200);
  lines.length = 0;
  await redis.kill();
  for (let tries = 0; tries < 5; tries++) {
    expect((await acquire()).status).toBe(503);
    expect((await read()).status).toBe(200);
  }
  expect(troubles().toSorted()).toEqual([
    "The cache is not reachable; lists are read from the database",
    "The lock store is not reachable, so no lock can be granted; try again later",
  ]);

  lines.length = 0;
  await redis.start();
  const back = () => lines.filter(({ msg }) => msg === "The cache is reachable again").length;
  await expect.poll(async () => (await read(), back()), { timeout: 20_000, interval: 200 }).toBe(1);
  expect(troubles()).toEqual([]);
});
