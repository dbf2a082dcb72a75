/** Rows as JSON text: the same text, character by character, as from their values. */
import { beforeAll, describe, expect, test } from "vitest";
import type { Table } from "../../core/values/types/column.ts";
import type { Db } from "../../core/plans/db-port.ts";
import type { ListText } from "../../core/query/list-text.ts";
import { asString, jsonOf } from "../../core/values/ready-json.ts";
import { markOf } from "../../core/lists/cursor.ts";
import type { Select } from "../../core/query/statement.ts";
import type { OpenOptions } from "../../db/open.ts";
import { type BareSession, bareSession } from "./bare-session.ts";
import { engine, reopen, select, useBench } from "./conformance.ts";
import { textSetUp, textValues } from "./text-values.ts";
import { openForTests } from "../contract/harness.ts";

const bench = useBench();
const values = textValues[engine];
const key = engine === "sqlite" ? "id integer primary key" : "id integer not null primary key";

/** A table for each type, so that a list has only its values. */
const tableOf = (at: number): string => `texts_${at}`;

beforeAll(async () => {
  const { plain } = bench;
  for (const text of textSetUp[engine]) await plain.run(text);
  // Days that are none may have been stored at another time.
  if (engine === "mysql") await plain.run("set session sql_mode = ''");
  for (const [at, [native, literals]] of values.entries()) {
    const name = tableOf(at);
    await plain.run(`create table ${name} (${key}, v ${native})`);
    for (const [row, literal] of [...literals, "null"].entries())
      await plain.run(`insert into ${name} (id, v) values (${row + 1}, ${literal})`);
  }
}, 60_000);

const own = (db: Db): BareSession => bareSession(db, performance.now() + 20_000);

async function table(db: Db, name: string): Promise<Table> {
  return (await db.catalog.table(name))!;
}

const ordered = (from: Table, given: Partial<Select> = {}): Select =>
  select(from, [...from.columns.keys()], {
    sort: [{ column: from.columns.get("id")!, direction: "asc" }],
    ...given,
  });

/** With the text that an answer shows. */
function shownIn({ data, ...rest }: ListText): Omit<ListText, "data"> & { readonly text: string } {
  return { text: asString(jsonOf({ data })).slice('{"data":'.length, -1), ...rest };
}

async function expectSame(session: Pick<BareSession, "all" | "allAsText">, list: Select) {
  const rows = await session.all(list);
  const written = shownIn(await session.allAsText(list, { rowsMax: 100_000 }));
  const text = JSON.stringify(rows);
  // The values first: of a difference between them, less is printed.
  expect(JSON.parse(written.text)).toEqual(JSON.parse(text));
  expect(written.text === text).toBe(true);
  expect(written).toMatchObject({ shown: rows.length, found: rows.length });
}

const kinds: readonly Partial<OpenOptions>[] = [
  { decimals: "number" },
  { decimals: "string" },
  ...(engine === "postgres" ? [{ preparedStatements: false }] : []),
];

describe.each(kinds)("with %o, the text of rows is that of their values", (options) => {
  const db = openForTests(reopen, bench, options);

  test.each(values.map(([native, literals], at) => ({ native, literals, at })))(
    "$native",
    async ({ at, literals }) => {
      const list = ordered(await table(db, tableOf(at)));
      // The first read can be the one that detects how SQLite's values are written.
      const { found } = await own(db).allAsText(list, { rowsMax: 1 });
      expect(found).toBe(literals.length + 1);
      await expectSame(own(db), list);
      await own(db).snapshot((queries) => expectSame(queries, list));
    },
  );
});

describe("the text", () => {
  const narrow = async (limit: number | null): Promise<Select> =>
    ordered(await table(bench.db, tableOf(0)), { limit });

  test.each([
    { limit: 5, shown: 5 },
    { limit: 5, shown: 4 },
    { limit: 5, shown: 9 },
  ])("of $limit rows holds the first $shown", async ({ limit, shown }) => {
    const list = await narrow(limit);
    const rows = (await own(bench.db).all(list)).slice(0, shown);
    const text = shownIn(await own(bench.db).allAsText(list, { rowsMax: shown }));
    const expected = { text: JSON.stringify(rows), shown: rows.length, found: limit, ends: [] };
    expect(text).toEqual(expected);
  });

  test("of rows that were read from the end has them turned around", async () => {
    const list = await narrow(5);
    const rows = (await own(bench.db).all(list)).toReversed().slice(0, 3);
    const form = { rowsMax: 3, isReversed: true };
    const text = shownIn(await own(bench.db).allAsText(list, form));
    expect(text).toMatchObject({ text: JSON.stringify(rows), shown: 3, found: 5 });
  });

  test("of no rows is an empty list", async () => {
    const list = { ...(await narrow(5)), offset: 1_000_000 };
    expect(shownIn(await own(bench.db).allAsText(list, { rowsMax: 5 }))).toEqual({
      text: "[]",
      shown: 0,
      found: 0,
      ends: [],
    });
  });

  test("leaves out marks, and tells those of the rows at its end", async () => {
    const list = await narrow(5);
    const mark = markOf(list.columns[0]!);
    const marked = { ...list, columns: [...list.columns, mark] };
    const rows = await own(bench.db).all(marked);
    const written = shownIn(await own(bench.db).allAsText(marked, { rowsMax: 4 }));
    const ends = rows.slice(3).map(({ [mark.name]: place }) => ({ [mark.name]: place }));
    expect(written).toMatchObject({ found: 5, ends });
    const plain = JSON.stringify(await own(bench.db).all(list));
    expect(JSON.parse(written.text)).toEqual(JSON.parse(plain).slice(0, 4));
  });

  test("has names in the order and form in which values have them", async () => {
    const quote = (name: string): string =>
      engine === "mysql" ? `\`${name}\`` : `"${name.replaceAll('"', '""')}"`;
    const names = ["id", "9", "b", "1", 'q"\\', "é", "toString", "constructor"];
    const columns = names.slice(1).map((name) => `${quote(name)} integer`);
    await bench.plain.run(`create table names (${key}, ${columns.join(", ")})`);
    await bench.plain.run("insert into names (id) values (1)");
    await expectSame(own(bench.db), ordered(await table(bench.db, "names")));
  });

  test("of many lists at the same time is each list's own", async () => {
    const lists = await Promise.all([0, 1, 2].map((at) => table(bench.db, tableOf(at))));
    await Promise.all(
      Array.from({ length: 12 }, (_, at) => expectSame(own(bench.db), ordered(lists[at % 3]!))),
    );
  });

  test("is not kept from being read by a statement that failed before", async () => {
    const list = await narrow(3);
    const column = { ...list.columns[1]!, name: "no such column" };
    const columns = [...list.columns, column];
    await expect(own(bench.db).allAsText({ ...list, columns }, { rowsMax: 3 })).rejects.toThrow();
    await expectSame(own(bench.db), list);
  });
});
