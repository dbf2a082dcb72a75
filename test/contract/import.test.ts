/**
 * What an import stores, with jobs in the service and in a worker over Redis. `import-files.test.ts` tests what its file
 * may hold, and what its actions say.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { checkEnvelope } from "./cases.ts";
import { type Answer, openForTests } from "./harness.ts";
import { openGoods } from "./imported-goods.ts";
import { importerOf, workbookOf } from "./imports.ts";
import { longTestPlaces, openJobFixture } from "./job-places.ts";

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

describe.each(longTestPlaces)("import, %s", (place) => {
  const goods = openGoods(place);
  const { stored, record, rejectedRows } = goods;

  describe("the rows of a csv export come back as they were", () => {
    const names = ["plain", "+55 (12) 3923-5555", "-12.5", 'say "x", y', "two\nlines", "'quoted"];
    const formulas = ["=1+1", "@x", "-1+2", "'=1+1"];
    test.each([
      ["texts", names, names],
      ["texts-kept", [...names, ...formulas], [...names, ...formulas]],
      // A workbook does not record which apostrophes were added for csv.
      ["texts", formulas, ["'=1+1", "'@x", "'-1+2", "''=1+1"]],
    ])("through %s: %j", async (endpoint, before, after) => {
      await goods.shop.sql("delete from goods");
      for (const [at, name] of before.entries()) {
        const made = await goods.shop.post("plain/create", { sku: `T-${at}`, name });
        expect(made.status).toBe(201);
      }
      const text = await goods.shop.exported(endpoint, { format: "csv" });
      await goods.shop.sql("delete from goods");
      await goods.imports.committed(endpoint, await workbookOf(cellsOf(text)));
      const rows = await stored();
      expect(rows.map(({ name }) => name)).toEqual(after);
    });
  });

  describe("a commit", () => {
    test("stores new rows and changes those that are there", async () => {
      const file = await workbookOf([
        ["SKU", "Product name", "price", "group"],
        ["NEW-1", "New thing", 1.5, "Garden"],
        ["OLD-1", "Changed", 2.25, "Tools"],
      ]);
      const { body } = await goods.imports.committed("goods", file);
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
      await goods.imports.committed("goods", file);
      const [created, updated] = [await record("NEW-1"), await record("OLD-1")];
      expect(created.created_at > before && created.created_at <= new Date().toISOString()).toBe(
        true,
      );
      expect(updated.updated_at > before && updated.updated_at <= new Date().toISOString()).toBe(
        true,
      );
    });

    test("is seen by the next read, whatever the cache kept", async () => {
      const first = await goods.shop.post("goods/read", { limit: 100 });
      expect(first.body.data).toHaveLength(1);
      const file = await workbookOf([
        ["sku", "name"],
        ["NEW-1", "New thing"],
      ]);
      await goods.imports.committed("goods", file);
      const second = await goods.shop.post("goods/read", { limit: 100 });
      expect(second.body.data).toHaveLength(2);
    });

    test("recognises records by several columns together, with a unique index", async () => {
      await goods.shop.sql(
        "insert into pairs (left_code, right_code, note) values ('a', 1, 'old')",
      );
      const file = await workbookOf([
        ["left_code", "right_code", "note"],
        ["a", 1, "new"],
        ["a", 2, "more"],
        ["b", 1, "other"],
      ]);
      const { body } = await goods.imports.committed("pairs", file);
      expect(body.result).toEqual({ inserted: 2, updated: 1, skipped: 0, failed: 0 });
      const rows = await goods.shop.sql("select note from pairs order by left_code, right_code");
      expect(rows.map(({ note }) => note)).toEqual(["new", "more", "other"]);
    });

    test("recognises records by columns that no index keeps unique", async () => {
      await goods.shop.sql(
        "insert into visits (place, day, guests) values ('sea', '2026-01-02', 1)",
      );
      const file = await workbookOf([
        ["place", "day", "guests"],
        ["sea", "2026-01-02", 5],
        ["sea", "2026-01-03", 6],
      ]);
      const { body } = await goods.imports.committed("visits", file);
      expect(body.result).toEqual({ inserted: 1, updated: 1, skipped: 0, failed: 0 });
      const rows = await goods.shop.sql("select guests from visits order by day");
      expect(rows.map(({ guests }) => Number(guests))).toEqual([5, 6]);
    });

    test("recognises records as the database compares texts", async () => {
      await goods.shop.sql("insert into names (name, note) values ('Acme', 'old')");
      const file = await workbookOf([
        ["name", "note"],
        ["ACME", "new"],
        ["Other", "more"],
      ]);
      const { body } = await goods.imports.committed("names", file);
      const isSame = goods.shop.engine !== "postgres";
      expect(body.result).toMatchObject({ inserted: isSame ? 1 : 2, updated: isSame ? 1 : 0 });
      const rows = await goods.shop.sql("select note from names where name = 'ACME'");
      expect(rows).toEqual([{ note: "new" }]);
    });

    test("keeps two imports of the same new rows apart, without an index too", async () => {
      const rows = Array.from({ length: 300 }, (_, at) => [`p${at}`, "2026-01-02", at]);
      const file = await workbookOf([["place", "day", "guests"], ...rows]);
      const previews = await Promise.all([
        goods.imports.previewed("visits", file),
        goods.imports.previewed("visits", file),
      ]);
      const commits = await Promise.all(
        previews.map(({ body }) => goods.imports.commit("visits", body.job_id)),
      );
      const results = commits.map(({ body }) => body.result);
      expect(results.map(({ inserted }) => inserted).toSorted((a, b) => a - b)).toEqual([0, 300]);
      expect(await goods.shop.sql("select * from visits")).toHaveLength(300);
    });

    test("keeps two imports of the same new rows apart, with an index", async () => {
      const rows = Array.from({ length: 300 }, (_, at) => [`S-${at}`, "Thing"]);
      const file = await workbookOf([["sku", "name"], ...rows]);
      const previews = await Promise.all([
        goods.imports.previewed("goods", file),
        goods.imports.previewed("goods", file),
      ]);
      const commits = await Promise.all(
        previews.map(({ body }) => goods.imports.commit("goods", body.job_id)),
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
      const preview = await goods.imports.previewed("insert-only", file);
      expect(preview.body.summary).toEqual({ valid: 1, invalid: 0, skip: 1 });
      expect(preview.body.changes).toEqual({ insert: 1, update: 0 });
      const { body } = await goods.imports.commit("insert-only", preview.body.job_id);
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
      const preview = await goods.imports.previewed("skip-existing", file);
      expect(preview.body.summary).toEqual({ valid: 1, invalid: 0, skip: 1 });
      expect(preview.body.changes).toEqual({ insert: 1, update: 0 });
      const { body } = await goods.imports.commit("skip-existing", preview.body.job_id);
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
      await goods.imports.committed("goods", file);
      expect(await record("NEW-1")).toMatchObject({ good_id: "mine" });
      expect((await record("NEW-2")).good_id).toMatch(/^[0-9a-f-]{36}$/);
    });

    test("recognises records by the primary key", async () => {
      const file = await workbookOf([
        ["good_id", "sku", "name"],
        ["old", "OLD-2", "Renamed"],
      ]);
      const { body } = await goods.imports.committed("by-key", file);
      expect(body.result).toMatchObject({ inserted: 0, updated: 1 });
      expect(await record("OLD-2")).toMatchObject({ good_id: "old", name: "Renamed" });
    });

    test("takes a row without a key as a new record where the database makes the key", async () => {
      const imported = async (rows: (string | number | null)[][]) => {
        const file = await workbookOf([["visit_id", "place", "day", "guests"], ...rows]);
        return (await goods.imports.committed("visits-by-key", file)).body.result;
      };
      const first = [null, "Oslo", "2026-01-01", 1];
      const counts = { skipped: 0, failed: 0 };
      expect(await imported([first, first])).toEqual({ ...counts, inserted: 2, updated: 0 });
      const visits = "select visit_id, guests from visits where place = 'Oslo' order by visit_id";
      const [one] = await goods.shop.sql(visits);
      const changed = [Number(one!["visit_id"]), "Oslo", "2026-01-01", 5];
      expect(await imported([changed, first])).toEqual({ ...counts, inserted: 1, updated: 1 });
      expect((await goods.shop.sql(visits)).map(({ guests }) => guests)).toEqual([5, 1, 1]);
    });

    test("refuses a row without a key where the service would make it", async () => {
      const file = await workbookOf([
        ["good_id", "sku", "name"],
        [null, "NEW-1", "New thing"],
      ]);
      const { body } = await goods.imports.previewed("by-key", file);
      expect(body.errors[0].messages).toEqual([
        "good_id: is required, because it identifies the record",
      ]);
    });

    test("takes every row as a new one where no upsertKeys are set", async () => {
      const file = await workbookOf([
        ["sku", "name"],
        ["A", "One"],
        ["B", "Two"],
      ]);
      const { body } = await goods.imports.committed("plain", file);
      expect(body.result).toEqual({ inserted: 2, updated: 0, skipped: 0, failed: 0 });
    });

    test("empties a field whose cell is empty, and leaves one alone that cannot be empty", async () => {
      const file = await workbookOf([
        ["sku", "name", "price", "stock", "made_in"],
        ["OLD-1", "Old thing", null, null, null],
      ]);
      await goods.imports.committed("goods", file);
      expect(await record("OLD-1")).toMatchObject({ price: null, stock: 3, made_in: null });
    });

    test("stores nothing when the database refuses one row, and says which rows it is about", async () => {
      const file = await workbookOf([
        ["sku", "name", "price"],
        ["NEW-1", "New thing", 1],
        ["NEW-2", "New thing", -1],
      ]);
      const { body, status } = await goods.imports.committed("goods", file);
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
      await goods.shop.sql("insert into groups (group_id, name) values ('g9', 'Short-lived')");
      const file = await workbookOf([
        ["sku", "name", "group"],
        ["NEW-1", "New thing", "Tools"],
        ["NEW-2", "New thing", "Short-lived"],
      ]);
      const preview = await goods.imports.previewed("goods", file);
      await goods.shop.sql("delete from groups where group_id = 'g9'");
      const { body } = await goods.imports.commit("goods", preview.body.job_id);
      expect(body.error).toBe(
        'Nothing was stored: row 3 is no longer valid (group: there is no "Short-lived")',
      );
      const again = await goods.shop.post("goods/import-commit", {
        preview_job_id: preview.body.job_id,
      });
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
      const preview = await goods.imports.previewed("goods", file);
      const body = { preview_job_id: preview.body.job_id };
      const answers = await Promise.all([
        goods.shop.post("goods/import-commit", body),
        goods.shop.post("goods/import-commit", body),
      ]);
      for (const answer of answers) {
        checkEnvelope(answer);
        expect(answer.body).toMatchObject({
          success: true,
          job_id: preview.body.job_id.replace("preview", "commit"),
        });
        expect(["processing", "completed"]).toContain(answer.body.status);
      }
      await goods.imports.ended("goods", answers[0]!.body.job_id);
      const third = await goods.shop.post("goods/import-commit", body);
      expect(third.body).toMatchObject({
        job_id: answers[0]!.body.job_id,
        status: "completed",
        result: { inserted: 1 },
      });
      const { body: status } = await goods.imports.ended("goods", third.body.job_id);
      expect(status.result).toMatchObject({ inserted: 1 });
      expect(await stored()).toHaveLength(2);
    });

    test("is completed in its status when its rows are stored, whatever the queue says", async () => {
      const file = await workbookOf([
        ["sku", "name"],
        ["NEW-1", "New thing"],
      ]);
      const preview = await goods.imports.previewed("goods", file);
      const commitId = preview.body.job_id.replace("preview", "commit");
      // As after a run that died before it reported that it had stored the rows.
      const result = JSON.stringify({
        counts: { inserted: 1, updated: 0, skipped: 0, failed: 0 },
        rejected: "uploads/test/none.xlsx",
      });
      await goods.shop.sql(
        `insert into rowgate_jobs (job_id, result) values ('${commitId}', '${result}')`,
      );
      const { body } = await goods.imports.commit("goods", preview.body.job_id);
      expect(body).toMatchObject({ status: "completed", result: { inserted: 1 } });
      expect(await stored()).toHaveLength(1);
    });
  });
});

describe("a preview that ended long ago", () => {
  const shop = openForTests(openJobFixture, "in the service", {
    tables: [{ name: "things", columns: { id: "identity", code: "text(20)" } }],
    endpoints: { things: { tableName: "things", action: { import: true } } },
    project: { jobs: { fileTtlSeconds: 2 } },
  });

  test("still answers its counts and its commit, and takes no first one", async () => {
    const imports = importerOf(shop);
    const file = await workbookOf([["code"], ["A"]]);
    const [committed, other] = await Promise.all([
      imports.previewed("things", file),
      imports.previewed("things", file),
    ]);
    const { body: first } = await imports.commit("things", committed.body.job_id);
    const again = (preview: Answer) =>
      shop.post("things/import-commit", { preview_job_id: preview.body.job_id });
    await sleep(2_100);
    const { body: status } = await imports.ended("things", other.body.job_id);
    expect(status).toMatchObject({
      status: "preview_ok",
      summary: { valid: 1, invalid: 0, skip: 0 },
      changes: { insert: 1, update: 0 },
    });
    const repeated = await again(committed);
    expect(repeated.body).toEqual({ ...first, timestamp: expect.any(String) });
    expect(first.result).toMatchObject({ inserted: 1 });
    const late = await again(other);
    expect([late.status, late.body.error]).toEqual([409, "Invalid job state"]);
    const ofCommit = await shop.post("things/import-commit", { preview_job_id: first.job_id });
    expect(ofCommit.status).toBe(404);
  });
});
