/**
 * Tables with a key of several columns, and tables without a key: all lists have the same total order, so no record is
 * on two pages. The rows are stored in a different order.
 */
import { describe, expect, inject, test } from "vitest";
import { check, record, records } from "./cases.ts";
import { type Answer, openForTests } from "./harness.ts";
import { openJobFixture } from "./job-places.ts";

type Value = string | number | null;

const lines: readonly (readonly Value[])[] = [
  ["same", 2, 1],
  ["same", 1, 3],
  ["same", 3, 1],
  ["same", 1, 1],
  ["same", 2, 2],
  ["same", 1, 2],
];
const lineOf = (values: readonly Value[]) => ({
  note: values[0],
  order_id: values[1],
  line_no: values[2],
});
const sortedLines = lines
  .map(lineOf)
  .toSorted(
    (a, b) => Number(a.order_id) - Number(b.order_id) || Number(a.line_no) - Number(b.line_no),
  );

/** In the order of lists. Two are equal, and some differ only in case, accents or a trailing blank. */
const notes: readonly (readonly Value[])[] = [
  [1, null, "y"],
  [1, "A", "x"],
  [1, "a", "x"],
  [1, "a ", "x"],
  [1, "á", "x"],
  [2, "b", "X"],
  [2, "b", "x"],
  [2, "b", "x"],
];
const sortedNotes = notes.map(([a, b, c]) => ({ a, b, c }));

const valuesOf = (rows: readonly (readonly Value[])[]): string =>
  rows
    .map((row) =>
      row.map((value) => (typeof value === "string" ? `'${value}'` : String(value))).join(", "),
    )
    .map((row) => `(${row})`)
    .join(", ");

const service = openForTests(async () => {
  const action = { read: true, first: true, datatables: true, lookup: true, export: true };
  return openJobFixture("in the service", {
    tables: [],
    setUp(engine) {
      // Collations that treat some different texts as equal.
      const collation = engine === "sqlite" ? " collate nocase" : "";
      const charset =
        engine === "mysql" ? " default charset = utf8mb4 collate = utf8mb4_general_ci" : "";
      return [
        "create table order_lines (note varchar(20), order_id integer not null, line_no integer not null, primary key (order_id, line_no))",
        `insert into order_lines (note, order_id, line_no) values ${valuesOf(lines)}`,
        `create table notes (a integer, b varchar(20)${collation}, c varchar(2000)${collation})${charset}`,
        `insert into notes (a, b, c) values ${valuesOf(notes.toReversed())}`,
        "create table papers (a integer, paper json)",
        `insert into papers (a, paper) values (1, '{"n": 1}'), (1, '{"n": 2}')`,
        "create table codes (code varchar(20) not null unique, name varchar(20))",
        "insert into codes (code, name) values ('c2', 'same'), ('c1', 'same'), ('c3', 'same')",
        "create table entries (a integer, b varchar(20))",
      ];
    },
    endpoints: {
      lines: { tableName: "order_lines", action, fieldNameLookup: { id: "note", text: "note" } },
      notes: { tableName: "notes", action, fieldNameLookup: { id: "a", text: "a" } },
      papers: { tableName: "papers", action, fieldNameLookup: { id: "a", text: "a" } },
      codes: { tableName: "codes", action: { read: true, create: true, update: true } },
      entries: {
        tableName: "entries",
        action: { read: true, create: inject("engine") !== "mysql" },
      },
    },
    project: { cache: { enabled: false } },
  });
});

const lists = [
  { endpoint: "lines", what: "a key of two columns", expected: sortedLines },
  { endpoint: "notes", what: "no key", expected: sortedNotes },
];
const byNote = { lines: [{ column: "note" }], notes: [{ column: "a" }] };

describe.each(lists)("a table with $what", ({ endpoint, expected }) => {
  const sort_columns = byNote[endpoint as keyof typeof byNote];
  const pages = Array.from({ length: Math.ceil(expected.length / 2) }, (_, at) => at);
  const allOf = (answers: readonly Answer[]): unknown[] => answers.flatMap(records);

  test("read shows every row once on its pages", async () => {
    const answers = await Promise.all(
      pages.map((at) =>
        service.post(`${endpoint}/read`, { page: at + 1, per_page: 2, sort_columns }),
      ),
    );
    expect(allOf(answers)).toEqual(expected);
  });

  test("read without pages has the same order", async () => {
    expect(records(await service.post(`${endpoint}/read`, { limit: 100 }))).toEqual(expected);
  });

  test("first finds the first of them", async () => {
    const [{ key, value }] = [
      endpoint === "lines" ? { key: "note", value: "same" } : { key: "a", value: 1 },
    ];
    const answer = await service.post(`${endpoint}/first`, { where: { key, value } });
    expect(record(answer)).toEqual(expected[0]);
  });

  test("datatables shows every row once on its pages", async () => {
    const answers = await Promise.all(
      pages.map((at) =>
        service.post(`${endpoint}/datatables`, { start: at * 2, length: 2, sort_columns }),
      ),
    );
    expect(answers.flatMap(({ body }) => body.data)).toEqual(expected);
  });

  test("lookup shows every row once on its pages", async () => {
    const answers = await Promise.all(
      pages.map((at) =>
        service.post(
          `${endpoint}/lookup`,
          { page: at + 1, limit: 2, select: Object.keys(expected[0]!), sort_columns },
          { "X-Request-Mode": "static" },
        ),
      ),
    );
    const names = Object.keys(expected[0]!);
    const shown = answers
      .flatMap(records)
      .map((item) => Object.fromEntries(names.map((name) => [name, item[name]])));
    expect(shown).toEqual(expected);
  });

  test("export writes them in this order", async () => {
    const file = await service.exported(endpoint, { format: "jsonl", sort_columns });
    const rows = file.trim().split("\n");
    expect(rows.map((row) => JSON.parse(row))).toEqual(expected);
  });
});

describe("cursors", () => {
  async function walk(endpoint: string, per_page: number): Promise<unknown[]> {
    const found: unknown[] = [];
    for (let cursor: unknown = true; cursor !== null;) {
      const answer = await service.post(`${endpoint}/read`, { cursor, per_page });
      check(answer, { status: 200 });
      found.push(...records(answer));
      cursor = answer.body.pagination.next_cursor;
    }
    return found;
  }

  test("read goes by cursor through a table with a key of two columns", async () => {
    expect(await walk("lines", 1)).toEqual(sortedLines);
  });

  test("read goes by cursor through a table without a key", async () => {
    expect(await walk("notes", 3)).toEqual(sortedNotes);
  });

  test("read refuses a cursor between two rows that are equal in all that they show", async () => {
    const answer = await service.post("notes/read", { cursor: true, per_page: 7 });
    check(answer, {
      status: 400,
      error: "Invalid parameter",
      message:
        "The page would end between two records with equal sort values and no key; use another per_page, or page",
    });
  });
});

describe("a table without a key, of which a column has no order", () => {
  const reason = "as its records have no key, and the column paper has no order";
  test.each([
    ["read", { page: 2 }, "Invalid parameter", `This endpoint has one page only, ${reason}`],
    ["read", { cursor: true }, "Invalid parameter", `This endpoint has one page only, ${reason}`],
    ["datatables", { start: 10 }, "Invalid payload", `This endpoint has one page only, ${reason}`],
    ["lookup", { page: 2 }, "Invalid parameter", `This endpoint has one page only, ${reason}`],
  ])("%s refuses %j", async (action, body, error, message) => {
    const answer = await service.post(`papers/${action}`, body, { "X-Request-Mode": "static" });
    check(answer, { status: 400, error, message });
  });

  test.each([
    ["read", { page: 1 }],
    ["read", { limit: 10 }],
    ["datatables", { start: 0 }],
    ["lookup", { page: 1 }],
  ])("%s takes %j", async (action, body) => {
    const answer = await service.post(`papers/${action}`, body, { "X-Request-Mode": "static" });
    expect(answer.body.data).toHaveLength(2);
  });
});

describe("the first field as key", () => {
  test("update changes the row that a unique first field names", async () => {
    const answer = await service.post("codes/update", { code: "c1", name: "changed" });
    expect(record(answer)).toEqual({ code: "c1", name: "changed" });
    expect(records(await service.post("codes/read", { limit: 10 }))).toEqual([
      { code: "c1", name: "changed" },
      { code: "c2", name: "same" },
      { code: "c3", name: "same" },
    ]);
  });

  test.skipIf(inject("engine") === "mysql")(
    "create stores a row of a table without a key",
    async () => {
      const answer = await service.post("entries/create", { a: 1, b: "one" });
      check(answer, { status: 201 });
      expect(record(answer)).toEqual({ a: 1, b: "one" });
      await service.post("entries/create", { a: 1, b: "one" });
      expect(records(await service.post("entries/read", { limit: 10 }))).toEqual([
        { a: 1, b: "one" },
        { a: 1, b: "one" },
      ]);
    },
  );
});
