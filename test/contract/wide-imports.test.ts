/** Files for tables with composite keys: exports can be imported again; rows match records by the whole key. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Row } from "../../core/values/row.ts";
import { check, records } from "./cases.ts";
import { importerOf, workbookOf } from "./imports.ts";
import { type JobFixture, openJobFixture } from "./job-places.ts";

const action = { read: true, import: true, export: true };
const strategies = ["update_existing", "insert_only", "skip_existing"] as const;
const upsertKeys = ["order_id", "line_no"];

/** A real file, as jobs load it where they run. */
const seen = `export const run = ({ event, data, record, query }) =>
  query("insert into seen (told) values (?)", [JSON.stringify([event, data, record])]);`;

let folder = "";
let service: JobFixture;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "rowgate-test-components-"));
  const path = join(folder, "test/components/seen.ts");
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, seen);
  service = await openJobFixture("in the service", {
    env: { CONFIG_DIR: folder },
    tables: [
      {
        name: "orders",
        columns: { order_id: "integer", name: "text(20)" },
        primaryKey: ["order_id"],
      },
      {
        name: "order_lines",
        columns: {
          note: "text(50)",
          order_id: { type: "integer", references: { table: "orders", column: "order_id" } },
          line_no: "integer",
          qty: "integer",
          updated_at: "timestamp",
        },
        primaryKey: ["order_id", "line_no"],
      },
      { name: "seen", columns: { seen_id: "identity", told: "longtext" } },
    ],
    setUp: () => ["insert into orders (order_id, name) values (1, 'one'), (2, 'two')"],
    endpoints: {
      plain: { tableName: "order_lines", action },
      ...Object.fromEntries(
        strategies.map((upsertStrategy) => [
          upsertStrategy.replaceAll("_", "-"),
          { tableName: "order_lines", action, importConfig: { upsertKeys, upsertStrategy } },
        ]),
      ),
      named: {
        tableName: "order_lines",
        action,
        importConfig: {
          upsertKeys,
          lookupFields: {
            Order: { targetTable: "orders", targetField: "order_id", lookupField: "name" },
          },
        },
      },
      part: { tableName: "order_lines", action, importConfig: { upsertKeys: ["order_id"] } },
      handled: {
        tableName: "order_lines",
        action,
        importConfig: { upsertKeys, runHooks: true },
        components: {
          onAfterInsert: ["components/seen.ts#run"],
          onAfterUpdate: ["components/seen.ts#run"],
        },
      },
    },
    components: { "components/seen.ts": await import(pathToFileURL(path).href) },
    files: { "test/components/seen.ts": seen },
    project: { cache: { enabled: false } },
  });
});
afterAll(async () => {
  await service.close();
  await rm(folder, { recursive: true, force: true });
});

const stored = [
  { order_id: 1, line_no: 1, note: "a", qty: 1 },
  { order_id: 1, line_no: 2, note: "b", qty: 2 },
  { order_id: 2, line_no: 1, note: "c", qty: 3 },
];
beforeEach(async () => {
  await service.sql("delete from seen");
  await service.sql("delete from order_lines");
  await service.sql(
    "insert into order_lines (order_id, line_no, note, qty) values (1, 1, 'a', 1), (1, 2, 'b', 2), (2, 1, 'c', 3)",
  );
});
const all = async () => records(await service.post("plain/read", { limit: 100 }));
const fileOf = (...rows: (string | number | null)[][]) =>
  workbookOf([["order_id", "line_no", "note", "qty"], ...rows]);
const unstamped = (rows: readonly Row[]) => rows.map((row) => ({ ...row, updated_at: null }));
const importer = () => importerOf(service);

describe("an import by a key of two columns", () => {
  test("changes the records that are there, and adds the others", async () => {
    const file = await fileOf([1, 2, "changed", 20], [2, 2, "new", 30], [2, 1, "also", 40]);
    const { body } = await importer().committed("update-existing", file);
    expect(body.result).toMatchObject({ inserted: 1, updated: 2, failed: 0 });
    expect(await all()).toMatchObject([
      stored[0]!,
      { order_id: 1, line_no: 2, note: "changed", qty: 20 },
      { order_id: 2, line_no: 1, note: "also", qty: 40 },
      { order_id: 2, line_no: 2, note: "new", qty: 30 },
    ]);
  });

  test("leaves alone what is there with skip_existing", async () => {
    const file = await fileOf([1, 2, "changed", 20], [2, 2, "new", 30]);
    const { body } = await importer().committed("skip-existing", file);
    expect(body.result).toMatchObject({ inserted: 1, updated: 0, skipped: 1 });
    expect(await all()).toMatchObject([...stored, { order_id: 2, line_no: 2, note: "new" }]);
  });

  test("counts what is there as failed with insert_only", async () => {
    const file = await fileOf([1, 2, "changed", 20], [2, 2, "new", 30]);
    const { body } = await importer().committed("insert-only", file);
    expect(body.result).toMatchObject({ inserted: 1, updated: 0, failed: 1 });
    expect(await all()).toMatchObject([...stored, { order_id: 2, line_no: 2, note: "new" }]);
  });

  test("takes more rows than one condition, and each for its own record", async () => {
    const rows = Array.from({ length: 700 }, (_, at) => [
      1 + (at % 2),
      10 + (at >> 1),
      `n${at}`,
      at,
    ]);
    const first = await importer().committed("update-existing", await fileOf(...rows));
    expect(first.body.result).toMatchObject({ inserted: 700, updated: 0 });
    const again = rows.map(([order, line, note, qty]) => [order!, line!, note!, Number(qty) * 2]);
    const second = await importer().committed("update-existing", await fileOf(...again));
    expect(second.body.result).toMatchObject({ inserted: 0, updated: 700 });
    const [sums] = await service.sql(
      "select count(*) as n, sum(qty) as total from order_lines where line_no >= 10",
    );
    expect([Number(sums!["n"]), Number(sums!["total"])]).toEqual([700, 700 * 699]);
  });

  test.each([
    ["a row without a part of it", [1, null, "x", 1], "line_no: is required"],
    ["a row that stands twice", [1, 1, "x", 1], "is already in row 2"],
    ["a line of an order that is not there", [9, 1, "x", 1], 'there is no record "9" to refer to'],
  ])("refuses %s", async (_, row, text) => {
    const { body } = await importer().previewed(
      "update-existing",
      await fileOf([1, 1, "a", 1], row),
    );
    expect(body).toMatchObject({ status: "preview_error" });
    expect(JSON.stringify(body.errors)).toContain(text.replaceAll('"', '\\"'));
  });

  test("finds the order by its name", async () => {
    const file = await workbookOf([
      ["Order", "line_no", "note"],
      ["two", 1, "by name"],
      ["two", 5, "new"],
    ]);
    const { body } = await importer().committed("named", file);
    expect(body.result).toMatchObject({ inserted: 1, updated: 1 });
    expect(await all()).toMatchObject([
      stored[0]!,
      stored[1]!,
      { order_id: 2, line_no: 1, note: "by name", qty: 3 },
      { order_id: 2, line_no: 5, note: "new", qty: null },
    ]);
  });

  test("by a part of the key refuses what matches several records", async () => {
    const { body } = await importer().previewed("part", await fileOf([1, 7, "x", 1]));
    expect(body).toMatchObject({ status: "preview_error" });
    expect(JSON.stringify(body.errors)).toContain("matches several records");
  });

  test("gives handlers the whole key", async () => {
    await importer().committed("handled", await fileOf([1, 2, "changed", 20], [2, 2, "new", 30]));
    const told = await service.sql("select told from seen order by seen_id");
    expect(told.map((row) => JSON.parse(String(row["told"])))).toMatchObject([
      ["onAfterUpdate", { order_id: 1, line_no: 2 }, { order_id: 1, line_no: 2, note: "changed" }],
      ["onAfterInsert", { order_id: 2, line_no: 2 }, { order_id: 2, line_no: 2, note: "new" }],
    ]);
    expect((await all()).length).toBe(4);
  });
});

describe("without upsertKeys", () => {
  test("each row is a new record, and the preview finds the keys that are taken", async () => {
    const { body } = await importer().previewed(
      "plain",
      await fileOf([1, 2, "x", 1], [2, 2, "y", 1]),
    );
    expect(body).toMatchObject({ status: "preview_error", summary: { invalid: 1, valid: 1 } });
    const fine = await importer().committed("plain", await fileOf([2, 2, "y", 1]));
    expect(fine.body.result).toMatchObject({ inserted: 1 });
  });

  test("a file without the columns of the key is refused row by row", async () => {
    const file = await workbookOf([
      ["note", "qty"],
      ["x", 1],
    ]);
    const { body } = await importer().previewed("plain", file);
    expect(JSON.stringify(body.errors)).toContain("line_no: is required");
  });

  test("the template asks for the key", async () => {
    const response = await service.fetch("/api/test/plain/import-template");
    const { sheetsOf } = await import("./imports.ts");
    const [sheet] = await sheetsOf(new Uint8Array(await response.arrayBuffer()));
    const headings = (sheet!.getRow(1).values as unknown[]).filter((one) => one !== undefined);
    expect(headings).toEqual(["order_id", "line_no", "note", "qty"]);
  });
});

test("what an export wrote is imported back to the same records", async () => {
  const { body } = await service.post("plain/export", { format: "xlsx" });
  const giveUpAtMs = performance.now() + 25_000;
  for (;;) {
    const state = await service.request(`/api/test/plain/export-status?job_id=${body.job_id}`);
    if (state.body.status === "completed") break;
    if (performance.now() > giveUpAtMs || state.body.status === "failed")
      throw new Error(JSON.stringify(state.body));
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const file = await service.fetch(`/api/test/plain/export-download?job_id=${body.job_id}`);
  const bytes = new Uint8Array(await file.arrayBuffer());
  const before = await all();
  await service.sql("delete from order_lines where line_no = 2");
  await service.sql("update order_lines set note = 'lost'");
  const answer = await importer().committed("update-existing", bytes);
  check(answer, { status: 200 });
  expect(answer.body.result).toMatchObject({ inserted: 1, updated: 2 });
  expect(unstamped(await all())).toEqual(unstamped(before));
});
