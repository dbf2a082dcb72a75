/** The service in workerd, on PostgreSQL and MariaDB: the same answers as on Node, and the documented differences. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openEdge, type EdgePlace, redisUrl } from "./edge-place.ts";
import { endpoints, tables, visits } from "./edge-visits.ts";

const engines = ["postgres", "mysql"] as const;

/** Lookup requires it for POST; the other actions ignore it. */
const inForms = { "X-Request-Mode": "static" };

describe.each(engines)("the service in workerd over %s", (engine) => {
  let edge: EdgePlace;
  beforeAll(async () => {
    edge = await openEdge({ engine, tables, endpoints });
  });
  afterAll(() => edge?.close());

  test("gives the answers that Node gives, to every action", async () => {
    const other = await openEdge({ engine, tables, endpoints });
    const node = await other.onNode();
    try {
      for (const [path, body, status] of visits) {
        const [answer, expected] = [
          await edge.post(path, body, inForms),
          await node.post(path, body, inForms),
        ];
        const text = withoutChance(answer.body);
        expect(answer.status, `${path} ${text}`).toBe(status);
        expect(text, path).toBe(withoutChance(expected.body));
      }
    } finally {
      await node.close();
      await other.close();
    }
  });

  test("says what runs there, and where its document is in place of /docs", async () => {
    const { body } = await edge.request("/");
    expect(body.projects.map(({ name }: { name: string }) => name)).toEqual(["test"]);
    expect(body.links).toEqual({ openapi: "/openapi.json", ready: "/health/ready" });
    const docs = await edge.fetch("/docs");
    expect([docs.status, docs.headers.get("Content-Type")]).toEqual([
      404,
      "text/html; charset=utf-8",
    ]);
    expect(await docs.text()).toContain('href="openapi.json"');
    const { message } = (await edge.request("/api/tset/goods/read", { method: "POST" })).body;
    expect(message).toBe('Unknown project "tset"; did you mean "test"?');
  });

  test("answers request after request, and forty at once", async () => {
    const read = () => edge.post("goods/read", { page: 1, count: "exact" });
    for (let round = 0; round < 10; round++) expect((await read()).status).toBe(200);
    const codes = Array.from({ length: 40 }, (_, at) => `code-${at}`);
    const answers = await Promise.all(
      codes.map((code) => edge.post("goods/create", { id: code, name: code, stock: 1 })),
    );
    expect(answers.map(({ status }) => status)).toEqual(codes.map(() => 201));
    const changed = await Promise.all(
      codes.map(() =>
        edge.post("goods/adjust", { id: "code-0", adjustments: [{ field: "stock", value: 1 }] }),
      ),
    );
    expect(changed.map(({ status }) => status)).toEqual(codes.map(() => 200));
    const { body } = await edge.post("goods/first", { where: { key: "id", value: "code-0" } });
    expect(body.data.stock).toBe(41);
  });

  test("describes itself as on Node, also when it is asked twice at once", async () => {
    const node = await edge.onNode();
    for (const path of ["/openapi.json", "/api/test/openapi.json"]) {
      const expected = await node.request(path);
      const answers = await Promise.all([edge.request(path), edge.request(path)]);
      for (const { status, headers, body } of answers) {
        expect({ status, etag: headers.get("etag") }).toEqual({
          status: 200,
          etag: expected.headers.get("etag"),
        });
        expect(body).toEqual(expected.body);
      }
    }
    await node.close();
  });

  test("leaves no connection behind", async () => {
    for (let round = 0; round < 5; round++) await edge.post("goods/read", { page: 1 });
    await expect.poll(() => connections(edge, engine), { timeout: 5_000 }).toBe(0);
  });

  test("compiles its configuration in each of the requests that come at once to a cold isolate", async () => {
    const cold = await openEdge({ engine, tables, endpoints });
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => cold.post("goods/read", { page: 1 })),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    await cold.close();
  });

  test("changes a status for one of many who ask at once, without Redis", async () => {
    await edge.post("orders/create", { id: "o-race", status: "draft" });
    const answers = await Promise.all(
      Array.from({ length: 10 }, () =>
        edge.post("orders/change-status", { id: "o-race", status: "posted" }),
      ),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    // The others come while it is being changed, or after it.
    expect(statuses.filter((status) => ![200, 409, 422].includes(status))).toEqual([]);
  });

  test("gives a repeated request with an Idempotency-Key the answer of the first", async () => {
    const create = () =>
      edge.post("goods/create", { name: "once" }, { "Idempotency-Key": "edge-key" });
    const [first, again] = [await create(), await create()];
    expect([first.status, again.status]).toEqual([201, 201]);
    expect(again.body.data.id).toBe(first.body.data.id);
  });
});

describe("a write in workerd", () => {
  test.each([
    ["by the address that others know", (url: string) => url],
    ["by Hyperdrive's address, which they do not", (url: string) => ({ connectionString: url })],
  ])("is seen by the lists that Node keeps in Redis: %s", async (_, binding) => {
    const REDIS_URL = redisUrl();
    const place = await openEdge({ engine: "postgres", tables, endpoints });
    const edge = await openEdge({
      engine: "postgres",
      tables,
      endpoints,
      bindings: { REDIS_URL, SHOP: binding(place.url) },
    });
    const node = await place.onNode({ REDIS_URL });
    const total = async () =>
      (await node.post("goods/read", { page: 1 })).body.pagination.total_records;
    try {
      for (let round = 0; round < 5; round++) {
        expect(await total()).toBe(round);
        expect(await total()).toBe(round);
        const answer = await edge.post("goods/create", { name: `at the edge ${round}` });
        expect(answer.status).toBe(201);
      }
      expect(await total()).toBe(5);
    } finally {
      await node.close();
      await edge.close();
      await place.close();
    }
  });
});

describe("locks in workerd, with Redis", () => {
  let edge: EdgePlace;
  beforeAll(async () => {
    edge = await openEdge({
      engine: "postgres",
      tables,
      endpoints: {
        goods: { ...endpoints.goods, action: { ...endpoints.goods.action, lock: true } },
      },
      project: { locking: { enabled: true, enforceResourceLocks: true } },
      bindings: { REDIS_URL: redisUrl() },
    });
  });
  afterAll(() => edge?.close());

  test("hold for other instances of the service, and end when they are given back", async () => {
    const node = await edge.onNode({ REDIS_URL: redisUrl() });
    await edge.post("goods/create", { id: "locked", name: "locked" });
    const lock_keys = [{ key: "id", value: "locked" }];
    const { status, body } = await edge.post("goods/lock/acquire", { lock_keys, owner: "ann" });
    expect(status, JSON.stringify(body)).toBe(200);
    const change = { id: "locked", name: "changed" };
    expect((await node.post("goods/update", change)).status).toBe(409);
    expect((await edge.post("goods/update", change)).status).toBe(409);
    const seen = await node.post("goods/lock/status", { lock_keys });
    expect(seen.body.data.keys).toMatchObject([{ locked: true, owner: "ann" }]);
    const token = { "X-Lock-Token": body.data.lock_token as string };
    expect((await edge.post("goods/update", change, token)).status).toBe(200);
    const { lock_token } = body.data;
    const released = await edge.post("goods/lock/release", { lock_keys, lock_token });
    expect(released.status).toBe(200);
    expect((await node.post("goods/update", change)).status).toBe(200);
    await node.close();
  });
});

function withoutChance(body: object): string {
  return JSON.stringify(body)
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/g, "<key>")
    .replaceAll(/2\d{3}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, "<time>");
}

/** Connections of the service, without the test's own. */
async function connections(edge: EdgePlace, engine: (typeof engines)[number]): Promise<number> {
  const [row] = await edge.sql(
    engine === "postgres"
      ? "select count(*)::int as n from pg_stat_activity where datname = current_database() and application_name = 'rowgate'"
      : "select count(*) - 1 as n from information_schema.processlist where db = database()",
  );
  return Number(row!["n"]);
}
