/** What the service refuses in workerd, completely and at once. Only the log has the reason. */
import { describe, expect, test } from "vitest";
import { openEdge, redisUrl } from "./edge-place.ts";
import { endpoints, tables } from "./edge-visits.ts";
import { openForTests } from "../contract/harness.ts";

const { goods } = endpoints;
const withAction = (action: object) => ({ goods: { ...goods, action: { read: true, ...action } } });
const bucket = {
  STORAGE_URL: "s3://files?endpoint=http://127.0.0.1:1",
  AWS_ACCESS_KEY_ID: "key",
  AWS_SECRET_ACCESS_KEY: "secret",
};

const place = openForTests(openEdge, { engine: "postgres", tables, endpoints });

interface Refused {
  readonly bindings?: Readonly<Record<string, unknown>>;
  readonly endpoints?: Readonly<Record<string, object>>;
  readonly project?: object;
}

describe("a configuration is refused in workerd", () => {
  test.each<[why: string, configuration: () => Refused]>([
    ["with SQLite", () => ({ bindings: { SHOP: "sqlite:./shop.db" } })],
    ["with D1", () => ({ bindings: { SHOP: "d1:shop" } })],
    ["with no known database", () => ({ bindings: { SHOP: "oracle://host/shop" } })],
    ["without the variable that it names", () => ({ project: { database: { url: "${NOBODY}" } } })],
    [
      "with MariaDB behind Hyperdrive",
      () => ({ bindings: { SHOP: { connectionString: "mysql://a:b@x.hyperdrive.local:3306/c" } } }),
    ],
    [
      "with TLS and certificates of its own",
      () => ({ bindings: { SHOP: `mysql://a:b@127.0.0.1:3306/c?ssl={"ca":"x"}` } }),
    ],
    ["with lock actions and no Redis", () => ({ endpoints: withAction({ lock: true }) })],
    ["with locking and no Redis", () => ({ project: { locking: { enabled: true } } })],
    [
      "with enforced resource locks and no Redis",
      () => ({ project: { locking: { enforceResourceLocks: true } } }),
    ],
    [
      "with exports and no bucket",
      () => ({ endpoints: withAction({ export: true }), bindings: { REDIS_URL: redisUrl() } }),
    ],
    [
      "with exports and no Redis",
      () => ({ endpoints: withAction({ export: true }), bindings: bucket }),
    ],
    ["with a bad variable", () => ({ bindings: { BODY_LIMIT: "much" } })],
    [
      "with a table that is not there",
      () => ({ endpoints: { goods: { ...goods, tableName: "x" } } }),
    ],
    [
      "with a query that the database refuses to look at",
      () => ({
        endpoints: { goods: { action: { read: true }, viewQuery: "select * from nowhere" } },
      }),
    ],
    [
      "with an address that cannot be read",
      () => ({ bindings: { SHOP: "postgres://127.0.0.1:port/shop" } }),
    ],
  ])("%s", async (_, configuration) => {
    const { bindings, ...more } = configuration();
    const edge = await openEdge({
      engine: "postgres",
      tables,
      endpoints,
      ...more,
      bindings: { LOG_LEVEL: "silent", ...bindings },
    });
    try {
      for (let round = 0; round < 2; round++) {
        const { status, body, headers } = await edge.post("goods/read", { page: 1 });
        expect({ status, body }).toMatchObject({
          status: 503,
          body: {
            success: false,
            error: "Service unavailable",
            message: "The configuration is not valid; see the log",
          },
        });
        expect(headers.get("X-Request-Id")).toBeTruthy();
      }
      expect((await edge.request("/health/ready")).status).toBe(503);
      expect((await edge.request("/health/live")).status).toBe(200);
    } finally {
      await edge.close();
    }
  });

  test("and nothing else is: a project without any of it is served", async () => {
    expect((await place.post("goods/read", { page: 1 })).status).toBe(200);
    expect((await place.request("/health/ready")).body).toMatchObject({
      success: true,
      status: "ready",
    });
  });

  test("until it is mended: a table that was made later is found by the next request", async () => {
    const late = { late: { tableName: "late", action: { read: true } } };
    const edge = await openEdge({
      engine: "postgres",
      tables,
      endpoints: late,
      bindings: { LOG_LEVEL: "silent" },
    });
    expect((await edge.post("late/read", { page: 1 })).status).toBe(503);
    await edge.sql("create table late (id integer primary key)");
    expect((await edge.post("late/read", { page: 1 })).status).toBe(200);
    await edge.close();
  });
});

describe("changes in workerd", () => {
  const live = { goods: { ...goods, action: { read: true, create: true }, live: true } };

  test("are a list, and no stream", async () => {
    const edge = await openEdge({ engine: "postgres", tables, endpoints: live });
    try {
      const { body } = await edge.post("changes", { endpoints: ["goods"] });
      expect(body).toMatchObject({ success: true, data: [] });
      expect((await edge.post("goods/create", { id: "l1", name: "live" })).status).toBe(201);
      const told = await edge.post("changes", { endpoints: ["goods"], since: body.since });
      expect(told.body.data).toMatchObject([{ type: "created", keys: [{ id: "l1" }] }]);
      const stream = await edge.request("/api/test/changes?endpoints=goods");
      expect(stream).toMatchObject({
        status: 405,
        body: { error: "Method not allowed", message: "Use POST for this action" },
      });
      const ticket = await edge.post("changes/ticket", {});
      expect(ticket).toMatchObject({
        status: 404,
        body: { error: "Not found", message: expect.stringContaining("POST changes") },
      });
    } finally {
      await edge.close();
    }
  });
});

describe("a database that does not answer workerd", () => {
  test("is 503 within the time, and live all the same", async () => {
    const edge = await openEdge({
      engine: "postgres",
      tables,
      endpoints,
      bindings: { LOG_LEVEL: "silent", SHOP: "postgres://nobody@127.0.0.1:1/shop" },
    });
    const { status, body } = await edge.post("goods/read", { page: 1 });
    expect({ status, error: body.error }).toEqual({ status: 503, error: "Service unavailable" });
    expect((await edge.request("/health/live")).status).toBe(200);
    await edge.close();
  });

  test("ends a request at its deadline, and the next one is answered", async () => {
    await place.post("goods/create", { id: "held", name: "held" });
    const holding = place.sql(
      "do $$ begin perform * from goods where id = 'held' for update; perform pg_sleep(18); end $$",
    );
    const startMs = performance.now();
    const { status } = await place.post("goods/update", { id: "held", name: "changed" });
    expect(status).toBe(503);
    expect(performance.now() - startMs).toBeLessThan(17_500);
    expect((await place.post("goods/read", { page: 1 })).status).toBe(200);
    await holding;
  });
});
