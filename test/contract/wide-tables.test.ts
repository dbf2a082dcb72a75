/**
 * Tables with every column type that the server can create: each is shown, found, sorted, searched, counted, written,
 * exported and imported, as far as its group and kind allow; the rest is a 400 with a message.
 */
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { columnTypes } from "../../core/values/types/column-types.ts";
import type { Json } from "../../core/values/json.ts";
import { freshDatabase } from "../servers/database.ts";
import { type EngineName, openSession } from "../servers/session.ts";
import { check, record, records } from "./cases.ts";
import type { Answer } from "./harness.ts";
import { importerOf } from "./imports.ts";
import { type JobFixture, openJobFixture } from "./job-places.ts";
import type { WideColumn, WideTable } from "./wide-columns.ts";
import { mysqlTable } from "./wide-columns-mysql.ts";
import { postgresTable } from "./wide-columns-postgres.ts";
import { sqliteTable } from "./wide-columns-sqlite.ts";

const engine = inject("engine");
const wide: Readonly<Record<EngineName, WideTable>> = {
  postgres: postgresTable,
  mysql: mysqlTable,
  sqlite: sqliteTable,
};
const { setUp, suffix = "" } = wide[engine];

/** Extensions whose packages the server has. */
async function availableExtensions(): Promise<ReadonlySet<unknown>> {
  if (engine !== "postgres") return new Set();
  const database = await freshDatabase(engine);
  const session = await openSession(engine, database.url);
  const rows = await session.run("select name from pg_available_extensions");
  await session.close();
  await database.drop();
  return new Set(rows.map(({ name }) => name));
}
const available = await availableExtensions();
const columns = wide[engine].columns.filter(
  ({ extension }) => extension === undefined || available.has(extension),
);
const extensions = new Set(columns.flatMap(({ extension }) => extension ?? []));

/** Rows of all columns at once take long to send: the tests of single columns use tables with so many. */
const chunkColumns = 12;
const chunks = Array.from({ length: Math.ceil(columns.length / chunkColumns) }, (_, at) =>
  columns.slice(at * chunkColumns, (at + 1) * chunkColumns),
);
const tables: ReadonlyMap<string, readonly WideColumn[]> = new Map([
  ...chunks.map((chunk, at) => [`part${at + 1}`, chunk] as const),
  ["wide", columns],
  ["twin", columns],
]);
const tableOf = (column: WideColumn): string =>
  `part${chunks.findIndex((one) => one.includes(column)) + 1}`;

const quoted = (name: string): string => (engine === "mysql" ? `\`${name}\`` : `"${name}"`);
const isWritten = ({ group }: WideColumn): boolean => group !== "shown only";
const rowOf = (list: readonly WideColumn[], at: 0 | 1): Record<string, Json> =>
  Object.fromEntries(list.filter(isWritten).map(({ name, values }) => [name, values[at]]));

const labelled = (list: readonly WideColumn[]): readonly WideColumn[] =>
  list.filter(({ kind }) => columnTypes[kind].hasText);
const labelOf = (list: readonly WideColumn[]): string =>
  ["id", ...labelled(list).map(({ name }) => name)].join(" || '/' || ");

let service: JobFixture;
beforeAll(async () => {
  const actions = ["create", "update", "read", "first", "aggregate", "datatables", "lookup"];
  const action = Object.fromEntries([...actions, "export", "import"].map((name) => [name, true]));
  const created = [...tables].map(([table, list]) => {
    const lines = list.map(({ name, native }) => `${quoted(name)} ${native}`);
    return `create table ${table} (${["id integer primary key", "note varchar(9)", ...lines].join(",\n")}) ${suffix}`;
  });
  service = await openJobFixture("in the service", {
    tables: [],
    setUp: () => [
      ...[...extensions].map((name) => `create extension if not exists ${name}`),
      ...setUp,
      ...created,
    ],
    endpoints: {
      ...Object.fromEntries(
        [...tables].map(([tableName, list]) => [
          tableName,
          { tableName, action, fieldNameLookup: { id: "id", text: labelOf(list) } },
        ]),
      ),
      view: {
        viewQuery: `select ${["id", ...columns.map(({ name }) => quoted(name))].join(", ")} from wide`,
        action: { read: true },
      },
    },
    project: { cache: { enabled: false } },
  });
  for (const [table, list] of tables) if (table !== "twin") await fill(table, list);
}, 60_000);
afterAll(() => service.close());

/** Two rows with values, and one without. */
async function fill(table: string, list: readonly WideColumn[]): Promise<void> {
  for (const at of [0, 1] as const) {
    const created = await service.post(`${table}/create`, { id: at + 1, ...rowOf(list, at) });
    expect(created.status, JSON.stringify(created.body)).toBe(201);
    const set = list.flatMap(({ name, sql }) => (sql ? [`${quoted(name)} = ${sql[at]}`] : []));
    if (set.length > 0)
      await service.sql(`update ${table} set ${set.join(", ")} where id = ${at + 1}`);
  }
  check(await service.post(`${table}/create`, { id: 3 }), { status: 201 });
}

const where = (key: string, operator: string, value?: Json) => ({
  conditions: [{ key, operator, ...(value !== undefined && { value }) }],
});

/** 200 where the column can do it, else 400 with a sentence. */
function checkAble(answer: Answer, isAble: boolean): void {
  expect(answer.status, JSON.stringify(answer.body)).toBe(isAble ? 200 : 400);
  if (!isAble) expect(answer.body.message).toMatch(/./);
}

const ids = (answer: Answer): unknown[] => records(answer).map(({ id }) => id);

describe.each(columns.map((column) => [column.name, column] as const))("%s", (name, column) => {
  const { values, kind, member, isAlwaysFilled = false } = column;
  const can = columnTypes[kind];
  const post = (action: string, body: object) => service.post(`${tableOf(column)}/${action}`, body);
  const found = (operator: string, value?: Json) =>
    post("read", { where: where(name, operator, value) });

  test("is shown and found", async () => {
    for (const at of [0, 1] as const) {
      const first = await post("first", { where: { key: "id", value: at + 1 } });
      expect(record(first)[name]).toEqual(values[at]);
    }
    expect(ids(await found("=", values[0]))).toEqual([1]);
    expect(ids(await found("!=", values[0]))).toEqual(isAlwaysFilled ? [2, 3] : [2]);
    expect(ids(await found("IS NULL"))).toEqual(isAlwaysFilled ? [] : [3]);
    const first = await post("first", { where: { key: name, value: values[1] } });
    expect(record(first)["id"]).toBe(2);
    for (const operator of ["IN", "NOT IN", "BETWEEN"])
      checkAble(await found(operator, [...values]), can.isCompared);
    if (can.isCompared) expect(ids(await found("IN", [...values]))).toEqual([1, 2]);
    for (const operator of ["<", ">="]) checkAble(await found(operator, values[0]), can.isCompared);
    const holders = await found("CONTAINS", member ?? "x");
    checkAble(holders, can.fromMember !== null);
    if (member !== undefined) expect(ids(holders)).not.toEqual([]);
  });

  test.skipIf(column.isVariant)("is sorted and searched", async () => {
    const sort = (direction: string) => ({ sort_columns: [{ column: name, direction }] });
    for (const direction of ["ASC", "DESC"])
      checkAble(await post("read", sort(direction)), can.isSorted);
    for (let cursor: Json = can.isSorted; cursor;) {
      const page: Answer = await post("read", { ...sort("ASC"), per_page: 2, cursor });
      expect(records(page)).toHaveLength(cursor === true ? 2 : 1);
      cursor = page.body.pagination.next_cursor;
    }
    const sample = String(values[0]).slice(0, 20);
    const like = await found("LIKE", `${sample.replaceAll("\\", "\\\\")}%`);
    const search = await post("read", { search_by: name, search_value: sample });
    const grid = await post("datatables", {
      draw: 1,
      columns: [{ data: name, search: { value: sample } }],
      ...(can.isSorted && { order: [{ column: 0, dir: "asc" }] }),
    });
    checkAble(like, can.fromMember === null);
    checkAble(search, can.fromMember === null);
    checkAble(grid, true);
    if (can.hasText)
      for (const answer of [like, search, grid])
        expect(answer.body.data.map(({ id }: { id: number }) => id)).toContain(1);
  });

  test.skipIf(column.isVariant)("is counted, grouped and compared by aggregate", async () => {
    const aggregate = (of: string) =>
      post("aggregate", { operations: [{ function: of, field: name, alias: "n" }] });
    expect((await aggregate("count")).body.data).toEqual({ n: isAlwaysFilled ? 3 : 2 });
    for (const of of ["min", "max"]) checkAble(await aggregate(of), can.hasExtremes);
    for (const of of ["sum", "avg"]) checkAble(await aggregate(of), can.arithmetic !== null);
    const grouped = await post("aggregate", { group_by: [name] });
    checkAble(grouped, can.isGrouped);
    if (can.isGrouped) expect(grouped.body.data).toHaveLength(3);
  });

  test(
    isWritten(column) ? "is written, and refuses what it cannot hold" : "is never written",
    async () => {
      const before = record(await post("first", { where: { key: "id", value: 3 } }));
      const updated = record(await post("update", { id: 3, note: "x", [name]: values[0] }));
      expect(updated[name]).toEqual(isWritten(column) ? values[0] : before[name]);
      for (const value of column.bad ?? []) {
        const refused = { status: 400, error: "Validation failed", errors: [name] };
        check(await post("update", { id: 3, [name]: value }), refused);
        check(await post("create", { id: 4, [name]: value }), refused);
      }
      if (isWritten(column))
        expect(record(await post("update", { id: 3, [name]: null }))[name]).toBe(null);
    },
  );
});

test("lookup joins the texts of all columns to a label", async () => {
  const answer = await service.post("wide/lookup", {}, { "X-Request-Mode": "static" });
  const labels = ([0, 1] as const).map((at) =>
    [at + 1, ...labelled(columns).map(({ values }) => String(values[at]))].join("/"),
  );
  expect(answer.body.data?.slice(0, 2)).toEqual(
    labels.map((label, at) => ({ id: String(at + 1), text: label })),
  );
});

const exportedRows = async (): Promise<Record<string, Json>[]> =>
  (await service.exported("wide", { format: "jsonl" }))
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, Json>);

const written = (row: Record<string, Json>) =>
  Object.fromEntries(
    ["id", ...columns.filter(isWritten).map(({ name }) => name)].map((name) => [name, row[name]]),
  );

const rowsOf = async (endpoint: string) =>
  records(await service.post(`${endpoint}/read`, { page: 1 })).map(written);

describe("the whole table", () => {
  test("is shown by a query as by its endpoint, and found by the same values", async () => {
    const [wideRows, viewRows] = [await rowsOf("wide"), await rowsOf("view")];
    expect(viewRows).toEqual(wideRows);
    for (const { name, values } of columns) {
      const found = await service.post("view/read", { where: where(name, "=", values[1]) });
      expect(found.status, `${name} ${JSON.stringify(found.body)}`).toBe(200);
      expect({ name, found: ids(found) }).toEqual({ name, found: [2] });
    }
  });

  test("is exported as JSON lines as it is read, and create takes them back", async () => {
    const rows = await exportedRows();
    expect(rows.map(written)).toEqual(await rowsOf("wide"));
    for (const row of rows) check(await service.post("twin/create", row), { status: 201 });
    expect(await rowsOf("twin")).toEqual(await rowsOf("wide"));
    await service.sql("delete from twin");
  });

  test("is exported as csv, with a value for each column", async () => {
    const text = await service.exported("wide", { format: "csv" });
    for (const { name } of columns) expect(text).toContain(name);
  });

  test("is exported as xlsx, and imported from it", async () => {
    const jobId = await service.start("wide", { format: "xlsx" });
    await service.ended("wide", jobId);
    const file = await service.fetch(`/api/test/wide/export-download?job_id=${jobId}`);
    const { body } = await importerOf(service).committed(
      "twin",
      new Uint8Array(await file.arrayBuffer()),
    );
    expect(body.result).toMatchObject({ inserted: 3 });
    expect(await rowsOf("twin")).toEqual(await rowsOf("wide"));
  });
});
