/** Rolling back only a part of a transaction, the same on every engine. */
import { expect, test } from "vitest";
import type { Transaction } from "../../core/query/session.ts";
import { insertAll, select, session, useBench } from "./conformance.ts";

const bench = useBench();

const add = (tx: Transaction, id: string) =>
  tx.insert(insertAll(bench.parents, [{ id, name: id }]));
const idsLike = async (start: string) => {
  const rows = await session(bench).all(select(bench.parents, ["id"]));
  return rows.flatMap(({ id }) => (String(id).startsWith(start) ? [id] : [])).sort();
};
const refused = () => Promise.reject(new Error("refused"));

test("a part that is refused takes back what it did, and the rest is stored", async () => {
  await session(bench).tx(async (tx) => {
    await add(tx, "a1");
    for (const id of ["a2", "a3"])
      await expect(tx.part(() => add(tx, id).then(refused))).rejects.toThrow("refused");
    expect(await tx.part(() => add(tx, "a4").then(() => "done"))).toBe("done");
    await add(tx, "a5");
  });
  expect(await idsLike("a")).toEqual(["a1", "a4", "a5"]);
});

test("a part takes back statements that it did not wait for", async () => {
  await session(bench).tx(async (tx) => {
    const part = tx.part(() => {
      void add(tx, "b1");
      return refused();
    });
    await expect(part).rejects.toThrow("refused");
    await add(tx, "b2");
  });
  expect(await idsLike("b")).toEqual(["b2"]);
});

test("a transaction that is refused takes back its parts", async () => {
  const whole = session(bench).tx((tx) => tx.part(() => add(tx, "c1")).then(refused));
  await expect(whole).rejects.toThrow("refused");
  expect(await idsLike("c")).toEqual([]);
});

test("a part in which the database refuses a statement takes back what it did, and the rest is stored", async () => {
  await session(bench).tx(async (tx) => {
    await add(tx, "d1");
    const part = tx.part(() => add(tx, "d2").then(() => add(tx, "d1")));
    await expect(part).rejects.toMatchObject({ kind: "duplicateEntry" });
    await add(tx, "d3");
  });
  expect(await idsLike("d")).toEqual(["d1", "d3"]);
});

test("a transaction that passes over the database's refusal of a statement ends with that error", async () => {
  const whole = session(bench).tx(async (tx) => {
    await add(tx, "e1");
    await add(tx, "e1").catch(() => undefined);
    await add(tx, "e2");
  });
  await expect(whole).rejects.toMatchObject({ kind: "duplicateEntry" });
  expect(await idsLike("e")).toEqual([]);
});
