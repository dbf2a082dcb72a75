/** Values of each type in a history, and changes of one record by several clients at once. */
import { describe, expect, inject, test } from "vitest";
import type { Json } from "../../core/values/json.ts";
import { apiKey, by } from "./api-keys.ts";
import { check, record } from "./cases.ts";
import { type Answer, openFixture, openForTests } from "./harness.ts";

const columns = {
  good_id: "key",
  label: { type: "text(60)", unique: true },
  größe: "text(60)",
  notes: "longtext",
  small: "smallint",
  amount: "integer",
  large: "bigint",
  price: { type: "decimal(10,2)", check: "price > -1000" },
  done: "boolean",
  made_on: "date",
  seen_at: "timestamp",
  part: "uuid",
} as const;
const integers = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`c${at}`, "integer" as const]));
/** The second has more than a statement of PostgreSQL returns twice. */
const wide = { wide: integers(150), wider: integers(900) } as const;
const action = { create: true, first: true, update: true };

const fixture = openForTests(openFixture, {
  tables: [
    { name: "goods", columns },
    // With values that differ in their form from engine to engine.
    {
      name: "mixed",
      columns: { ...columns, ratio: "float", exact: "decimal(15,5)", facts: "json" },
    },
    {
      name: "lines",
      columns: { sheet: "text(20)", place: "integer", amount: "integer" },
      primaryKey: ["sheet", "place"],
    },
    { name: "numbered", columns: { line_id: "identity", amount: "integer" } },
    { name: "refused", columns },
    ...Object.entries(wide).map(([name, some]) => ({
      name,
      columns: { good_id: "key", label: "text(60)", ...some } as const,
    })),
  ],
  endpoints: {
    goods: { tableName: "goods", action, history: true },
    mixed: { tableName: "mixed", action, history: true },
    lines: { tableName: "lines", primaryKey: ["sheet", "place"], action, history: true },
    numbered: { tableName: "numbered", action, history: true },
    refused: { tableName: "refused", action, history: true },
    wide: { tableName: "wide", action, history: true },
    wider: { tableName: "wider", action, history: true },
  },
});

/** With numbers as texts of their digits. */
const inDigits = openForTests(openFixture, {
  tables: [{ name: "goods", columns }],
  endpoints: { digits: { tableName: "goods", action, history: true } },
  project: { decimals: "string" },
});

/** With a role that sees the records of one tenant. */
const inTenants = openForTests(openFixture, {
  tables: [{ name: "papers", columns: { paper_id: "key", tenant: "text(10)", pages: "integer" } }],
  endpoints: {
    papers: {
      tableName: "papers",
      action,
      history: true,
      access: { admin: "*", clerk: ["first", "history"] },
      rowScope: { clerk: { tenant: "{{claims.tenant}}" } },
    },
  },
  project: { auth: { apiKeys: [apiKey("admin"), apiKey("clerk", ["clerk"], { tenant: "a" })] } },
});

/** With records that are marked as deleted, by a flag or by a time alone; `all` sees them, and writes the marks. */
const timed = {
  paper_id: "key",
  tenant: "text(10)",
  pages: "integer",
  deleted_at: "timestamp",
} as const;
const flagged = { ...timed, is_deleted: "boolean" } as const;
const inMarks = openForTests(openFixture, {
  tables: [
    { name: "timed", columns: timed },
    { name: "flagged", columns: flagged },
    { name: "scoped", columns: flagged },
  ],
  endpoints: Object.fromEntries(
    ["timed", "flagged", "scoped"].flatMap((tableName) => {
      const named = { tableName, access: { admin: "*" } };
      const rowScope = tableName === "scoped" && { rowScope: { clerk: { tenant: "a" } } };
      const papers = { ...named, action: { ...action, delete: true, restore: true } };
      return [
        [tableName, { ...papers, ...rowScope, history: true, softDelete: true }],
        [`${tableName}-all`, { ...named, action }],
      ];
    }),
  ),
  project: { auth: { apiKeys: [apiKey("admin"), apiKey("clerk", ["clerk"])] } },
});

interface Change {
  readonly from: Json;
  readonly to: Json;
}

const post = (path: string, body: object): Promise<Answer> =>
  (path.startsWith("digits/") ? inDigits : fixture).post(path, body);

let made = 0;
async function create(endpoint: string, fields: object = {}): Promise<string> {
  const answer = await post(`${endpoint}/create`, { label: `label ${made++}`, ...fields });
  return String(record(answer)["good_id"]);
}

const stored = async (endpoint: string, value: string) =>
  record(await post(`${endpoint}/first`, { where: { key: "good_id", value } }));

/** Newest first. */
async function changesOf(endpoint: string, key: object): Promise<Record<string, Change>[]> {
  const { body } = await post(`${endpoint}/history`, { ...key, page: 1, per_page: 100 });
  return body.data.map(({ changes }: { changes: Record<string, Change> }) => changes);
}

const plain: [string, Json[]][] = [
  ["größe", ['a "quoted" \\ text\nof two lines\t', "it's", "ünïcode 😀", "", null, "x"]],
  ["notes", ["\u0001 and \u007f", "y".repeat(5_000), null]],
  ["small", [-32_768, 0, 32_767, null]],
  ["amount", [1, -2_147_483_648, null, 0]],
  ["large", [5, "9007199254740993", -9_007_199_254_740_991, null, 0]],
  ["price", [0.1, -12.5, 99_999_999.99, 0, null]],
  ["done", [true, false, null]],
  ["made_on", ["2026-02-28", "0001-01-01", null, "9999-12-31"]],
  ["seen_at", ["2026-01-02T03:04:05.678Z", "2026-01-02T03:04:05.000Z", null]],
  ["part", ["0B2C1F8E-0000-4000-8000-00000000000A", null]],
];
const others: [string, Json[]][] = [
  ["ratio", [0.1, 1e21, null, -3]],
  ["exact", [1234567890.12345, 0.5, null]],
  ["facts", [{ a: [1, null] }, [], "text", null]],
];

describe.each([
  ["goods", plain],
  ["digits", plain],
  ["mixed", [...plain, ...others]],
])("a history of %s", (endpoint, all) => {
  test.each(all)("has the values of %s as answers show them", async (name, values) => {
    const good_id = await create(endpoint, { [name]: values[0] });
    const shown = async () => (await stored(endpoint, good_id))[name];
    const seen = [await shown()];
    for (const value of values.slice(1)) {
      check(await post(`${endpoint}/update`, { good_id, [name]: value }), { status: 200 });
      seen.push(await shown());
    }
    const changes = (await changesOf(endpoint, { good_id })).map((each) => each[name]);
    expect(changes.toReversed()).toEqual(
      seen.map((to, at) => ({ from: at === 0 ? null : seen[at - 1], to })),
    );
  });

  test("has nothing of writes that change nothing or fail", async () => {
    const good_id = await create(endpoint, { amount: 1 });
    const label = `label ${made - 1}`;
    for (const [path, body, status] of [
      ["update", { good_id, amount: 1 }, 200],
      ["update", { good_id, price: -1000 }, 400],
      ["update", { good_id: "none", amount: 2 }, 404],
      ["create", { label }, 409],
    ] as const)
      expect((await post(`${endpoint}/${path}`, body)).status, path).toBe(status);
    expect((await changesOf(endpoint, { good_id })).length).toBe(1);
    expect(await changesOf(endpoint, { good_id: "none" })).toEqual([]);
  });

  test("has each of the changes that clients make at once, one after the other", async () => {
    const good_id = await create(endpoint, { amount: 0 });
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, at) =>
        post(`${endpoint}/update`, { good_id, amount: at + 1 }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    const chain = (await changesOf(endpoint, { good_id }))
      .map(({ amount }) => amount!)
      .toReversed();
    expect(chain.length).toBe(41);
    chain.slice(1).forEach(({ from }, at) => expect(from).toBe(chain[at]!.to));
    const { amount } = await stored(endpoint, good_id);
    expect(chain.at(-1)!.to).toBe(amount);
  });
});

test.runIf(inject("engine") === "postgres").each([
  ["made_on", "0044-03-15 BC"],
  ["made_on", "10000-01-01"],
  ["made_on", "infinity"],
  ["seen_at", "0044-03-15 10:20:30.5 BC"],
  ["seen_at", "0001-01-01 00:00:00"],
  ["seen_at", "9999-12-31 23:59:59.999"],
  ["seen_at", "10000-01-01 00:00:00"],
  ["seen_at", "-infinity"],
])("a history has the value of %s that answers show for %s", async (name, value) => {
  const good_id = await create("goods");
  await fixture.sql(`update goods set ${name} = '${value}' where good_id = '${good_id}'`);
  const before = (await stored("goods", good_id))[name];
  const to = name === "made_on" ? "2026-01-02" : "2026-01-02T03:04:05.000Z";
  check(await post("goods/update", { good_id, [name]: to }), { status: 200 });
  expect((await changesOf("goods", { good_id }))[0]).toEqual({ [name]: { from: before, to } });
});

test.runIf(inject("engine") === "postgres").each([
  ["made_on", "infinity"],
  ["seen_at", "-infinity"],
  ["price", "NaN"],
])("a %s of %s, which answers show as null, does not change to null", async (name, value) => {
  const good_id = await create("goods", { amount: 1 });
  await fixture.sql(`update goods set ${name} = '${value}' where good_id = '${good_id}'`);
  check(await post("goods/update", { good_id, [name]: null }), { status: 200 });
  expect((await changesOf("goods", { good_id })).length).toBe(1);
  await fixture.sql(`update goods set ${name} = '${value}' where good_id = '${good_id}'`);
  check(await post("goods/update", { good_id, [name]: null, amount: 2 }), { status: 200 });
  expect((await changesOf("goods", { good_id }))[0]).toEqual({ amount: { from: 1, to: 2 } });
});

test.each([
  ["lines", { sheet: "A", place: 7 }],
  ["numbered", { line_id: 12 }],
])("the history of %s names the record by its key", async (endpoint, key) => {
  check(await post(`${endpoint}/create`, { ...key, amount: 1 }), { status: 201 });
  check(await post(`${endpoint}/update`, { ...key, amount: 2 }), { status: 200 });
  const { body } = await post(`${endpoint}/history`, key);
  expect(body.data).toMatchObject([
    { action: "update", key, changes: { amount: { from: 1, to: 2 } } },
    { action: "create", key, changes: { amount: { from: null, to: 1 } } },
  ]);
  expect(Object.keys(body.data[0].changes)).toEqual(["amount"]);
});

test.each(Object.entries(wide))(
  "a history has all columns of a table that is %s",
  async (endpoint, some) => {
    const names = Object.keys(some);
    const all = (value: number) => Object.fromEntries(names.map((name) => [name, value]));
    const good_id = await create(endpoint, all(1));
    check(await post(`${endpoint}/update`, { good_id, ...all(2), c7: 1 }), { status: 200 });
    const [update, made] = await changesOf(endpoint, { good_id });
    expect(update).toEqual(
      Object.fromEntries(
        names.flatMap((name) => (name === "c7" ? [] : [[name, { from: 1, to: 2 }]])),
      ),
    );
    expect(made).toMatchObject({
      c0: { from: null, to: 1 },
      [names.at(-1)!]: { from: null, to: 1 },
    });
  },
);

test("a caller sees the changes of records that were or became its own", async () => {
  const { data } = (await inTenants.post("papers/create", { tenant: "a", pages: 1 }, by("admin")))
    .body;
  const { paper_id } = data;
  for (const fields of [{ pages: 2 }, { tenant: "b" }, { pages: 3 }, { tenant: "a", pages: 4 }])
    check(await inTenants.post("papers/update", { paper_id, ...fields }, by("admin")), {
      status: 200,
    });
  const { body } = await inTenants.post("papers/history", { paper_id }, by("clerk"));
  expect(body.data.map(({ changes }: { changes: object }) => changes)).toEqual([
    { tenant: { from: "b", to: "a" }, pages: { from: 3, to: 4 } },
    { tenant: { from: "a", to: "b" } },
    { pages: { from: 1, to: 2 } },
    {
      paper_id: { from: null, to: paper_id },
      tenant: { from: null, to: "a" },
      pages: { from: null, to: 1 },
    },
  ]);
});

describe.each(["timed", "flagged", "scoped"])("the log of %s", (endpoint) => {
  test("says which changes are of a deleted record, and which delete or restore it", async () => {
    const write = async (path: string, body: object) => {
      const answer = await inMarks.post(`${endpoint}${path}`, body, by("admin"));
      expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
      return record(answer);
    };
    const mark = endpoint === "timed" ? "deleted_at" : "is_deleted";
    const [set, unset] =
      endpoint === "timed" ? ["2026-01-02T03:04:05.000Z", null] : ([true, false] as const);
    const { paper_id } = await write("/create", { tenant: "a", pages: 1 });
    await write("/update", { paper_id, pages: 2 });
    const where = [{ key: "paper_id", value: paper_id }];
    await write("/delete", { where });
    await write("-all/update", { paper_id, pages: 3 });
    await write("/restore", { where });
    await write("/update", { paper_id, pages: 4, tenant: "b" });
    await write("-all/update", { paper_id, [mark]: set });
    await write("-all/update", { paper_id, [mark]: set, pages: 5 });
    await write("-all/update", { paper_id, [mark]: unset, pages: 6 });
    await write("-all/create", { paper_id: "of a deleted one", pages: 7, [mark]: set });
    await write("-all/update", { paper_id: "of a deleted one", pages: 8 });
    const rows = await inMarks.sql(
      `select kind, new_values, scope_values from rowgate_changes where table_name like '%${endpoint}%' order by change_id`,
    );
    const parsed = (text: unknown) => (text === null ? null : JSON.parse(String(text)));
    const told = rows.map(({ kind, new_values, scope_values }) => {
      const { marked = false } = parsed(scope_values) ?? {};
      return [kind, parsed(new_values)?.pages, marked];
    });
    expect(told).toEqual([
      ["create", 1, false],
      ["update", 2, false],
      ["mark", undefined, false],
      ["update", 3, true],
      ["restore", 3, false],
      ["update", 4, false],
      ["mark", undefined, false],
      ["update", 5, true],
      ["restore", 6, false],
      ["create", 7, true],
      ["update", 8, true],
    ]);
    const scopes = rows.map(({ scope_values }) => parsed(scope_values)?.after?.tenant);
    const tenants = ["a", "a", "a", "a", "a", "b", "b", "b", "b", null, null];
    expect(scopes).toEqual(endpoint === "scoped" ? tenants : tenants.map(() => undefined));
  });
});

test("a change that cannot be told is undone", async () => {
  const good_id = await create("refused", { amount: 1 });
  await fixture.sql(
    fixture.engine === "sqlite"
      ? "create trigger refusing before insert on rowgate_changes when new.endpoint = 'refused' begin select raise(abort, 'no'); end"
      : "alter table rowgate_changes add constraint refusing check (kind = 'create' or endpoint <> 'refused')",
  );
  const { status } = await post("refused/update", { good_id, amount: 2 });
  expect(status).toBeGreaterThanOrEqual(400);
  expect(await stored("refused", good_id)).toMatchObject({ amount: 1 });
  expect((await changesOf("refused", { good_id })).length).toBe(1);
});
