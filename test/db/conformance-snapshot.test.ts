/** Snapshots: counts and streams of one moment despite concurrent writes, on every engine. */
import { beforeAll, expect, test } from "vitest";
import type { Count, Select } from "../../core/query/statement.ts";
import type { Row } from "../../core/values/row.ts";
import { column, errorOf, insertAll, select, session, useBench } from "./conformance.ts";

const bench = useBench();

beforeAll(async () => {
  const many = Array.from({ length: 1_500 }, (_, at) => ({
    id: `s${String(at).padStart(5, "0")}`,
    name: "old",
  }));
  await session(bench).insert(insertAll(bench.parents, many));
});

const id = () => column(bench.parents, "id");
const all = (): Select =>
  select(bench.parents, ["id", "name"], { sort: [{ column: id(), direction: "asc" }] });
const count = (): Count => ({ kind: "count", source: all().source, where: null });

/** Another request: one row more, one less. */
async function write(added: string, removed: string): Promise<void> {
  const db = session(bench);
  await db.insert(insertAll(bench.parents, [{ id: added, name: "new" }]));
  await db.delete({
    kind: "delete",
    table: bench.parents,
    key: [id()],
    where: { kind: "compare", column: id(), operator: "=", value: removed },
    returning: [],
  });
}

test("a snapshot counts and streams what was there at its first read", async () => {
  const { total, rows } = await session(bench).longSnapshot(async (snapshot) => {
    const counted = await snapshot.count(count());
    await write("z1", "s01499");
    const seen: Row[] = [];
    for await (const batch of snapshot.stream(all(), { batchRows: 100 })) {
      if (seen.length === 300) await write("z2", "s01498");
      seen.push(...batch);
    }
    expect(await snapshot.count(count())).toBe(counted);
    return { total: counted, rows: seen };
  });
  expect([total, rows.length, rows.at(-1)]).toEqual([1_500, 1_500, { id: "s01499", name: "old" }]);
  expect(await session(bench).count(count())).toBe(1_500);
});

test("a snapshot's stream may be left early, and its connection serves others", async () => {
  for (let round = 0; round < 15; round++) {
    await session(bench).longSnapshot(async (snapshot) => {
      for await (const batch of snapshot.stream(all(), { batchRows: 10 })) {
        expect(batch).toHaveLength(10);
        break;
      }
    });
  }
  expect(await session(bench).count(count())).toBe(1_500);
});

test("two streams of one snapshot run one after the other", async () => {
  const sizes = await session(bench).longSnapshot(async (snapshot) => {
    const lengths: number[] = [];
    for (let round = 0; round < 2; round++) {
      let length = 0;
      for await (const batch of snapshot.stream(all(), { batchRows: 400 })) length += batch.length;
      lengths.push(length);
    }
    return lengths;
  });
  expect(sizes).toEqual([1_500, 1_500]);
});

test("a snapshot ends with its own error, and leaves no transaction open", async () => {
  for (let round = 0; round < 15; round++) {
    const failing = session(bench).longSnapshot(async (snapshot) => {
      await snapshot.count(count());
      throw new Error("enough");
    });
    await expect(failing).rejects.toThrow("enough");
  }
  await write("z3", "s00000");
  expect(await session(bench).count(count())).toBe(1_500);
});

test("a snapshot of a table that is not there fails as every read of it", async () => {
  const nowhere: Count = {
    ...count(),
    source: { kind: "table", schema: null, name: "nowhere", columns: new Map() },
  };
  const failing = session(bench).longSnapshot((snapshot) => snapshot.count(nowhere));
  expect((await errorOf(failing)).kind).toBe((await errorOf(session(bench).count(nowhere))).kind);
});
