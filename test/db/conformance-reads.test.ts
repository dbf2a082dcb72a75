/** Conditions, sorting, paging and streaming: the same rows on every engine. */
import { beforeAll, describe, expect, test } from "vitest";
import type { Source } from "../../core/values/types/column.ts";
import type { Comparison, Condition } from "../../core/query/statement.ts";
import type { Scalar } from "../../core/values/scalar.ts";
import { column, engine, errorOf, insertAll, select, session, useBench } from "./conformance.ts";

const bench = useBench();

const rows = [
  {
    id: "a",
    short: "apple",
    whole: 1n,
    price: "1.5",
    flag: true,
    day: "2024-01-01",
    moment: "2024-01-01T00:00:00.000Z",
  },
  {
    id: "b",
    short: "Banane",
    whole: 2n,
    price: "2.25",
    flag: false,
    day: "2024-01-02",
    moment: "2024-01-01T00:00:00.500Z",
  },
  {
    id: "c",
    short: "ÄPFEL",
    whole: 3n,
    price: "10",
    flag: true,
    day: "2024-02-01",
    moment: "2024-01-02T00:00:00.000Z",
  },
  { id: "d", short: "100%_a\\b", whole: 20n, price: "-3", flag: null, day: null, moment: null },
  { id: "e", short: null, whole: null, price: null, flag: null, day: null, moment: null },
];

beforeAll(async () => {
  await session(bench).insert(insertAll(bench.kinds, rows));
});

const of = (name: string) => column(bench.kinds, name);
const compare = (name: string, operator: Comparison, value: Scalar): Condition => ({
  kind: "compare",
  column: of(name),
  operator,
  value,
});
const like = (
  name: string,
  pattern: string,
  given: { negated?: boolean; ignoreCase?: boolean } = {},
): Condition => ({
  kind: "like",
  column: of(name),
  pattern,
  negated: given.negated ?? false,
  ignoreCase: given.ignoreCase ?? true,
});
const contains = (name: string, text: string): Condition => ({
  kind: "contains",
  column: of(name),
  text,
});
const isIn = (name: string, values: Scalar[], negated = false): Condition => ({
  kind: "in",
  column: of(name),
  values,
  negated,
});
const between = (name: string, low: Scalar, high: Scalar, negated = false): Condition => ({
  kind: "between",
  column: of(name),
  low,
  high,
  negated,
});
const group = (kind: "and" | "or", ...members: Condition[]): Condition => ({ kind, members });

/** What is wanted, the condition (made when the columns are known), and the ids of the rows. */
const conditions: readonly (readonly [string, () => Condition, string])[] = [
  ["=", () => compare("short", "=", "apple"), "a"],
  ["= with another case", () => compare("short", "=", "APPLE"), ""],
  ["!=, which leaves out null", () => compare("whole", "!=", 2n), "acd"],
  ["<", () => compare("whole", "<", 3n), "ab"],
  ["<=", () => compare("whole", "<=", 3n), "abc"],
  [">", () => compare("price", ">", "2.25"), "c"],
  [">= of decimals by number", () => compare("price", ">=", "2.25"), "bc"],
  ["< of dates", () => compare("day", "<", "2024-02-01"), "ab"],
  ["> of moments within a second", () => compare("moment", ">", "2024-01-01T00:00:00.000Z"), "bc"],
  ["= of booleans", () => compare("flag", "=", false), "b"],
  ["is null", () => ({ kind: "null", column: of("flag"), negated: false }), "de"],
  ["is not null", () => ({ kind: "null", column: of("flag"), negated: true }), "abc"],
  ["in", () => isIn("short", ["apple", "ÄPFEL", "x"]), "ac"],
  ["in with one value", () => isIn("whole", [20n]), "d"],
  ["not in", () => isIn("whole", [1n, 2n, 3n], true), "d"],
  ["in nothing", () => isIn("whole", []), ""],
  ["not in nothing, which leaves out null", () => isIn("whole", [], true), "abcd"],
  [
    "in a thousand values",
    () =>
      isIn(
        "whole",
        Array.from({ length: 1000 }, (_, at) => BigInt(at + 2)),
      ),
    "bcd",
  ],
  ["between", () => between("whole", 2n, 3n), "bc"],
  ["not between", () => between("price", "0", "2.25", true), "cd"],
  ["like with %", () => like("short", "a%"), "a"],
  ["like with _", () => like("short", "appl_", { ignoreCase: false }), "a"],
  ["like ignoring case", () => like("short", "%AN%"), "b"],
  ["like ignoring case beyond ASCII", () => like("short", "äpf%"), "c"],
  ["not like, which leaves out null", () => like("short", "%e", { negated: true }), "cd"],
  ["like with an escaped %", () => like("short", "100\\%%"), "d"],
  ["like on a number", () => like("whole", "2%"), "bd"],
  ["like on a decimal", () => like("price", "%.25"), "b"],
  ["like on a date", () => like("day", "2024-01%"), "ab"],
  ["like on a moment as it is shown", () => like("moment", "%T00:00:00.500Z"), "b"],
  ["like on a boolean, which has no text", () => like("flag", "%"), ""],
  ["contains", () => contains("short", "AN"), "b"],
  ["contains beyond ASCII", () => contains("short", "äp"), "c"],
  ["contains a literal %", () => contains("short", "%"), "d"],
  ["contains a literal _", () => contains("short", "_"), "d"],
  ["contains a literal backslash", () => contains("short", "a\\b"), "d"],
  ["contains digits of a number", () => contains("whole", "0"), "d"],
  ["contains part of a shown moment", () => contains("moment", "02t00"), "c"],
  ["contains in json, which has no text", () => contains("data", "a"), ""],
  ["and", () => group("and", compare("whole", ">", 1n), compare("whole", "<", 20n)), "bc"],
  ["or", () => group("or", compare("whole", "=", 1n), compare("whole", "=", 20n)), "ad"],
  [
    "or within and",
    () =>
      group(
        "and",
        group("or", compare("id", "=", "a"), compare("id", "=", "b")),
        compare("flag", "=", true),
      ),
    "a",
  ],
  ["and of nothing", () => group("and"), "abcde"],
  ["or of nothing", () => group("or"), ""],
  ["groups eight deep", () => deep(8), "a"],
];

function deep(levels: number): Condition {
  return levels === 0
    ? compare("id", "=", "a")
    : group("or", group("and", deep(levels - 1), compare("whole", "=", 1n)), group("or"));
}

describe("a condition", () => {
  test.each(conditions)("%s", async (_case, make, ids) => {
    const where = make();
    const sort = [{ column: of("id"), direction: "asc" }] as const;
    const found = await session(bench).all(select(bench.kinds, ["id"], { where, sort }));
    expect(found.map((row) => row["id"]).join("")).toBe(ids);
    const source: Source = { kind: "table", schema: null, name: "kinds", columns: new Map() };
    expect(await session(bench).count({ kind: "count", source, where })).toBe(ids.length);
  });

  test.each(["'", '"', "`", "\\", "\\'", "--", "/*", "?", "$1", ":id", "%s"])(
    "takes %s in a value as it is",
    async (text) => {
      const found = await session(bench).all(
        select(bench.kinds, ["id"], { where: compare("short", "=", text) }),
      );
      expect(found).toEqual([]);
    },
  );
});

describe("a sort", () => {
  test.each([
    ["whole", "asc", "eabcd"],
    ["whole", "desc", "dcbae"],
    ["price", "asc", "edabc"],
    ["moment", "desc", "cbaed"],
  ] as const)("by %s %s has nulls as smallest", async (name, direction, ids) => {
    const sort = [
      { column: of(name), direction },
      { column: of("id"), direction: "desc" },
    ] as const;
    const found = await session(bench).all(select(bench.kinds, ["id", name], { sort }));
    expect(found.map((row) => row["id"]).join("")).toBe(ids);
  });

  test.each([
    [2, 0, "ab"],
    [2, 2, "cd"],
    [2, 4, "e"],
    [0, 0, ""],
    [null, 3, "de"],
  ])("is cut to %s rows after %s", async (limit, offset, ids) => {
    const sort = [{ column: of("id"), direction: "asc" }] as const;
    const found = await session(bench).all(select(bench.kinds, ["id"], { sort, limit, offset }));
    expect(found.map((row) => row["id"]).join("")).toBe(ids);
  });

  test("by a big integer is by number", async () => {
    const big = [5n, 9_007_199_254_740_993n, -9_007_199_254_740_995n, 10n].map((value, at) => ({
      id: `big${at}`,
      big: value,
    }));
    await session(bench).insert(insertAll(bench.kinds, big));
    const where: Condition = { kind: "null", column: of("big"), negated: true };
    const found = await session(bench).all(
      select(bench.kinds, ["big"], { where, sort: [{ column: of("big"), direction: "asc" }] }),
    );
    expect(found.map((row) => row["big"])).toEqual([
      "-9007199254740995",
      5,
      10,
      "9007199254740993",
    ]);
    for (const { id } of big) {
      await session(bench).delete({
        kind: "delete",
        table: bench.kinds,
        key: [of("id")],
        where: compare("id", "=", id),
        returning: [],
      });
    }
  });
});

describe("a query of the operator", () => {
  test("is read like a table", async () => {
    const text = "select k.id, k.whole, k.short from kinds k where k.whole > 1 -- the rest;";
    const [id, whole] = await bench.db.catalog.query(text);
    const source: Source = { kind: "query", text, columns: new Map() };
    const where: Condition = { kind: "compare", column: whole!, operator: "<", value: 20n };
    const read = {
      kind: "select",
      source,
      columns: [id!, whole!],
      where,
      sort: [{ column: whole!, direction: "desc" }],
      limit: 1,
      offset: 0,
      lock: false,
    } as const;
    expect(await session(bench).one(read)).toEqual({ id: "c", whole: 3 });
    expect(await session(bench).count({ kind: "count", source, where })).toBe(2);
  });
});

describe("names", () => {
  test("with quotes, points and blanks work everywhere", async () => {
    const { odd } = bench;
    const names = [...odd.columns.keys()];
    const [created] = await session(bench).insert(
      insertAll(odd, [{ id: "1", "a.b": "x", select: "5", 'quo"te`': "q" }], names),
    );
    expect(created).toEqual({ id: "1", "a.b": "x", select: "5", 'quo"te`': "q" });
    const where: Condition = { kind: "contains", column: column(odd, 'quo"te`'), text: "Q" };
    const sort = [{ column: column(odd, "a.b"), direction: "asc" }] as const;
    expect(await session(bench).all(select(odd, names, { where, sort }))).toEqual([created]);
  });
});

describe("an estimate", () => {
  const source = () => select(bench.kinds, ["id"]).source;
  const estimate = (where: Condition | null) =>
    session(bench).estimate({ kind: "count", source: source(), where });

  test("is a whole number, or null where the engine has none", async () => {
    const rowCount = await estimate(null);
    if (engine === "sqlite") expect(rowCount).toBeNull();
    else expect(rowCount).toSatisfy((count) => Number.isSafeInteger(count) && count >= 0);
  });

  test("is not made of the few rows that a condition leaves", async () => {
    const conditions = [compare("whole", ">", 1n), isIn("short", ["apple", "x"])];
    for (const where of [...conditions, { kind: "or", members: [] } as const])
      expect(await estimate(where)).toBeNull();
  });

  test.skipIf(engine === "sqlite")("follows the table's figures", async () => {
    await bench.plain.run(engine === "mysql" ? "analyze table kinds" : "analyze kinds");
    expect(await estimate(null)).toBe(rows.length);
  });

  test("is had of a query too", async () => {
    const query: Source = {
      kind: "query",
      text: "select id, whole from kinds where whole > 1;",
      columns: new Map(),
    };
    const count = { kind: "count", source: query, where: null } as const;
    const rowCount = await session(bench).estimate(count);
    if (engine !== "sqlite") expect(rowCount).toEqual(expect.any(Number));
    const narrowed = { ...count, where: compare("whole", "<", 9n) };
    expect(await session(bench).estimate(narrowed)).toBeNull();
  });

  test("is refused like any statement when the deadline has passed", async () => {
    const late = session(bench, -1).estimate({ kind: "count", source: source(), where: null });
    if (engine === "sqlite") expect(await late).toBeNull();
    else expect((await errorOf(late)).kind).toBe("unavailable");
  });
});

describe("a stream", () => {
  beforeAll(async () => {
    const many = Array.from({ length: 2_500 }, (_, at) => ({
      id: `s${String(at).padStart(5, "0")}`,
      name: `n${at}`,
    }));
    await session(bench).insert(insertAll(bench.parents, many));
  });
  const read = () =>
    select(bench.parents, ["id", "name"], {
      sort: [{ column: column(bench.parents, "id"), direction: "asc" }],
    });

  test("gives every row once, in batches", async () => {
    const seen: unknown[] = [];
    for await (const batch of session(bench).stream(read(), { batchRows: 400 })) {
      expect(batch.length).toBeLessThanOrEqual(400);
      seen.push(...batch.map((row) => row["id"]));
    }
    expect(seen).toHaveLength(2_500);
    expect(new Set(seen).size).toBe(2_500);
    expect(seen[2_499]).toBe("s02499");
  });

  test("lets others read and write meanwhile", async () => {
    const db = session(bench);
    let batches = 0;
    for await (const _batch of db.stream(read(), { batchRows: 500 })) {
      if (batches++ > 0) continue;
      await db.insert(insertAll(bench.parents, [{ id: "during", name: "x" }]));
      await db.delete({
        kind: "delete",
        table: bench.parents,
        key: [column(bench.parents, "id")],
        where: {
          kind: "compare",
          column: column(bench.parents, "id"),
          operator: "=",
          value: "during",
        },
        returning: [],
      });
    }
    expect(batches).toBeGreaterThanOrEqual(5);
  });

  test("ends early when the consumer stops, and gives its connection back", async () => {
    for (let round = 0; round < 30; round++) {
      for await (const batch of session(bench).stream(read(), { batchRows: 10 })) {
        expect(batch).toHaveLength(10);
        break;
      }
    }
    expect(
      await session(bench).one(select(bench.kinds, ["id"], { where: compare("id", "=", "a") })),
    ).toEqual({ id: "a" });
  });

  // SQLite's results carry no column types.
  test.skipIf(engine === "sqlite")(
    "ends where a column has become another, and gives its connection back whole",
    async () => {
      const forms =
        engine === "mysql"
          ? ["modify v int", "modify v boolean"]
          : [
              "alter v type integer using case when v then 5 end",
              "alter v type boolean using v = 5",
            ];
      await bench.plain.run("create table moods (id varchar(36) primary key, v boolean)");
      await bench.plain.run(
        `insert into moods values ${Array.from({ length: 30 }, (_, at) => `('${at}', true)`).join(", ")}`,
      );
      const moods = (await bench.db.catalog.table("moods"))!;
      const count = async (): Promise<number> => {
        let seen = 0;
        const all = session(bench).stream(select(moods, ["id", "v"]), { batchRows: 10 });
        for await (const batch of all) seen += batch.length;
        return seen;
      };
      expect(await count()).toBe(30);
      for (let round = 0; round < 10; round++) {
        await bench.plain.run(`alter table moods ${forms[round % 2]}`);
        expect((await errorOf(count())).kind).toBe("unavailable");
        expect(await count()).toBe(30);
      }
    },
  );

  test("ends with the consumer's own error", async () => {
    const consume = async (): Promise<void> => {
      for await (const _batch of session(bench).stream(read(), { batchRows: 10 }))
        throw new Error("enough");
    };
    await expect(consume()).rejects.toThrow("enough");
  });
});
