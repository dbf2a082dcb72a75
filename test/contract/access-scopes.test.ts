/**
 * Details of `rowScope`: exact comparisons whatever the collation, operators, claims of every shape, several roles, and
 * values that a scope fills in or refuses in documents and imports.
 */
import { afterEach, describe, expect, inject, test, vi } from "vitest";
import type { Json } from "../../core/values/json.ts";
import type { EngineName } from "../servers/session.ts";
import { apiKey as key, by } from "./api-keys.ts";
import { type Answer, openFixture, openForTests } from "./harness.ts";
import { afterStatement } from "./sent-statements.ts";
import { type Importer, importerOf, workbookOf } from "./imports.ts";

/** Scopes that compare, by their column: values inside, and values outside. */
const bounds: Readonly<Record<string, { rule: object; inside: Json[]; outside: Json[] }>> = {
  amount: { rule: { operator: "<", value: 10 }, inside: [9, -1], outside: [10, 100] },
  price: { rule: { operator: ">=", value: 9.5 }, inside: [10, 9.5], outside: [9.49, -10] },
  rate: { rule: { operator: "NOT BETWEEN", value: [2, 4.5] }, inside: [10, 1.5], outside: [2, 4] },
  sold_on: {
    rule: { operator: "BETWEEN", value: ["2026-02-01", "2026-10-31"] },
    inside: ["2026-02-01", "2026-10-31"],
    outside: ["2026-01-31", "2026-11-01"],
  },
  sold_at: {
    rule: { operator: "<=", value: "2026-05-01T12:00:00.5Z" },
    inside: ["2026-05-01T12:00:00.5Z", "2026-05-01T13:00:00+02:00"],
    outside: ["2026-05-01T12:00:00.501Z", "2026-05-01T11:00:00-02:00"],
  },
  // Only the database knows the order of texts.
  word: { rule: { operator: ">", value: "m" }, inside: ["n", "z"], outside: [] },
};

const auth = {
  apiKeys: [
    key("admin", ["admin"]),
    key("a", ["clerk"], { tenant: "a" }),
    key("capital", ["clerk"], { tenant: "A" }),
    key("accent", ["clerk"], { tenant: "á" }),
    key("blank", ["clerk"], { tenant: "a " }),
    key("list", ["clerk"], { tenant: ["a", "7"] }),
    key("empty-list", ["clerk"], { tenant: [] }),
    key("odd-list", ["clerk"], { tenant: ["a", { b: 1 }] }),
    key("number", ["clerk"], { tenant: 7 }),
    key("null", ["clerk"], { tenant: null }),
    key("true", ["clerk"], { tenant: true }),
    key("long", ["clerk"], { tenant: "more than ten" }),
    key("missing", ["clerk"]),
    key("nested", ["deep"], { org: { tenant: "a" } }),
    key("dotted", ["deep"], { "org.tenant": "a" }),
    key("floor", ["floor"]),
    key("numbered", ["numbered"], { qty: "2" }),
    key("wordy", ["numbered"], { qty: "two" }),
    key("two-roles", ["clerk", "floor"], { tenant: "7" }),
    ...Object.keys(bounds).map((column) => key(column, [column])),
    key("not", ["not"], { tenant: "a" }),
    key("not-list", ["not"], { tenant: ["a", "A"] }),
  ],
};

/** A column whose own comparisons overlook case, and on some engines accents and blanks. */
const loose: Readonly<Record<EngineName, readonly string[]>> = {
  sqlite: [
    "create table loose (loose_id varchar(36) primary key, tenant text collate nocase, qty integer)",
  ],
  postgres: [
    "create collation softly (provider = icu, locale = 'und-u-ks-level1', deterministic = false)",
    "create table loose (loose_id varchar(36) primary key, tenant varchar(10) collate softly, qty integer)",
  ],
  mysql: [
    "create table loose (loose_id varchar(36) primary key, tenant varchar(10) collate utf8mb4_general_ci, qty integer)",
  ],
};

const rules = {
  access: { admin: "*", clerk: "*", deep: "*", floor: "*", numbered: "*", not: "*" },
  rowScope: {
    clerk: { tenant: "{{claims.tenant}}" },
    deep: { tenant: "{{claims.org.tenant}}" },
    floor: { qty: { operator: ">=", value: 3 } },
    numbered: { qty: "{{claims.qty}}" },
    not: { tenant: { operator: "!=", value: "{{claims.tenant}}" } },
  },
};
const action = {
  create: true,
  read: true,
  first: true,
  update: true,
  delete: true,
  adjust: true,
  aggregate: true,
  lock: true,
};
const more = { action, adjustConfig: { fields: { qty: { type: "integer" } } } };

const fixture = openForTests(openFixture, {
  project: { auth, cache: { enabled: false } },
  tables: [
    { name: "shelves", columns: { shelf_id: "key", qty: "integer" } },
    {
      name: "bounded",
      columns: {
        bounded_id: "key",
        amount: "integer",
        price: "decimal(8,2)",
        rate: "float",
        sold_on: "date",
        sold_at: "timestamp",
        word: "text(10)",
      },
    },
    { name: "papers", columns: { paper_id: "key", tenant: "text(10)", created_by: "text(20)" } },
    {
      name: "papers_lines",
      columns: {
        line_id: "key",
        paper_id: { type: "text(36)", references: { table: "papers", column: "paper_id" } },
        place_id: "text(36)",
        created_by: "text(20)",
        updated_by: "text(20)",
      },
    },
  ],
  setUp: (engine) => [
    ...loose[engine],
    `insert into loose (loose_id, tenant, qty) values ('1', 'a', 1), ('2', 'A', 2), ('3', 'á', 3), ('4', 'a ', 4), ('5', '7', 5), ('6', null, 6)`,
  ],
  endpoints: {
    loose: { ...more, ...rules, tableName: "loose" },
    // The same through a query, and through one that computes the column.
    queried: {
      ...rules,
      tableName: "loose",
      action: { read: true, aggregate: true },
      viewQuery: "select loose_id, tenant, qty from loose",
    },
    computed: {
      ...rules,
      tableName: "loose",
      action: { read: true, aggregate: true },
      viewQuery: "select loose_id, coalesce(tenant, tenant) as tenant, qty from loose",
    },
    shelves: {
      ...rules,
      rowScope: { clerk: { shelf_id: "{{claims.tenant}}" } },
      tableName: "shelves",
      action: { read: true, create: true, import: true },
    },
    bounded: {
      tableName: "bounded",
      access: Object.fromEntries(Object.keys(bounds).map((column) => [column, "*"])),
      rowScope: Object.fromEntries(
        Object.entries(bounds).map(([column, { rule }]) => [column, { [column]: rule }]),
      ),
      action: { import: true },
    },
    papers: {
      ...rules,
      rowScope: { clerk: rules.rowScope.clerk },
      tableName: "papers",
      action: { read: true, import: true, "create-composite": true, "update-composite": true },
      masterDetail: {
        detailTable: "papers_lines",
        foreignKey: "paper_id",
        detailConfig: { primaryKey: "line_id" },
      },
    },
  },
});

const as = (id: string, path: string, body: unknown): Promise<Answer> =>
  fixture.post(path, body, by(id));
const gist = ({ status, body }: Answer): unknown[] => [status, body.error];

const rows: readonly (readonly [string, readonly string[]])[] = [
  ["a", ["1"]],
  ["capital", ["2"]],
  ["accent", ["3"]],
  ["blank", ["4"]],
  ["list", ["1", "5"]],
  ["empty-list", []],
  ["odd-list", []],
  ["number", ["5"]],
  ["null", []],
  ["true", []],
  ["missing", []],
  ["nested", ["1"]],
  ["dotted", ["1"]],
  ["floor", ["3", "4", "5", "6"]],
  ["numbered", ["2"]],
  ["wordy", []],
  ["two-roles", ["3", "4", "5", "6"]],
  // What is no value is neither equal nor unequal.
  ["not", ["2", "3", "4", "5"]],
  ["not-list", ["3", "4", "5"]],
  ["admin", ["1", "2", "3", "4", "5", "6"]],
];

describe.each(["loose", "queried", "computed"])("rows of %s", (endpoint) => {
  test.each(rows)("of %s are %j", async (id, expected) => {
    const list = await as(id, `${endpoint}/read`, { sort_columns: [{ column: "loose_id" }] });
    expect(list.body.data.map((row: { loose_id: string }) => row.loose_id)).toEqual(expected);
    const operations = [{ function: "count", field: "*", alias: "n" }];
    const counted = await as(id, `${endpoint}/aggregate`, { operations });
    expect(counted.body.data).toEqual({ n: expected.length });
  });
});

describe("a row that differs from the scope by case, accent or blank alone", () => {
  test.each(["2", "3", "4"])("is not there for a write: %s", async (loose_id) => {
    expect((await as("a", "loose/update", { loose_id, qty: 9 })).status).toBe(404);
    const adjustments = [{ field: "qty", value: 1 }];
    expect((await as("a", "loose/adjust", { loose_id, adjustments })).status).toBe(404);
    const where = [{ key: "loose_id", value: loose_id }];
    expect((await as("a", "loose/delete", { where })).status).toBe(404);
    const lock_keys = [{ key: "loose_id", value: loose_id }];
    expect((await as("a", "loose/lock/acquire", { lock_keys })).status).toBe(404);
  });

  test.each(["A", "á", "a ", null, "b"])("is not stored: %j", async (tenant) => {
    const created = await as("a", "loose/create", { loose_id: "new", tenant });
    expect(gist(created)).toEqual([403, "Forbidden"]);
    expect(gist(await as("a", "loose/update", { loose_id: "1", tenant }))).toEqual([
      403,
      "Forbidden",
    ]);
    expect(await fixture.sql("select tenant from loose where loose_id in ('1', 'new')")).toEqual([
      { tenant: "a" },
    ]);
  });
});

test.each([
  ["number", "7"],
  ["true", "true"],
])("the claim of %s is filled in as the text %s", async (id, tenant) => {
  const created = await as(id, "loose/create", { loose_id: "new" });
  expect([created.status, created.body.data?.tenant]).toEqual([201, tenant]);
  await fixture.sql("delete from loose where loose_id = 'new'");
});

describe("a change that would leave the scope", () => {
  test("by adjust is 403, and changes nothing", async () => {
    const adjust = (value: number): Promise<Answer> =>
      as("floor", "loose/adjust", { loose_id: "3", adjustments: [{ field: "qty", value }] });
    expect(gist(await adjust(-1))).toEqual([403, "Forbidden"]);
    expect(await fixture.sql("select qty from loose where loose_id = '3'")).toEqual([{ qty: 3 }]);
    expect((await adjust(1)).status).toBe(200);
    expect((await adjust(-1)).status).toBe(200);
  });

  test("by a create is 403 where no record can have the claim", async () => {
    expect(gist(await as("wordy", "loose/create", { loose_id: "new" }))).toEqual([
      403,
      "Forbidden",
    ]);
    const papers = { paper_id: "p0", papers_lines: [{ line_id: "l0" }] };
    expect(gist(await as("long", "papers/create-composite", { papers }))).toEqual([
      403,
      "Forbidden",
    ]);
  });

  test("of an operator's column has nothing to fill in", async () => {
    const created = await as("floor", "loose/create", { loose_id: "new" });
    expect(gist(created)).toEqual([403, "Forbidden"]);
  });
});

describe("a document", () => {
  test("gets the scope's value and the user, in its header and its lines", async () => {
    const papers = {
      paper_id: "p1",
      created_by: "x",
      papers_lines: [{ line_id: "l1", created_by: "x" }],
    };
    expect((await as("a", "papers/create-composite", { papers })).status).toBe(201);
    expect(await fixture.sql("select tenant, created_by from papers")).toEqual([
      { tenant: "a", created_by: "a" },
    ]);
    const update = {
      paper_id: "p1",
      papers_lines: { update: [{ line_id: "l1", place_id: "n", updated_by: "x" }] },
    };
    expect((await as("a", "papers/update-composite", { papers: update })).status).toBe(200);
    expect(await fixture.sql("select created_by, updated_by from papers_lines")).toEqual([
      { created_by: "a", updated_by: "a" },
    ]);
  });

  test("that would lie outside is 403, with all of its lines", async () => {
    const papers = { paper_id: "p2", tenant: "A", papers_lines: [{ line_id: "l2" }] };
    const answer = await as("a", "papers/create-composite", { papers });
    expect(gist(answer)).toEqual([403, "Forbidden"]);
    expect(await fixture.sql("select line_id from papers_lines where line_id = 'l2'")).toEqual([]);
  });

  test("of a list in the claim must name one of its values", async () => {
    const answer = await as("list", "papers/create-composite", {
      papers: { papers_lines: [{ line_id: "l3" }] },
    });
    expect(gist(answer)).toEqual([403, "Forbidden"]);
  });
});

describe("an import", () => {
  const importer = (id: string): Importer =>
    importerOf({
      post: (path, body) => as(id, path, body),
      request: (path, init) =>
        fixture.request(path, {
          ...init,
          headers: { ...Object.fromEntries(new Headers(init?.headers)), ...by(id) },
        }),
    });

  test.each([
    ["of a file without its column", [["paper_id"], ["i1"]]],
    [
      "whose cell is empty",
      [
        ["paper_id", "tenant"],
        ["i1", ""],
      ],
    ],
  ])("gets the scope's value and the user in each row %s", async (_, sheet) => {
    const file = await workbookOf(sheet);
    expect((await importer("a").committed("papers", file)).body.status).toBe("completed");
    const sql = "select tenant, created_by from papers where paper_id = 'i1'";
    expect(await fixture.sql(sql)).toEqual([{ tenant: "a", created_by: "a" }]);
    await fixture.sql("delete from papers where paper_id = 'i1'");
  });

  test("of csv does the same, and a csv file is not taken for a workbook", async () => {
    const send = async (name: string, text: string): Promise<Answer> => {
      const form = new FormData();
      form.append("file", new File([text], name));
      const init = { method: "POST", body: form, headers: by("a") };
      return fixture.request("/api/test/papers/import-upload", init);
    };
    const text = "paper_id;tenant\r\nc1;a\r\nc2;b\r\n";
    const uploaded = await send("rows.CSV", text);
    expect(uploaded.body).toMatchObject({
      total_rows: 2,
      preview: [{ paper_id: "c1" }, { tenant: "b" }],
    });
    const started = await as("a", "papers/import-preview", { upload_id: uploaded.body.upload_id });
    const { body } = await importer("a").ended("papers", started.body.job_id);
    expect(body.summary).toMatchObject({ valid: 1, invalid: 1 });
    for (const name of ["rows.xlsx", "rows.txt", "rows"])
      expect(gist(await send(name, text))).toEqual([400, "Invalid file"]);
    expect(gist(await send("rows.csv", "paper_id\n\0"))).toEqual([400, "Invalid file"]);
    const template = await fixture.fetch("/api/test/papers/import-template?format=csv", {
      headers: by("a"),
    });
    expect(template.headers.get("content-type")).toContain("text/csv");
    expect((await send("again.csv", `${await template.text()}"x"\r\n`)).status).toBe(200);
    const odd = await fixture.request("/api/test/papers/import-template?format=ods", {
      headers: by("a"),
    });
    expect(odd.status).toBe(400);
  });

  test("of a list in the claim has an error in each row without a value", async () => {
    const file = await workbookOf([
      ["paper_id", "tenant"],
      ["i2", "7"],
      ["i3", ""],
    ]);
    const { body } = await importer("list").previewed("papers", file);
    expect([body.status, body.summary.valid, body.summary.invalid]).toEqual([
      "preview_error",
      1,
      1,
    ]);
  });

  test("has an error in each row whose key lies outside, as create refuses it", async () => {
    const file = await workbookOf([
      ["shelf_id", "qty"],
      ["a", 1],
      ["b", 2],
      ["", 3],
    ]);
    const { body } = await importer("list").previewed("shelves", file);
    const messages = ["shelf_id: is outside the rows that you may access"];
    expect(body.summary).toMatchObject({ valid: 1, invalid: 2 });
    expect(body.errors.map((error: object) => ({ ...error, rowData: null }))).toEqual([
      { rowIndex: 3, rowData: null, messages },
      { rowIndex: 4, rowData: null, messages },
    ]);
    expect((await as("list", "shelves/create", { shelf_id: "b" })).status).toBe(403);
  });

  test.each(Object.entries(bounds))(
    "has an error in each row whose %s is not within bounds, and stores the others",
    async (column, { inside, outside }) => {
      const rowsOf = (values: readonly Json[]) =>
        values.map((value, at) => [`${column}${at}`, value]);
      const head = ["bounded_id", column];
      const mixed = await workbookOf([head, ...rowsOf([...outside, null, ...inside])]);
      const { body } = await importer(column).previewed("bounded", mixed);
      // An empty field is within no bounds.
      expect(body.errors).toEqual(
        [...outside, null].map((_, at) => ({
          rowIndex: at + 2,
          rowData: expect.anything(),
          messages: [`${column}: is outside the rows that you may access`],
        })),
      );
      const good = await workbookOf([head, ...rowsOf(inside)]);
      const committed = await importer(column).committed("bounded", good);
      expect(committed.body.status).toBe("completed");
    },
  );

  test.each([
    [
      "missing",
      [
        ["paper_id", "tenant"],
        ["i5", "a"],
      ],
    ],
    ["long", [["paper_id"], ["i5"]]],
  ])("without a usable claim has an error in each row: %s", async (id, sheet) => {
    const file = await workbookOf(sheet);
    const { body } = await importer(id).previewed("papers", file);
    expect([body.status, body.errors[0].messages]).toEqual([
      "preview_error",
      ["tenant: is outside the rows that you may access"],
    ]);
  });

  test("is unknown to other callers whose rows are limited, whatever they may do, and known to one who sees all", async () => {
    const file = await workbookOf([["paper_id"], ["i4"]]);
    const preview = await importer("a").previewed("papers", file);
    const ask = (id: string) =>
      fixture.request(`/api/test/papers/import-status?job_id=${preview.body.job_id}`, {
        headers: by(id),
      });
    expect((await ask("admin")).status).toBe(200);
    for (const other of ["capital", "list", "missing"])
      expect((await ask(other)).status, other).toBe(404);
  });

  test("that an administrator has committed is the same job for its own caller", async () => {
    const file = await workbookOf([["paper_id"], ["i6"]]);
    const preview = await importer("a").previewed("papers", file);
    const preview_job_id = preview.body.job_id;
    await importer("admin").commit("papers", preview_job_id);
    // With the rows of the one who uploaded them.
    expect(await fixture.sql("select tenant from papers where paper_id = 'i6'")).toEqual([
      { tenant: "a" },
    ]);
    const job_id = preview_job_id.replace("preview", "commit");
    const status = await fixture.request(`/api/test/papers/import-status?job_id=${job_id}`, {
      headers: by("a"),
    });
    expect(status.status).toBe(200);
    const { body } = await as("a", "papers/import-commit", { preview_job_id });
    expect(body).toMatchObject({ status: "completed", result: { inserted: 1 } });
    const other = await as("capital", "papers/import-commit", { preview_job_id });
    expect(gist(other)).toEqual([404, "Not found"]);
  });
});

describe("an adjust of a record that comes into the scope meanwhile", () => {
  afterEach(() => void vi.restoreAllMocks());

  // SQLite lets no other writer in between the statement and the look at the record.
  test.skipIf(inject("engine") === "sqlite")("is done, and blames no limit", async () => {
    const { files, sql } = fixture;
    const { database } = JSON.parse(files.get("test/project.json")!) as {
      database: { url: string };
    };
    await sql("insert into loose (loose_id, tenant, qty) values ('7', 'b', 1)");
    const moves = () => sql("update loose set tenant = 'a' where loose_id = '7'");
    await afterStatement(database.url, /^update /i, moves);
    const adjustments = [{ field: "qty", value: 1 }];
    const answer = await as("a", "loose/adjust", { loose_id: "7", adjustments });
    expect([...gist(answer), answer.body.data?.qty]).toEqual([200, undefined, 2]);
    await sql("delete from loose where loose_id = '7'");
  });
});

describe("a request without credentials", () => {
  test.each([
    ["POST", "loose/read"],
    ["GET", "loose/read"],
    ["POST", "loose/nothing"],
    ["POST", "nothing/read"],
    ["POST", "lock/acquire"],
    ["DELETE", "loose/read"],
  ])("is 401 whatever it asks: %s %s", async (method, path) => {
    const answer = await fixture.request(`/api/test/${path}`, { method });
    expect([...gist(answer), answer.headers.get("www-authenticate") !== null]).toEqual([
      401,
      "Unauthorized",
      true,
    ]);
  });
});
