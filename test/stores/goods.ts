/**
 * A table of goods on SQLite, a Redis for the test, and services over both, for tests of the shared cache. Created for
 * each test and removed after it.
 */
import { afterEach, beforeEach, expect } from "vitest";
import { createTables } from "../contract/tables.ts";
import { type FreshDatabase, freshDatabase } from "../servers/database.ts";
import { openSession, type PlainSession } from "../servers/session.ts";
import { type OwnRedis, startRedis } from "./own-redis.ts";
import { openOver, type RunningService } from "./services.ts";

export const goods = {
  tableName: "goods",
  primaryKey: "id",
  action: { create: true, read: true, update: true, lookup: true, datatables: true },
  fieldNameLookup: { id: "id", text: "mark" },
};

export interface Goods {
  /** One per test, before the first service. */
  startRedis(...args: string[]): Promise<OwnRedis>;
  /** A service over the test's database and Redis. `project`: more of project.json. */
  open(endpoint?: object, project?: object): Promise<RunningService>;
  /** Past the services. */
  sql(text: string): Promise<Record<string, unknown>[]>;
  /** Whether the service answers what it kept: a change past it does not show. */
  keeps(service: RunningService): Promise<boolean>;
}

/** Call it once, at the top of a test file. */
export function useGoods(): Goods {
  let database: FreshDatabase;
  let session: PlainSession;
  let redis: OwnRedis | undefined;
  const services: RunningService[] = [];

  beforeEach(async () => {
    database = await freshDatabase("sqlite");
    session = await openSession("sqlite", database.url);
    await fillGoods(session, 0);
  });
  afterEach(async () => {
    await Promise.all(services.splice(0).map((service) => service.close()));
    await session.close();
    await redis?.stop();
    redis = undefined;
    await database.drop();
  });

  return {
    startRedis: async (...args) => (redis = await startRedis(...args)),
    async open(endpoint = goods, project = {}) {
      const service = await openOver({
        projects: { shop: { database: { url: database.url }, ...project } },
        endpoints: { goods: endpoint },
        redisUrl: redis!.url,
      });
      services.push(service);
      return service;
    },
    sql: (text) => session.run(text),
    async keeps(service) {
      const before = await quantities(service);
      await session.run("update goods set qty = -1");
      const after = await quantities(service);
      await session.run(`update goods set qty = ${before[0]}`);
      return after.every((qty) => qty === before[0]);
    },
  };
}

/** The table, with one record. */
export async function fillGoods(session: PlainSession, qty: number): Promise<void> {
  const columns = { id: "key", mark: "text(200)", qty: "integer" } as const;
  for (const text of createTables("sqlite", [{ name: "goods", columns }])) await session.run(text);
  await session.run(`insert into goods values ('1', 'one', ${qty})`);
}

export const read = (service: RunningService) => service.post("shop/goods/read", { limit: 10 });

const lookup = (service: RunningService) =>
  service.post("shop/goods/lookup", { select: ["qty"] }, { "X-Request-Mode": "static" });

/** The quantity of the record, as two kinds of list show it. */
export async function quantities(service: RunningService): Promise<number[]> {
  const answers = await Promise.all([read(service), lookup(service)]);
  return answers.map(({ status, body }) => {
    expect(status, JSON.stringify(body)).toBe(200);
    return body.data[0].qty as number;
  });
}

let written = 0;

/** Writes the next quantity through the service. */
export async function write(service: RunningService): Promise<number> {
  const qty = ++written;
  const { status, body } = await service.post("shop/goods/update", { id: "1", qty });
  expect(status, JSON.stringify(body)).toBe(200);
  return qty;
}

/** What `work` gives, and how long it took. */
export async function timed<Value>(
  work: Promise<Value>,
): Promise<{ value: Value; tookMs: number }> {
  const startedMs = performance.now();
  const value = await work;
  return { value, tookMs: performance.now() - startedMs };
}

export const outOfReach = "The cache is not reachable; lists are read from the database";
export const inReach = "The cache is reachable again";

/** The cache's own lines in the log. */
export const said = ({ lines }: RunningService): string[] =>
  lines.filter((line) => line.includes("The cache"));
