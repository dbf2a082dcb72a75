/** Which reads of a SQLite file run in a separate process, and that their results are the same there. */
import { rmSync } from "node:fs";
import Database from "better-sqlite3";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type Comparison,
  type Condition,
  selectFrom,
  type Statement,
} from "../../core/query/statement.ts";
import { limits } from "../../core/values/limits.ts";
import type { Column, Source, Via } from "../../core/values/types/column.ts";
import { type Connection } from "../../db/engines/engine.ts";
import { connectFault } from "../../db/engines/sqlite/connect-fault.ts";
import { createConnection } from "../../db/engines/sqlite/connection.ts";
import { createDialect } from "../../db/engines/sqlite/dialect.ts";
import { failure } from "../../db/engines/sqlite/failure.ts";
import { registerFunctions } from "../../db/engines/sqlite/functions.ts";
import { createLongReads, type LongReads } from "../../db/engines/sqlite/long-reads.ts";
import { connectReader } from "../../db/engines/sqlite/reader.ts";
import { selectPage } from "../../core/lists/cursor.ts";
import { createStoredForms } from "../../db/engines/sqlite/forms/stored-forms.ts";
import { createCompiler, type Compile, Pace } from "../../db/statements/compile.ts";
import { freshDatabase, type FreshDatabase } from "../servers/database.ts";
import { column } from "../values/column.ts";
import { send, streamed } from "./send.ts";

let file: FreshDatabase;
let path: string;
let database: Database.Database;
let here: Connection;
let compile: Compile;
/** As a service makes it for requests, or for jobs, with nothing known yet. */
let newReads: (of?: keyof typeof limits.heldUpMax) => LongReads;

/** Of statements that took so long. */
function paceOf(durationMs: number): Pace {
  const pace = new Pace();
  pace.took(durationMs);
  return pace;
}

const numbers = (rows: number): string =>
  `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${rows}) select i from n`;

beforeAll(async () => {
  file = await freshDatabase("sqlite");
  path = file.url.slice("sqlite:".length);
  database = new Database(path);
  database.pragma("journal_mode = WAL");
  database.exec(`
    create table big (id integer primary key, many integer, few integer, code text unique, spare text unique, name text);
    insert into big select i, i % 4, i / 3, 'c' || i, null, 'Name ' || i from (${numbers(60_000)});
    create index big_many on big (many);
    create index big_few on big (few);
    create index big_both on big (many, few);
    create index big_names on big (name collate nocase);
    create table small (id integer primary key, big_id integer, label text);
    insert into small select i, i, 'Label ' || i from (${numbers(200)});
    create table middle (id integer primary key, label text);
    insert into middle select i, 'Label ' || i from (${numbers(15_000)});
    create table keyed (a text, b integer, primary key (a, b)) without rowid;
    insert into keyed select 'a' || i, i from (${numbers(60_000)});
    create view joined as select b.id, s.label from big b join small s on s.big_id = b.id;
    create view counted as select s.id, (select count(*) from big where big.name = s.label) as found from small s;
    create table kinds (t text, i integer, r real, b blob, n text);
    insert into kinds values ('ünï 😀', 9007199254740993, 0.1, x'00ff', null), ('', -1, 1e300, x'', 'x');
  `);
  const forms = createStoredForms(() => database);
  registerFunctions(database, forms);
  compile = createCompiler(createDialect("number", forms));
  newReads = (of = "requests") => createLongReads(compile, limits.heldUpMax[of]);
  here = createConnection(database, {
    release: () => database.close(),
    forms,
    tables: { begin: () => {}, isDue: () => false, hasChanged: () => false },
  });
});
afterAll(async () => {
  here?.destroy();
  await file?.drop();
});

const aggregate = { kind: "aggregate" } as Statement;
const select = (limit: number | null, more: object = {}): Statement =>
  ({
    kind: "select",
    source: { kind: "table", schema: null, name: "big" },
    where: null,
    limit,
    offset: 0,
    ...more,
  }) as Statement;

/** SQL, what it is, and whether its rows are streamed. */
type Case = readonly [text: string, statement?: Statement, isStreamed?: boolean];

const isLong = ([text, statement = aggregate, isStreamed = false]: Case): boolean => {
  const params = Array.from({ length: text.split("?").length - 1 }, () => 1);
  const compiled = { text, params, pace: null };
  return newReads().isLong(database, { statement, compiled, isStreamed });
};

const named = (cases: readonly Case[]) =>
  cases.map((one) => [one[0].slice(0, 120) + (one[2] === true ? " (a stream)" : ""), one] as const);

test.each(
  named([
    ["select * from big where id = ?"],
    ["select * from big where id in (?, ?, ?)"],
    ["select * from big where code = ?"],
    ["select * from big where code = ? or id = ?"],
    ["select * from big where few = ?"],
    ["select * from big where many = ? and few = ?"],
    ["select * from keyed where a = ? and b = ?"],
    ["select * from small where label like ? order by label"],
    ["select * from small a join small b on b.id = a.big_id"],
    ["select * from small where exists (select 1 from big where big.id = small.big_id)"],
    ["select * from big order by id limit ?", select(20)],
    ["select * from big order by id", select(null), true],
    ["select count(*) from middle"],
    ["select 1"],
    ["select * from missing"],
  ]),
)("runs at once: %s", (_, one) => {
  expect(isLong(one)).toBe(false);
});

test.each(
  named([
    ["select count(*) from big"],
    ["select * from big where many = ?"],
    ["select * from big where spare is null"],
    ["select * from big where id > ?"],
    ["select * from big where name = ?"],
    ["select * from keyed where b = ?"],
    ["select * from big order by name limit ?", select(20)],
    ["select * from big order by id limit ?", select(20, { where: { kind: "none" } })],
    ["select * from big order by id limit ?", select(60_000)],
    ["select * from big order by name", select(null), true],
    ["select * from small a, small b, small c"],
    ["select * from middle a join middle b on a.label = b.label"],
    ["select * from middle where rowgate_like(label, ?)"],
    ["select * from joined"],
    ["select * from counted"],
    ["select * from (select label from small union all select name from big) order by 1"],
    ["with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n"],
  ]),
)("runs in a process of its own: %s", (_, one) => {
  expect(isLong(one)).toBe(true);
});

test.each([
  [" like ?", 400, false],
  [" like ?", 501, true],
  [" like ? and name = 'x' and 2 > length(?)", 300, true],
  [" = 'x' and rowgate_json_holds(label, ?)", 501, true],
  [" = ?", 5_000, false],
])("label%s with texts of %i characters in a small table: long is %s", (rest, length, expected) => {
  const text = `select * from small where label${rest}`;
  const params = Array.from({ length: text.split("?").length - 1 }, () => "a".repeat(length));
  const compiled = { text, params, pace: null };
  expect(newReads().isLong(database, { statement: aggregate, compiled, isStreamed: false })).toBe(
    expected,
  );
});

describe("a drop-down that finds thousands of labels by their beginning, and shows few", () => {
  const name = column("text", { name: "name", hasFoldedIndex: true });
  const starting = { kind: "like", column: name, pattern: "na%", negated: false, ignoreCase: true };
  const inOrder = "order by name collate nocase limit ?";
  const sought = (where: object, { limit = 20, rest = inOrder, first = "na%" } = {}): boolean => {
    const text = `select id, name from big where name like ? escape '\\' ${rest}`;
    const statement = select(limit, { where });
    const compiled = { text, params: [first, limit], pace: null };
    return newReads().isLong(database, { statement, compiled, isStreamed: false });
  };

  test("runs at once", () => expect(sought(starting)).toBe(false));

  test.each([
    ["shows most of them", starting, { limit: 60_000 }],
    ["sorts them otherwise", starting, { rest: "order by id limit ?" }],
    ["looks for more than the beginning", { ...starting, pattern: "na%9%" }, {}],
    ["looks for a part", { ...starting, pattern: "%na%" }, {}],
    ["is planned without a range", starting, { first: "%na%" }],
    ["looks for what begins otherwise", { ...starting, negated: true }, {}],
    ["compares case", { ...starting, ignoreCase: false }, {}],
    ["looks for more", { kind: "and", members: [starting, { kind: "none" }] }, {}],
  ])("runs in a process of its own where it %s", (_, where, more) => {
    expect(sought(where, more)).toBe(true);
  });
});

describe("a page of the many rows that an index finds", () => {
  const big: Source = { kind: "table", schema: null, name: "big", columns: new Map() };
  const [id, many, few] = ["id", "many", "few"].map((name) => column("integer", { name }));
  const name = column("text", { name: "name" });
  const compared = (column: Column, operator: Comparison, value: bigint): Condition => ({
    kind: "compare",
    column,
    operator,
    value,
  });
  const after = (value: bigint, column = id!): Condition => compared(column, ">", value);
  const all = (...members: Condition[]): Condition => ({ kind: "and", members });
  const between = (column: Column, low: bigint, high: bigint, negated = false): Condition => ({
    kind: "between",
    column,
    low,
    high,
    negated,
  });
  const isLong = (
    where: Condition,
    { sort = id!, limit = 20, offset = 0, printed = where } = {},
  ): boolean => {
    const order = [{ column: sort, direction: "asc" as const }];
    const page = (where: Condition): Statement =>
      selectFrom(big, { columns: [id!, few!], where, sort: order, limit, offset });
    const reading = { statement: page(where), compiled: compile(page(printed)), isStreamed: false };
    return newReads().isLong(database, reading);
  };

  test.each<[string, Condition, Parameters<typeof isLong>[1]?]>([
    ["behind a key", after(10n)],
    ["behind a key, backwards", compared(id!, "<=", 59_000n)],
    ["between two keys", all(after(10n), compared(id!, "<", 59_000n))],
    ["between two keys, as one condition", between(id!, 10n, 59_000n)],
    ["behind a value of an index", after(10n, few!), { sort: few! }],
    [
      "with a value, behind another one",
      all(compared(many!, "=", 1n), after(10n, few!)),
      { sort: few! },
    ],
    ["a thousand rows later", after(10n), { offset: 1_000 }],
  ])("is read at once %s", (_, where, more) => {
    expect(isLong(where, more)).toBe(false);
  });

  const [ascending, descending] = ["asc", "desc"] as const;
  /** As a cursor asks for them, in a list that may be filtered. */
  const isLongBehind = (
    after: readonly [string, string],
    {
      sorted = few!,
      direction = ascending as "asc" | "desc",
      where = null as Condition | null,
    } = {},
  ): boolean => {
    const sort = [sorted, id!].map((column) => ({ column, direction }));
    const select = selectFrom(big, { columns: [id!, few!], where, sort });
    const list = { name: "big", sort, hasKey: true, filter: where };
    const statement = selectPage(select, { list, perPage: 20, after });
    const reading = { statement, compiled: compile(statement), isStreamed: false };
    return newReads().isLong(database, reading);
  };

  test.each<[string, Parameters<typeof isLongBehind>]>([
    ["in the order of a column with few equal values", [["i10", "i31"]]],
    [
      "backwards",
      [["i19000", "i57001"], { sorted: { ...few!, nullable: false }, direction: descending }],
    ],
    [
      "where a column of the same index has a value",
      [["i10", "i31"], { where: compared(many!, "=", 1n) }],
    ],
  ])("is read at once behind a cursor %s", (_, [after, more]) => {
    expect(isLongBehind(after, more)).toBe(false);
  });

  test.each<[string, Parameters<typeof isLongBehind>]>([
    ["in the order of a column with many equal values", [["i1", "i31"], { sorted: many! }]],
    [
      "where more is asked of the rows",
      [["i10", "i31"], { where: { kind: "contains", column: name, text: "9" } }],
    ],
    ["where another range is asked for", [["i10", "i31"], { where: after(10n) }]],
  ])("is read in a process of its own behind a cursor %s", (_, [after, more]) => {
    expect(isLongBehind(after, more)).toBe(true);
  });

  test.each<[string, Condition]>([
    ["has no bound", { kind: "or", members: [after(10n, few!), after(31n)] }],
    [
      "has the bound of another value",
      all(compared(few!, ">=", 5n), { kind: "or", members: [after(10n, few!), after(31n)] }),
    ],
    [
      "has a bound in the other direction",
      all(compared(few!, "<=", 19_000n), {
        kind: "or",
        members: [after(19_000n, few!), after(31n)],
      }),
    ],
  ])("is read in a process of its own where what looks like a cursor %s", (_, where) => {
    expect(isLong(where, { sort: few! })).toBe(true);
  });

  test("is read at once also where the table is its own index", () => {
    const keyed: Source = { kind: "table", schema: null, name: "keyed", columns: new Map() };
    const [a, b] = [column("text", { name: "a" }), column("integer", { name: "b" })];
    const where = all({ kind: "compare", column: a, operator: "=", value: "a1" }, after(10n, b));
    const sort = [{ column: b, direction: "asc" as const }];
    const statement = selectFrom(keyed, { columns: [b], where, sort, limit: 20 });
    const compiled = compile(statement);
    const reading = { statement, compiled, isStreamed: false };
    expect(newReads().isLong(database, reading)).toBe(false);
  });

  test.each<[string, Condition, Parameters<typeof isLong>[1]?]>([
    ["where it is sorted otherwise", after(10n), { sort: few! }],
    ["where it has most of them", after(10n), { limit: 59_000 }],
    ["where it is far behind", after(10n), { offset: 59_000 }],
    [
      "where more is asked of the rows",
      all(after(10n), { kind: "contains", column: name, text: "9" }),
    ],
    ["where another column is compared too", all(after(10n), after(10n, few!))],
    ["where a key is compared twice", all(after(10n), after(50n))],
    ["where a value is not asked for", all(after(10n), compared(few!, "!=", 20n))],
    [
      "where one of two conditions is enough",
      { kind: "or", members: [after(10n), after(10n, few!)] },
    ],
    ["outside of two keys", between(id!, 10n, 20n, true)],
    ["of another record", after(10n, { ...id!, via: {} as Via }), { printed: after(10n) }],
  ])("is read in a process of its own %s", (_, where, more) => {
    expect(isLong(where, more)).toBe(true);
  });
});

describe("a filter by a range of an index", () => {
  const big: Source = { kind: "table", schema: null, name: "big", columns: new Map() };
  const [id, few] = ["id", "few"].map((name) => column("integer", { name }));
  const name = column("text", { name: "name", hasFoldedIndex: true });
  const starts = (pattern: string): Condition => ({
    kind: "like",
    column: name,
    pattern,
    negated: false,
    ignoreCase: true,
  });
  const within = (low: string, high: string): Condition => ({
    kind: "between",
    column: few!,
    low,
    high,
    negated: false,
  });
  const compared = (operator: Comparison, value: string): Condition & { kind: "compare" } => ({
    kind: "compare",
    column: few!,
    operator,
    value,
  });
  const all = (...members: Condition[]): Condition => ({ kind: "and", members });
  const part: Condition = { kind: "contains", column: name, text: "9" };
  const page = (where: Condition): Statement =>
    selectFrom(big, {
      columns: [id!, name],
      where,
      sort: [{ column: name, direction: "desc" }],
      limit: 20,
    });
  const total = (where: Condition): Statement => ({ kind: "count", source: big, where });
  const isLong = (statement: Statement): boolean =>
    newReads().isLong(database, { statement, compiled: compile(statement), isStreamed: false });

  const fewRows: [string, Condition][] = [
    ["begins with a text", starts("name 599%")],
    ["begins with a text, in the other case", starts("NAME 599%")],
    ["is between two values", within("700", "900")],
    ["is above a value", compared(">", "19900")],
    ["is between two values, and more", all(within("700", "900"), part)],
    ["is above a value and below another one", all(compared(">", "19900"), compared("<", "19950"))],
  ];
  test.each(fewRows)("is read at once where it %s, and those are few", (_, where) => {
    expect([isLong(page(where)), isLong(total(where))]).toEqual([false, false]);
  });

  const manyRows: [string, Condition][] = [
    ["begins with a text", starts("name 5%")],
    ["is between two values", within("700", "9000")],
    ["is above a value", compared(">", "10")],
    ["is between two values, and more", all(within("700", "9000"), part)],
    ["begins and ends with a text", starts("name 5%9")],
    ["is above two values", all(compared(">", "10"), compared(">", "19900"))],
    ["is not between two values", { ...within("700", "900"), negated: true } as Condition],
  ];
  test.each(manyRows)(
    "is read in a process of its own where it %s, and those are many",
    (_, where) => {
      expect([isLong(page(where)), isLong(total(where))]).toEqual([true, true]);
    },
  );

  test.each([
    [
      "one of several conditions is enough",
      { kind: "or", members: [compared(">", "19900"), part] },
    ],
    [
      "the column is another record's",
      { ...compared(">", "19900"), column: { ...few!, via: {} as Via } },
    ],
  ] as [string, Condition][])("is not counted where %s", (_, where) => {
    const text = compile(page(compared(">", "1"))).text;
    const compiled = { text, params: ["1", 20, 0], pace: null };
    const statement = page(where);
    expect(newReads().isLong(database, { statement, compiled, isStreamed: false })).toBe(true);
  });

  test("follows the values of each request", () => {
    const reads = newReads();
    const patterns = ["name 599%", "name 5%", "name 58%", "name%", "name 1234%"];
    const found = patterns.map((pattern) => {
      const statement = page(starts(pattern));
      return reads.isLong(database, { statement, compiled: compile(statement), isStreamed: false });
    });
    expect(found).toEqual([false, true, false, true, false]);
  });
});

test("a statement that was slow lately runs in a process of its own, but for one of a few rows", () => {
  const reads = newReads();
  const pace = paceOf(100);
  const asked = (text: string) => ({
    statement: aggregate,
    compiled: { text, params: [], pace },
    isStreamed: false,
  });
  expect(reads.isLong(database, asked("select * from small"))).toBe(true);
  expect(reads.isLong(database, asked("select * from big where id = 1"))).toBe(false);
});

test("of a job, only a statement that takes seconds does", () => {
  const reads = newReads("jobs");
  const isLong = (text: string, pace: Pace | null = null): boolean =>
    reads.isLong(database, {
      statement: aggregate,
      compiled: { text, params: [], pace },
      isStreamed: false,
    });
  const text = "select count(*) from big";
  expect(isLong(text)).toBe(false);
  expect(isLong(text, paceOf(500))).toBe(false);
  expect(isLong(text, paceOf(3_000))).toBe(true);
  expect(isLong("select count(*) from big as a, small as b")).toBe(true);
});

test("a table that has grown is judged anew when its schema changes", () => {
  const reads = newReads();
  const compiled = { text: "select count(*) from growing", params: [], pace: null };
  const asked = { statement: aggregate, compiled, isStreamed: false };
  expect(reads.isLong(database, asked)).toBe(false);
  database.exec(`create table growing as select * from big`);
  expect(newReads().isLong(database, asked)).toBe(true);
});

describe("a reader", () => {
  let reader: Connection;
  beforeAll(async () => {
    reader = await connectReader(path);
  });
  afterAll(() => reader?.destroy());

  test.each([
    ["every kind of value", "select * from kinds", []],
    ["no rows", "select * from kinds where t = ?", ["nothing"]],
    [
      "parameters of every kind",
      "select ? as t, ? as i, ? as r, ? as b, ? as n",
      ["ü", 5n, 1.5, Buffer.from([0, 255]), null],
    ],
    ["more rows than one message has", "select id, name from big order by id limit 2500", []],
    [
      "the functions of the service",
      "select rowgate_sum(id, 0) as s, rowgate_like(max(name), ?) as l from big",
      ["%ü%"],
    ],
  ])("gives the same as a connection of the service: %s", async (_, text, params) => {
    expect(await send(reader, text, params, true)).toEqual(await send(here, text, params, true));
    expect(await reader.send({ text, params, reuse: true, isNative: true })).toEqual(
      await here.send({ text, params, reuse: true, isNative: true }),
    );
  });

  test("streams the same batches, and can be left early", async () => {
    const text = "select id from big order by id limit 950";
    const lengths = async (connection: Connection) => {
      const found: number[] = [];
      for await (const batch of streamed(connection, text, 300)) found.push(batch.length);
      return found;
    };
    expect(await lengths(reader)).toEqual([300, 300, 300, 50]);
    expect(await lengths(reader)).toEqual(await lengths(here));
    for await (const batch of streamed(reader, text, 10)) {
      expect(batch).toHaveLength(10);
      break;
    }
    expect((await send(reader, "select 1 as one", [], true)).rows).toEqual([{ one: 1 }]);
  });

  test.each([
    ["select * from nowhere", "missing"],
    ["select rowgate_decimal_add('x', '1')", "unknown"],
    ["insert into small values (9000, 1, 'x')", "connection"],
  ])("fails as a connection of the service does: %s", async (text, kind) => {
    const error = await send(reader, text, [], true).catch((caught: unknown) => caught);
    expect(failure(error).kind).toBe(kind);
  });

  test("sees one moment between BEGIN and ROLLBACK", async () => {
    await send(reader, "begin", [], true);
    const count = async () =>
      (await send(reader, "select count(*) as n from kinds", [], true)).rows;
    expect(await count()).toEqual([{ n: 2 }]);
    database.exec("insert into kinds (t) values ('later')");
    expect(await count()).toEqual([{ n: 2 }]);
    await send(reader, "rollback", [], true);
    expect(await count()).toEqual([{ n: 3 }]);
    database.exec("delete from kinds where t = 'later'");
  });

  test("that is destroyed within a statement ends it, and takes no more", async () => {
    const other = await connectReader(path);
    const asked = send(other, "select count(*) from big a, big b");
    setTimeout(() => other.destroy(), 100);
    const error = await asked.catch((caught: unknown) => caught);
    expect(failure(error).kind).toBe("connection");
    expect(other.alive).toBe(false);
    await expect(send(other, "select 1")).rejects.toThrow("not open");
  });

  test("that cannot be started says so, and does not blame the file", async () => {
    const { execPath } = process;
    process.execPath = "/nowhere/node";
    const error = await connectReader(path).catch((found: unknown) => found);
    process.execPath = execPath;
    expect(connectFault(error, path)).toMatchObject({
      reason: "no process for long reads can be started (spawn /nowhere/node ENOENT)",
      isLasting: false,
    });
  });

  test("is not there where there is no file", async () => {
    const missing = `${path}.missing`;
    const error = await connectReader(missing).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: "SQLITE_CANTOPEN" });
    rmSync(missing, { force: true });
  });
});
