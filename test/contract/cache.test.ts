/**
 * The cache of lists on every engine: a repeated list does not query the database, and no list read after a write is
 * stale. A change made directly in the database tells cached answers from fresh ones.
 */
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { type FreshDatabase, freshDatabase } from "../servers/database.ts";
import { openSession, type PlainSession } from "../servers/session.ts";
import { openOver, type RunningService } from "../stores/services.ts";
import { check } from "./cases.ts";
import type { Answer } from "./harness.ts";
import { createTables } from "./tables.ts";

const engine = inject("engine");
let database: FreshDatabase;
let session: PlainSession;
let service: RunningService;
/** Of tables that a configuration spells with it. */
let schema: string;

const everyAction = {
  create: true,
  read: true,
  first: true,
  update: true,
  delete: true,
  adjust: true,
  lookup: true,
  datatables: true,
};
/** Every table has an id and a mark; the tests change marks directly in the database. */
const payload = (tableName: string, more: object = {}) => ({
  tableName,
  primaryKey: "id",
  action: everyAction,
  fieldNameLookup: { id: "id", text: "mark" },
  adjustConfig: { fields: { qty: { type: "integer", min: 0 } } },
  auditColumns: false,
  ...more,
});
const listsOnly = (more: object) => ({
  primaryKey: "id",
  action: { read: true, lookup: true, datatables: true },
  fieldNameLookup: { id: "id", text: "mark" },
  ...more,
});
const overView = { viewName: "goods_view", datatablesQuery: "select id, mark from goods_view" };

beforeAll(async () => {
  database = await freshDatabase(engine);
  session = await openSession(engine, database.url);
  schema = { sqlite: "main", postgres: "public", mysql: new URL(database.url).pathname.slice(1) }[
    engine
  ];
  const columns = { id: "key", mark: "text(20)", code: "text(20)", qty: "integer" } as const;
  const names = ["goods", "others", "orders", "logged", "journal"];
  const tables = names.map((name) => ({ name, columns }));
  const detail = (name: string, rule: string) =>
    `create table ${name} (id varchar(36) not null primary key, mark varchar(20), code varchar(20), qty integer,
      parent varchar(36)${engine === "postgres" ? ' collate "C"' : ""},
      foreign key (parent) references orders (id) on delete ${rule})`;
  const statements = [
    ...createTables(engine, tables),
    "create unique index goods_code on goods (code)",
    detail("order_lines", "cascade"),
    detail("order_notes", "set null"),
    "create view goods_view as select g.id, g.mark from goods g",
    ...trigger(),
    ...names.map((name) => `insert into ${name} values ('1', 'm0', 'c1', 5), ('2', 'm0', 'c2', 6)`),
    "insert into order_lines values ('1', 'm0', null, 0, '1'), ('2', 'm0', null, 0, '2')",
    "insert into order_notes values ('1', 'm0', null, 0, '1'), ('2', 'm0', null, 0, '2')",
  ];
  for (const text of statements) await session.run(text);
  const project = { database: { url: database.url } };
  service = await openOver({
    projects: {
      shop: project,
      branch: project,
      plain: { ...project, cache: { enabled: false } },
      brief: { ...project, cache: { ttlSeconds: 1 } },
    },
    endpoints: {
      goods: payload("goods", {
        fieldValidation: [{ name: "mark", constraints: { required: true } }],
      }),
      "goods-again": payload(`${schema}.goods`),
      others: payload("others"),
      orders: payload("orders"),
      "order-lines": payload("order_lines"),
      "order-notes": payload("order_notes"),
      logged: payload("logged"),
      journal: payload("journal"),
      "by-view": listsOnly(overView),
      "by-query": listsOnly({
        viewQuery: "select id, mark from goods",
        datatablesQuery: "select id, mark from goods",
      }),
      "by-view-of-goods": listsOnly({ ...overView, cacheDependsOn: ["goods"] }),
      "others-by-view": listsOnly({ ...overView, tableName: "others", cacheDependsOn: ["goods"] }),
    },
  });
});
afterAll(async () => {
  await service?.close();
  await session?.close();
  await database?.drop();
});

/** A change of `logged` writes into `journal`. */
function trigger(): string[] {
  const body = "update journal set qty = qty + 1";
  if (engine === "postgres") {
    return [
      `create function log_it() returns trigger language plpgsql as $$ begin ${body}; return null; end $$`,
      "create trigger logs after insert or update or delete on logged execute function log_it()",
    ];
  }
  return [
    engine === "sqlite"
      ? `create trigger logs after update on logged begin ${body}; end`
      : `create trigger logs after update on logged for each row ${body}`,
  ];
}

/** lookup requires it; the others ignore it. */
const isStatic = { "X-Request-Mode": "static" };

type List = (path: string) => Promise<Answer>;
const lists: [name: string, ask: List][] = [
  ["lookup", (path) => service.post(`${path}/lookup`, {}, isStatic)],
  ["read", (path) => service.post(`${path}/read`, { limit: 100 })],
  ["read in pages", (path) => service.post(`${path}/read`, { page: 1, per_page: 50 })],
  ["datatables", (path) => service.post(`${path}/datatables`, { draw: 1, start: 0, length: 50 })],
];

let marks = 0;
/** Changes every row of the table directly in the database. */
const mark = (table: string) => session.run(`update ${table} set mark = 'm${++marks}'`);

/** The rows of the list, as text. */
async function seen(ask: List, path: string): Promise<string> {
  const answer = await ask(path);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return JSON.stringify(answer.body.data);
}

/** Whether the list is read anew after `act`; before that it must be the kept one. */
async function isFreshAfter(
  act: () => Promise<unknown>,
  { ask, path, table }: { ask: List; path: string; table: string },
): Promise<boolean> {
  const before = await seen(ask, path);
  await mark(table);
  expect(await seen(ask, path), "a kept answer").toBe(before);
  await act();
  return (await seen(ask, path)) !== before;
}

let made = 0;
const newId = () => `n${++made}`;
const done = (answer: Answer) => expect(answer.body).toMatchObject({ success: true });

/** Each kind of write to the table of the endpoint, done. */
const writes: [name: string, write: (path: string) => Promise<void>][] = [
  [
    "create",
    async (path) => done(await service.post(`${path}/create`, { id: newId(), mark: "x" })),
  ],
  ["update", async (path) => done(await service.post(`${path}/update`, { id: "1", qty: ++made }))],
  [
    "adjust",
    async (path) =>
      done(
        await service.post(`${path}/adjust`, {
          id: "1",
          adjustments: [{ field: "qty", value: 1 }],
        }),
      ),
  ],
  [
    "delete",
    async (path) => {
      const id = newId();
      const table = path.split("/")[1]!.replace("-again", "");
      await session.run(`insert into ${table} (id, mark) values ('${id}', 'x')`);
      done(await service.post(`${path}/delete`, { where: [{ key: "id", value: id }] }));
    },
  ],
];

describe.each(lists)("%s", (_list, ask) => {
  const goods = { ask, path: "shop/goods", table: "goods" };

  test.each(writes)("is read anew after %s", async (_name, write) => {
    expect(await isFreshAfter(() => write("shop/goods"), goods)).toBe(true);
  });

  test.each([
    ["another endpoint, which spells the table with its schema", "shop/goods-again"],
    ["another project on the same database", "branch/goods"],
    ["a project whose own cache is off", "plain/goods-again"],
  ])("is read anew after a write through %s", async (_name, path) => {
    for (const [, write] of writes) {
      expect(await isFreshAfter(() => write(path), goods)).toBe(true);
    }
  });

  test("is not read anew after a write to another table", async () => {
    for (const [, write] of writes) {
      expect(await isFreshAfter(() => write("shop/others"), goods)).toBe(false);
    }
  });

  const vain: [name: string, action: string, body: object, status: number][] = [
    ["a create that misses a field", "create", { id: "vain" }, 400],
    ["a create of a value that is taken", "create", { id: "vain", mark: "x", code: "c1" }, 409],
    ["an update of a value that is taken", "update", { id: "2", code: "c1" }, 409],
    ["an update of no record", "update", { id: "none", qty: 1 }, 404],
    ["a delete of no record", "delete", { where: [{ key: "id", value: "none" }] }, 404],
    [
      "an adjust of no record",
      "adjust",
      { id: "none", adjustments: [{ field: "qty", value: 1 }] },
      404,
    ],
    [
      "an adjust below the minimum",
      "adjust",
      { id: "2", adjustments: [{ field: "qty", value: -1e6 }] },
      409,
    ],
  ];
  test.each(vain)("is not read anew after %s", async (_name, action, body, status) => {
    const attempt = async () =>
      expect((await service.post(`shop/goods/${action}`, body)).status).toBe(status);
    expect(await isFreshAfter(attempt, goods)).toBe(false);
  });

  test("is not read anew after an update of a record that was changed since", async () => {
    const attempt = async () => {
      const body = { id: "1", qty: ++made };
      const answer = await service.post("shop/goods/update", body, { "If-Match": '"another"' });
      check(answer, { status: 412, error: "Precondition failed" });
    };
    expect(await isFreshAfter(attempt, goods)).toBe(false);
  });

  test.each(["by-view", "by-query"])(
    "%s is read anew after a write to any table",
    async (endpoint) => {
      const list = { ask, path: `shop/${endpoint}`, table: "goods" };
      for (const [, write] of writes) {
        expect(await isFreshAfter(() => write("shop/others"), list)).toBe(true);
      }
    },
  );

  test.each([
    ["by-view-of-goods", "goods", true],
    ["by-view-of-goods", "others", false],
    ["others-by-view", "goods", true],
    ["others-by-view", "others", true],
    ["others-by-view", "orders", false],
  ])(
    "%s, which says what it depends on, after a write to %s: %s",
    async (endpoint, written, isFresh) => {
      const list = { ask, path: `shop/${endpoint}`, table: "goods" };
      for (const [, write] of writes) {
        expect(await isFreshAfter(() => write(`shop/${written}`), list)).toBe(isFresh);
      }
    },
  );

  test.each([
    ["order-lines", "order_lines"],
    ["order-notes", "order_notes"],
  ])("%s is read anew when the database changes it with its header", async (endpoint, table) => {
    const id = newId();
    await session.run(`insert into orders (id, mark) values ('${id}', 'x')`);
    await session.run(`insert into ${table} (id, mark, parent) values ('${id}', 'x', '${id}')`);
    const list = { ask, path: `shop/${endpoint}`, table };
    const remove = async () =>
      done(await service.post("shop/orders/delete", { where: [{ key: "id", value: id }] }));
    expect(await isFreshAfter(remove, list)).toBe(true);
    // The header depends on no detail.
    const headers = { ask, path: "shop/orders", table: "orders" };
    const [, update] = writes[1]!;
    expect(await isFreshAfter(() => update(`shop/${endpoint}`), headers)).toBe(false);
  });

  test("of whatever table is read anew after a write that sets off a trigger", async () => {
    const [, update] = writes[1]!;
    for (const [path, table] of [
      ["shop/journal", "journal"],
      ["shop/goods", "goods"],
    ] as const) {
      expect(await isFreshAfter(() => update("shop/logged"), { ask, path, table })).toBe(true);
    }
  });

  test("is read each time where the cache is off", async () => {
    const before = await seen(ask, "plain/goods");
    await mark("goods");
    expect(await seen(ask, "plain/goods")).not.toBe(before);
  });

  test("is read anew when its time is over", async () => {
    const before = await seen(ask, "brief/goods");
    await mark("goods");
    expect(await seen(ask, "brief/goods")).toBe(before);
    await new Promise((resolve) => setTimeout(resolve, 1_050));
    expect(await seen(ask, "brief/goods")).not.toBe(before);
  });

  test("is kept for each project on its own", async () => {
    const before = await seen(ask, "shop/goods");
    await mark("goods");
    const [, update] = writes[1]!;
    await update("shop/goods");
    expect(await seen(ask, "branch/goods")).toBe(await seen(ask, "shop/goods"));
    expect(await seen(ask, "shop/goods")).not.toBe(before);
  });
});

const filter = (value: unknown) => ({ where: [{ key: "qty", value }] });
/** Pairs that look alike. */
const alike: [action: string, bodies: readonly object[]][] = [
  ["read", [filter(6), filter("6"), filter(60), filter("06"), filter(null)]],
  [
    "read",
    [
      { limit: 1 },
      { limit: 2 },
      { page: 1 },
      { page: 2 },
      { page: 1, per_page: 1 },
      { page: 2, per_page: 1 },
    ],
  ],
  ["read", [{ search: "c1" }, { search: "C1" }, { search: "c2" }, { search: "" }]],
  [
    "read",
    [
      { sort_columns: [{ column: "code", direction: "asc" }] },
      { sort_columns: [{ column: "code", direction: "desc" }] },
      { sort_columns: [{ column: "qty", direction: "desc" }] },
    ],
  ],
  [
    "read",
    [
      { limit: 9, select: ["id", "code"] },
      { limit: 9, select: ["code", "id"] },
      { limit: 9, select: ["id"] },
    ],
  ],
  [
    "lookup",
    [
      {},
      { select: ["code"] },
      { selected_tag: "1" },
      { selected_tag: "2" },
      { page: 1, limit: 1 },
      { page: 2, limit: 1 },
      { _type: "query" },
    ],
  ],
  ["lookup", [filter(6), filter("6"), filter(5), { ids: ["1"] }, { ids: ["2"] }]],
  [
    "datatables",
    [
      { start: 0, length: 1 },
      { start: 1, length: 1 },
      { start: 0, length: 2 },
      { search: { value: "c1" } },
      { search: { value: "c2" } },
    ],
  ],
];

describe("a kept answer", () => {
  test.each(alike)("of %s is given for no other parameters: %j", async (action, bodies) => {
    const paths = ["goods", "goods-again", "others"];
    const all = paths.flatMap((path) => bodies.map((body) => [`${path}/${action}`, body] as const));
    const ask = async (project: string) => {
      const answers: string[] = [];
      for (const [path, body] of all) {
        const { status, body: whole } = await service.post(`${project}/${path}`, body, isStatic);
        answers.push(JSON.stringify({ path, status, ...whole, timestamp: "" }));
      }
      return answers;
    };
    const plain = await ask("plain");
    expect(await ask("shop")).toEqual(plain);
    expect(await ask("shop")).toEqual(plain);
  });

  test("has the time of the request, not of the first one", async () => {
    const first = await service.post("shop/goods/lookup", {}, isStatic);
    await new Promise((resolve) => setTimeout(resolve, 20));
    const startedAt = new Date().toISOString();
    const second = await service.post("shop/goods/lookup", {}, isStatic);
    expect(second.body.timestamp >= startedAt).toBe(true);
    expect({ ...second.body, timestamp: "" }).toEqual({ ...first.body, timestamp: "" });
    expect(Object.keys(second.body)).toEqual(Object.keys(first.body));
  });

  test("of datatables echoes the draw of its own request", async () => {
    const ask = (draw: number) =>
      service.post("shop/goods/datatables", { draw, start: 0, length: 5 });
    const first = await ask(7);
    await mark("goods");
    const second = await ask(8);
    expect(second.body).toEqual({ ...first.body, draw: 8 });
    const third = await service.get("/api/shop/goods/datatables?draw=9&start=0&length=5&_=1");
    const fourth = await service.get("/api/shop/goods/datatables?draw=10&start=0&length=5&_=2");
    expect(third.body.data).not.toEqual(first.body.data);
    expect(fourth.body).toEqual({ ...third.body, draw: 10 });
  });

  test("is not given to a request of another mode", async () => {
    expect((await service.post("shop/goods/lookup", {}, isStatic)).status).toBe(200);
    for (const mode of ["dynamic", "other"]) {
      const refused = await service.post("shop/goods/lookup", {}, { "X-Request-Mode": mode });
      check(refused, { status: 400, error: "Invalid Request Mode" });
    }
  });

  test("is not what first or a GET of lookup answers", async () => {
    const shown = async () => [
      (await service.post("shop/goods/first", { where: { key: "id", value: "1" } })).body.data.mark,
      (await service.get("/api/shop/goods/lookup?search=", { "X-Request-Mode": "dynamic" })).body
        .data[0].text,
    ];
    for (let round = 0; round < 2; round++) {
      await mark("goods");
      expect(await shown()).toEqual([`m${marks}`, `m${marks}`]);
    }
  });

  test("follows a refused request that asked for the same with another value", async () => {
    const bad = await service.post("shop/goods/lookup", { select: ["nothing"] }, isStatic);
    expect(bad.status).toBe(400);
    expect(
      (await service.post("shop/goods/lookup", { select: ["nothing"] }, isStatic)).status,
    ).toBe(400);
    expect((await service.post("shop/goods/lookup", { select: ["code"] }, isStatic)).status).toBe(
      200,
    );
  });
});
