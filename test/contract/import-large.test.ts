/** Imports of workbooks large enough to be read in a separate thread, unlike small ones. */
import { hash } from "node:crypto";
import { beforeEach, describe, expect, test } from "vitest";
import type { FixtureTable } from "./tables.ts";
import { folderTestPlaces, openJobFixture } from "./job-places.ts";
import { importerOf, workbookOf } from "./imports.ts";
import { openForTests } from "./harness.ts";

const tables: readonly FixtureTable[] = [
  {
    name: "parcels",
    columns: {
      parcel_id: "identity",
      code: { type: "text(20)", notNull: true, unique: true },
      first: { type: "text(300)", notNull: true },
      second: { type: "text(300)", notNull: true },
      weight: "integer",
      note: "longtext",
      remark: "longtext",
      front: "bytes",
      back: "bytes",
    },
  },
];
const action = { import: true, read: true, first: true };
const importConfig = { upsertKeys: ["code"] };
const endpoints = { parcels: { tableName: "parcels", action, importConfig } };

const count = 1_500;
const headings = ["code", "first", "second", "weight"];
/** Digits of a hash hardly become fewer when they are packed. */
const digits = (text: string): string =>
  ["a", "b", "c", "d"].map((part) => hash("sha256", part + text)).join("");
const rowAt = (at: number, weight: number) => [
  `P-${at}`,
  digits(`first ${at}`),
  digits(`second ${at}`),
  weight,
];
const rows = (weight: number) => Array.from({ length: count }, (_, at) => rowAt(at, weight));

describe.each(folderTestPlaces)(
  "the import of a large workbook, %s,",
  { timeout: 60_000 },
  (place) => {
    const shop = openForTests(openJobFixture, place, { tables, endpoints });
    const imports = importerOf(shop);
    beforeEach(() => shop.sql("delete from parcels"));

    const stored = async () =>
      (await shop.sql("select code, first, second, weight from parcels order by parcel_id")).map(
        (row) => [row["code"], row["first"], row["second"], Number(row["weight"])],
      );

    test("stores each row once, and changes each the second time", async () => {
      const file = await workbookOf([headings, ...rows(1)]);
      expect(file.byteLength).toBeGreaterThan(300_000);
      const first = await imports.committed("parcels", file);
      expect(first.body.result).toEqual({ inserted: count, updated: 0, skipped: 0, failed: 0 });
      expect(await stored()).toEqual(rows(1));
      const second = await imports.committed("parcels", await workbookOf([headings, ...rows(2)]));
      expect(second.body.result).toEqual({ inserted: 0, updated: count, skipped: 0, failed: 0 });
      expect(await stored()).toEqual(rows(2));
    });

    test.each([
      ["texts", ["note", "remark"], "x".repeat(30_000)],
      ["bytes", ["front", "back"], Buffer.alloc(24_000, 7).toString("base64")],
    ])(
      "stores rows whose %s are too large for one statement together",
      async (_, columns, long) => {
        const large = Array.from({ length: 400 }, (__, at) => [`L-${at}`, "a", "b", long, long]);
        const file = await workbookOf([["code", "first", "second", ...columns], ...large]);
        const { body } = await imports.committed("parcels", file);
        expect(body.result).toEqual({ inserted: 400, updated: 0, skipped: 0, failed: 0 });
      },
    );

    test("finds what is wrong with its last rows, and stores nothing", async () => {
      const again = rowAt(7, 1);
      const wrong = ["P-x", "a", "b", "heavy"];
      const file = await workbookOf([headings, ...rows(1), again, wrong]);
      const { body } = await imports.previewed("parcels", file);
      expect(body.summary).toEqual({ valid: count, invalid: 2, skip: 0 });
      expect(body.changes).toEqual({ insert: count, update: 0 });
      const found = body.errors.map(({ rowIndex }: { rowIndex: number }) => rowIndex);
      expect(found).toEqual([count + 2, count + 3]);
      expect(await stored()).toEqual([]);
    });

    test("stores each row once when it is committed twice at once", async () => {
      const file = await workbookOf([headings, ...rows(1)]);
      const previews = [
        await imports.previewed("parcels", file),
        await imports.previewed("parcels", file),
      ];
      const commits = await Promise.all(
        previews.map(({ body }) => imports.commit("parcels", body.job_id)),
      );
      const inserted = commits.map(({ body }) => body.result.inserted as number);
      expect(inserted.toSorted((one, other) => one - other)).toEqual([0, count]);
      expect(await stored()).toEqual(rows(1));
    });
  },
);
