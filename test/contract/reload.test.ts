/** Reloading the configuration while the service runs: what changes, what stays, and the handling of a faulty one. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { beforeEach, describe, expect, inject, test } from "vitest";
import { freshDatabase } from "../servers/database.ts";
import { openSession } from "../servers/session.ts";
import { startIssuer } from "../callers/issuer.ts";
import { openReloading, type ProjectFiles } from "./reloading.ts";
import { openForTests } from "./harness.ts";

const engine = inject("engine");
const things = {
  tableName: "things",
  action: { read: true, create: true, update: true, lookup: true, lock: true },
};
const shop = { endpoints: { things } };

const auth = {
  apiKeys: [
    {
      id: "erp",
      // Of the text `secret`.
      sha256: "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b",
      roles: ["clerk"],
    },
  ],
};

const page = { page: 1, per_page: 5 };

/** Waits where a handler calls it. */
let gate = Promise.withResolvers<void>();
let entered = Promise.withResolvers<void>();
const components = {
  async wait() {
    entered.resolve();
    await gate.promise;
  },
};

const on = openForTests(openReloading, {
  tables: [{ name: "things", columns: { id: "key", name: "text(40)", stock: "integer" } }],
  setUp: ["insert into things (id, name, stock) values ('a', 'Anvil', 1), ('b', 'Bell', 2)"],
  projects: { shop },
  importComponent: async () => components,
});
beforeEach(async () => {
  gate = Promise.withResolvers<void>();
  entered = Promise.withResolvers<void>();
  await on.reload({ shop });
  on.forget();
});

const statusOf = async (path: string, headers?: Record<string, string>) =>
  (await on.post(path, page, headers)).status;
const health = async (address?: string) => (await on.get("/health/ready", address)).body;

test("one reload adds two projects, removes one, renames an endpoint and changes auth", async () => {
  await on.reload({ shop, old: shop });
  expect([await statusOf("shop/things/read"), await statusOf("old/things/read")]).toEqual([
    200, 200,
  ]);
  const access = { clerk: ["read"] };
  await on.reload({
    shop: { project: { auth }, endpoints: { goods: { ...things, access } } },
    north: shop,
    south: shop,
  });
  const paths = ["old/things/read", "shop/things/read", "shop/goods/read", "north/things/read"];
  const statuses = await Promise.all([...paths, "south/things/read"].map((path) => statusOf(path)));
  expect(statuses).toEqual([404, 401, 401, 200, 200]);
  const key = { "x-api-key": "secret" };
  expect(await statusOf("shop/goods/read", key)).toBe(200);
  expect(await statusOf("shop/things/read", key)).toBe(404);
});

describe("a ticket for a stream of changes", () => {
  const live = { ...things, live: true, access: { clerk: ["read"] } };
  const [erp] = auth.apiKeys;
  const other = { ...erp, id: "other", sha256: "0".repeat(64) };

  test.each([
    ["counts while its key does", [other, erp], 200],
    ["ends with its key", [other], 401],
    ["ends with the roles of its key", [{ ...erp, roles: ["guest"] }], 401],
  ])("%s", async (_, apiKeys, status) => {
    await on.reload({ shop: { project: { auth }, endpoints: { things: live } } });
    const { body } = await on.post("shop/changes/ticket", {}, { "x-api-key": "secret" });
    await on.reload({ shop: { project: { auth: { apiKeys } }, endpoints: { things: live } } });
    const path = `/api/shop/changes?endpoints=things&ticket=${body.data.ticket}`;
    const response = await on.service.app.request(path);
    await response.body?.cancel();
    expect(response.status).toBe(status);
  });
});

describe("a faulty configuration", () => {
  const faulty: Record<string, ProjectFiles> = {
    shop: {
      endpoints: {
        things: { ...things, tableName: "thingz" },
        broken: "{",
        other: { ...things, hiddenFields: ["nmae"] },
      },
    },
    more: shop,
  };

  test("leaves the whole old one in place", async () => {
    await expect(on.reload(faulty)).rejects.toThrow("thingz");
    expect(await statusOf("shop/things/read")).toBe(200);
    expect(await statusOf("more/things/read")).toBe(404);
  });

  test("is logged fault by fault, each on one line with its file", async () => {
    await on.reload(faulty).catch(() => undefined);
    const lines = on.lines("error");
    expect(lines.map((line) => /shop\/(\w+)\.json/.exec(line)?.[1])).toEqual([
      "broken",
      "other",
      "things",
    ]);
    for (const line of lines) {
      expect(line).toMatch(/^The configuration was not loaded, and the old one stays: shop\//);
      expect(line).not.toContain("\n");
    }
  });

  test("is told by /health/ready until another one is loaded", async () => {
    const before = (await health()).config;
    expect(before.last_error).toBeNull();
    await on.reload(faulty).catch(() => undefined);
    const after = (await health()).config;
    expect(after).toEqual({ ...before, last_error: expect.stringContaining("shop/broken.json") });
    await on.reload({ shop });
    expect((await health()).config.last_error).toBeNull();
  });

  test("is not told to strangers", async () => {
    await on.reload(faulty).catch(() => undefined);
    expect(Object.keys(await health("203.0.113.9"))).toEqual(["success", "status", "timestamp"]);
  });

  test("that cannot be read leaves the old one in place, too", async () => {
    const unreadable = async () => {
      throw new Error("CONFIG_DIR=configs cannot be read");
    };
    await expect(on.service.reload(unreadable)).rejects.toThrow("cannot be read");
    expect((await health()).config.last_error).toBe("CONFIG_DIR=configs cannot be read");
    expect(await statusOf("shop/things/read")).toBe(200);
  });
});

test("/health/ready tells version and time of the configuration, and each reload changes the version", async () => {
  const first = (await health()).config;
  await on.reload({ shop });
  const second = (await health()).config;
  await on.reload({ shop, more: shop });
  const third = (await health()).config;
  expect(new Set([first.version, second.version, third.version]).size).toBe(3);
  const digestOf = ({ version }: { version: string }) => version.split("-")[1];
  expect(digestOf(second)).toBe(digestOf(first));
  expect(digestOf(third)).not.toBe(digestOf(first));
  expect(Date.parse(third.loaded_at)).toBeGreaterThanOrEqual(Date.parse(first.loaded_at));
});

test("a request that runs finishes with the old configuration, although its database is replaced", async () => {
  const waiting = { ...things, components: { onBeforeInsert: ["components/gate.ts#wait"] } };
  const files = { "components/gate.ts": "" };
  await on.reload({ shop: { endpoints: { things: waiting }, files } });
  const running = on.post("shop/things/create", { name: "Cog" });
  await entered.promise;
  const gone = { endpoints: { parts: { ...things, action: { read: true } } } };
  await on.reload({ shop: { ...gone, database: { pool: 3 } } });
  expect(await statusOf("shop/things/create")).toBe(404);
  gate.resolve();
  const { status, body } = await running;
  expect([status, body.data?.name]).toEqual([201, "Cog"]);
  const found = await on.sql("select name from things where name = 'Cog'");
  expect(found).toHaveLength(1);
  await on.sql("delete from things where name = 'Cog'");
});

describe.runIf(engine !== "sqlite")("connections", () => {
  const connections = async (): Promise<string[]> => {
    const text =
      engine === "postgres"
        ? "select pid as id from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"
        : "select id from information_schema.processlist where db = database() and id <> connection_id()";
    return (await on.sql(text)).map(({ id }) => String(id)).toSorted();
  };

  test("stay when the settings of the database are the same", async () => {
    await statusOf("shop/things/read");
    const before = await connections();
    await on.reload({ shop: { endpoints: { goods: things } } });
    await statusOf("shop/goods/read");
    // A pool can have grown meanwhile, but it is the same one.
    expect(await connections()).toEqual(expect.arrayContaining(before));
  });

  test("are opened anew when its settings have changed, and the old ones are closed", async () => {
    await statusOf("shop/things/read");
    const before = await connections();
    await on.reload({ shop: { ...shop, database: { pool: 4 } } });
    await expect
      .poll(async () => (await connections()).filter((id) => before.includes(id)), {
        timeout: 5_000,
      })
      .toEqual([]);
    expect(await statusOf("shop/things/read")).toBe(200);
  });

  test("of a project that is removed are closed", async () => {
    await on.reload({ shop, more: shop });
    const before = await connections();
    await on.reload({ more: shop });
    await expect
      .poll(async () => (await connections()).length, { timeout: 5_000 })
      .toBeLessThan(before.length);
  });
});

test("another database answers after the reload that names it", async () => {
  const other = await freshDatabase(engine);
  const session = await openSession(engine, other.url);
  try {
    await session.run("create table things (id varchar(36) primary key, name varchar(40))");
    await session.run("insert into things values ('z', 'Zither')");
    await on.reload({ shop: { ...shop, database: { url: other.url } } });
    const { body } = await on.post("shop/things/read", page);
    expect(body.data.map(({ name }: { name: string }) => name)).toEqual(["Zither"]);
  } finally {
    await on.reload({ shop });
    await session.close();
    await other.drop();
  }
});

describe("a cached answer", () => {
  const files = { "query/all.sql": "select id, name from things" };
  const queried = { endpoints: { things: { ...things, viewQuery: "file:query/all.sql" } } };
  /** Ways to change the answer only by configuration. */
  const changes: [string, Record<string, ProjectFiles>, unknown][] = [
    [
      "hidden fields",
      { shop: { endpoints: { things: { ...things, hiddenFields: ["stock"] } } } },
      [
        { id: "a", name: "Anvil" },
        { id: "b", name: "Bell" },
      ],
    ],
    [
      "a scope",
      { shop: { endpoints: { things: { ...things, defaultScope: { stock: 2 } } } } },
      [{ id: "b", name: "Bell", stock: 2 }],
    ],
    [
      "a query file",
      { shop: { ...queried, files: { "query/all.sql": "select id, 'new' as name from things" } } },
      [
        { id: "a", name: "new" },
        { id: "b", name: "new" },
      ],
    ],
  ];

  test.each(changes)("is not given any more after %s changed", async (_, changed, rows) => {
    await on.reload({ shop: { ...queried, files } });
    const body = { ...page, sort_columns: [{ column: "id", direction: "asc" }] };
    await on.post("shop/things/read", body);
    await on.reload({ shop });
    await on.post("shop/things/read", body);
    await on.reload(changed);
    expect((await on.post("shop/things/read", body)).body.data).toEqual(rows);
  });

  test("stays where nothing of its endpoint changed", async () => {
    const read = async () =>
      (await on.post("shop/things/read", { page: 2, per_page: 1 })).body.data;
    const before = await read();
    // Past the service, so that only the cache can answer as before.
    await on.sql("update things set stock = stock + 100");
    await on.reload({ shop, more: shop });
    const after = await read();
    await on.sql("update things set stock = stock - 100");
    expect(after).toEqual(before);
  });
});

describe("what the service keeps outside of the configuration", () => {
  const lockKeys = [{ key: "id", value: "a" }];

  test("locks stay", async () => {
    const held = await on.post("shop/things/lock/acquire", { lock_keys: lockKeys, owner: "one" });
    expect(held.status).toBe(200);
    await on.reload({ shop, more: shop });
    const again = await on.post("shop/things/lock/acquire", { lock_keys: lockKeys, owner: "two" });
    expect(again.status).toBe(409);
    const { lock_token } = held.body.data;
    const released = await on.post("shop/things/lock/release", { lock_keys: lockKeys, lock_token });
    expect(released.status).toBe(200);
  });

  test("answers of requests with an Idempotency-Key stay", async () => {
    const key = { "idempotency-key": `reload-${Date.now()}` };
    const first = await on.post("shop/things/create", { name: "Once" }, key);
    await on.reload({ shop, more: shop });
    const second = await on.post("shop/things/create", { name: "Once" }, key);
    expect([second.status, second.body.data.id]).toEqual([201, first.body.data.id]);
    expect(second.headers.get("Idempotency-Replayed")).toBe("true");
    await on.sql("delete from things where name = 'Once'");
  });

  test("keys of a token issuer that is away stay, also where other credentials change", async () => {
    const issuer = await startIssuer();
    const jwt = { jwksUri: `http://${issuer.host}/jwks` };
    const access = { member: ["read"] };
    const guarded = (more: object) => ({
      ...shop,
      project: { auth: { jwt, ...more } },
      endpoints: { things: { ...things, access } },
    });
    const readBy = async (): Promise<number> => {
      const token = await issuer.tokenOf("old", { claims: { roles: ["member"] } });
      return statusOf("guarded/things/read", { authorization: `Bearer ${token}` });
    };
    await on.reload({ guarded: guarded({}) });
    expect(await readBy()).toBe(200);
    issuer.answer = "error";
    await on.reload({ guarded: guarded(auth) });
    expect(await readBy()).toBe(200);
    await issuer.close();
  });

  test("counts of the rate limits stay", async () => {
    const limited = { ...shop, project: { rateLimit: { windowSeconds: 600, max: 3 } } };
    await on.reload({ limited });
    const statuses: number[] = [];
    for (let turn = 0; turn < 4; turn++) {
      statuses.push(await statusOf("limited/things/read"));
      await on.reload({ limited, [`more-${turn}`]: shop });
    }
    expect(statuses).toEqual([200, 200, 200, 429]);
  });

  test("jobs stay, and those that start later use the new configuration", async () => {
    const exported = (fields: string[]) => ({
      endpoints: { things: { ...things, fieldName: fields, action: { read: true, export: true } } },
    });
    const csvOf = async (id: string) => {
      await expect
        .poll(
          async () => (await on.get(`/api/shop/things/export-status?job_id=${id}`)).body.status,
          { timeout: 20_000 },
        )
        .toBe("completed");
      return (await on.get(`/api/shop/things/export-download?job_id=${id}`)).body as string;
    };
    const start = async () =>
      (await on.post("shop/things/export", { format: "csv" })).body.job_id as string;
    // No configuration before had jobs.
    await on.reload({ shop: exported(["id", "name"]) });
    const first = await start();
    await on.reload({ shop: exported(["id", "stock"]) });
    const second = await start();
    // The first can have begun before or after the reload.
    expect(await csvOf(first)).toMatch(/^\ufeff?id,(?:name|stock)\r?\n/);
    expect(await csvOf(second)).toMatch(/^\ufeff?id,stock\r?\n/);
  });
});

test("of reloads that are asked for while one runs, the last one wins, after the running one", async () => {
  const read: string[] = [];
  const [begun, slow] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const ask = (name: string) =>
    on.service.reload(async () => {
      read.push(name);
      begun.resolve();
      if (name === "one") await slow.promise;
      return on.source({ [name]: shop });
    });
  const first = ask("one");
  await begun.promise;
  const later = [ask("two"), ask("three")];
  slow.resolve();
  await Promise.all([first, ...later]);
  expect(read).toEqual(["one", "three"]);
  const names = ["one", "two", "three"];
  expect(await Promise.all(names.map((name) => statusOf(`${name}/things/read`)))).toEqual([
    404, 404, 200,
  ]);
});

test("a configuration that was replaced is not kept in memory", async () => {
  setFlagsFromString("--expose_gc");
  const collect = runInNewContext("gc") as () => void;
  const replaced = await (async () => {
    const source = on.source({ shop, more: shop });
    await on.service.reload(async () => source);
    await statusOf("more/things/read");
    return new WeakRef(source.files);
  })();
  await on.reload({ shop });
  await on.reload({ shop });
  await expect
    .poll(
      () => {
        collect();
        // Not the value itself, which the assertion would keep.
        return replaced.deref() === undefined;
      },
      // A collection of all that the tests of this process have made can take seconds.
      { timeout: 10_000 },
    )
    .toBe(true);
});
