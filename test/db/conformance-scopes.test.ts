/**
 * A session with a scope, on each engine: every call sees and changes only rows of the scope, and no write moves a row
 * out of it. Calls that explicitly bypass the scope see all rows.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { past, scopedSession } from "../../core/callers/scoped-session.ts";
import { type Scope, wholeScope } from "../../core/callers/scope.ts";
import type { Session } from "../../core/query/session.ts";
import { resultOf } from "../../core/query/aggregate-results.ts";
import {
  type Aggregate,
  type Condition,
  equals,
  type Output,
  sourceOf,
} from "../../core/query/statement.ts";
import type { Scalar } from "../../core/values/scalar.ts";
import { parseFormula } from "../../core/query/formula.ts";
import {
  column,
  engine,
  insert,
  insertAll,
  select,
  session,
  set,
  update,
  useBench,
} from "./conformance.ts";

const bench = useBench();
const of = (name: string) => column(bench.kinds, name);

/** Rows whose `short` is "in". */
const scope: Scope = {
  ...wholeScope,
  key: "in",
  isWhole: false,
  rowsOf: (source) => equals(source.columns.get("short")!, "in"),
};
const scoped = (): Session => scopedSession(bench.db.session(performance.now() + 10_000), scope);

const foreignCount = 400;
beforeAll(async () => {
  const rows = Array.from({ length: foreignCount }, (_, at) => ({
    id: `out-${at}`,
    short: "out",
    whole: 1n,
  }));
  await session(bench).insert(insertAll(bench.kinds, rows));
  for (const id of ["in-1", "in-2"])
    await session(bench).insert(insert(bench.kinds, { id, short: "in", whole: 1n }));
});

const source = () => sourceOf(bench.kinds);
const all = () => ({ kind: "count", source: source(), where: null }) as const;
const wholeOf = async (id: string): Promise<unknown> =>
  (await session(bench).one(select(bench.kinds, ["whole"], { where: equals(of("id"), id) })))
    ?.whole;
const countRows: Output = {
  alias: "n",
  function: "count",
  column: null,
  result: resultOf("count", null, 0),
};
const counting = (): Aggregate => ({
  kind: "aggregate",
  source: source(),
  rows: null,
  joins: [],
  outputs: [countRows],
  where: null,
  having: null,
  sort: [],
  limit: null,
});

describe("a session with a scope", () => {
  const reads: Record<string, () => Promise<unknown>> = {
    all: async () => (await scoped().all(select(bench.kinds, ["id"]))).length,
    one: async () =>
      (await scoped().one(select(bench.kinds, ["id"], { where: equals(of("id"), "out-1") }))) ?? 2,
    count: () => scoped().count(all()),
    aggregate: async () => (await scoped().aggregate(counting()))[0]!["n"],
    "aggregate over a join": async () => {
      const columns = [...bench.kinds.columns.values()].map((one) => ({ ...one }));
      const right = columns.find(({ name }) => name === "whole")!;
      const join = { type: "inner", source: source(), columns, left: of("whole"), right } as const;
      const [row] = await scoped().aggregate({ ...counting(), joins: [{ ...join, rows: null }] });
      return Number(row!["n"]) / 2;
    },
    stream: () => lengthOf(scoped().stream(select(bench.kinds, ["id"]), { batchRows: 50 })),
    snapshot: () => scoped().snapshot((queries) => queries.count(all())),
    "count of a long snapshot": () => scoped().longSnapshot((snapshot) => snapshot.count(all())),
    "stream of a long snapshot": () =>
      scoped().longSnapshot((snapshot) =>
        lengthOf(snapshot.stream(select(bench.kinds, ["id"]), { batchRows: 50 })),
      ),
    "count of a transaction": () => scoped().tx((tx) => tx.count(all())),
  };
  test.each(Object.keys(reads))("sees no other rows by %s", async (name) => {
    expect(await reads[name]!()).toBe(2);
  });

  test("does not estimate: the planner's statistics are about other rows, too", async () => {
    for (const text of analyze[engine]) await bench.plain.run(text);
    const [narrow, whole] = [await scoped().estimate(all()), await session(bench).estimate(all())];
    expect(narrow).toBe(null);
    if (engine !== "sqlite") expect(whole).toBeGreaterThan(0);
  });

  test("sees all rows past the scope", async () => {
    expect(await past(scoped(), "handlerQuery").count(all())).toBe(foreignCount + 2);
    const inside = await scoped().tx((tx) => past(tx, "handlerQuery").count(all()));
    expect(inside).toBe(foreignCount + 2);
  });

  const changes: Record<string, (id: string) => Promise<unknown>> = {
    updateOne: (id) => scoped().updateOne(update(bench.kinds, id, [set(bench.kinds, "whole", 9n)])),
    "updateOne in a transaction": (id) =>
      scoped().tx((tx) => tx.updateOne(update(bench.kinds, id, [set(bench.kinds, "whole", 9n)]))),
    updateMany: (id) => scoped().updateMany(changeMany(id, "whole", 9n)),
    calculate: (id) => {
      const parsed = parseFormula("whole + 8");
      if (!parsed.ok) throw new Error(parsed.expected);
      return scoped().calculate({
        kind: "calculate",
        table: bench.kinds,
        column: of("whole"),
        formula: parsed.formula,
        operands: [of("whole")],
        where: equals(of("id"), id),
      });
    },
    delete: (id) =>
      scoped().delete({
        kind: "delete",
        table: bench.kinds,
        key: [of("id")],
        where: equals(of("id"), id),
        returning: [],
      }),
  };
  test.each(Object.keys(changes))("changes no other row by %s", async (name) => {
    const id = `in-${name}`;
    await session(bench).insert(insert(bench.kinds, { id, short: "in", whole: 1n }));
    await changes[name]!("out-1");
    expect(await wholeOf("out-1")).toBe(1);
    await changes[name]!(id);
    expect(await wholeOf(id)).toBe(name === "delete" ? undefined : 9);
    await session(bench).delete({
      kind: "delete",
      table: bench.kinds,
      key: [of("id")],
      where: equals(of("id"), id),
      returning: [],
    });
  });

  const escapes: Record<string, () => Promise<unknown>> = {
    insert: () => scoped().insert(insert(bench.kinds, { id: "new", short: "out" })),
    "insert without the column": () => scoped().insert(insert(bench.kinds, { id: "new" })),
    "insert of several": () =>
      scoped().insert(
        insertAll(bench.kinds, [
          { id: "new", short: "in" },
          { id: "new-2", short: "out" },
        ]),
      ),
    updateOne: () =>
      scoped().updateOne(update(bench.kinds, "in-1", [set(bench.kinds, "short", "out")])),
    updateMany: () => scoped().updateMany(changeMany("in-1", "short", "out")),
  };
  test.each(Object.keys(escapes))("takes no row out by %s", async (name) => {
    await expect(escapes[name]!()).rejects.toMatchObject({ kind: "forbidden" });
    expect(await scoped().count(all())).toBe(2);
    expect(await session(bench).count(all())).toBe(foreignCount + 2);
  });

  test("stores rows within it", async () => {
    const row = insert(bench.kinds, { id: "kept", short: "in", whole: 3n });
    const stored = await scoped().insert({ ...row, returning: [of("whole")] });
    expect(stored).toEqual([{ whole: 3 }]);
  });
});

const analyze = {
  sqlite: [],
  postgres: ["analyze kinds"],
  mysql: ["analyze table kinds persistent for all"],
} as const;

const changeMany = (id: string, name: string, value: Scalar) =>
  ({
    kind: "updateMany",
    table: bench.kinds,
    key: [of("id")],
    columns: [of(name)],
    rows: [{ keyValue: [id], values: [value] }],
    guard: null as Condition | null,
    set: [],
    returning: [],
  }) as const;

async function lengthOf(batches: AsyncIterable<readonly unknown[]>): Promise<number> {
  let length = 0;
  for await (const batch of batches) length += batch.length;
  return length;
}
