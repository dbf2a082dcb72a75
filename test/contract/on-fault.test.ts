/** `"onFault": "skip"`: a faulty endpoint is omitted, at the start and when the configuration is reloaded. */
import { beforeEach, describe, expect, inject, test } from "vitest";
import { createLog } from "../../app/start/observing/log.ts";
import { openService } from "../../app/start/servers/wire.ts";
import { openReloading, type ProjectFiles } from "./reloading.ts";
import { openForTests } from "./harness.ts";

const engine = inject("engine");
const things = { tableName: "things", action: { read: true, lock: true } };
const page = { page: 1, per_page: 5 };

/** Each kind of fault that an endpoint can have. */
const faults: [string, object | string][] = [
  ["a table that does not exist", { ...things, tableName: "thingz" }],
  ["an unknown column", { ...things, hiddenFields: ["nmae"] }],
  ["an unknown property", { ...things, tabelName: "things" }],
  ["a text that is no JSON", "{"],
  ["a query that the database refuses", { ...things, viewQuery: "select nothing from nowhere" }],
];

const skipping = (endpoints: ProjectFiles["endpoints"], project: object = {}): ProjectFiles => ({
  project: { onFault: "skip", ...project },
  endpoints,
});

const on = openForTests(openReloading, {
  tables: [{ name: "things", columns: { id: "key", name: "text(40)" } }],
  setUp: ["insert into things (id, name) values ('a', 'Anvil')"],
  projects: { shop: skipping({ things, broken: faults[0]![1] }), more: { endpoints: { things } } },
});
beforeEach(() => on.forget());

const answer = async (path: string, body: object = page) => {
  const { status, body: said, headers } = await on.post(path, body);
  return { status, message: said.message as string, retryAfter: headers.get("Retry-After") };
};
const projects = async () => (await on.get("/health/ready")).body.projects;

const leftOut = {
  status: 503,
  message: "The configuration of this endpoint has a fault; try again later",
  retryAfter: "2",
};

test("the service starts without a faulty endpoint, and says so", async () => {
  expect(await answer("shop/broken/read")).toEqual(leftOut);
  expect((await answer("shop/things/read")).status).toBe(200);
  expect((await projects()).shop).toMatchObject({ database: "ok", skipped_endpoints: ["broken"] });
});

test.each(faults)(
  "a reload leaves out an endpoint with %s, and serves the others",
  async (_, broken) => {
    await on.reload({ shop: skipping({ things, broken }), more: { endpoints: { things } } });
    expect(await answer("shop/broken/read")).toEqual(leftOut);
    expect((await answer("shop/things/read")).status).toBe(200);
    expect((await answer("more/things/read")).status).toBe(200);
    expect((await projects()).shop.skipped_endpoints).toEqual(["broken"]);
    expect((await on.get("/health/ready")).body.config.last_error).toBeNull();
    const [line, ...others] = on.lines("error").filter((text) => text.includes("left out"));
    expect(line).toMatch(/^An endpoint is left out and answers 503: shop\/broken\.json/);
    expect(others).toEqual([]);
  },
);

test.each(faults)(
  "an endpoint that is related to one with %s is served without the relation",
  async (_, broken) => {
    const related = {
      ...things,
      action: { read: true, export: true, lookup: true },
      relations: { twin: { endpoint: "broken", column: "id", key: "id" } },
      exportColumns: ["name", "twin.name"],
      fieldNameLookup: { id: "id", text: "name || twin.name" },
    };
    await on.reload({ shop: skipping({ things: related, broken }) });
    expect((await projects()).shop.skipped_endpoints).toEqual(["broken"]);
    expect((await answer("shop/things/read")).status).toBe(200);
    const drop = { "X-Request-Mode": "static" };
    expect((await on.post("shop/things/lookup", {}, drop)).body).toMatchObject({
      data: [{ id: "a", text: "Anvil" }],
    });
  },
);

test("no relation shows what an endpoint that is left out hides", async () => {
  const related = {
    ...things,
    relations: { twin: { endpoint: "broken", column: "id", key: "id" } },
  };
  const broken = { ...things, hiddenFields: ["name", "nmae"] };
  await on.reload({ shop: skipping({ things: related, broken }) });
  expect((await projects()).shop.skipped_endpoints).toEqual(["broken"]);
  for (const asked of [
    { expand: ["twin"] },
    { select: ["id", "twin.id"] },
    { select: ["twin.name"] },
  ])
    expect(await on.post("shop/things/read", { ...page, ...asked })).toMatchObject({ status: 400 });
});

test("an endpoint that is mended is served after the next reload, and named no longer", async () => {
  await on.reload({ shop: skipping({ things, broken: "{" }) });
  await on.reload({ shop: skipping({ things, broken: things }) });
  expect((await answer("shop/broken/read")).status).toBe(200);
  expect(Object.keys((await projects()).shop)).toEqual(["database"]);
});

test("a lock that names an endpoint that is left out is answered with 503", async () => {
  await on.reload({ shop: skipping({ things, broken: "{" }) });
  const body = { resource: "broken", lock_keys: [{ key: "id", value: "a" }] };
  expect(await answer("shop/lock/acquire", body)).toEqual(leftOut);
});

test("the document of an endpoint that is left out is answered with 503", async () => {
  await on.reload({ shop: skipping({ things, broken: "{" }) });
  expect(await on.get("/api/shop/broken/openapi.json")).toMatchObject({
    status: 503,
    body: { message: leftOut.message },
  });
  expect((await on.get("/api/shop/things/openapi.json")).status).toBe(200);
  expect((await on.get("/api/shop/nothing/openapi.json")).status).toBe(404);
});

test("strangers do not learn which endpoints are left out", async () => {
  await on.reload({ shop: skipping({ things, broken: "{" }) });
  const { body } = await on.get("/health/ready", "203.0.113.9");
  expect(JSON.stringify(body)).not.toContain("broken");
});

test("a fault in project.json keeps the old configuration in any case", async () => {
  const reload = on.reload({ shop: skipping({ things }, { cahce: {} }) });
  await expect(reload).rejects.toThrow('did you mean "cache"');
});

test("a fault of another project, without skip, keeps the old configuration", async () => {
  const reload = on.reload({
    shop: skipping({ things, broken: "{" }),
    more: { endpoints: { things: { ...things, tableName: "thingz" } } },
  });
  await expect(reload).rejects.toThrow("more/things.json");
});

describe("with auth", () => {
  const auth = { anonymous: { roles: ["clerk"] } };
  const access = { clerk: ["read", "aggregate"] };

  test("a file that is not valid by itself keeps the old configuration: its rules may protect a table", async () => {
    const reload = on.reload({
      shop: skipping({ things: { ...things, access }, broken: "{" }, { auth }),
    });
    await expect(reload).rejects.toThrow("shop/broken.json");
  });

  test("the table of an endpoint that is left out stays closed to joins", async () => {
    const secrets = { ...things, tableName: "secrets", access: { boss: ["read"] } };
    await on.sql("create table secrets (id varchar(36) primary key, thing varchar(36))");
    await on.sql("insert into secrets values ('a', 'gold')");
    const joins = {
      secret: {
        tableName: "secrets",
        joinType: "LEFT",
        sourceField: "id",
        targetField: "id",
        fields: ["thing"],
      },
    };
    const joining = {
      tableName: "things",
      action: { read: true, aggregate: true },
      aggregateConfig: { joins },
      access,
    };
    const body = {
      operations: [{ function: "count", field: "*" }],
      joins: ["secret"],
      group_by: ["thing"],
    };
    const shows = async (endpoints: ProjectFiles["endpoints"]) => {
      await on.reload({ shop: skipping(endpoints, { auth }) });
      const { status, body: said } = await on.post("shop/joining/aggregate", body);
      return { status, isShown: JSON.stringify(said).includes("gold") };
    };
    const open = await shows({ joining });
    const closed = await shows({ joining, secrets });
    const faulty = await shows({ joining, secrets: { ...secrets, hiddenFields: ["nmae"] } });
    await on.sql("drop table secrets");
    expect(open).toEqual({ status: 200, isShown: true });
    expect(faulty).toEqual(closed);
    expect(closed.isShown).toBe(false);
  });

  test.each([
    ["_batch", {}],
    ["_batch", { steps: [] }],
    ["lock/acquire", {}],
    ["changes", []],
  ])(
    "%s says what is wrong with %j to who may use it where an endpoint is left out",
    async (path, body) => {
      const ofBoss = { ...things, live: true, history: true, access: { boss: "*" } };
      const ofClerk = { ...ofBoss, access: { clerk: "*" } };
      const statusOf = async (more: ProjectFiles["endpoints"]) => {
        const endpoints = { things: ofBoss, ...more };
        await on.reload({ shop: skipping(endpoints, { auth, batch: { enabled: true } }) });
        return (await on.post(`shop/${path}`, body as object)).status;
      };
      expect(await statusOf({ more: ofClerk })).toBe(400);
      expect(await statusOf({ more: { ...ofClerk, hiddenFields: ["nmae"] } })).toBe(400);
      expect(await statusOf({})).toBe(401);
    },
  );

  test("a rowScope over an endpoint that is left out shows no record more", async () => {
    const scoped = {
      ...things,
      relations: { twin: { endpoint: "broken", column: "id", key: "id" } },
      access,
      rowScope: { clerk: { "twin.name": "Nobody" } },
    };
    for (const broken of [{ tableName: "thingz" }, { hiddenFields: ["nmae"] }, {}]) {
      const endpoints = { things: scoped, broken: { ...things, access, ...broken } };
      await on.reload({ shop: skipping(endpoints, { auth }) });
      const { status, body } = await on.post("shop/things/read", page);
      expect(status === 503 ? [] : body.data).toEqual([]);
    }
  });
});

describe("a database that cannot be used", () => {
  const absent =
    engine === "sqlite" ? "sqlite:/nowhere/shop.db" : "postgres://nobody@127.0.0.1:1/x";

  test("does not stop the other projects, at the start and at a reload", async () => {
    const away: ProjectFiles = { ...skipping({ things }), database: { url: absent } };
    await on.reload({ away, more: { endpoints: { things } } });
    const statuses = [await answer("away/things/read"), await answer("more/things/read")];
    expect(statuses.map(({ status }) => status)).toEqual([503, 200]);
    const source = on.source({ away, more: { endpoints: { things } } });
    const service = await openService({ ...source, log: createLog("silent") });
    const init = {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(page),
    };
    const asked = ["away", "more"].map((name) =>
      service.app.request(`/api/${name}/things/read`, init),
    );
    expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([503, 200]);
    await service.close();
  });

  test("keeps the old configuration when it takes the place of one that is served", async () => {
    await on.reload({ more: { endpoints: { things } } });
    const reload = on.reload({ more: { database: { url: absent }, endpoints: { things } } });
    await expect(reload).rejects.toThrow("more (more/project.json): ");
    expect((await answer("more/things/read")).status).toBe(200);
  });
});
