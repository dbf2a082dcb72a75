/**
 * What the files of imports may hold, and what previews, states, ids and templates say. `field-value.test.ts` tests the
 * conversion of cells, `import-upload.test.ts` the uploads.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import ExcelJS from "exceljs";
import { beforeEach, describe, expect, inject, test } from "vitest";
import { checkEnvelope } from "./cases.ts";
import type { Answer } from "./harness.ts";
import { cellsOfWorkbook, openGoods } from "./imported-goods.ts";
import { sheetsOf, workbookOf } from "./imports.ts";
import { longTestPlaces } from "./job-places.ts";

/** The notes of a row's cells, as far as the headings go; null = none. */
const notesOf = (sheet: ExcelJS.Worksheet, row: number): (string | null)[] =>
  Array.from({ length: sheet.columnCount }, (_, at) => {
    const { note } = sheet.getRow(row).getCell(at + 1);
    if (note === undefined || typeof note === "string") return note ?? null;
    return (note.texts ?? []).map(({ text }) => text).join("");
  });

describe.each(longTestPlaces)("the file of an import, %s", (place) => {
  const goods = openGoods(place);
  const { stored, record, errorsFile, rejectedRows } = goods;

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
      const { body } = await goods.imports.committed("goods", file, as);
      expect(body.result).toEqual({ inserted: 1, updated: 1, skipped: 0, failed: 0 });
      expect(await record("N-1")).toMatchObject({ name: "Ä, ö", price: 1.5, group_id: "g2" });
      expect(await record("OLD-1")).toMatchObject({ good_id: "old", name: "Changed", price: 2 });
    });

    test("has its wrong rows told apart as a workbook has", async () => {
      const text = `${rows}N-2;x;1;Garden\r\nN-3;Fine;-;Garden\r\n;Fine;1;Garden\r\nN-4;Fine;1;No\r\n`;
      const { body } = await goods.imports.previewed("goods", encoded(text), { name: "rows.csv" });
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
      const answer = await goods.imports.sendFile("goods", file, as);
      checkEnvelope(answer);
      expect([answer.status, answer.body.error]).toEqual([400, "Invalid file"]);
    });
  });

  describe("a preview", () => {
    test("counts every row and stores nothing", async () => {
      const file = await workbookOf([
        ["sku", "name"],
        ["NEW-1", "New thing"],
        ["OLD-1", "Changed"],
      ]);
      const { body, status } = await goods.imports.previewed("goods", file);
      expect(status).toBe(200);
      expect(body).toEqual({
        success: true,
        job_id: expect.stringMatching(/^preview-/),
        status: "preview_ok",
        summary: { valid: 2, invalid: 0, skip: 0 },
        changes: { insert: 1, update: 1 },
        outcomes: [
          { from: 2, to: 2, outcome: "insert" },
          { from: 3, to: 3, outcome: "update" },
        ],
        timestamp: expect.any(String),
      });
      expect(await stored()).toMatchObject([{ name: "Old thing" }]);
    });

    test("answers the job and that it validates", async () => {
      const upload_id = await goods.imports.uploaded("goods", await workbookOf([["sku", "name"]]));
      const answer = await goods.shop.post("goods/import-preview", { upload_id });
      checkEnvelope(answer);
      expect(answer.body).toEqual({
        success: true,
        job_id: expect.stringMatching(/^preview-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
        status: "validating",
        timestamp: expect.any(String),
      });
      const { body } = await goods.imports.ended("goods", answer.body.job_id);
      expect(body.summary).toEqual({ valid: 0, invalid: 0, skip: 0 });
      expect(body.changes).toEqual({ insert: 0, update: 0 });
    });

    test("lists the errors of each row with its number in the sheet and its data", async () => {
      const file = await workbookOf([
        ["SKU", "Product name", "In stock"],
        ["NEW-1", "New thing", 1],
        [null, null, null],
        ["NEW-2", "x", -5],
        ["NEW-3", null, "many"],
      ]);
      const { body, status } = await goods.imports.previewed("goods", file);
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
        summary: { valid: 1, invalid: 2, skip: 0 },
        changes: { insert: 1, update: 0 },
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
      const { body } = await goods.imports.previewed("goods", file);
      const rows = await rejectedRows("goods", body.job_id);
      expect(rows).toEqual([
        ["sku", "name", "remark", "Import errors"],
        ["NEW-2", "x", 5, expect.stringMatching(/^name: /)],
      ]);
    });

    test("says which texts of a csv file do not fit into the workbook of its errors", async () => {
      const csv = `sku,name,remark\r\nNEW-2,x,${"r".repeat(32_768)}\r\nNEW-3,x,${"r".repeat(32_767)}`;
      const file = new TextEncoder().encode(csv);
      const { body } = await goods.imports.previewed("goods", file, { name: "rows.csv" });
      const [, cut, whole] = await rejectedRows("goods", body.job_id);
      expect(cut!.at(-1)).toMatch(/^name: .*; remark: is cut here, as a cell holds 32767 char/);
      expect(whole!.at(-1)).not.toContain("remark");
    });

    test("takes the workbook of its errors back, once it is corrected", async () => {
      const file = await workbookOf([
        ["sku", "name"],
        ["NEW-2", "x"],
      ]);
      const { body } = await goods.imports.previewed("goods", file);
      const [headings, [sku] = []] = await rejectedRows("goods", body.job_id);
      const corrected = await workbookOf([headings as string[], [sku as string, "Thing", "why"]]);
      const { body: result } = await goods.imports.committed("goods", corrected);
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
      const { body } = await goods.imports.previewed("goods", await workbookOf(rows));
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
      expect((await cellsOfWorkbook(bytes))[1]).toEqual([...rows[2]!, expect.any(String)]);
      const again = await goods.imports.previewed("goods", bytes);
      const messagesOf = ({ errors }: typeof body) =>
        (errors as { messages: string[] }[]).map(({ messages }) => messages);
      expect(messagesOf(again.body)).toEqual(messagesOf(body));
    });

    test("has no marks in a workbook of more than a thousand rows", async () => {
      const rows = Array.from({ length: 1_001 }, (_, at) => [`S-${at}`, "x"]);
      const file = await workbookOf([["sku", "name"], ...rows]);
      const { body } = await goods.imports.previewed("goods", file);
      const bytes = await errorsFile("goods", body.job_id);
      const [sheet] = await sheetsOf(bytes);
      expect(notesOf(sheet!, 2)).toEqual([null, null, null]);
      expect(await cellsOfWorkbook(bytes)).toHaveLength(1_002);
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
      const { body } = await goods.imports.previewed("names", file);
      const isIgnored = inject("engine") !== "postgres";
      expect(body.errors ?? []).toEqual(
        isIgnored
          ? [{ rowIndex: 3, rowData: { name: "new One" }, messages: ["name: is already in row 2"] }]
          : [],
      );
    });

    test.each(faulty)("rejects %s", async (_, endpoint, rows, expected) => {
      const { body } = await goods.imports.previewed(
        endpoint,
        await workbookOf(rows as string[][]),
      );
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
      expect((await goods.imports.committed("goods", named)).body.result.inserted).toBe(2);
      expect(await record("A")).toMatchObject({ group_id: "g1" });
      expect(await record("B")).toMatchObject({ group_id: null });
      const coded = await workbookOf([
        ["sku", "name", "group"],
        ["C", "Three", 20],
      ]);
      expect((await goods.imports.committed("by-code", coded)).body.result.inserted).toBe(1);
      expect(await record("C")).toMatchObject({ group_id: "g2" });
    });

    test("lets a name that stands for nothing through where it is not required", async () => {
      const file = await workbookOf([
        ["sku", "name", "group"],
        ["A", "One", "Nowhere"],
        ["OLD-1", "Old thing", "Nowhere"],
      ]);
      await goods.imports.committed("optional", file);
      expect(await record("A")).toMatchObject({ group_id: null });
      expect(await record("OLD-1")).toMatchObject({ group_id: null });
    });

    test("lists no more than a thousand errors, and counts them all", async () => {
      const rows = Array.from({ length: 1_200 }, (_, at) => [`S-${at}`, "x"]);
      const { body } = await goods.imports.previewed(
        "goods",
        await workbookOf([["sku", "name"], ...rows]),
      );
      expect(body.errors).toHaveLength(1_000);
      expect(body.summary).toEqual({ valid: 0, invalid: 1_200, skip: 0 });
      expect(body.changes).toEqual({ insert: 0, update: 0 });
      expect(await rejectedRows("goods", body.job_id)).toHaveLength(1_201);
    });
  });

  describe("the states", () => {
    test("import-commit refuses a preview that found errors", async () => {
      const { body } = await goods.imports.previewed(
        "goods",
        await workbookOf([
          ["sku", "name"],
          ["A", "x"],
        ]),
      );
      const answer = await goods.shop.post("goods/import-commit", { preview_job_id: body.job_id });
      checkEnvelope(answer);
      expect([answer.status, answer.body.error]).toEqual([409, "Invalid job state"]);
    });

    test("import-commit refuses a preview that is not finished", async () => {
      const rows = Array.from({ length: 20_000 }, (_, at) => [`S-${at}`, "Thing"]);
      const upload_id = await goods.imports.uploaded(
        "goods",
        await workbookOf([["sku", "name"], ...rows]),
      );
      const { body } = await goods.shop.post("goods/import-preview", { upload_id });
      const answer = await goods.shop.post("goods/import-commit", { preview_job_id: body.job_id });
      expect([answer.status, answer.body.error]).toEqual([409, "Invalid job state"]);
      const early = await goods.shop.get(`goods/import-errors?job_id=${body.job_id}`);
      expect([early.status, early.body.error]).toEqual([409, "Invalid job state"]);
      const seen: number[] = [];
      for (;;) {
        const status = await goods.shop.get(`goods/import-status?job_id=${body.job_id}`);
        checkEnvelope(status);
        if (status.body.status !== "validating") break;
        await sleep(5);
        expect(status.body.progress.total_rows).toBe(20_000);
        seen.push(status.body.progress.processed_rows);
      }
      expect(seen).toEqual(seen.toSorted((one, other) => one - other));
    });

    test("import-cancel ends a preview, and answers 409 for one that has ended", async () => {
      const rows = Array.from({ length: 150_000 }, (_, at) => [`S-${at}`, "Thing"]);
      const upload_id = await goods.imports.uploaded(
        "goods",
        await workbookOf([["sku", "name"], ...rows]),
      );
      const { body } = await goods.shop.post("goods/import-preview", { upload_id });
      const answer = await goods.shop.post("goods/import-cancel", { job_id: body.job_id });
      expect([answer.status, answer.body.success]).toEqual([200, true]);
      const status = await goods.imports.ended("goods", body.job_id);
      expect(status.body).toMatchObject({
        success: false,
        status: "failed",
        error: "The job was cancelled",
      });
      const again = await goods.shop.post("goods/import-cancel", { job_id: body.job_id });
      checkEnvelope(again);
      expect([again.status, again.body.error]).toEqual([409, "Invalid job state"]);
      const errors = await goods.shop.get(`goods/import-errors?job_id=${body.job_id}`);
      expect(errors.status).toBe(409);
    });

    test("import-cancel of a commit leaves all rows or none", async () => {
      const rows = Array.from({ length: 20_000 }, (_, at) => [`S-${at}`, "Thing"]);
      const preview = await goods.imports.previewed(
        "goods",
        await workbookOf([["sku", "name"], ...rows]),
      );
      const { body } = await goods.shop.post("goods/import-commit", {
        preview_job_id: preview.body.job_id,
      });
      await goods.shop.post("goods/import-cancel", { job_id: body.job_id });
      const status = await goods.imports.ended("goods", body.job_id);
      await sleep(300);
      const count = (await stored()).length - 1;
      expect(count).toBe(status.body.status === "completed" ? 20_000 : 0);
    });

    test("endpoints whose import is off, and other methods, are refused", async () => {
      const file = await workbookOf([["sku", "name"]]);
      expect((await goods.imports.sendFile("off", file)).status).toBe(404);
      const answers: Answer[] = [
        await goods.shop.post("off/import-preview", { upload_id: "x" }),
        await goods.shop.get("goods/import-preview"),
        await goods.shop.post("goods/import-status", { job_id: "x" }),
        await goods.shop.get("goods/import-commit"),
        await goods.shop.post("goods/import-template", {}),
        await goods.shop.get("goods/import-upload"),
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
      uploadId = await goods.imports.uploaded("goods", await workbookOf([["sku", "name"]]));
      const { body } = await goods.shop.post("goods/import-preview", { upload_id: uploadId });
      previewId = body.job_id;
      await goods.imports.ended("goods", previewId);
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
        await goods.shop.post("goods/import-preview", { upload_id: `upload-${rest}` }),
        await goods.shop.post("goods/import-commit", { preview_job_id: `preview-${rest}` }),
        await goods.shop.post("goods/import-cancel", { job_id: `commit-${rest}` }),
        await goods.shop.get(`goods/import-status?job_id=${encodeURIComponent(`preview-${rest}`)}`),
        await goods.shop.get(`goods/import-errors?job_id=${encodeURIComponent(`commit-${rest}`)}`),
      ];
      for (const answer of answers) checkEnvelope(answer);
      expect(answers.map(({ status, body }) => [status, body.error])).toEqual(
        answers.map(() => [404, "Not found"]),
      );
    });

    test("of another kind is answered as an unknown one", async () => {
      const answers = [
        await goods.shop.post("goods/import-preview", { upload_id: previewId }),
        await goods.shop.post("goods/import-commit", { preview_job_id: uploadId }),
        await goods.shop.get(`goods/import-status?job_id=${uploadId}`),
        await goods.shop.get(`goods/import-status?job_id=export-${randomUUID()}`),
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
        await goods.shop.post("goods/import-preview", body("upload_id")),
        await goods.shop.post("goods/import-commit", body("preview_job_id")),
        await goods.shop.post("goods/import-cancel", body("job_id")),
        await goods.shop.get(`goods/import-status?${asked}`),
        await goods.shop.get(`goods/import-errors?${asked}`),
      ];
      for (const answer of answers) checkEnvelope(answer);
      const names = ["upload_id", "preview_job_id", "job_id", "job_id", "job_id"];
      expect(
        answers.map(({ status, body: { error, message } }) => [status, error, message]),
      ).toEqual(names.map((name) => [400, "Invalid payload", `${name} ${fault}`]));
    });

    test("of another endpoint is answered as an unknown one", async () => {
      const answers = [
        await goods.shop.post("other/import-preview", { upload_id: uploadId }),
        await goods.shop.post("other/import-commit", { preview_job_id: previewId }),
        await goods.shop.post("other/import-cancel", { job_id: previewId }),
        await goods.shop.get(`other/import-status?job_id=${previewId}`),
        await goods.shop.get(`other/import-errors?job_id=${previewId}`),
      ];
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 404));
    });

    test("that is missing is refused", async () => {
      const answers = [
        await goods.shop.post("goods/import-preview"),
        await goods.shop.post("goods/import-preview", {}),
        await goods.shop.post("goods/import-commit", {}),
        await goods.shop.post("goods/import-cancel", {}),
      ];
      for (const answer of answers) checkEnvelope(answer);
      expect(answers.map(({ status, body }) => [status, body.error])).toEqual(
        answers.map(() => [400, "Invalid payload"]),
      );
    });
  });

  test("import-template gives a workbook with the headings that an import knows, and no rows", async () => {
    const response = await goods.shop.fetch("/api/test/goods/import-template");
    expect(response.status).toBe(200);
    expect(response.headers.get("content-disposition")).toBe(
      "attachment; filename=goods-import.xlsx",
    );
    const rows = await cellsOfWorkbook(new Uint8Array(await response.arrayBuffer()));
    expect(rows).toEqual([["SKU", "Product name", "price", "In stock", "group", "made_in"]]);
  });

  const template = async (endpoint: string): Promise<Uint8Array<ArrayBuffer>> => {
    const response = await goods.shop.fetch(`/api/test/${endpoint}/import-template`);
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
      await goods.shop.sql(
        `insert into groups (group_id, name) values ('many-${at}', 'Many ${at}')`,
      );
    try {
      const sheets = await sheetsOf(await template("goods"));
      expect(sheets).toHaveLength(1);
    } finally {
      await goods.shop.sql("delete from groups where group_id like 'many-%'");
    }
  });

  test("import-template is an upload, without rows and filled in", async () => {
    const bytes = await template("goods");
    const { body } = await goods.imports.sendFile("goods", bytes);
    expect([body.total_rows, body.ignored_columns]).toEqual([0, undefined]);
    const workbook = new ExcelJS.Workbook();
    await workbook.xlsx.load(bytes.buffer);
    workbook.worksheets[0]!.addRow(["007", "Thing", 1.5, 3, "Garden", null]);
    const filled = new Uint8Array(await workbook.xlsx.writeBuffer());
    const done = await goods.imports.committed("goods", filled);
    expect(done.body.result).toMatchObject({ inserted: 1 });
    expect(await record("007")).toMatchObject({ price: 1.5, stock: 3, group_id: "g2" });
  });
});
