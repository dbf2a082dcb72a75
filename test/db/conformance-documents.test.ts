/**
 * What documents require of an engine: formulas computed as core computes them (random ones, with a fixed seed), and
 * reads from one snapshot.
 */
import { beforeEach, describe, expect, test } from "vitest";
import { compute, parseFormula } from "../../core/query/formula.ts";
import { equals } from "../../core/query/statement.ts";
import { column, errorOf, insert, select, session, set, update, useBench } from "./conformance.ts";

const bench = useBench();

/** Numbers from 0 to `below`, the same in each run. */
let state = 20_261_121;
function random(below: number): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return state % below;
}

function randomFormula(depth: number): string {
  const leaves = ["small", "whole", "price", "price", String(random(50)), `0.${1 + random(99)}`];
  if (depth === 0 || random(5) === 0) return leaves[random(leaves.length)]!;
  const operator = ["+", "-", "*", "/"][random(4)]!;
  return `(${randomFormula(depth - 1)} ${operator} ${randomFormula(depth - 1)})`;
}

const decimalOf = (units: number): string => {
  const sign = units < 0 ? "-" : "";
  const digits = String(Math.abs(units)).padStart(3, "0");
  return `${sign}${digits.slice(0, -2)}.${digits.slice(-2)}`.replace(/\.?0+$/, "");
};

async function calculate(id: string, text: string) {
  const parsed = parseFormula(text);
  if (!parsed.ok) throw new Error(parsed.expected);
  const { formula } = parsed;
  const table = bench.kinds;
  await session(bench).calculate({
    kind: "calculate",
    table,
    column: column(table, "price"),
    formula,
    operands: formula.names.map((name) => column(table, name)),
    where: equals(column(table, "id"), id),
  });
  return (await session(bench).one(
    select(table, ["price"], { where: equals(column(table, "id"), id) }),
  ))!["price"];
}

describe("calculate", () => {
  test("gives what core's exact arithmetic gives, for 150 random formulas over random values", async () => {
    const wrong: unknown[] = [];
    for (let at = 0; at < 150; at++) {
      const text = randomFormula(3);
      const values = {
        small: BigInt(random(200) - 100),
        whole: BigInt(random(4_000_000) - 2_000_000),
        price: decimalOf(random(2_000_000) - 1_000_000) || "0",
      };
      const id = `f${at}`;
      await session(bench).insert(insert(bench.kinds, { id, ...values }));
      const parsed = parseFormula(text);
      const target = column(bench.kinds, "price");
      const expected =
        parsed.ok &&
        compute(parsed.formula, target, (name) => String(values[name as keyof typeof values]));
      const got = await calculate(id, text).catch((error: { errors?: object }) => error.errors);
      const wanted =
        expected && expected.ok
          ? Number(expected.value)
          : {
              price: [
                expected && expected.fault === "outOfRange" ? "is out of range" : "divides by zero",
              ],
            };
      if (JSON.stringify(got) !== JSON.stringify(wanted)) wrong.push({ text, values, got, wanted });
    }
    expect(wrong).toEqual([]);
  });

  test("changes no other row, and no other column", async () => {
    await session(bench).insert(insert(bench.kinds, { id: "one", whole: 2n, price: "1" }));
    await session(bench).insert(insert(bench.kinds, { id: "two", whole: 2n, price: "1" }));
    expect(await calculate("one", "whole * 2")).toBe(4);
    const where = equals(column(bench.kinds, "id"), "two");
    const other = await session(bench).one(select(bench.kinds, ["whole", "price"], { where }));
    expect(other).toEqual({ whole: 2, price: 1 });
  });

  test.each([
    ["whole / 0", "divides by zero"],
    ["whole * 10000000000", "is out of range"],
  ])("says on its column that %s %s", async (text, message) => {
    const id = `x${text.length}`;
    await session(bench).insert(insert(bench.kinds, { id, whole: 2n }));
    const error = await errorOf(calculate(id, text));
    expect(error).toMatchObject({ kind: "validationFailed", errors: { price: [message] } });
  });
});

describe("snapshot", () => {
  const read = () =>
    select(bench.parents, ["name"], { where: equals(column(bench.parents, "id"), "p") });
  const rename = (name: string) =>
    session(bench).updateOne(update(bench.parents, "p", [set(bench.parents, "name", name)]));
  let made = false;
  beforeEach(async () => {
    if (!made) await session(bench).insert(insert(bench.parents, { id: "p", name: "old" }));
    made = true;
    await rename("old");
  });

  test("sees the same state in all its reads, whatever is committed meanwhile", async () => {
    const seen = await session(bench).snapshot(async (queries) => {
      const before = await queries.one(read());
      await rename("new");
      return [before, await queries.one(read())];
    });
    expect(seen).toEqual([{ name: "old" }, { name: "old" }]);
    expect(await session(bench).one(read())).toEqual({ name: "new" });
  });

  test("leaves its connection as it was: later transactions see what others commit", async () => {
    for (let round = 0; round < 10; round++)
      await session(bench).snapshot((queries) => queries.one(read()));
    const seen = await Promise.all(
      Array.from({ length: 8 }, (_, at) =>
        session(bench).tx(async (tx) => {
          await tx.updateOne(update(bench.parents, "p", [set(bench.parents, "name", `n${at}`)]));
          return tx.one(read());
        }),
      ),
    );
    expect(seen).toEqual(Array.from({ length: 8 }, (_, at) => ({ name: `n${at}` })));
  });

  test("ends when its work fails, and its connection goes on", async () => {
    const broken = session(bench).snapshot(async (queries) => {
      await queries.one(read());
      throw new Error("given up");
    });
    await expect(broken).rejects.toThrow("given up");
    expect(await session(bench).snapshot((queries) => queries.one(read()))).toEqual({
      name: "old",
    });
  });

  test("writes nothing", async () => {
    const writing = session(bench).snapshot((queries) =>
      queries.updateOne(update(bench.parents, "p", [set(bench.parents, "name", "written")])),
    );
    await expect(writing).rejects.toThrow();
    expect(await session(bench).one(read())).toEqual({ name: "old" });
  });
});
