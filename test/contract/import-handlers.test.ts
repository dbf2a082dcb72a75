/**
 * The operator's handlers around each row of an import's commit (`importConfig.runHooks`): input, permitted changes,
 * and state after a refusal, a fault or a second run. They are a real file, because jobs load them where they run.
 */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { beforeEach, describe, expect, test } from "vitest";
import { openWorkbook } from "../../jobs/workbook/open-workbook.ts";
import { type Importer, importerOf, workbookOf } from "./imports.ts";
import { folderTestPlaces, type JobFixture, type JobPlace, openJobFixture } from "./job-places.ts";
import type { FixtureTable } from "./tables.ts";
import { openForTests } from "./harness.ts";

const tables: readonly FixtureTable[] = [
  {
    name: "parts",
    columns: {
      part_id: "key",
      sku: { type: "text(20)", notNull: true, unique: true },
      name: { type: "text(40)", notNull: true },
      stock: "integer",
      secret: "text(20)",
      created_by: "text(40)",
      updated_by: "text(40)",
    },
  },
  {
    name: "kits",
    columns: {
      sku: "key",
      name: "text(40)",
      within: { type: "text(36)", references: { table: "kits", column: "sku" } },
    },
  },
  {
    name: "notes",
    columns: { note_id: "identity", event: "text(40)", sku: "text(20)", told: "longtext" },
  },
];

/** The row's name tells the handlers what to do. */
const handlers = `
const note = ({ event, data, query }, told) =>
  query("insert into notes (event, sku, told) values (?, ?, ?)", [event, data.sku, told]);

export async function before(context) {
  const { event, data, reject, query } = context;
  const fields = Object.keys(data);
  await note(context, JSON.stringify({ ...context, data, fields, log: typeof context.log.info }));
  if (data.name === "refuse") reject("Not this one", { name: "is on the list", secret: ["a", "b"] });
  if (data.name === "break") throw new Error("hush");
  if (data.name === "wrong sql") await query("select nothing from nowhere").catch(() => undefined);
  if (data.name === "wrong data") return { ...data, stock: -5 };
  if (data.name === "taken") return { ...data, sku: "OLD-1" };
  if (data.name === "loud") return { ...data, name: "LOUD", secret: "no", part_id: "other" };
}

export async function after(context) {
  const { data, record, reject } = context;
  await note(context, JSON.stringify({ ...context, data }));
  if (data.name === "refuse late") reject("Too late");
  record.name = "not stored";
}
`;

const action = { import: true, first: true, read: true };
const components = {
  onBeforeInsert: ["components/parts.ts#before"],
  onAfterInsert: ["components/parts.ts#after"],
  onBeforeUpdate: ["components/parts.ts#before"],
  onAfterUpdate: ["components/parts.ts#after"],
};
const parts = {
  tableName: "parts",
  action,
  hiddenFields: ["secret"],
  readOnlyFields: ["secret"],
  fieldLabels: { name: "Part name" },
  fieldValidation: { stock: { type: "integer", min: 0 } },
  importConfig: { upsertKeys: ["sku"], runHooks: true },
  components,
};
const withConfig = (config: object) => ({
  ...parts,
  importConfig: { ...parts.importConfig, ...config },
});
const { onBeforeInsert, onAfterInsert } = components;

const endpoints = {
  parts,
  notes: { tableName: "notes", action: { read: true } },
  kits: {
    tableName: "kits",
    action,
    importConfig: { upsertKeys: ["sku"], runHooks: true },
    components: { onAfterInsert },
  },
  silent: withConfig({ runHooks: false }),
  inserts: { ...parts, components: { onBeforeInsert, onAfterInsert } },
  "insert-only": withConfig({ upsertStrategy: "insert_only" }),
  "skip-existing": withConfig({ upsertStrategy: "skip_existing" }),
};

interface Place extends JobFixture {
  readonly imports: Importer;
}

async function openPlace(place: JobPlace): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), "rowgate-test-components-"));
  const path = join(folder, "test/components/parts.ts");
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, handlers);
  const shop = await openJobFixture(place, {
    tables,
    endpoints,
    components: { "components/parts.ts": await import(pathToFileURL(path).href) },
    files: { "test/components/parts.ts": handlers },
    // A worker has its own folder.
    env: place === "in the service" ? { CONFIG_DIR: folder } : {},
  });
  return {
    ...shop,
    imports: importerOf(shop),
    async close() {
      await shop.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Rows as `sku, name, stock`. */
const fileOf = (...rows: (string | number | null)[][]) =>
  workbookOf([["sku", "Part name", "stock"], ...rows]);

describe.each(folderTestPlaces)("the rows of an import, %s,", (where) => {
  const shop = openForTests(openPlace, where);
  beforeEach(async () => {
    await shop.sql("delete from parts");
    await shop.sql("delete from notes");
    await shop.sql(
      "insert into parts (part_id, sku, name, stock, secret) values ('old', 'OLD-1', 'old', 3, 's')",
    );
  });

  const stored = async () =>
    (await shop.sql("select sku, name, stock, secret from parts order by sku")).map((row) => [
      row["sku"],
      row["name"],
      row["stock"] === null ? null : Number(row["stock"]),
      row["secret"],
    ]);
  const old = ["OLD-1", "old", 3, "s"];
  const notes = async () =>
    (await shop.sql("select event, sku, told from notes order by note_id")).map((row) => ({
      event: row["event"],
      sku: row["sku"],
      told: JSON.parse(String(row["told"])) as Record<string, unknown>,
    }));
  const events = async () => (await notes()).map(({ event, sku }) => `${event} ${sku}`);
  const committed = async (endpoint: string, ...rows: (string | number | null)[][]) =>
    (await shop.imports.committed(endpoint, await fileOf(...rows))).body;
  const counts = (inserted: number, updated: number, skipped: number, failed: number) => ({
    status: "completed",
    result: { inserted, updated, skipped, failed },
  });

  async function errorsOf(endpoint: string, jobId: string): Promise<unknown[][]> {
    const path = `/api/test/${endpoint}/import-errors?job_id=${jobId}`;
    const answer = await shop.fetch(path);
    const file = join(shop.filesFolder, "errors.xlsx");
    await writeFile(file, new Uint8Array(await answer.arrayBuffer()));
    const workbook = await openWorkbook(file, { bytesMax: 1_000_000 });
    const rows: unknown[][] = [[...workbook.headings]];
    for await (const { values } of workbook.rows()) rows.push([...values]);
    return rows;
  }

  test("go through their handlers one after the other, new ones and changed ones", async () => {
    const rows = [
      ["A-1", "one", 1],
      ["OLD-1", "changed", null],
      ["A-2", "two", 2],
    ];
    expect(await committed("parts", ...rows)).toMatchObject(counts(2, 1, 0, 0));
    expect(await events()).toEqual([
      "onBeforeInsert A-1",
      "onAfterInsert A-1",
      "onBeforeUpdate OLD-1",
      "onAfterUpdate OLD-1",
      "onBeforeInsert A-2",
      "onAfterInsert A-2",
    ]);
    expect(await stored()).toEqual([
      ["A-1", "one", 1, null],
      ["A-2", "two", 2, null],
      ["OLD-1", "changed", null, "s"],
    ]);
  });

  test("give the handlers of a new record what create gives them", async () => {
    await committed("parts", ["A-1", "one", 1]);
    const [before, after] = await notes();
    expect(before!.told).toEqual({
      event: "onBeforeInsert",
      dryRun: false,
      project: "test",
      endpoint: "parts",
      data: { sku: "A-1", name: "one", stock: 1 },
      fields: ["sku", "name", "stock"],
      oldRecord: null,
      record: null,
      options: {},
      user: null,
      log: "function",
    });
    const record = { part_id: expect.any(String), sku: "A-1", name: "one", stock: 1 };
    const told = { event: "onAfterInsert", oldRecord: null, data: { sku: "A-1" } };
    expect(after!.told).toMatchObject({ ...told, record });
    expect(after!.told["record"]).not.toHaveProperty("secret");
  });

  test("have no field for an empty cell, where a new record is made of them", async () => {
    await committed("parts", ["A-1", "one", null]);
    expect((await notes())[0]!.told).toMatchObject({ fields: ["sku", "name"] });
  });

  test("give the handlers of a change the record before and after", async () => {
    await committed("parts", ["OLD-1", "changed", 4]);
    const [before, after] = await notes();
    const oldRecord = { part_id: "old", sku: "OLD-1", name: "old", stock: 3 };
    const data = { part_id: "old", sku: "OLD-1", name: "changed", stock: 4 };
    expect(before!.told).toMatchObject({ event: "onBeforeUpdate", data, oldRecord, record: null });
    const record = { part_id: "old", sku: "OLD-1", name: "changed", stock: 4 };
    expect(after!.told).toMatchObject({ event: "onAfterUpdate", data, oldRecord, record });
  });

  test("are stored as a before handler leaves them, within what a body may set", async () => {
    await committed("parts", ["A-1", "loud", 1], ["OLD-1", "loud", 2]);
    expect(await stored()).toEqual([
      ["A-1", "LOUD", 1, null],
      ["OLD-1", "LOUD", 2, "s"],
    ]);
    const ids = (await shop.sql("select part_id from parts order by sku")).map(
      (row) => row["part_id"],
    );
    expect(ids).toEqual(["other", "old"]);
  });

  test.each([
    ["a before handler refuses", "refuse", "Not this one; Part name: is on the list; secret: a, b"],
    ["an after handler refuses", "refuse late", "Too late"],
    [
      "a handler leaves invalid",
      "wrong data",
      /^A component handler returned invalid data; stock: /,
    ],
  ])("that %s are undone alone, counted as failed and listed", async (_, name, message) => {
    const rows = [
      ["A-1", "one", 1],
      ["A-2", name, 2],
      ["OLD-1", name, 9],
      ["A-3", "three", 3],
    ];
    const body = await committed("parts", ...rows);
    expect(body).toMatchObject(counts(2, 0, 0, 2));
    expect((await stored()).map(([sku]) => sku)).toEqual(["A-1", "A-3", "OLD-1"]);
    expect((await stored()).at(-1)).toEqual(old);
    expect(await events()).toEqual(
      ["A-1", "A-3"].flatMap((sku) => [`onBeforeInsert ${sku}`, `onAfterInsert ${sku}`]),
    );
    const said = typeof message === "string" ? message : expect.stringMatching(message);
    expect(await errorsOf("parts", body.job_id)).toEqual([
      ["sku", "Part name", "stock", "Import errors"],
      ["A-2", name, 2, said],
      ["OLD-1", name, 9, said],
    ]);
  });

  test("are all refused without a fault of the commit", async () => {
    const body = await committed("parts", ["A-1", "refuse", 1], ["A-2", "refuse late", 1]);
    expect(body).toMatchObject(counts(0, 0, 0, 2));
    expect(await stored()).toEqual([old]);
    expect(await notes()).toEqual([]);
  });

  test.each([
    ["a handler breaks on", "break"],
    ["a handler's SQL fails for, even where it catches that,", "wrong sql"],
  ])("that %s undo the whole commit, and the client hears no more", async (_, name) => {
    const body = await committed("parts", ["A-1", "one", 1], ["A-2", name, 2]);
    expect(body).toMatchObject({ status: "failed", error: "The job could not be finished" });
    expect(await stored()).toEqual([old]);
    expect(await notes()).toEqual([]);
  });

  test("that the database refuses undo the whole commit, and the error names the row", async () => {
    const body = await committed("parts", ["A-1", "one", 1], ["A-2", "taken", 2]);
    expect(body).toMatchObject({ success: false, status: "failed" });
    expect(body.error).toMatch(/^Nothing was stored: in row 3, /);
    expect(await stored()).toEqual([old]);
    expect(await notes()).toEqual([]);
  });

  test("are previewed without handlers", async () => {
    const file = await fileOf(["A-1", "refuse", 1], ["OLD-1", "break", 2]);
    const { body } = await shop.imports.previewed("parts", file);
    expect(body).toMatchObject({
      status: "preview_ok",
      summary: { valid: 2, invalid: 0, skip: 0 },
      changes: { insert: 1, update: 1 },
    });
    expect(await notes()).toEqual([]);
  });

  test("show in every list what their handlers wrote, once the commit is completed", async () => {
    const listed = async () => (await shop.post("notes/read", { limit: 100 })).body.count;
    expect([await listed(), await listed()]).toEqual([0, 0]);
    await committed("parts", ["A-1", "one", 1]);
    expect(await listed()).toBe(2);
  });

  test("have no handlers where runHooks is false", async () => {
    const body = await committed("silent", ["A-1", "refuse", 1], ["OLD-1", "break", 2]);
    expect(body).toMatchObject(counts(1, 1, 0, 0));
    expect(await notes()).toEqual([]);
  });

  test("go in batches where their event has no handler", async () => {
    const body = await committed("inserts", ["A-1", "one", 1], ["OLD-1", "break", 2]);
    expect(body).toMatchObject(counts(1, 1, 0, 0));
    expect(await events()).toEqual(["onBeforeInsert A-1", "onAfterInsert A-1"]);
  });

  test("are stored after those that they refer to, where no handler sees them before", async () => {
    const rows = [
      ["K-3", "third", "K-2"],
      ["K-0", "first", null],
      ["K-2", "second", "K-1"],
      ["K-1", "top", null],
    ];
    const file = await workbookOf([["sku", "name", "within"], ...rows]);
    const { body } = await shop.imports.committed("kits", file);
    expect(body).toMatchObject(counts(4, 0, 0, 0));
    const told = (await events()).map((text) => text.slice("onAfterInsert ".length));
    expect(told.filter((sku) => sku !== "K-0")).toEqual(["K-1", "K-2", "K-3"]);
    expect(told).toContain("K-0");
  });

  test.each([
    ["insert-only", counts(1, 0, 0, 2)],
    ["skip-existing", counts(1, 0, 1, 1)],
  ])("that are left alone have no handlers: %s", async (endpoint, expected) => {
    const rows = [
      ["A-1", "one", 1],
      ["OLD-1", "changed", 2],
      ["A-2", "refuse", 2],
    ];
    expect(await committed(endpoint, ...rows)).toMatchObject(expected);
    expect(await events()).toEqual(["onBeforeInsert A-1", "onAfterInsert A-1"]);
    expect((await stored()).at(-1)).toEqual(old);
  });
});
