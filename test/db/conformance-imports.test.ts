/** What imports require of a database, the same on every engine: bulk changes, an exclusive table, and the ledgers. */
import { describe, expect, test } from "vitest";
import { type Assignment, equals } from "../../core/query/statement.ts";
import type { KeyValue } from "../../core/values/types/key.ts";
import type { Scalar } from "../../core/values/scalar.ts";
import { column, insertAll, reopen, select, session, useBench } from "./conformance.ts";
import { bareSession } from "./bare-session.ts";

const bench = useBench();

/** Two rows of every type, and what the first becomes. */
const values: readonly (readonly [string, Scalar, Scalar])[] = [
  ["short", "a", "ä'\\"],
  ["long", "a", "x".repeat(70_000)],
  ["small", 1n, -32_768n],
  ["whole", 1n, null],
  ["big", 1n, 9_223_372_036_854_775_807n],
  ["price", "1.5", "9999999999.99"],
  ["ratio", 1.5, 0.1],
  ["flag", true, false],
  ["day", "2026-01-02", "0001-01-01"],
  ["moment", "2026-01-02T03:04:05.678Z", null],
  ["hour", "03:04:05", "23:59:59"],
  ["uid", "00000000-0000-4000-8000-000000000000", null],
  ["data", '{"a":1}', '[1,"b"]'],
  ["file", new Uint8Array([1, 2]), new Uint8Array([0, 255])],
];
const names = values.map(([name]) => name);
const of = (name: string) => column(bench.kinds, name);

const updateMany = (
  rows: readonly { keyValue: KeyValue; values: readonly Scalar[] }[],
  columns: readonly string[],
  set: readonly Assignment[] = [],
) =>
  session(bench).updateMany({
    kind: "updateMany",
    table: bench.kinds,
    key: [of("id")],
    columns: columns.map(of),
    rows,
    guard: null,
    set,
    returning: [],
  });
const read = (id: string, ...wanted: string[]) =>
  session(bench).one(select(bench.kinds, wanted, { where: equals(of("id"), id) }));

describe("a change of many rows", () => {
  test("gives each row its own values, of every type", async () => {
    const before = Object.fromEntries(values.map(([name, value]) => [name, value]));
    const after = Object.fromEntries(values.map(([name, , value]) => [name, value]));
    await session(bench).insert(
      insertAll(bench.kinds, [
        { id: "many-1", ...before },
        { id: "many-2", ...before },
        { id: "many-3", ...before },
        { id: "expected", ...after },
      ]),
    );
    const matched = await updateMany(
      [
        { keyValue: ["many-1"], values: values.map(([, , value]) => value) },
        { keyValue: ["many-2"], values: values.map(([, value]) => value) },
        { keyValue: ["not there"], values: values.map(([, value]) => value) },
      ],
      names,
    );
    expect(matched).toBe(2);
    expect(await read("many-1", ...names)).toEqual(await read("expected", ...names));
    expect(await read("many-2", ...names)).toEqual(await read("many-3", ...names));
  });

  test("of more rows than one statement takes changes all of them", async () => {
    const ids = Array.from({ length: 1_500 }, (_, at) => `row-${at}`);
    await session(bench).insert(
      insertAll(
        bench.kinds,
        ids.map((id) => ({ id, short: "old" })),
      ),
    );
    const rows = ids.map((id, at) => ({ keyValue: [id], values: [BigInt(at), `s${at}`] }));
    expect(await updateMany(rows, ["whole", "short"])).toBe(1_500);
    expect(await read("row-1499", "whole", "short")).toEqual({ whole: 1_499, short: "s1499" });
    expect(await read("row-0", "whole", "short")).toEqual({ whole: 0, short: "s0" });
  });

  test("gives all rows what they get alike", async () => {
    await session(bench).insert(insertAll(bench.kinds, [{ id: "like-1" }, { id: "like-2" }]));
    const rows = ["like-1", "like-2"].map((id) => ({ keyValue: [id], values: [] }));
    const set: Assignment[] = [{ kind: "set", column: of("short"), value: "both" }];
    expect(await updateMany(rows, [], set)).toBe(2);
    expect(await read("like-2", "short")).toEqual({ short: "both" });
  });
});

describe("a transaction that is alone", () => {
  test("keeps other writers of the table waiting until it ends", async () => {
    const order: string[] = [];
    let began = () => {};
    const hasBegun = new Promise<void>((resolve) => (began = resolve));
    const alone = session(bench).tx(
      async (tx) => {
        began();
        await tx.insert(insertAll(bench.kinds, [{ id: "alone" }]));
        await new Promise((resolve) => setTimeout(resolve, 300));
        order.push("alone");
      },
      { alone: bench.kinds },
    );
    await hasBegun;
    const other = session(bench)
      .insert(insertAll(bench.kinds, [{ id: "other" }]))
      .then(() => order.push("other"));
    await Promise.all([alone, other]);
    expect(order).toEqual(["alone", "other"]);
  });
});

describe.each([
  { name: "jobs", columns: ["job_id", "result", "finished_at"] },
  { name: "requests", columns: ["request_id", "body_hash", "claim", "started_at", "answer"] },
] as const)("the ledger of $name", ({ name, columns }) => {
  test("is made when it is asked for, and found by all others", async () => {
    const ledgers = await Promise.all([session(bench).ledger(name), session(bench).ledger(name)]);
    const second = await reopen(bench, {});
    const again = await bareSession(second, Infinity).ledger(name);
    await second.close();
    for (const ledger of [...ledgers, again]) {
      expect([...ledger.columns.keys()]).toEqual(columns);
      expect(ledger.primaryKey).toEqual([columns[0]]);
      expect(ledger.transactional).toBe(true);
    }
  });
});
