/**
 * Printed statements: the three engines side by side, without a server. A text cached by the statement's shape equals
 * the text that the statement itself prints, with its own values.
 */
import { describe, expect, test } from "vitest";
import type { Column, Hop, Source, Table } from "../../../core/values/types/column.ts";
import type {
  Assignment,
  Comparison,
  Condition,
  JoinedHop,
  Statement,
} from "../../../core/query/statement.ts";
import type { Scalar } from "../../../core/values/scalar.ts";
import { asNarrowed, narrowRelated } from "../../../core/callers/narrow.ts";
import { type Scope, wholeScope } from "../../../core/callers/scope.ts";
import { resultOf } from "../../../core/query/aggregate-results.ts";
import { keyIn } from "../../../core/query/key-conditions.ts";
import { markOf, selectPage } from "../../../core/lists/cursor.ts";
import { parseFormula } from "../../../core/query/formula.ts";
import type { Formula } from "../../../core/values/types/formula-tree.ts";
import { createCompiler } from "../../../db/statements/compile.ts";
import type { Dialect } from "../../../db/statements/dialect.ts";
import { createDialect } from "../../../db/engines/sqlite/dialect.ts";
import { createStoredForms } from "../../../db/engines/sqlite/forms/stored-forms.ts";
import { open as openMysql } from "../../../db/engines/mysql/engine.ts";
import { open as openPostgres } from "../../../db/engines/postgres/engine.ts";
import { column, columnsOf } from "../../values/column.ts";

const options = { connectionsMax: 1, statementTimeoutMs: 0, decimals: "number" } as const;
const dialects: Readonly<Record<string, Dialect>> = {
  postgres: (await openPostgres("postgres://nobody@127.0.0.1:1/none", options)).dialect,
  mysql: (await openMysql("mysql://nobody@127.0.0.1:1/none", options)).dialect,
  sqlite: createDialect(
    "number",
    createStoredForms(() => null),
  ),
};

const int64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n };
const id = column("integer", { name: "id", native: "bigint", range: int64 });
const name = column("text", { name: 'na"me`', native: "text" });
const code = column("text", { name: "code", native: "varchar(10)" });
const price = column("decimal", {
  name: "price",
  native: "numeric(10,2)",
  precision: 10,
  scale: 2,
});
const changed = column("timestamp", { name: "changed", native: "timestamp" });
const flag = column("boolean", { name: "flag", native: "boolean" });
const other = column("integer", { name: "id", native: "bigint", range: int64 });
const otherName = column("text", { name: "name", native: "text" });
const columns = [id, name, code, price, changed, flag];

const table: Table = {
  kind: "table",
  schema: null,
  name: "things",
  columns: columnsOf(...columns),
  primaryKey: ["id"],
  unique: [],
  foreignKeys: [],
  transactional: true,
  identity: "shop.items",
  changesWith: [],
};
const source: Source = { kind: "table", schema: "s", name: "things", columns: new Map() };
const ownHop: Hop = {
  before: null,
  endpoint: "things",
  source: { kind: "table", schema: null, name: "things", columns: new Map() },
  on: [{ left: id, right: id }],
  isUnique: true,
  dependsOn: [],
  member: "",
};
const compare = (of: Column, operator: Comparison, value: Scalar): Condition => ({
  kind: "compare",
  column: of,
  operator,
  value,
});
const select = {
  kind: "select",
  source,
  columns: [id],
  where: null,
  sort: [],
  limit: null,
  offset: 0,
  lock: false,
} as const;

const byNames = [
  { column: code, direction: "asc" },
  { column: name, direction: "desc" },
] as const;
function formula(text: string): Formula {
  const parsed = parseFormula(text);
  if (!parsed.ok) throw new Error(parsed.expected);
  return parsed.formula;
}

const printed: readonly (readonly [string, Statement])[] = [
  ["a read by key", { ...select, where: compare(id, "=", 1n) }],
  [
    "a page with a deep condition",
    {
      ...select,
      columns: [id, name, price],
      where: {
        kind: "or",
        members: [
          {
            kind: "and",
            members: [
              compare(price, ">=", "1.5"),
              { kind: "in", column: code, values: ["a", "b", "c"], negated: true },
            ],
          },
          { kind: "contains", column: name, text: "50%" },
          {
            kind: "between",
            column: changed,
            low: "2026-01-01T00:00:00.000Z",
            high: "2026-02-01T00:00:00.000Z",
            negated: false,
          },
        ],
      },
      sort: [
        { column: changed, direction: "desc" },
        { column: id, direction: "asc" },
      ],
      limit: 10,
      offset: 20,
    },
  ],
  [
    "a formula",
    {
      kind: "calculate",
      table,
      column: price,
      formula: formula("id * price / 3 - 0.5"),
      operands: [id, price],
      where: compare(id, "=", 1n),
    },
  ],
  [
    "a query with a parameter",
    {
      kind: "ask",
      about: table,
      query: {
        texts: ["select id from lines where head = ", " or ", " is null order by id"],
        parameter: code,
        columns: [id],
      },
      value: "x",
    },
  ],
  ["a lock", { ...select, where: compare(id, "=", 1n), lock: true }],
  [
    "a count over a query",
    {
      kind: "count",
      source: { kind: "query", text: "select 1 as id -- one;", columns: new Map() },
      where: compare(id, "<", 5n),
    },
  ],
  [
    "a page behind a cursor",
    selectPage(
      { ...select, where: compare(flag, "=", true), sort: byNames },
      {
        list: { name: "p/e", sort: byNames, hasKey: true, filter: null },
        perPage: 10,
        after: ["tb", "tc"],
      },
    ),
  ],
  [
    "groups over a join",
    {
      kind: "aggregate",
      source,
      joins: [
        {
          type: "left",
          source: { kind: "table", schema: null, name: "others", columns: new Map() },
          columns: [other, otherName],
          left: id,
          right: other,
          rows: null,
        },
      ],
      rows: null,
      outputs: [
        { alias: "n", function: null, column: otherName, result: resultOf(null, otherName, 0) },
        { alias: "c", function: "count", column: null, result: resultOf("count", null, 1) },
        { alias: "s", function: "sum", column: price, result: resultOf("sum", price, 2) },
        { alias: "a", function: "avg", column: id, result: resultOf("avg", id, 3) },
      ],
      where: compare(otherName, "=", "a"),
      having: compare(resultOf("sum", price, 2), ">", "1.5"),
      sort: [{ column: resultOf("count", null, 1), direction: "desc" }],
      limit: 10,
    },
  ],
  [
    "groups over a join of some rows",
    {
      kind: "aggregate",
      source,
      rows: compare(price, ">", "1.5"),
      joins: [
        {
          type: "right",
          source: { kind: "table", schema: null, name: "others", columns: new Map() },
          columns: [other, otherName],
          left: id,
          right: other,
          rows: compare(id, "<", 5n),
        },
      ],
      outputs: [
        { alias: "c", function: "count", column: null, result: resultOf("count", null, 0) },
      ],
      where: compare(otherName, "=", "a"),
      having: null,
      sort: [],
      limit: null,
    },
  ],
  [
    "a row of totals",
    {
      kind: "aggregate",
      source,
      rows: null,
      joins: [],
      outputs: [
        { alias: "m", function: "max", column: changed, result: resultOf("max", changed, 0) },
      ],
      where: null,
      having: null,
      sort: [],
      limit: null,
    },
  ],
  [
    "an insert",
    {
      kind: "insert",
      table,
      key: [id],
      columns: [name, flag],
      rows: [
        ["a", true],
        [null, false],
      ],
      returning: [id, name],
    },
  ],
  [
    "an update",
    {
      kind: "update",
      table,
      key: [id],
      keyValue: [7n],
      guard: compare(price, ">=", "5"),
      set: [
        { kind: "add", column: price, delta: "-5" },
        { kind: "set", column: name, value: "x" },
      ],
      returning: [price],
    },
  ],
  [
    "an update by a key of two columns",
    {
      kind: "update",
      table,
      key: [id, name],
      keyValue: [7n, "seven"],
      guard: compare(price, ">=", "5"),
      set: [{ kind: "set", column: flag, value: true }],
      returning: [price],
    },
  ],
  ...[[id], [id, name]].map((key): readonly [string, Statement] => [
    `an update of many rows by a key of ${key.length === 1 ? "one column" : "two columns"}`,
    {
      kind: "updateMany",
      table,
      key,
      columns: [price],
      rows: [
        { keyValue: [7n, "seven"].slice(0, key.length), values: ["1"] },
        { keyValue: [8n, "eight"].slice(0, key.length), values: ["2"] },
      ],
      guard: compare(price, ">", "0"),
      set: [{ kind: "set", column: flag, value: true }],
      returning: [],
    },
  ]),
  [
    "a delete by three keys of two columns",
    {
      kind: "delete",
      table,
      key: [id, name],
      where: keyIn(
        [id, name],
        [
          [7n, "seven"],
          [8n, "eight"],
          [9n, "nine"],
        ],
      ),
      returning: [],
    },
  ],
  [
    "a delete whose condition reads the same table",
    {
      kind: "delete",
      table,
      key: [id],
      where: {
        kind: "quantified",
        quantifier: "any",
        steps: [ownHop],
        where: null,
        within: { steps: [asNarrowed<JoinedHop>({ hop: ownHop, rows: null })], joins: [] },
      },
      returning: [],
    },
  ],
  [
    "a delete",
    {
      kind: "delete",
      table,
      key: [id],
      where: { kind: "null", column: flag, negated: false },
      returning: [id],
    },
  ],
];

describe("a statement", () => {
  test.each(printed)("%s is printed for every engine", (_case, statement) => {
    const texts = Object.entries(dialects).map(([engine, dialect]) => {
      const { text, params } = createCompiler(dialect)(statement);
      return `${engine}: ${text}\n${JSON.stringify(params, (_name, value) => (typeof value === "bigint" ? `${value}n` : value))}`;
    });
    expect(`\n${texts.join("\n\n")}\n`).toMatchSnapshot();
  });

  test("of an estimate explains the rows of a count", () => {
    const estimate: Statement = { kind: "estimate", source, where: compare(id, "<", 5n) };
    const text = (engine: string) => createCompiler(dialects[engine]!)(estimate).text;
    expect(text("postgres")).toBe(
      'explain (format json) select 1 from "s"."things" as "source" where "source"."id" < $1::bigint',
    );
    expect(text("mysql")).toBe(
      "explain /*M! extended */ /*!80000 format = traditional */ select 1 from `s`.`things` as `source` where `source`.`id` < ?",
    );
    expect(() => text("sqlite")).toThrow("no estimates");
  });

  const unreadable: readonly (readonly [string, Column, string])[] = [
    ["mysql", id, "1 or 1"],
    ["mysql", price, "1.5x"],
    ["mysql", changed, "2026-01-01T00:00:00Z"],
    ["sqlite", id, "12"],
    ["sqlite", name, ""],
    ["sqlite", name, "b0"],
    ["postgres", name, "a\0b"],
  ];
  test.each(unreadable)("with a made-up place is the request's fault (%s)", (engine, of, mark) => {
    const statement: Statement = { ...select, where: compare(markOf(of), ">", mark) };
    expect(() => createCompiler(dialects[engine]!)(statement)).toThrow("The cursor has no value");
  });

  test.each(Object.entries(dialects))(
    "shares its text among pages and among lists of similar length (%s)",
    (_engine, dialect) => {
      const compile = createCompiler(dialect);
      const text = (limit: number, offset: number, count: number): string =>
        compile({
          ...select,
          where: {
            kind: "in",
            column: id,
            values: Array.from({ length: count }, (_, at) => BigInt(at)),
            negated: false,
          },
          limit,
          offset,
        }).text;
      expect(text(10, 0, 5)).toBe(text(50, 120, 8));
      expect(text(10, 0, 5)).not.toBe(text(10, 0, 4));
    },
  );

  test.each(Object.entries(dialects))(
    "never holds a value or a bare name (%s)",
    (_engine, dialect) => {
      const compile = createCompiler(dialect);
      const hostile = "x'; drop table things; --";
      const { text } = compile({
        ...select,
        where: {
          kind: "or",
          members: [
            compare(name, "=", hostile),
            { kind: "like", column: code, pattern: hostile, negated: false, ignoreCase: true },
          ],
        },
      });
      expect(text).not.toContain("drop");
      const named = column("text", { name: hostile.replace("x'", `x"\``) });
      const quoted = compile({ ...select, columns: [named] }).text;
      expect(quoted).toContain(dialect.quote === '"' ? 'x""`; drop' : 'x"``; drop');
    },
  );

  const everyRow: readonly (readonly [string, Condition])[] = [
    ["an empty and", { kind: "and", members: [] }],
    ["an and of empty ands", { kind: "and", members: [{ kind: "and", members: [] }] }],
    [
      "an or with an empty and",
      { kind: "or", members: [compare(id, "=", 1n), { kind: "and", members: [] }] },
    ],
  ];
  test.each(everyRow)("that deletes by %s is refused", (_case, where) => {
    for (const dialect of Object.values(dialects)) {
      const statement: Statement = { kind: "delete", table, key: [id], where, returning: [] };
      expect(() => createCompiler(dialect)(statement)).toThrow("A DELETE needs a condition");
    }
  });

  test("that updates without a key is refused", () => {
    const statement: Statement = {
      kind: "update",
      table,
      key: [id],
      keyValue: [null],
      guard: null,
      set: [{ kind: "set", column: name, value: "x" }],
      returning: [],
    };
    for (const dialect of Object.values(dialects))
      expect(() => createCompiler(dialect)(statement)).toThrow("needs the key");
  });

  test("with a NUL in a name is refused", () => {
    const bad = column("text", { name: "a\0b" });
    for (const dialect of Object.values(dialects))
      expect(() => createCompiler(dialect)({ ...select, columns: [bad] })).toThrow("NUL");
  });

  test("with more values than the engine takes is the request's fault", () => {
    const values = Array.from({ length: 1_000 }, (_, at) => BigInt(at));
    const members = Array.from({ length: 100 }, (): Condition => ({
      kind: "in",
      column: id,
      values,
      negated: false,
    }));
    for (const dialect of Object.values(dialects)) {
      expect(() => createCompiler(dialect)({ ...select, where: { kind: "and", members } })).toThrow(
        "too many values",
      );
    }
  });
});

describe("a kept text", () => {
  const kinds: [of: string, any: (random: Random) => Statement, texts: number][] = [
    ["random statements", anyStatement, 500],
    // Small ones, because only alike statements could share a text that is not theirs.
    ["statements about related rows", anyOfRelated, 100],
  ];
  const cases = Object.entries(dialects).flatMap(([engine, dialect]) =>
    kinds.map((kind) => [engine, dialect, ...kind] as const),
  );
  test.each(cases)(
    "is what each of 3000 $2 would print itself ($0)",
    (_engine, dialect, _of, any, count) => {
      const kept = createCompiler(dialect, 200);
      const random = createRandom(7);
      const texts = new Set<string>();
      for (let round = 0; round < 3_000; round++) {
        const statement = any(random);
        const { text, params } = kept(statement);
        const alone = createCompiler(dialect)(statement);
        expect([text, params]).toEqual([alone.text, alone.params]);
        texts.add(text);
      }
      expect(texts.size).toBeGreaterThan(count);
    },
  );
});

type Random = (below: number) => number;

/** The same numbers in every run (mulberry32). */
function createRandom(seed: number): Random {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

const pick = <T>(random: Random, list: readonly T[]): T => list[random(list.length)]!;
const times = <T>(count: number, make: () => T): T[] => Array.from({ length: count }, make);

function anyValue(random: Random, of: Column): Scalar {
  if (of.type === "integer") return BigInt(random(1_000));
  if (of === price) return `${random(100)}.${1 + random(9)}`;
  if (of === changed) return `2026-01-0${1 + random(9)}T00:00:00.00${random(10)}Z`;
  return of === flag ? random(2) === 0 : pick(random, ["a", "ä", "%", "", "x_y"]);
}

/** Relations between the rows of one table: alike, turned round, behind each other. */
const hops: readonly Hop[] = ["to one", "back", "further"].map((_, at, { length }) => ({
  ...ownHop,
  on: [at === 1 ? { left: name, right: code } : { left: code, right: name }],
  isUnique: at !== 1,
  member: `.p${length - at}`,
}));
const [firstHop, , lastHop] = hops as [Hop, Hop, Hop];
const deepHop: Hop = { ...lastHop, before: firstHop };
const paths = [...hops, deepHop].flatMap((hop, at) =>
  [id, name].map((of, place): Column => {
    const member = `.${at}${place}`;
    return { ...of, name: member, via: { hop, column: of, member } };
  }),
);
const scope: Scope = { ...wholeScope, related: () => wholeScope };

/** `isWrite`: of a statement that joins nothing. */
function anyCondition(random: Random, isWrite: boolean, depth = 0): Condition {
  const of = !isWrite && random(4) === 0 ? pick(random, paths) : pick(random, columns);
  const value = (): Scalar => anyValue(random, of);
  const negated = random(2) === 0;
  switch (random(depth > 3 ? 9 : 12)) {
    case 0:
      return compare(of, pick(random, ["=", "!=", "<", "<=", ">", ">="]), value());
    case 1:
      return { kind: "null", column: of, negated };
    case 2:
      return { kind: "in", column: of, values: times(random(6), value), negated };
    case 3:
      return { kind: "between", column: of, low: value(), high: value(), negated };
    case 4:
      return {
        kind: "like",
        column: of,
        pattern: pick(random, ["a%", "ä", "_"]),
        negated,
        ignoreCase: random(2) === 0,
      };
    case 5:
      return { kind: "contains", column: of, text: pick(random, ["a", "é", "50%"]) };
    case 6:
      return { kind: "member", column: of, value: value() };
    case 7:
      return compare(
        markOf(code),
        pick(random, ["=", "<", "<=", ">", ">="]),
        pick(random, ["ta", "t"]),
      );
    case 8: {
      const values = times(1 + random(5), () => pick(random, ["a", "ä"]));
      return { kind: "exact", column: code, values, negated };
    }
    case 9:
      return {
        kind: "quantified",
        quantifier: pick(random, ["any", "none", "all"]),
        steps: times(1 + random(2), () => pick(random, hops)).map((hop, at) =>
          at === 0 && !isWrite ? { ...hop, before: pick(random, [null, ...hops]) } : hop,
        ),
        where: random(3) === 0 ? null : anyCondition(random, false, depth + 1),
      };
    default:
      return {
        kind: pick(random, ["and", "or"]),
        members: times(random(4), () => anyCondition(random, isWrite, depth + 1)),
      };
  }
}

function anyOfRelated(random: Random): Statement {
  const begins = [null, ...hops, deepHop];
  const of = pick(random, [name, ...paths]);
  const condition = (): Condition => ({
    kind: "quantified",
    quantifier: pick(random, ["any", "all"]),
    steps: [{ ...pick(random, hops), before: pick(random, begins) }],
    where: pick(random, [null, compare(of, "=", anyValue(random, of))]),
  });
  return narrowRelated(scope, {
    ...select,
    columns: [id, ...paths.filter(() => random(8) === 0)],
    where: random(3) === 0 ? null : condition(),
    sort: [],
  });
}

function anyAssignment(random: Random): Assignment {
  const kind = random(3);
  if (kind === 0)
    return { kind: "add", column: pick(random, [id, price]), delta: String(random(20) - 10) };
  if (kind === 1)
    return {
      kind: "stamp",
      column: changed,
      after: pick(random, [null, changed]),
      now: String(anyValue(random, changed)),
    };
  const of = pick(random, columns);
  return { kind: "set", column: of, value: random(5) === 0 ? null : anyValue(random, of) };
}

function anyStatement(random: Random): Statement {
  const some = (): Column[] => columns.filter(() => random(2) === 0);
  const kind = pick(random, ["count", "insert", "update", "delete", "select"] as const);
  const isWrite = kind === "update" || kind === "delete";
  const where = random(4) === 0 ? null : anyCondition(random, isWrite);
  switch (kind) {
    case "count":
      return narrowRelated(scope, { kind, source, where });
    case "insert": {
      const given = some();
      return {
        kind,
        table,
        key: [id],
        columns: given,
        rows: times(1 + random(3), () => given.map((of) => anyValue(random, of))),
        returning: some(),
      };
    }
    case "update":
      return {
        kind,
        table,
        key: [id],
        keyValue: [1n],
        guard: guarded(where),
        set: times(1 + random(3), () => anyAssignment(random)),
        returning: some(),
      };
    case "delete":
      return {
        kind,
        table,
        key: [id],
        where: guarded({
          kind: "and",
          members: [compare(id, "=", 1n), ...(where === null ? [] : [where])],
        })!,
        returning: some(),
      };
    case "select":
      return narrowRelated(scope, {
        kind,
        source: pick(random, [
          source,
          { kind: "table", schema: null, name: "things", columns: new Map() },
        ]),
        columns: [id, ...some(), ...paths.filter(() => random(6) === 0)],
        where,
        sort: some().map((of) => ({
          column: of,
          direction: pick(random, ["asc", "desc"] as const),
        })),
        limit: pick(random, [null, 1, 20]),
        offset: pick(random, [0, 0, 40]),
        lock: random(5) === 0,
      });
  }
}

const guarded = (where: Condition | null): Condition | null =>
  narrowRelated(scope, { source, where }).where;
