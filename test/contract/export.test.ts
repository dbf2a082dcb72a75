/**
 * Exports from the request to the downloaded file: rows, columns, states and errors, with jobs in the service and in a
 * worker over Redis. `test/workbook` tests how the writers format values.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { limits } from "../../core/values/limits.ts";
import { checkEnvelope } from "./cases.ts";
import { items, shopOptions } from "./fixture.ts";
import { cellsOfWorkbook } from "./imported-goods.ts";
import type { EngineName } from "../servers/session.ts";
import type { Answer } from "./harness.ts";
import { type JobFixture, longTestPlaces, openJobFixture } from "./job-places.ts";

const base = { tableName: "items", primaryKey: "item_id", hiddenFields: ["secret"] };
const action = { export: true };
const fieldName = ["code", "name", "qty", "price", "active", "due", "secret"];

/** A query as people write them; one of its columns is hidden. */
const exportQuery = `
select i.item_id, i.name, i.secret, i.active, c.name as category -- ; the end
from items i left join categories c on c.category_id = i.category_id
order by i.name desc;`;

const setUp = (engine: EngineName) => [
  ...shopOptions.setUp!(engine),
  "create table doomed (id integer primary key)",
  "create table amounts (id integer primary key, amount decimal(25,0), size double precision)",
  "insert into amounts values (1, 123456789012345680000, -1152921504606846976)",
  "create table papers (id integer primary key, doc json)",
];

const flag = { type: "boolean", trueLabel: "yes", falseLabel: "no" };
const endpoints = {
  items: { ...base, action: { ...action, read: true }, fieldName },
  other: { ...base, action, fieldName },
  off: { ...base, action: { read: true }, fieldName },
  whole: { ...base, action },
  formatted: {
    ...base,
    action,
    fieldName: ["due", "active", "name"],
    fieldLabels: { due: "Due on", active: "On sale" },
    columnFormats: { due: { type: "date", format: "DD/MM/YYYY" }, active: flag },
  },
  // Their columns are booleans on one engine, and numbers on the others.
  flags: {
    ...base,
    action,
    exportQuery:
      "select code, active, qty > 5 as many, case when qty > 5 then 1 else 0 end as big, qty from items",
    columnFormats: Object.fromEntries(["active", "many", "big", "qty"].map((name) => [name, flag])),
  },
  query: { ...base, action, exportQuery },
  file: { ...base, action, exportQuery: "file:query/export.sql" },
  scoped: { ...base, action, fieldName, defaultScope: { category_id: "c1" } },
  "scoped-lookup": { ...base, action, fieldName, defaultScope: { lookup: { category_id: "c1" } } },
  "scoped-query": { ...base, action, exportQuery, defaultScope: { active: false, qty: 5 } },
  view: { action, viewName: "item_view", primaryKey: "item_id" },
  "view-and-table": { ...base, action, viewName: "item_view", fieldName },
  lines: { tableName: "item_lines", action },
  // About two million rows once there are many lines: no test waits for the end.
  endless: {
    action,
    exportQuery:
      "select a.line_id, b.note from item_lines a cross join item_lines b where b.line_id <= 50",
  },
  days: { tableName: "days", action, fieldName: ["day", "note"] },
  amounts: { tableName: "amounts", action },
  papers: { tableName: "papers", action: { ...action, create: true } },
  // Its table is dropped while the service runs.
  doomed: { tableName: "doomed", action },
};

const codes = (text: string) => linesOf(text).map((line) => line.split(",")[0]);
const linesOf = (text: string) => text.trimEnd().split("\r\n").slice(1);
const headingOf = (text: string) => text.split("\r\n")[0];
const recordsOf = (text: string): Record<string, unknown>[] =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

describe.each(longTestPlaces)("export, %s", (place) => {
  let shop: JobFixture;
  beforeAll(async () => {
    shop = await openJobFixture(place, {
      ...shopOptions,
      setUp,
      endpoints,
      files: { "test/query/export.sql": exportQuery },
    });
  });
  afterAll(() => shop?.close());

  const download = (endpoint: string, jobId: string, headers: Record<string, string> = {}) =>
    shop.fetch(`/api/test/${endpoint}/export-download?job_id=${jobId}`, { headers });

  describe("export writes", () => {
    test("the fields of the table in their order, without the hidden ones", async () => {
      const text = await shop.exported("items", { format: "csv" });
      expect(headingOf(text)).toBe("code,name,qty,price,active,due");
      expect(codes(text)).toEqual(items.map(({ code }) => code));
    });

    test("all columns of the table where fieldName does not name some", async () => {
      const [first] = recordsOf(await shop.exported("whole", { format: "jsonl" }));
      expect(Object.keys(first!)).toContain("created_at");
      expect(Object.keys(first!)).not.toContain("secret");
    });

    test("values as read answers them", async () => {
      const records = recordsOf(await shop.exported("items", { format: "jsonl" }));
      const { body } = await shop.post("items/read", {
        select: fieldName.slice(0, -1),
        limit: 100,
      });
      expect(records).toEqual(body.data);
    });

    test("an xlsx when no format is asked for", async () => {
      const jobId = await shop.start("items");
      await shop.ended("items", jobId);
      const bytes = Buffer.from(await (await download("items", jobId)).arrayBuffer());
      expect(bytes.subarray(0, 2).toString()).toBe("PK");
      expect(bytes.includes("xl/workbook.xml")).toBe(true);
    });

    test("large numbers into xlsx with the digits that answers show", async () => {
      const jobId = await shop.start("amounts");
      await shop.ended("amounts", jobId);
      const bytes = new Uint8Array(await (await download("amounts", jobId)).arrayBuffer());
      const [, row] = await cellsOfWorkbook(bytes);
      expect(row).toEqual([1, "123456789012345680000", "-1152921504606847000"]);
    });

    test("JSON texts that an import would read as other values in quotes", async () => {
      const docs = ["plain", "5", 5, "true", true, "null", '{"a":1}', { a: 1 }, " x ", "", '"q"'];
      for (const [id, doc] of docs.entries()) await shop.post("papers/create", { id, doc });
      const text = await shop.exported("papers", { format: "csv" });
      const shown = ["plain", '"5"', "5", '"true"', "true", '"null"', '"{\\"a\\":1}"', '{"a":1}'];
      const cells = [...shown, '" x "', '""', '"\\"q\\""'];
      const quoted = (cell: string) =>
        cell.includes('"') ? `"${cell.replaceAll('"', '""')}"` : cell;
      expect(linesOf(text)).toEqual(cells.map((cell, id) => `${id},${quoted(cell)}`));
    });

    test("labels as headings, and dates and booleans in their formats", async () => {
      const text = await shop.exported("formatted", { format: "csv" });
      expect(headingOf(text)).toBe("Due on,On sale,name");
      expect(linesOf(text).slice(0, 3)).toEqual([
        "10/01/2026,yes,apple",
        "10/02/2026,yes,banana",
        "10/03/2026,no,cherry",
      ]);
    });

    test("names of fields and plain values into jsonl", async () => {
      const [first] = recordsOf(await shop.exported("formatted", { format: "jsonl" }));
      expect(first).toEqual({ due: "2026-01-10", active: true, name: "apple" });
    });

    test("labels for booleans that the engine gives as numbers, in csv and xlsx", async () => {
      const where = { conditions: [{ key: "code", operator: "<=", value: "A-5" }] };
      const body = { where, sort_columns: [{ column: "code", order: "asc" }] };
      const expected = [
        ["A-1", "yes", "yes", "yes", "10"],
        ["A-2", "yes", "yes", "yes", "20"],
        ["A-3", "no", "no", "no", "5"],
        ["A-4", "yes", "no", "no", "no"],
        ["A-5", "", "", "no", ""],
      ];
      const text = await shop.exported("flags", { ...body, format: "csv" });
      expect(linesOf(text)).toEqual(expected.map((cells) => cells.join(",")));
      const jobId = await shop.start("flags", body);
      await shop.ended("flags", jobId);
      const bytes = new Uint8Array(await (await download("flags", jobId)).arrayBuffer());
      const [, ...rows] = await cellsOfWorkbook(bytes);
      const shown = rows.map((row) => expected[0]!.map((_, at) => String(row[at] ?? "")));
      expect(shown).toEqual(expected);
    });

    test("a heading alone when no row matches", async () => {
      const where = { conditions: [{ key: "code", operator: "=", value: "none" }] };
      const text = await shop.exported("items", { format: "csv", where });
      expect(text).toBe("code,name,qty,price,active,due\r\n");
    });

    test("the rows of exportQuery, less its hidden columns", async () => {
      const text = await shop.exported("query", { format: "csv" });
      expect(headingOf(text)).toBe("item_id,name,active,category");
      expect(linesOf(text)).toHaveLength(items.length);
      expect(text).not.toContain("hush");
    });

    test("the rows of a query in a file", async () => {
      const text = await shop.exported("file", { format: "csv" });
      expect(headingOf(text)).toBe("item_id,name,active,category");
    });

    test("the view of an endpoint without a table", async () => {
      const records = recordsOf(await shop.exported("view", { format: "jsonl" }));
      expect(records[0]).toMatchObject({ item_id: "i01", category_name: "Food", origin: "view" });
    });

    test("the table of an endpoint that has a view beside it", async () => {
      const text = await shop.exported("view-and-table", { format: "csv" });
      expect(headingOf(text)).toBe("code,name,qty,price,active,due");
    });
  });

  describe("export chooses", () => {
    const where = (...conditions: object[]) => ({ logic: "AND", conditions });
    test.each([
      ["rows by where", { where: where({ key: "qty", operator: ">=", value: 20 }) }, "A-2 A-7 A-8"],
      [
        "rows by a group of conditions",
        {
          where: {
            logic: "OR",
            conditions: [
              { key: "code", operator: "=", value: "A-1" },
              { logic: "AND", conditions: [{ key: "qty", operator: "IS NULL" }] },
            ],
          },
        },
        "A-1 A-5",
      ],
      [
        "rows by a column that the file does not hold",
        { where: where({ key: "item_id", operator: "IN", value: ["i03", "i01"] }) },
        "A-1 A-3",
      ],
      [
        "no row for a pattern that ends in a backslash",
        { where: where({ key: "code", operator: "LIKE", value: "A-%\\" }) },
        "",
      ],
      [
        "an order by column and order",
        { sort_columns: [{ column: "code", order: "desc" }] },
        "A-8 A-7 A-6 A-5 A-4 A-3 A-2 A-1",
      ],
      [
        "an order by column and direction",
        {
          sort_columns: [{ column: "qty", direction: "DESC" }],
          where: where({ key: "qty", operator: ">", value: 9 }),
        },
        "A-7 A-2 A-8 A-1",
      ],
      [
        "rows by digits that JavaScript cannot hold",
        {
          where: '{"conditions":[{"key":"price","operator":"=","value":12.00000000000000000000}]}',
        },
        "A-3",
      ],
    ])("%s", async (_, body, expected) => {
      const { where: condition } = body as { where?: unknown };
      const request =
        typeof condition === "string"
          ? `{"format":"csv","where":${condition}}`
          : { format: "csv", ...body };
      const text = await shop.exported("items", request);
      expect(codes(text).join(" ")).toBe(expected);
    });

    test("only rows of the default scope", async () => {
      expect(codes(await shop.exported("scoped", { format: "csv" }))).toEqual([
        "A-1",
        "A-2",
        "A-6",
      ]);
    });

    test("nothing outside the default scope, whatever where says", async () => {
      const outside = { conditions: [{ key: "code", operator: "=", value: "A-3" }] };
      const or = {
        logic: "OR",
        conditions: [
          { key: "code", operator: "=", value: "A-1" },
          { key: "code", operator: "=", value: "A-3" },
        ],
      };
      expect(codes(await shop.exported("scoped", { format: "csv", where: outside }))).toEqual([]);
      expect(codes(await shop.exported("scoped", { format: "csv", where: or }))).toEqual(["A-1"]);
    });

    test("whatever the scope of lookup is", async () => {
      expect(codes(await shop.exported("scoped-lookup", { format: "csv" }))).toHaveLength(
        items.length,
      );
    });

    test("by those columns of the scope that exportQuery gives", async () => {
      const records = recordsOf(await shop.exported("scoped-query", { format: "jsonl" }));
      expect(records.map(({ name }) => name).toSorted()).toEqual([
        "back\\slash",
        "cherry",
        "snakeXcase",
      ]);
    });
  });

  describe("export refuses", () => {
    test.each([
      ["an unknown format", { format: "pdf" }, "Invalid parameter"],
      ["a format that is no text", { format: ["xlsx"] }, "Invalid parameter"],
      ["a format that every object has", { format: "constructor" }, "Invalid parameter"],
      ["an array as where", { where: [{ key: "code", value: "A-1" }] }, "Invalid payload"],
      [
        "an unknown operator",
        { where: { conditions: [{ key: "code", operator: "~", value: 1 }] } },
        "Invalid payload",
      ],
      [
        "a condition on an unknown column",
        { where: { conditions: [{ key: "nope", operator: "=", value: 1 }] } },
        "Invalid field",
      ],
      [
        "a condition on a hidden column",
        { where: { conditions: [{ key: "secret", operator: "LIKE", value: "%" }] } },
        "Invalid field",
      ],
      [
        "a value that the column does not take",
        { where: { conditions: [{ key: "qty", operator: "=", value: "x" }] } },
        "Invalid parameter",
      ],
      [
        "an order by an unknown column",
        { sort_columns: [{ column: "nope", order: "asc" }] },
        "Invalid field",
      ],
      [
        "an order by a hidden column",
        { sort_columns: [{ column: "secret", order: "asc" }] },
        "Invalid field",
      ],
      [
        "an order that is neither up nor down",
        { sort_columns: [{ column: "code", order: "up" }] },
        "Invalid parameter",
      ],
      ["an order that is no list", { sort_columns: "code" }, "Invalid parameter"],
      ["a body that is no object", "[1]", "Invalid payload"],
      ["a body that is no JSON", "{", "Invalid payload"],
    ])("%s", async (_, body, error) => {
      const answer = await shop.post("items/export", body);
      checkEnvelope(answer);
      expect([answer.status, answer.body.error]).toEqual([400, error]);
    });

    test("an order that is neither up nor down, and tells how its terms are written", async () => {
      const body = { sort_columns: [{ column: "code", order: "up" }] };
      const { message } = (await shop.post("items/export", body)).body;
      expect(message).toContain("an array of {column, order} with an order");
    });

    test("a request that is too large for a job", async () => {
      const value = Array.from({ length: 900 }, (_, at) => `${at}`.padEnd(400, "x"));
      const where = { conditions: [{ key: "code", operator: "IN", value }] };
      const answer = await shop.post("items/export", { where });
      checkEnvelope(answer);
      expect(answer.status).toBe(413);
    });

    test("an endpoint whose export is off, in all its actions", async () => {
      const answers = [
        await shop.post("off/export", {}),
        await shop.get("off/export-status?job_id=x"),
        await shop.get("off/export-download?job_id=x"),
        await shop.post("off/export-cancel", { job_id: "x" }),
      ];
      for (const answer of answers) checkEnvelope(answer);
      expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
    });

    test("other methods than its own", async () => {
      const answers = [
        await shop.get("items/export"),
        await shop.post("items/export-status", { job_id: "x" }),
        await shop.post("items/export-download", { job_id: "x" }),
        await shop.get("items/export-cancel?job_id=x"),
      ];
      expect(answers.map(({ status, headers }) => [status, headers.get("allow")])).toEqual([
        [405, "POST"],
        [405, "GET"],
        [405, "GET"],
        [405, "POST"],
      ]);
    });
  });

  describe("the answers", () => {
    test("export answers the job and that it is pending", async () => {
      const answer = await shop.post("items/export");
      checkEnvelope(answer);
      expect(answer.body).toEqual({
        success: true,
        job_id: expect.stringMatching(/^export-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
        status: "pending",
        timestamp: expect.any(String),
      });
      await shop.ended("items", answer.body.job_id);
    });

    test("export-status answers where the file of a completed job is", async () => {
      const jobId = await shop.start("items", { format: "csv" });
      const { status, body } = await shop.ended("items", jobId);
      expect(status).toBe(200);
      expect(body).toEqual({
        success: true,
        job_id: jobId,
        status: "completed",
        file_url: `/api/test/items/export-download?job_id=${jobId}`,
        timestamp: expect.any(String),
      });
      expect((await shop.fetch(body.file_url)).status).toBe(200);
    });

    test("export-status answers 200 and success false for a job that failed, and no word of the database's", async () => {
      await shop.exported("doomed");
      await shop.sql("drop table doomed");
      const jobId = await shop.start("doomed");
      const answer = await shop.ended("doomed", jobId);
      expect(answer.status).toBe(200);
      expect(answer.body).toEqual({
        success: false,
        job_id: jobId,
        status: "failed",
        error: "What the job is about is no longer there",
        timestamp: expect.any(String),
      });
      const refused = await shop.get(`doomed/export-download?job_id=${jobId}`);
      expect([refused.status, refused.body.error]).toEqual([409, "Invalid job state"]);
    });

    test("export-download answers the file whole, with its name and length", async () => {
      const jobId = await shop.start("items", { format: "csv" });
      await shop.ended("items", jobId);
      const response = await download("items", jobId);
      const bytes = await response.arrayBuffer();
      expect(response.status).toBe(200);
      expect(response.headers.get("content-length")).toBe(String(bytes.byteLength));
      expect(response.headers.get("content-type")).toBe("text/csv; charset=utf-8");
      expect(response.headers.get("x-request-id")).toBeTruthy();
      const today = new Date().toISOString().slice(0, 10);
      expect(response.headers.get("content-disposition")).toBe(
        `attachment; filename=items-export-${today}.csv`,
      );
    });

    test("export-download answers an xlsx as one", async () => {
      const jobId = await shop.start("items");
      await shop.ended("items", jobId);
      const { headers } = await download("items", jobId);
      expect(headers.get("content-type")).toBe(
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
      );
      expect(headers.get("content-disposition")).toMatch(/\.xlsx$/);
    });

    test.each([
      ["the first bytes", "bytes=0-4", 0, 5],
      ["bytes in the middle", "bytes=5-9", 5, 10],
      ["all from one byte on", "bytes=7-", 7, undefined],
      ["the last bytes", "bytes=-6", -6, undefined],
      ["bytes up to beyond the end", "bytes=3-99999999", 3, undefined],
      ["the last bytes of fewer", "bytes=-99999999", 0, undefined],
    ])("export-download answers 206 for %s", async (_, range, start, end) => {
      const jobId = await shop.start("days", { format: "csv" });
      await shop.ended("days", jobId);
      const whole = Buffer.from(await (await download("days", jobId)).arrayBuffer());
      const response = await download("days", jobId, { Range: range });
      const part = Buffer.from(await response.arrayBuffer());
      expect(response.status).toBe(206);
      expect(part).toEqual(whole.subarray(start, end));
      const first = start < 0 ? whole.length + start : start;
      expect(response.headers.get("content-range")).toBe(
        `bytes ${first}-${first + part.length - 1}/${whole.length}`,
      );
      expect(response.headers.get("content-length")).toBe(String(part.length));
    });

    test.each([
      ["bytes=99999999-", 416],
      ["bytes=-0", 416],
      ["bytes=5-2", 200],
      ["bytes=0-1,4-5", 200],
      ["lines=1-2", 200],
      ["bytes=a-b", 200],
      ["bytes=-", 200],
    ])("export-download answers the range %s with %d", async (range, status) => {
      const jobId = await shop.start("days", { format: "csv" });
      await shop.ended("days", jobId);
      const response = await download("days", jobId, { Range: range });
      expect(response.status).toBe(status);
      if (status === 416) expect(response.headers.get("content-range")).toMatch(/^bytes \*\/\d+$/);
      else expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(10);
    });

    test("export-cancel answers 409 for a job that has ended", async () => {
      const jobId = await shop.start("items", { format: "csv" });
      await shop.ended("items", jobId);
      const answer = await shop.post("items/export-cancel", { job_id: jobId });
      checkEnvelope(answer);
      expect([answer.status, answer.body.error]).toEqual([409, "Invalid job state"]);
    });
  });

  describe("a job's id", () => {
    let known = "";
    beforeAll(async () => {
      known = await shop.start("items", { format: "csv" });
      await shop.ended("items", known);
    });
    const asked: readonly [string, (id: string) => Promise<Answer>][] = [
      ["export-status", (id) => shop.get(`items/export-status?job_id=${id}`)],
      ["export-download", (id) => shop.get(`items/export-download?job_id=${id}`)],
      [
        "export-cancel",
        (id) => shop.post("items/export-cancel", { job_id: decodeURIComponent(id) }),
      ],
    ];

    test.each([
      ["unknown", `export-${randomUUID()}`],
      ["of another kind", `commit-${randomUUID()}`],
      ["of no kind", randomUUID()],
      ["upper case", `EXPORT-${randomUUID()}`],
      ["a path", "..%2F..%2Fetc%2Fpasswd"],
      ["a path behind a kind", "export-..%2F..%2Fjobs"],
      ["with a colon", "export:1:2"],
      ["a whole number", "1"],
      ["of 2,000 characters", `export-${"a".repeat(2_000)}`],
      ["of an object's own words", "__proto__"],
      ["with a line's end", `export-${randomUUID()}%0A`],
    ])("%s is answered as an unknown one by every action", async (_, id) => {
      for (const [, ask] of asked) {
        const answer = await ask(id);
        checkEnvelope(answer);
        expect([answer.status, answer.body.error, answer.body.message]).toEqual([
          404,
          "Not found",
          "Unknown job",
        ]);
      }
    });

    test.each([
      ["missing", { other: "x" }, "", "is required"],
      ["null", { job_id: null }, "other=x", "is required"],
      ["empty", { job_id: "" }, "job_id=", "is required"],
      ["a number", { job_id: 1 }, "job_id[a]=1", "must be text"],
      ["a list", { job_id: ["x"] }, "job_id[]=1", "must be text"],
      ["an object", { job_id: { id: "x" } }, "job_id[id]=x", "must be text"],
    ])("that is %s is refused by every action", async (_, body, query, fault) => {
      const answers = [
        await shop.post("items/export-cancel", body),
        await shop.get(`items/export-status?${query}`),
        await shop.get(`items/export-download?${query}`),
      ];
      for (const answer of answers) checkEnvelope(answer);
      expect(
        answers.map(({ status, body: { error, message } }) => [status, error, message]),
      ).toEqual(answers.map(() => [400, "Invalid payload", `job_id ${fault}`]));
    });

    test("with a NUL is refused before it is looked up", async () => {
      const answer = await shop.get(`items/export-status?job_id=${known}%00`);
      checkEnvelope(answer);
      expect(answer.status).toBe(400);
    });

    test("of another endpoint is answered as an unknown one", async () => {
      for (const [action] of asked) {
        const isPost = action === "export-cancel";
        const answer = isPost
          ? await shop.post(`other/${action}`, { job_id: known })
          : await shop.get(`other/${action}?job_id=${known}`);
        expect([answer.status, answer.body.message]).toEqual([404, "Unknown job"]);
      }
    });
  });

  describe("a long export", () => {
    /** Enough rows that it takes a moment on every engine. */
    const many = 40_000;
    beforeAll(async () => {
      const digits =
        "(select 0 as d union all select 1 union all select 2 union all select 3 union all select 4 union all select 5 union all select 6 union all select 7)";
      // 8^5 rows and some, in one statement that every engine takes.
      const joined = ["a", "b", "c", "d", "e"]
        .map((name) => `${digits} ${name}`)
        .join(" cross join ");
      await shop.sql(
        `insert into item_lines (item_id, amount, note) select 'i02', a.d + b.d, 'many' from ${joined}`,
      );
      await shop.sql(
        `insert into item_lines (item_id, amount, note) select item_id, 1, 'more' from item_lines where amount < 5`,
      );
    }, 60_000);

    test("is counted before the first row, and never goes back", async () => {
      const jobId = await shop.start("lines", { format: "xlsx" });
      const seen: { processed_rows: number; total_rows: number }[] = [];
      for (;;) {
        const { body } = await shop.get(`lines/export-status?job_id=${jobId}`);
        if (body.status === "processing") seen.push(body.progress);
        if (body.status === "completed") break;
        expect(["pending", "processing"]).toContain(body.status);
        await sleep(5);
      }
      const totals = new Set(seen.map(({ total_rows }) => total_rows));
      expect(totals.size).toBe(1);
      expect([...totals][0]).toBeGreaterThan(many);
      const processed = seen.map(({ processed_rows }) => processed_rows);
      expect(processed).toEqual(processed.toSorted((one, other) => one - other));
    });

    test("ends as failed when it is cancelled, and no file is left", async () => {
      const jobId = await shop.start("endless", { format: "xlsx" });
      while ((await shop.get(`endless/export-status?job_id=${jobId}`)).body.status === "pending")
        await sleep(5);
      const early = await shop.get(`endless/export-download?job_id=${jobId}`);
      expect([early.status, early.body.error]).toEqual([409, "Invalid job state"]);
      const answer = await shop.post("endless/export-cancel", { job_id: jobId });
      checkEnvelope(answer);
      expect(answer.body).toMatchObject({ success: true, job_id: jobId });
      const { body } = await shop.ended("endless", jobId);
      expect(body).toMatchObject({
        success: false,
        status: "failed",
        error: "The job was cancelled",
      });
      const refused = await shop.get(`endless/export-download?job_id=${jobId}`);
      expect([refused.status, refused.body.error]).toEqual([409, "Invalid job state"]);
    });

    test("a job that waits is failed as soon as it is cancelled", async () => {
      const busy = await Promise.all([1, 2].map(() => shop.start("endless")));
      for (const id of busy) {
        const status = async () =>
          (await shop.get(`endless/export-status?job_id=${id}`)).body.status as unknown;
        await expect.poll(status, { timeout: 12_000 }).toBe("processing");
      }
      const jobId = await shop.start("items");
      const answer = await shop.post("items/export-cancel", { job_id: jobId });
      expect(answer.body).toMatchObject({
        success: true,
        status: "failed",
        error: "The job was cancelled",
      });
      for (const job_id of busy) await shop.post("endless/export-cancel", { job_id });
      for (const id of busy) await shop.ended("endless", id);
      expect((await shop.get(`items/export-status?job_id=${jobId}`)).body.success).toBe(false);
    });

    test("sees the table as it was when it began", async () => {
      const jobId = await shop.start("lines", { format: "jsonl" });
      let total = 0;
      while (total === 0) {
        const { body } = await shop.get(`lines/export-status?job_id=${jobId}`);
        total = body.progress?.total_rows ?? 0;
        if (body.status === "completed") break;
        await sleep(5);
      }
      await shop.sql("update item_lines set note = 'late'");
      await shop.ended("lines", jobId);
      const notes = recordsOf(await (await download("lines", jobId)).text()).map(
        ({ note }) => note,
      );
      expect(new Set(notes).has("late")).toBe(false);
      await shop.sql("update item_lines set note = 'many'");
    });

    test("lets several others through", async () => {
      const ids = await Promise.all([1, 2, 3, 4].map(() => shop.start("lines", { format: "csv" })));
      const ended = await Promise.all(ids.map((id) => shop.ended("lines", id)));
      expect(ended.map(({ body }) => body.status)).toEqual(ids.map(() => "completed"));
      const sizes = await Promise.all(
        ids.map(async (id) => (await (await download("lines", id)).arrayBuffer()).byteLength),
      );
      expect(new Set(sizes).size).toBe(1);
    });
  });
});

describe("a job that ended long ago", () => {
  let shop: JobFixture;
  beforeAll(async () => {
    shop = await openJobFixture("in the service", {
      ...shopOptions,
      setUp,
      endpoints,
      files: { "test/query/export.sql": exportQuery },
      project: { jobs: { fileTtlSeconds: 1 } },
    });
  });
  afterAll(() => shop?.close());

  test("keeps its file for the time that is set, then its record as long again", async () => {
    const jobId = await shop.start("items", { format: "csv" });
    await shop.ended("items", jobId);
    const asked = () => shop.get(`items/export-download?job_id=${jobId}`);
    expect((await asked()).status).toBe(200);
    await sleep(1_100);
    const gone = await asked();
    checkEnvelope(gone);
    expect([gone.status, gone.body.error]).toEqual([410, "Gone"]);
    expect((await shop.get(`items/export-status?job_id=${jobId}`)).body.status).toBe("completed");
    await sleep(1_000);
    expect((await asked()).status).toBe(404);
    expect((await shop.get(`items/export-status?job_id=${jobId}`)).status).toBe(404);
  });
});

test("limits of jobs leave room for a worker's death within 25 seconds", () => {
  expect(limits.jobLockMs + 2 * limits.jobLookMs).toBeLessThan(25_000);
});
