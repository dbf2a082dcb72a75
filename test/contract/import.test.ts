/**
 * Imports from the upload to the stored records, with jobs in the service and in a worker over Redis.
 * `field-value.test.ts` tests the conversion of cells, `import-upload.test.ts` the uploads.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import ExcelJS from "exceljs";
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from "vitest";
import { checkEnvelope } from "./cases.ts";
import type { Answer } from "./harness.ts";
import { type Importer, importerOf, sheetsOf, workbookOf } from "./imports.ts";
import { type JobFixture, longTestPlaces, openJobFixture } from "./job-places.ts";
import type { EngineName } from "../servers/session.ts";
import type { FixtureTable } from "./tables.ts";

const tables: readonly FixtureTable[] = [
  {
    name: "groups",
    columns: { group_id: "key", name: { type: "text(40)", notNull: true }, code: "integer" },
  },
  {
    name: "goods",
    columns: {
      good_id: "key",
      sku: { type: "text(20)", notNull: true, unique: true },
      name: { type: "text(40)", notNull: true },
      price: { type: "decimal(10,2)", check: "price >= 0" },
      stock: { type: "integer", notNull: true, default: "7" },
      group_id: { type: "text(36)", references: { table: "groups", column: "group_id" } },
      made_in: "text(20)",
      secret: "text(20)",
      created_at: "timestamp",
      created_by: "text(40)",
      updated_at: "timestamp",
      updated_by: "text(40)",
    },
  },
  {
    name: "visits",
    columns: {
      visit_id: "identity",
      place: { type: "text(20)", notNull: true },
      day: { type: "date", notNull: true },
      guests: "integer",
    },
  },
  {
    name: "pairs",
    columns: {
      pair_id: "identity",
      left_code: { type: "text(10)", notNull: true },
      right_code: { type: "integer", notNull: true },
      note: "text(20)",
    },
    unique: [["left_code", "right_code"]],
  },
];

const action = { import: true, create: true, read: true, first: true, update: true };
const lookup = { targetTable: "groups", targetField: "group_id", lookupField: "name" };
const goods = {
  tableName: "goods",
  action,
  hiddenFields: ["secret"],
  readOnlyFields: ["secret"],
  fieldLabels: { sku: "SKU", name: "Product name", stock: "In stock" },
  fieldValidation: {
    sku: { type: "string", required: true, trim: true, uppercase: true },
    name: { type: "string", required: true, minLength: 2 },
    stock: { type: "integer", min: 0 },
  },
  importConfig: { upsertKeys: ["sku"], lookupFields: { group: lookup } },
};
const withConfig = (config: object) => ({
  ...goods,
  importConfig: { ...goods.importConfig, ...config },
});

const texts = {
  tableName: "goods",
  fieldName: ["sku", "name"],
  action: { ...action, export: true },
  importConfig: { upsertKeys: ["sku"] },
};

const endpoints = {
  goods,
  other: goods,
  off: { ...goods, action: { read: true } },
  "insert-only": withConfig({ upsertStrategy: "insert_only" }),
  "skip-existing": withConfig({ upsertStrategy: "skip_existing" }),
  optional: withConfig({ lookupFields: { group: { ...lookup, required: false } } }),
  "by-code": withConfig({ lookupFields: { group: { ...lookup, lookupField: "code" } } }),
  needing: withConfig({ requiredFields: ["made_in"] }),
  "by-key": withConfig({ upsertKeys: ["good_id"], lookupFields: {} }),
  plain: { tableName: "goods", action },
  texts: { ...texts, csvFormulas: "escape" },
  "texts-kept": { ...texts, csvFormulas: "keep" },
  names: { tableName: "names", action, importConfig: { upsertKeys: ["name"] } },
  visits: { tableName: "visits", action, importConfig: { upsertKeys: ["place", "day"] } },
  pairs: { tableName: "pairs", action, importConfig: { upsertKeys: ["left_code", "right_code"] } },
};

/** Columns that compare texts without case: not every engine has such a collation built in. */
const namesTable = {
  sqlite:
    "create table names (id integer primary key, name varchar(20) collate nocase unique, note varchar(20))",
  mysql:
    "create table names (id integer auto_increment primary key, name varchar(20) character set utf8mb4 collate utf8mb4_general_ci unique, note varchar(20))",
  postgres: "create table names (id serial primary key, name varchar(20) unique, note varchar(20))",
};

const setUp = (engine: EngineName) => [
  namesTable[engine],
  "insert into groups (group_id, name, code) values ('g1', 'Tools', 10)",
  "insert into groups (group_id, name, code) values ('g2', 'Garden', 20)",
  "insert into groups (group_id, name, code) values ('g3', 'Twice', 30)",
  "insert into groups (group_id, name, code) values ('g4', 'Twice', 40)",
];

/** The cells of a csv file, as a spreadsheet reads them. */
function cellsOf(text: string): string[][] {
  const rows: string[][] = [[]];
  for (const [, quoted, plain = "", end] of text
    .replace("\ufeff", "")
    .matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    rows.at(-1)!.push(quoted?.replaceAll('""', '"') ?? plain);
    if (end === "\r\n") rows.push([]);
  }
  return rows.slice(0, -1);
}

/** The notes of a row's cells, as far as the headings go; null = none. */
const notesOf = (sheet: ExcelJS.Worksheet, row: number): (string | null)[] =>
  Array.from({ length: sheet.columnCount }, (_, at) => {
    const { note } = sheet.getRow(row).getCell(at + 1);
    if (note === undefined || typeof note === "string") return note ?? null;
    return (note.texts ?? []).map(({ text }) => text).join("");
  });

describe.each(longTestPlaces)("import, %s", (place) => {
  let shop: JobFixture;
  let imports: Importer;
  beforeAll(async () => {
    shop = await openJobFixture(place, { tables, setUp, endpoints });
    imports = importerOf(shop);
  });
  afterAll(() => shop?.close());

  beforeEach(async () => {
    for (const table of ["goods", "visits", "pairs"]) await shop.sql(`delete from ${table}`);
    await shop.sql(
      "insert into goods (good_id, sku, name, price, stock, group_id, made_in, secret) values ('old', 'OLD-1', 'Old thing', 5, 3, 'g1', 'here', 'hush-1')",
    );
  });

  const stored = (order = "sku") => shop.sql(`select * from goods order by ${order}`);
  const record = async (sku: string) =>
    (await shop.post("goods/first", { where: [{ key: "sku", value: sku }] })).body.data;

  describe("the rows of a csv export come back as they were", () => {
    const names = ["plain", "+55 (12) 3923-5555", "-12.5", 'say "x", y', "two\nlines", "'quoted"];
    const formulas = ["=1+1", "@x", "-1+2", "'=1+1"];
    test.each([
      ["texts", names, names],
      ["texts-kept", [...names, ...formulas], [...names, ...formulas]],
      // A workbook does not record which apostrophes were added for csv.
      ["texts", formulas, ["'=1+1", "'@x", "'-1+2", "''=1+1"]],
    ])("through %s: %j", async (endpoint, before, after) => {
      await shop.sql("delete from goods");
      for (const [at, name] of before.entries()) {
        const made = await shop.post("plain/create", { sku: `T-${at}`, name });
        expect(made.status).toBe(201);
      }
      const text = await shop.exported(endpoint, { format: "csv" });
      await shop.sql("delete from goods");
      await imports.committed(endpoint, await workbookOf(cellsOf(text)));
      const rows = await stored();
      expect(rows.map(({ name }) => name)).toEqual(after);
    });
  });

  describe("a csv file", () => {
    const encoded = (text: string, encoding: "utf8" | "utf16le" = "utf8") =>
      new Uint8Array(Buffer.from(text, encoding));
    const rows = "SKU;Product name;price;group\r\nN-1;Ä, ö;1.5;Garden\r\nold-1;Changed;2;Tools\r\n";
    const tabs = rows.replaceAll(";", "\t");
    const commas = rows.replace("Ä, ö", '"Ä, ö"').replaceAll(";", ",");
    const utf16 = encoded(`\ufeff${tabs}`, "utf16le");
    const swapped = new Uint8Array(Buffer.from(utf16).swap16());
    test.each([
      ["by name, with semicolons", { name: "rows.csv" }, encoded(rows)],
      [
        "by name, whatever its type",
        { name: "a.CSV", type: "application/vnd.ms-excel" },
        encoded(commas),
      ],
      ["by type alone", { name: "blob", type: "text/csv" }, encoded(commas)],
      ["by type with parameters", { name: "rows", type: "Text/CSV; charset=utf-8" }, encoded(rows)],
      ["by type, with tabs", { name: "a.tsv", type: "text/tab-separated-values" }, encoded(tabs)],
      ["in UTF-8 with a mark", { name: "rows.csv" }, encoded(`\ufeff${commas}`)],
      ["in UTF-16 with a mark", { name: "rows.csv" }, utf16],
      ["in UTF-16 with the high byte first", { name: "rows.csv" }, swapped],
    ])("known %s is stored", async (_, as, file) => {
      const { body } = await imports.committed("goods", file, as);
      expect(body.result).toEqual({ inserted: 1, updated: 1, skipped: 0, failed: 0 });
      expect(await record("N-1")).toMatchObject({ name: "Ä, ö", price: 1.5, group_id: "g2" });
      expect(await record("OLD-1")).toMatchObject({ good_id: "old", name: "Changed", price: 2 });
    });

    test("has its wrong rows told apart as a workbook has", async () => {
      const text = `${rows}N-2;x;1;Garden\r\nN-3;Fine;-;Garden\r\n;Fine;1;Garden\r\nN-4;Fine;1;No\r\n`;
      const { body } = await imports.previewed("goods", encoded(text), { name: "rows.csv" });
      expect(body).toMatchObject({ status: "preview_error", summary: { valid: 2, invalid: 4 } });
    });

    const sheet = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
    test.each<[string, { name: string; type?: string }, Uint8Array<ArrayBuffer>]>([
      ["with the name of a workbook", { name: "rows.xlsx" }, encoded(rows)],
      [
        "with the name of a workbook and the type of csv",
        { name: "rows.xlsx", type: "text/csv" },
        encoded(rows),
      ],
      ["with the type of a workbook", { name: "rows", type: sheet }, encoded(rows)],
      ["with neither name nor type", { name: "rows.txt", type: "text/plain" }, encoded(rows)],
      ["with a type that only begins so", { name: "rows", type: "text/csvx" }, encoded(rows)],
      ["with a NUL", { name: "rows.csv" }, encoded(rows.replace("Ä", "\0"))],
      ["that is no UTF-8", { name: "rows.csv" }, new Uint8Array(Buffer.from(rows, "latin1"))],
      ["in UTF-16 without a mark", { name: "rows.csv" }, encoded(rows, "utf16le")],
      ["with an open quote", { name: "rows.csv" }, encoded(`${rows}"x`)],
      ["without content", { name: "rows.csv" }, encoded("")],
      ["without the key", { name: "rows.csv" }, encoded("Product name\r\nx\r\n")],
    ])("%s is refused", async (_, as, file) => {
      const answer = await imports.sendFile("goods", file, as);
      checkEnvelope(answer);
      expect([answer.status, answer.body.error]).toEqual([400, "Invalid file"]);
    });
  });

  describe("a commit", () => {
    test("stores new rows and changes those that are there", async () => {
      const file = await workbookOf([
        ["SKU", "Product name", "price", "group"],
        ["NEW-1", "New thing", 1.5, "Garden"],
        ["OLD-1", "Changed", 2.25, "Tools"],
      ]);
      const { body } = await imports.committed("goods", file);
      expect(body).toEqual({
        success: true,
        job_id: expect.stringMatching(/^commit-/),
        status: "completed",
        result: { inserted: 1, updated: 1, skipped: 0, failed: 0 },
        timestamp: expect.any(String),
      });
      expect(await record("NEW-1")).toMatchObject({
        good_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        name: "New thing",
        price: 1.5,
        stock: 7,
        group_id: "g2",
        created_by: "Input from API",
        updated_at: null,
        updated_by: null,
      });
      expect(await record("OLD-1")).toMatchObject({
        good_id: "old",
        name: "Changed",
        price: 2.25,
        stock: 3,
        group_id: "g1",
        made_in: "here",
        updated_by: "Update from API",
      });
    });

    test("fills created_at and updated_at as create and update do", async () => {
      const before = new Date(Date.now() - 1_000).toISOString();
      const file = await workbookOf([
        ["sku", "name"],
        ["NEW-1", "New thing"],
        ["OLD-1", "Changed"],
      ]);
      await imports.committed("goods", file);
      const [created, updated] = [await record("NEW-1"), await record("OLD-1")];
      expect(created.created_at > before && created.created_at <= new Date().toISOString()).toBe(
        true,
      );
      expect(updated.updated_at > before && updated.updated_at <= new Date().toISOString()).toBe(
        true,
      );
    });

    test("is seen by the next read, whatever the cache kept", async () => {
      const first = await shop.post("goods/read", { limit: 100 });
      expect(first.body.data).toHaveLength(1);
      const file = await workbookOf([
        ["sku", "name"],
        ["NEW-1", "New thing"],
      ]);
      await imports.committed("goods", file);
      const second = await shop.post("goods/read", { limit: 100 });
      expect(second.body.data).toHaveLength(2);
    });

    test("recognises records by several columns together, with a unique index", async () => {
      await shop.sql("insert into pairs (left_code, right_code, note) values ('a', 1, 'old')");
      const file = await workbookOf([
        ["left_code", "right_code", "note"],
        ["a", 1, "new"],
        ["a", 2, "more"],
        ["b", 1, "other"],
      ]);
      const { body } = await imports.committed("pairs", file);
      expect(body.result).toEqual({ inserted: 2, updated: 1, skipped: 0, failed: 0 });
      const rows = await shop.sql("select note from pairs order by left_code, right_code");
      expect(rows.map(({ note }) => note)).toEqual(["new", "more", "other"]);
    });

    test("recognises records by columns that no index keeps unique", async () => {
      await shop.sql("insert into visits (place, day, guests) values ('sea', '2026-01-02', 1)");
      const file = await workbookOf([
        ["place", "day", "guests"],
        ["sea", "2026-01-02", 5],
        ["sea", "2026-01-03", 6],
      ]);
      const { body } = await imports.committed("visits", file);
      expect(body.result).toEqual({ inserted: 1, updated: 1, skipped: 0, failed: 0 });
      const rows = await shop.sql("select guests from visits order by day");
      expect(rows.map(({ guests }) => Number(guests))).toEqual([5, 6]);
    });

    test("recognises records as the database compares texts", async () => {
      await shop.sql("insert into names (name, note) values ('Acme', 'old')");
      const file = await workbookOf([
        ["name", "note"],
        ["ACME", "new"],
        ["Other", "more"],
      ]);
      const { body } = await imports.committed("names", file);
      const isSame = shop.engine !== "postgres";
      expect(body.result).toMatchObject({ inserted: isSame ? 1 : 2, updated: isSame ? 1 : 0 });
      const rows = await shop.sql("select note from names where name = 'ACME'");
      expect(rows).toEqual([{ note: "new" }]);
    });

    test("keeps two imports of the same new rows apart, without an index too", async () => {
      const rows = Array.from({ length: 300 }, (_, at) => [`p${at}`, "2026-01-02", at]);
      const file = await workbookOf([["place", "day", "guests"], ...rows]);
      const previews = await Promise.all([
        imports.previewed("visits", file),
        imports.previewed("visits", file),
      ]);
      const commits = await Promise.all(
        previews.map(({ body }) => imports.commit("visits", body.job_id)),
      );
      const results = commits.map(({ body }) => body.result);
      expect(results.map(({ inserted }) => inserted).toSorted((a, b) => a - b)).toEqual([0, 300]);
      expect(await shop.sql("select * from visits")).toHaveLength(300);
    });

    test("keeps two imports of the same new rows apart, with an index", async () => {
      const rows = Array.from({ length: 300 }, (_, at) => [`S-${at}`, "Thing"]);
      const file = await workbookOf([["sku", "name"], ...rows]);
      const previews = await Promise.all([
        imports.previewed("goods", file),
        imports.previewed("goods", file),
      ]);
      const commits = await Promise.all(
        previews.map(({ body }) => imports.commit("goods", body.job_id)),
      );
      const results = commits.map(({ body }) => body.result);
      expect(results.map(({ inserted }) => inserted).toSorted((a, b) => a - b)).toEqual([0, 300]);
      expect(await stored()).toHaveLength(301);
    });

    test("leaves existing records alone and says so where the strategy is insert_only", async () => {
      const file = await workbookOf([
        ["sku", "name"],
        ["OLD-1", "Changed"],
        ["NEW-1", "New thing"],
      ]);
      const preview = await imports.previewed("insert-only", file);
      expect(preview.body.summary).toEqual({ valid: 1, invalid: 0, skip: 1, insert: 1, update: 0 });
      const { body } = await imports.commit("insert-only", preview.body.job_id);
      expect(body.result).toEqual({ inserted: 1, updated: 0, skipped: 0, failed: 1 });
      expect(await record("OLD-1")).toMatchObject({ name: "Old thing" });
      const rejected = await rejectedRows("insert-only", body.job_id);
      expect(rejected).toEqual([
        ["sku", "name", "Import errors"],
        ["OLD-1", "Changed", "A record with this sku exists"],
      ]);
    });

    test("leaves existing records alone without a word where the strategy is skip_existing", async () => {
      const file = await workbookOf([
        ["sku", "name"],
        ["OLD-1", "Changed"],
        ["NEW-1", "New thing"],
      ]);
      const preview = await imports.previewed("skip-existing", file);
      expect(preview.body.summary).toEqual({ valid: 1, invalid: 0, skip: 1, insert: 1, update: 0 });
      const { body } = await imports.commit("skip-existing", preview.body.job_id);
      expect(body.result).toEqual({ inserted: 1, updated: 0, skipped: 1, failed: 0 });
      expect(await record("OLD-1")).toMatchObject({ name: "Old thing" });
      expect(await rejectedRows("skip-existing", body.job_id)).toHaveLength(1);
    });

    test("takes keys from the file where it has them, and makes the others", async () => {
      const file = await workbookOf([
        ["good_id", "sku", "name"],
        ["mine", "NEW-1", "New thing"],
        [null, "NEW-2", "Newer thing"],
      ]);
      await imports.committed("goods", file);
      expect(await record("NEW-1")).toMatchObject({ good_id: "mine" });
      expect((await record("NEW-2")).good_id).toMatch(/^[0-9a-f-]{36}$/);
    });

    test("recognises records by the primary key", async () => {
      const file = await workbookOf([
        ["good_id", "sku", "name"],
        ["old", "OLD-2", "Renamed"],
      ]);
      const { body } = await imports.committed("by-key", file);
      expect(body.result).toMatchObject({ inserted: 0, updated: 1 });
      expect(await record("OLD-2")).toMatchObject({ good_id: "old", name: "Renamed" });
    });

    test("takes every row as a new one where no upsertKeys are set", async () => {
      const file = await workbookOf([
        ["sku", "name"],
        ["A", "One"],
        ["B", "Two"],
      ]);
      const { body } = await imports.committed("plain", file);
      expect(body.result).toEqual({ inserted: 2, updated: 0, skipped: 0, failed: 0 });
    });

    test("empties a field whose cell is empty, and leaves one alone that cannot be empty", async () => {
      const file = await workbookOf([
        ["sku", "name", "price", "stock", "made_in"],
        ["OLD-1", "Old thing", null, null, null],
      ]);
      await imports.committed("goods", file);
      expect(await record("OLD-1")).toMatchObject({ price: null, stock: 3, made_in: null });
    });

    test("stores nothing when the database refuses one row, and says which rows it is about", async () => {
      const file = await workbookOf([
        ["sku", "name", "price"],
        ["NEW-1", "New thing", 1],
        ["NEW-2", "New thing", -1],
      ]);
      const { body, status } = await imports.committed("goods", file);
      expect(status).toBe(200);
      expect(body).toEqual({
        success: false,
        job_id: expect.any(String),
        status: "failed",
        error: expect.stringMatching(/^Nothing was stored: among rows 2 to 3, /),
        timestamp: expect.any(String),
      });
      expect(JSON.stringify(body)).not.toMatch(/sqlite|constraint "|violates|CHECK/);
      expect(await stored()).toHaveLength(1);
    });

    test("stores nothing when a name has gone since the preview", async () => {
      await shop.sql("insert into groups (group_id, name) values ('g9', 'Short-lived')");
      const file = await workbookOf([
        ["sku", "name", "group"],
        ["NEW-1", "New thing", "Tools"],
        ["NEW-2", "New thing", "Short-lived"],
      ]);
      const preview = await imports.previewed("goods", file);
      await shop.sql("delete from groups where group_id = 'g9'");
      const { body } = await imports.commit("goods", preview.body.job_id);
      expect(body.error).toBe(
        'Nothing was stored: row 3 is no longer valid (group: there is no "Short-lived")',
      );
      const again = await shop.post("goods/import-commit", { preview_job_id: preview.body.job_id });
      expect(again.status).toBe(200);
      const { success, status, error } = again.body;
      expect([success, status, error]).toEqual([false, "failed", body.error]);
      expect(await stored()).toHaveLength(1);
    });

    test("of the same preview is the same job, however often it is asked for", async () => {
      const file = await workbookOf([
        ["sku", "name"],
        ["NEW-1", "New thing"],
      ]);
      const preview = await imports.previewed("goods", file);
      const body = { preview_job_id: preview.body.job_id };
      const answers = await Promise.all([
        shop.post("goods/import-commit", body),
        shop.post("goods/import-commit", body),
      ]);
      for (const answer of answers) {
        checkEnvelope(answer);
        expect(answer.body).toMatchObject({
          success: true,
          job_id: preview.body.job_id.replace("preview", "commit"),
        });
        expect(["processing", "completed"]).toContain(answer.body.status);
      }
      await imports.ended("goods", answers[0]!.body.job_id);
      const third = await shop.post("goods/import-commit", body);
      expect(third.body).toMatchObject({
        job_id: answers[0]!.body.job_id,
        status: "completed",
        result: { inserted: 1 },
      });
      const { body: status } = await imports.ended("goods", third.body.job_id);
      expect(status.result).toMatchObject({ inserted: 1 });
      expect(await stored()).toHaveLength(2);
    });

    test("is completed in its status when its rows are stored, whatever the queue says", async () => {
      const file = await workbookOf([
        ["sku", "name"],
        ["NEW-1", "New thing"],
      ]);
      const preview = await imports.previewed("goods", file);
      const commitId = preview.body.job_id.replace("preview", "commit");
      // As after a run that died before it reported that it had stored the rows.
      const result = JSON.stringify({
        counts: { inserted: 1, updated: 0, skipped: 0, failed: 0 },
        rejected: "uploads/test/none.xlsx",
      });
      await shop.sql(
        `insert into rowgate_jobs (job_id, result) values ('${commitId}', '${result}')`,
      );
      const { body } = await imports.commit("goods", preview.body.job_id);
      expect(body).toMatchObject({ status: "completed", result: { inserted: 1 } });
      expect(await stored()).toHaveLength(1);
    });
  });

  const errorsFile = async (endpoint: string, jobId: string): Promise<Uint8Array<ArrayBuffer>> => {
    const response = await shop.fetch(`/api/test/${endpoint}/import-errors?job_id=${jobId}`);
    expect(response.status).toBe(200);
    return new Uint8Array(await response.arrayBuffer());
  };
  const rejectedRows = async (endpoint: string, jobId: string): Promise<unknown[][]> => {
    return sheetOf(await errorsFile(endpoint, jobId));
  };

  /** The cells of a workbook, read back by uploading it. */
  const sheetOf = async (bytes: Uint8Array<ArrayBuffer>): Promise<unknown[][]> => {
    const { fileOf, rowsOf } = await import("../workbook/files.ts");
    const { headings, rows } = await rowsOf(await fileOf(bytes));
    return [[...headings], ...rows.map(([, ...values]) => values)];
  };

  describe("a preview", () => {
    test("counts every row and stores nothing", async () => {
      const file = await workbookOf([
        ["sku", "name"],
        ["NEW-1", "New thing"],
        ["OLD-1", "Changed"],
      ]);
      const { body, status } = await imports.previewed("goods", file);
      expect(status).toBe(200);
      expect(body).toEqual({
        success: true,
        job_id: expect.stringMatching(/^preview-/),
        status: "preview_ok",
        summary: { valid: 2, invalid: 0, skip: 0, insert: 1, update: 1 },
        outcomes: [
          { from: 2, to: 2, outcome: "insert" },
          { from: 3, to: 3, outcome: "update" },
        ],
        timestamp: expect.any(String),
      });
      expect(await stored()).toMatchObject([{ name: "Old thing" }]);
    });

    test("answers the job and that it validates", async () => {
      const upload_id = await imports.uploaded("goods", await workbookOf([["sku", "name"]]));
      const answer = await shop.post("goods/import-preview", { upload_id });
      checkEnvelope(answer);
      expect(answer.body).toEqual({
        success: true,
        job_id: expect.stringMatching(/^preview-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
        status: "validating",
        timestamp: expect.any(String),
      });
      const { body } = await imports.ended("goods", answer.body.job_id);
      expect(body.summary).toEqual({ valid: 0, invalid: 0, skip: 0, insert: 0, update: 0 });
    });

    test("lists the errors of each row with its number in the sheet and its data", async () => {
      const file = await workbookOf([
        ["SKU", "Product name", "In stock"],
        ["NEW-1", "New thing", 1],
        [null, null, null],
        ["NEW-2", "x", -5],
        ["NEW-3", null, "many"],
      ]);
      const { body, status } = await imports.previewed("goods", file);
      expect(status).toBe(200);
      expect(body).toEqual({
        success: true,
        job_id: expect.any(String),
        status: "preview_error",
        errors: [
          {
            rowIndex: 4,
            rowData: { SKU: "NEW-2", "Product name": "x", "In stock": -5 },
            messages: [
              expect.stringMatching(/^Product name: /),
              expect.stringMatching(/^In stock: /),
            ],
          },
          {
            rowIndex: 5,
            rowData: { SKU: "NEW-3", "Product name": null, "In stock": "many" },
            messages: ["Product name: is required", "In stock: must be a whole number"],
          },
        ],
        summary: { valid: 1, invalid: 2, skip: 0, insert: 1, update: 0 },
        outcomes: [
          { from: 2, to: 2, outcome: "insert" },
          { from: 4, to: 5, outcome: "invalid" },
        ],
        timestamp: expect.any(String),
      });
    });

    test("gives the rejected rows as a workbook that says why", async () => {
      const file = await workbookOf([
        ["sku", "name", "remark"],
        ["NEW-1", "New thing", "fine"],
        ["NEW-2", "x", 5],
      ]);
      const { body } = await imports.previewed("goods", file);
      const rows = await rejectedRows("goods", body.job_id);
      expect(rows).toEqual([
        ["sku", "name", "remark", "Import errors"],
        ["NEW-2", "x", 5, expect.stringMatching(/^name: /)],
      ]);
    });

    test("takes the workbook of its errors back, once it is corrected", async () => {
      const file = await workbookOf([
        ["sku", "name"],
        ["NEW-2", "x"],
      ]);
      const { body } = await imports.previewed("goods", file);
      const [headings, [sku] = []] = await rejectedRows("goods", body.job_id);
      const corrected = await workbookOf([headings as string[], [sku as string, "Thing", "why"]]);
      const { body: result } = await imports.committed("goods", corrected);
      expect(result.result).toMatchObject({ inserted: 1 });
    });

    test("marks the cells that are wrong, and finds the same in the workbook when it comes back as it is", async () => {
      const text = `_x0041_ \u0001 ${"long ".repeat(400)}end`;
      const rows = [
        ["sku", "name", "price", "group", "remark"],
        ["NEW-1", "New thing", 1.5, "Tools", "fine"],
        ["007", "x", 1.234, "Nowhere", text],
        ["NEW-3", null, 2, "Tools", 5],
      ];
      const { body } = await imports.previewed("goods", await workbookOf(rows));
      const bytes = await errorsFile("goods", body.job_id);
      const [sheet] = await sheetsOf(bytes);
      expect(notesOf(sheet!, 2)).toEqual([
        null,
        expect.stringMatching(/^name: must have at least 2/),
        expect.stringMatching(/^price: /),
        'group: there is no "Nowhere"',
        null,
        null,
      ]);
      expect(notesOf(sheet!, 3)).toEqual([null, "name: is required", null, null, null, null]);
      expect((await sheetOf(bytes))[1]).toEqual([...rows[2]!, expect.any(String)]);
      const again = await imports.previewed("goods", bytes);
      const messagesOf = ({ errors }: typeof body) =>
        (errors as { messages: string[] }[]).map(({ messages }) => messages);
      expect(messagesOf(again.body)).toEqual(messagesOf(body));
    });

    test("has no marks in a workbook of more than a thousand rows", async () => {
      const rows = Array.from({ length: 1_001 }, (_, at) => [`S-${at}`, "x"]);
      const file = await workbookOf([["sku", "name"], ...rows]);
      const { body } = await imports.previewed("goods", file);
      const bytes = await errorsFile("goods", body.job_id);
      const [sheet] = await sheetsOf(bytes);
      expect(notesOf(sheet!, 2)).toEqual([null, null, null]);
      expect(await sheetOf(bytes)).toHaveLength(1_002);
    });

    const faulty: readonly [string, string, unknown[][], Record<number, RegExp>][] = [
      [
        "a key that stands twice in the file",
        "goods",
        [
          ["sku", "name"],
          ["A", "One"],
          ["B", "Two"],
          [" a ", "Three"],
        ],
        { 4: /^sku: is already in row 2$/ },
      ],
      [
        "an existing key that stands twice",
        "skip-existing",
        [
          ["sku", "name"],
          ["OLD-1", "One"],
          ["OLD-1", "Two"],
        ],
        { 3: /^sku: is already in row 2$/ },
      ],
      [
        "a key that is empty",
        "goods",
        [
          ["sku", "name"],
          [null, "One"],
          ["", "Two"],
        ],
        { 2: /^sku: is required/, 3: /^sku: is required/ },
      ],
      [
        "a name that stands for nothing",
        "goods",
        [
          ["sku", "name", "group"],
          ["A", "One", "Tols"],
        ],
        { 2: /^group: there is no "Tols"$/ },
      ],
      [
        "a name that stands for several",
        "goods",
        [
          ["sku", "name", "group"],
          ["A", "One", "Twice"],
        ],
        { 2: /^group: there are several "Twice"$/ },
      ],
      [
        "a name that its column cannot hold",
        "by-code",
        [
          ["sku", "name", "group"],
          ["A", "One", "ten"],
        ],
        { 2: /^group: there is no "ten"$/ },
      ],
      [
        "a field that every row must fill",
        "needing",
        [
          ["sku", "name", "made_in"],
          ["A", "One", null],
          ["OLD-1", "Two", ""],
          ["B", "Three", "x"],
        ],
        { 2: /^made_in: is required$/, 3: /^made_in: is required$/ },
      ],
      [
        "a required field of a new record that the file does not have",
        "goods",
        [
          ["sku", "price"],
          ["A", 1],
          ["OLD-1", 2],
        ],
        { 2: /^name: is required$/ },
      ],
      [
        "a value that is too long for the column",
        "goods",
        [
          ["sku", "name", "made_in"],
          ["A", "One", "x".repeat(21)],
        ],
        { 2: /^made_in: must have at most 20 characters$/ },
      ],
      [
        "a value with more digits than the column keeps",
        "goods",
        [
          ["sku", "name", "price"],
          ["A", "One", 1.234],
        ],
        { 2: /^price: / },
      ],
    ];
    test("rejects a key that stands twice in the file in another case, where the database tells that it ignores case", async () => {
      const file = await workbookOf([["name"], ["New one"], ["new One"]]);
      const { body } = await imports.previewed("names", file);
      const isIgnored = inject("engine") === "mysql";
      expect(body.errors ?? []).toEqual(
        isIgnored
          ? [
              {
                rowIndex: 3,
                rowData: { name: "new One" },
                messages: ["name: is already in row 2"],
              },
            ]
          : [],
      );
    });

    test.each(faulty)("rejects %s", async (_, endpoint, rows, expected) => {
      const { body } = await imports.previewed(endpoint, await workbookOf(rows as string[][]));
      expect(body.status).toBe("preview_error");
      const messages = Object.fromEntries(
        (body.errors as { rowIndex: number; messages: string[] }[]).map((error) => [
          error.rowIndex,
          error.messages.join("; "),
        ]),
      );
      expect(Object.keys(messages)).toEqual(Object.keys(expected));
      for (const [rowIndex, pattern] of Object.entries(expected))
        expect(messages[rowIndex]).toMatch(pattern);
      const { valid, invalid, skip } = body.summary;
      expect(valid + invalid + skip).toBe(rows.length - 1);
    });

    test("accepts names with blanks around them, codes, and empty cells", async () => {
      const named = await workbookOf([
        ["sku", "name", "GROUP "],
        ["A", "One", " Tools "],
        ["B", "Two", null],
      ]);
      expect((await imports.committed("goods", named)).body.result.inserted).toBe(2);
      expect(await record("A")).toMatchObject({ group_id: "g1" });
      expect(await record("B")).toMatchObject({ group_id: null });
      const coded = await workbookOf([
        ["sku", "name", "group"],
        ["C", "Three", 20],
      ]);
      expect((await imports.committed("by-code", coded)).body.result.inserted).toBe(1);
      expect(await record("C")).toMatchObject({ group_id: "g2" });
    });

    test("lets a name that stands for nothing through where it is not required", async () => {
      const file = await workbookOf([
        ["sku", "name", "group"],
        ["A", "One", "Nowhere"],
        ["OLD-1", "Old thing", "Nowhere"],
      ]);
      await imports.committed("optional", file);
      expect(await record("A")).toMatchObject({ group_id: null });
      expect(await record("OLD-1")).toMatchObject({ group_id: null });
    });

    test("lists no more than a thousand errors, and counts them all", async () => {
      const rows = Array.from({ length: 1_200 }, (_, at) => [`S-${at}`, "x"]);
      const { body } = await imports.previewed(
        "goods",
        await workbookOf([["sku", "name"], ...rows]),
      );
      expect(body.errors).toHaveLength(1_000);
      expect(body.summary).toEqual({ valid: 0, invalid: 1_200, skip: 0, insert: 0, update: 0 });
      expect(await rejectedRows("goods", body.job_id)).toHaveLength(1_201);
    });
  });

  describe("the states", () => {
    test("import-commit refuses a preview that found errors", async () => {
      const { body } = await imports.previewed(
        "goods",
        await workbookOf([
          ["sku", "name"],
          ["A", "x"],
        ]),
      );
      const answer = await shop.post("goods/import-commit", { preview_job_id: body.job_id });
      checkEnvelope(answer);
      expect([answer.status, answer.body.error]).toEqual([409, "Invalid job state"]);
    });

    test("import-commit refuses a preview that is not finished", async () => {
      const rows = Array.from({ length: 20_000 }, (_, at) => [`S-${at}`, "Thing"]);
      const upload_id = await imports.uploaded(
        "goods",
        await workbookOf([["sku", "name"], ...rows]),
      );
      const { body } = await shop.post("goods/import-preview", { upload_id });
      const answer = await shop.post("goods/import-commit", { preview_job_id: body.job_id });
      expect([answer.status, answer.body.error]).toEqual([409, "Invalid job state"]);
      const early = await shop.get(`goods/import-errors?job_id=${body.job_id}`);
      expect([early.status, early.body.error]).toEqual([409, "Invalid job state"]);
      const seen: number[] = [];
      for (;;) {
        const status = await shop.get(`goods/import-status?job_id=${body.job_id}`);
        checkEnvelope(status);
        if (status.body.status !== "validating") break;
        await sleep(5);
        if (status.body.progress) {
          expect(status.body.progress.total_rows).toBe(20_000);
          seen.push(status.body.progress.processed_rows);
        }
      }
      expect(seen).toEqual(seen.toSorted((one, other) => one - other));
    });

    test("import-cancel ends a preview, and answers 409 for one that has ended", async () => {
      const rows = Array.from({ length: 150_000 }, (_, at) => [`S-${at}`, "Thing"]);
      const upload_id = await imports.uploaded(
        "goods",
        await workbookOf([["sku", "name"], ...rows]),
      );
      const { body } = await shop.post("goods/import-preview", { upload_id });
      const answer = await shop.post("goods/import-cancel", { job_id: body.job_id });
      expect([answer.status, answer.body.success]).toEqual([200, true]);
      const status = await imports.ended("goods", body.job_id);
      expect(status.body).toMatchObject({
        success: false,
        status: "failed",
        error: "The job was cancelled",
      });
      const again = await shop.post("goods/import-cancel", { job_id: body.job_id });
      checkEnvelope(again);
      expect([again.status, again.body.error]).toEqual([409, "Invalid job state"]);
      const errors = await shop.get(`goods/import-errors?job_id=${body.job_id}`);
      expect(errors.status).toBe(409);
    });

    test("import-cancel of a commit leaves all rows or none", async () => {
      const rows = Array.from({ length: 20_000 }, (_, at) => [`S-${at}`, "Thing"]);
      const preview = await imports.previewed(
        "goods",
        await workbookOf([["sku", "name"], ...rows]),
      );
      const { body } = await shop.post("goods/import-commit", {
        preview_job_id: preview.body.job_id,
      });
      await shop.post("goods/import-cancel", { job_id: body.job_id });
      const status = await imports.ended("goods", body.job_id);
      await sleep(300);
      const count = (await stored()).length - 1;
      expect(count).toBe(status.body.status === "completed" ? 20_000 : 0);
    });

    test("endpoints whose import is off, and other methods, are refused", async () => {
      const file = await workbookOf([["sku", "name"]]);
      expect((await imports.sendFile("off", file)).status).toBe(404);
      const answers: Answer[] = [
        await shop.post("off/import-preview", { upload_id: "x" }),
        await shop.get("goods/import-preview"),
        await shop.post("goods/import-status", { job_id: "x" }),
        await shop.get("goods/import-commit"),
        await shop.post("goods/import-template", {}),
        await shop.get("goods/import-upload"),
      ];
      for (const answer of answers) checkEnvelope(answer);
      expect(answers.map(({ status }) => status)).toEqual([404, 405, 405, 405, 405, 405]);
    });
  });

  describe("an id", () => {
    let uploadId = "";
    let previewId = "";
    beforeEach(async () => {
      if (uploadId) return;
      uploadId = await imports.uploaded("goods", await workbookOf([["sku", "name"]]));
      const { body } = await shop.post("goods/import-preview", { upload_id: uploadId });
      previewId = body.job_id;
      await imports.ended("goods", previewId);
    });

    test.each([
      ["unknown", () => randomUUID()],
      ["a path", () => "../../etc/passwd"],
      ["a path behind a kind", () => "../jobs"],
      ["of 2,000 characters", () => "a".repeat(2_000)],
      ["of an object's own words", () => "__proto__"],
      ["with a line's end", () => `${randomUUID()}\n`],
      ["empty", () => ""],
    ])("that is %s is answered as an unknown one by every action", async (_, make) => {
      const rest = make();
      const answers = [
        await shop.post("goods/import-preview", { upload_id: `upload-${rest}` }),
        await shop.post("goods/import-commit", { preview_job_id: `preview-${rest}` }),
        await shop.post("goods/import-cancel", { job_id: `commit-${rest}` }),
        await shop.get(`goods/import-status?job_id=${encodeURIComponent(`preview-${rest}`)}`),
        await shop.get(`goods/import-errors?job_id=${encodeURIComponent(`commit-${rest}`)}`),
      ];
      for (const answer of answers) checkEnvelope(answer);
      expect(answers.map(({ status, body }) => [status, body.error])).toEqual(
        answers.map(() => [404, "Not found"]),
      );
    });

    test("of another kind is answered as an unknown one", async () => {
      const answers = [
        await shop.post("goods/import-preview", { upload_id: previewId }),
        await shop.post("goods/import-commit", { preview_job_id: uploadId }),
        await shop.get(`goods/import-status?job_id=${uploadId}`),
        await shop.get(`goods/import-status?job_id=export-${randomUUID()}`),
      ];
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 404));
    });

    test.each([
      ["missing", { other: "x" }, "other=x", "is required"],
      ["null", null, "", "is required"],
      ["empty", "", "$=", "is required"],
      ["a number", 5, "$[a]=1", "must be text"],
      ["a list", ["x"], "$[]=x", "must be text"],
      ["an object", { id: "x" }, "$[id]=x", "must be text"],
    ])("that is %s is refused by every action", async (kind, value, query, fault) => {
      const body = (name: string) => (kind === "missing" ? value : { [name]: value });
      const asked = query.replace("$", "job_id");
      const answers = [
        await shop.post("goods/import-preview", body("upload_id")),
        await shop.post("goods/import-commit", body("preview_job_id")),
        await shop.post("goods/import-cancel", body("job_id")),
        await shop.get(`goods/import-status?${asked}`),
        await shop.get(`goods/import-errors?${asked}`),
      ];
      for (const answer of answers) checkEnvelope(answer);
      const names = ["upload_id", "preview_job_id", "job_id", "job_id", "job_id"];
      expect(
        answers.map(({ status, body: { error, message } }) => [status, error, message]),
      ).toEqual(names.map((name) => [400, "Invalid payload", `${name} ${fault}`]));
    });

    test("of another endpoint is answered as an unknown one", async () => {
      const answers = [
        await shop.post("other/import-preview", { upload_id: uploadId }),
        await shop.post("other/import-commit", { preview_job_id: previewId }),
        await shop.post("other/import-cancel", { job_id: previewId }),
        await shop.get(`other/import-status?job_id=${previewId}`),
        await shop.get(`other/import-errors?job_id=${previewId}`),
      ];
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 404));
    });

    test("that is missing is refused", async () => {
      const answers = [
        await shop.post("goods/import-preview"),
        await shop.post("goods/import-preview", {}),
        await shop.post("goods/import-commit", {}),
        await shop.post("goods/import-cancel", {}),
      ];
      for (const answer of answers) checkEnvelope(answer);
      expect(answers.map(({ status, body }) => [status, body.error])).toEqual(
        answers.map(() => [400, "Invalid payload"]),
      );
    });
  });

  test("import-template gives a workbook with the headings that an import knows, and no rows", async () => {
    const response = await shop.fetch("/api/test/goods/import-template");
    expect(response.status).toBe(200);
    expect(response.headers.get("content-disposition")).toBe(
      "attachment; filename=goods-import.xlsx",
    );
    const rows = await sheetOf(new Uint8Array(await response.arrayBuffer()));
    expect(rows).toEqual([["SKU", "Product name", "price", "In stock", "group", "made_in"]]);
  });

  const template = async (endpoint: string): Promise<Uint8Array<ArrayBuffer>> => {
    const response = await shop.fetch(`/api/test/${endpoint}/import-template`);
    return new Uint8Array(await response.arrayBuffer());
  };

  test("import-template says at each heading what its cells may hold", async () => {
    const [sheet] = await sheetsOf(await template("goods"));
    expect(notesOf(sheet!, 1)).toEqual([
      "Required.\nText of at most 20 characters.\nBlanks around the text are cut off before anything is checked.\n" +
        "The text is stored in upper case.\nA record that has this value is changed.",
      "Required.\nText of at most 40 characters.\nMust have at least 2 characters.",
      expect.stringMatching(
        /^Optional\.\nNumber of at most 8 digits before the decimal point and 2/,
      ),
      expect.stringMatching(/^Optional\.\nWhole number.*\nMust be at least 0\.$/),
      "Optional.\nThe name of one of the groups.\nIt must be there already.",
      "Optional.\nText of at most 20 characters.",
    ]);
  });

  test("import-template offers the names of a lookup that stand for one record", async () => {
    const bytes = await template("goods");
    const [sheet, lists] = await sheetsOf(bytes);
    expect(sheet!.getCell("E2").dataValidation).toMatchObject({ type: "list" });
    expect(lists!.getColumn(1).values.slice(1)).toEqual(["Garden", "Tools"]);
    for (let at = 0; at < 101; at++)
      await shop.sql(`insert into groups (group_id, name) values ('many-${at}', 'Many ${at}')`);
    try {
      const sheets = await sheetsOf(await template("goods"));
      expect(sheets).toHaveLength(1);
    } finally {
      await shop.sql("delete from groups where group_id like 'many-%'");
    }
  });

  test("import-template is an upload, without rows and filled in", async () => {
    const bytes = await template("goods");
    const { body } = await imports.sendFile("goods", bytes);
    expect([body.total_rows, body.ignored_columns]).toEqual([0, undefined]);
    const workbook = new ExcelJS.Workbook();
    await workbook.xlsx.load(bytes.buffer);
    workbook.worksheets[0]!.addRow(["007", "Thing", 1.5, 3, "Garden", null]);
    const filled = new Uint8Array(await workbook.xlsx.writeBuffer());
    const done = await imports.committed("goods", filled);
    expect(done.body.result).toMatchObject({ inserted: 1 });
    expect(await record("007")).toMatchObject({ price: 1.5, stock: 3, group_id: "g2" });
  });
});
