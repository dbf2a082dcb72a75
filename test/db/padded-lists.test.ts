/** Lists of values that statements pad to a greater length, for every type: they find exactly their rows. */
import { beforeAll, describe, expect, test } from "vitest";
import type { Scalar } from "../../core/values/scalar.ts";
import { column, insert, select, session, useBench } from "./conformance.ts";

const bench = useBench();

/** Three values of each: the list is printed with four. */
const values: Readonly<Record<string, readonly [Scalar, Scalar, Scalar]>> = {
  short: ["a", "B", "c "],
  long: ["a", "ä", ""],
  small: [1n, -2n, 3n],
  big: [9007199254740993n, 0n, -1n],
  price: ["1.50", "0.00", "-2.25"],
  ratio: [0.5, -1.25, 100],
  day: ["2026-01-01", "2026-01-02", "1999-12-31"],
  moment: ["2026-01-01T00:00:00.000Z", "2026-01-02T00:00:00.001Z", "1999-12-31T23:59:59.000Z"],
  hour: ["00:00:00", "12:34:56", "23:59:59"],
  uid: [
    "00000000-0000-4000-8000-000000000001",
    "00000000-0000-4000-8000-000000000002",
    "00000000-0000-4000-8000-000000000003",
  ],
};

beforeAll(async () => {
  for (const at of [0, 1, 2] as const) {
    const row = Object.fromEntries(Object.entries(values).map(([name, all]) => [name, all[at]]));
    await session(bench).insert(insert(bench.kinds, { id: `row-${at}`, ...row }));
  }
  await session(bench).insert(insert(bench.kinds, { id: "row-empty" }));
});

const found = async (name: string, some: readonly Scalar[], negated: boolean) => {
  const of = column(bench.kinds, name);
  const where = { kind: "in", column: of, values: some, negated } as const;
  const rows = await session(bench).all(select(bench.kinds, ["id"], { where }));
  return rows.map(({ id }) => id).toSorted();
};

describe.each(Object.keys(values))("a list of values of %s", (name) => {
  const [first, second, third] = values[name]!;

  test("finds the rows that have one of three", async () => {
    expect(await found(name, [first, second, third], false)).toEqual(["row-0", "row-1", "row-2"]);
    expect(await found(name, [first, third], false)).toEqual(["row-0", "row-2"]);
  });

  test("negated, finds the others that have a value", async () => {
    expect(await found(name, [first, second, first], true)).toEqual(["row-2"]);
    expect(await found(name, [first, second, third], true)).toEqual([]);
  });
});
