/** The operator's own SQL on each engine: values as in other statements, and errors that are the operator's. */
import { describe, expect, test } from "vitest";
import { nativeOf, type NativeParams } from "../../core/query/native.ts";
import type { UnscopedQueries } from "../../core/query/session.ts";
import { column, engine, errorOf, insert, select, session, useBench } from "./conformance.ts";
import { equals } from "../../core/query/statement.ts";

const bench = useBench();

const run = (queries: UnscopedQueries, sql: string, params: NativeParams = []) =>
  queries.native(nativeOf(sql, params));

const kinds = {
  id: "k1",
  short: "abc",
  long: "ÉЖ🙂 '\"\\`",
  small: -32_768n,
  whole: 2_147_483_647n,
  big: 9_223_372_036_854_775_807n,
  price: "1234567890.12",
  ratio: 0.1,
  flag: true,
  day: "2026-02-03",
  moment: "2026-02-03T04:05:06.789Z",
  hour: "04:05:06",
  uid: "0b5e7a34-8f0e-4c7e-9a55-0c8f1f4a2b10",
  data: '{"a":[1,"x",null]}',
  file: new Uint8Array([0, 1, 255]),
};
const names = Object.keys(kinds);

test("a row of every type is as a select gives it, and so are nulls", async () => {
  const { kinds: table } = bench;
  await session(bench).insert(insert(table, kinds));
  await session(bench).insert(insert(table, { ...empty(), id: "k2" }));
  for (const id of ["k1", "k2"]) {
    const where = equals(column(table, "id"), id);
    const given = await session(bench).one(select(table, names, { where }));
    const rows = await run(session(bench), "select * from kinds where id = ?", [id]);
    expect(rows).toEqual([given]);
  }
});

const empty = () => Object.fromEntries(names.map((name) => [name, null]));

test("values of JavaScript are stored as what they are", async () => {
  const values = {
    id: "k3",
    short: "a'b",
    whole: -5,
    big: 9_223_372_036_854_775_807n,
    ratio: 0.25,
    flag: false,
    day: "2026-02-03",
    moment: new Date("2026-02-03T04:05:06.700Z"),
    data: { list: ["ü", 1] },
    file: new Uint8Array([1, 2]),
  };
  const columns = Object.keys(values);
  const places = columns.map((name) => `:${name}`).join(", ");
  await run(session(bench), `insert into kinds (${columns.join(", ")}) values (${places})`, values);
  const where = equals(column(bench.kinds, "id"), "k3");
  expect(await session(bench).one(select(bench.kinds, columns, { where }))).toEqual({
    ...values,
    big: "9223372036854775807",
    moment: "2026-02-03T04:05:06.700Z",
    file: "AQI=",
  });
});

test("whole numbers that only an expression gives lose no digit", async () => {
  const text =
    engine === "mysql" ? "select cast(? as signed) as n" : "select cast(? as bigint) as n";
  const values: unknown[] = [];
  for (const n of [1, 9_007_199_254_740_993n])
    values.push((await run(session(bench), text, [n]))[0]);
  expect(values).toEqual([{ n: 1 }, { n: "9007199254740993" }]);
});

test("whole numbers serve as LIMIT and OFFSET", async () => {
  const text = "select id from kinds order by id limit ? offset ?";
  expect(await run(session(bench), text, [1, 1])).toEqual([{ id: "k2" }]);
});

describe("written tables", () => {
  test.each([
    ["none for a read", "select 1 as one", []],
    ["unknown ones for a write", "update people set name = 'x' where 1 = 0", ["unknown"]],
    ["unknown ones for a write that fails", "delete from nowhere", ["unknown"]],
  ])("are %s", async (_, sql, written) => {
    const one = session(bench);
    await one.tx((tx) => run(tx, sql)).catch(() => undefined);
    expect([...one.written]).toEqual(written);
  });
});

describe("what the database refuses is internal, whatever it is", () => {
  test.each([
    ["a syntax error", "select from where"],
    ["an unknown table", "select * from nowhere"],
    ["a duplicate", "insert into parents (id, name) values ('p', 'x'), ('p', 'y')"],
    ["a null", "insert into parents (id, name) values ('n', null)"],
    ["a missing reference", "insert into people (parent) values ('nobody')"],
    ["a check", "insert into people (stock) values (-1000)"],
  ])("%s", async (_, sql) => {
    const error = await errorOf(session(bench).tx((tx) => run(tx, sql)));
    expect(error.kind).toBe("internal");
    expect(error.errors).toBeUndefined();
    expect(error.cause).toBeInstanceOf(Error);
  });

  test("and nothing of its transaction stays", async () => {
    const work = session(bench).tx(async (tx) => {
      await run(tx, "insert into parents (id, name) values ('gone', 'x')");
      await run(tx, "select * from nowhere").catch(() => undefined);
      await run(tx, "insert into parents (id, name) values ('gone-2', 'x')").catch(() => undefined);
    });
    expect((await errorOf(work)).kind).toBe("internal");
    expect(await run(session(bench), "select * from parents where id like 'gone%'")).toEqual([]);
  });
});

test("a statement that runs over the deadline is unavailable", async ({ skip }) => {
  if (engine === "sqlite") skip("its statements run on the calling thread");
  const sql = engine === "mysql" ? "select sleep(5)" : "select 1 as one from pg_sleep(5)";
  const work = session(bench, 200).tx((tx) => run(tx, sql));
  expect((await errorOf(work)).kind).toBe("unavailable");
});
