/** read-composite over HTTP: which header, which details in which order, and valid forms of a detailQuery. */
import { beforeAll, describe, expect, test } from "vitest";
import { check, record, type Case } from "./cases.ts";
import { line } from "./documents.ts";
import { openShop } from "./shop.ts";

const shop = openShop();
const read = (where: unknown, endpoint = "documents") =>
  shop.post(endpoint, "read-composite", { where });
const byId = (value: unknown) => [{ key: "document_id", value }];

beforeAll(async () => {
  for (const [document_id, title] of [
    ["r1", "same"],
    ["r2", "same"],
    ["r3", "other"],
  ]) {
    const document_lines = [
      line(3, { line_id: `${document_id}-a`, category_id: "c1", secret: "hush-line" }),
      line(1, { line_id: `${document_id}-b`, qty: 5 }),
      line(2, { line_id: `${document_id}-c`, qty: 3 }),
    ];
    const documents = {
      document_id,
      number: document_id,
      title,
      secret: "hush-head",
      document_lines,
    };
    await shop.post("documents", "create-composite", { documents });
  }
});

const ids = (data: unknown): unknown[] =>
  (data as { document_lines: Record<string, unknown>[] }).document_lines.map(
    ({ line_id }) => line_id,
  );

describe("the answer", () => {
  test("read-composite answers the header with its details, ordered by line_number, and nothing else", async () => {
    const answer = await read(byId("r1"));
    check(answer, { status: 200, data: { number: "r1", total_items: 3 } });
    expect(Object.keys(answer.body).sort()).toEqual(["data", "success", "timestamp"]);
    expect(ids(answer.body.data)).toEqual(["r1-b", "r1-c", "r1-a"]);
  });

  test("read-composite carries the ETag that first carries", async () => {
    const answer = await read(byId("r1"));
    const first = await shop.post("documents", "first", { where: byId("r1") });
    expect(answer.headers.get("ETag")).toBe(first.headers.get("ETag"));
  });

  test("read-composite answers 200 with null when no header matches", async () => {
    check(await read(byId("none")), { status: 200 });
    expect((await read(byId("none"))).body.data).toBeNull();
  });

  test("read-composite takes the first header by primary key when several match", async () => {
    check(await read([{ key: "title", value: "same" }]), {
      status: 200,
      data: { document_id: "r1" },
    });
  });

  test("read-composite joins conditions by AND", async () => {
    const where = [
      { key: "title", value: "same" },
      { key: "number", value: "r2" },
    ];
    check(await read(where), { status: 200, data: { document_id: "r2" } });
  });

  test("read-composite takes null as IS NULL", async () => {
    expect((await read([{ key: "title", value: null }])).body.data).toBeNull();
  });

  test("read-composite answers an empty list for a header without details", async () => {
    await shop.fixture.sql(
      "insert into documents (document_id, number, total_items, total_amount) values ('empty', 'empty', 0, 0)",
    );
    check(await read(byId("empty")), { status: 200, data: { document_lines: [] } });
  });

  test("read-composite answers the details of several tables", async () => {
    const answer = await read(byId("r1"), "folders");
    check(answer, { status: 200, data: { document_notes: [] } });
    expect(ids(record(answer))).toHaveLength(3);
  });

  test.each(["documents", "joined"])(
    "read-composite never shows hidden fields of %s",
    async (endpoint) => {
      const answer = await read(byId("r1"), endpoint);
      expect(answer.status).toBe(200);
      expect(JSON.stringify(answer.body)).not.toMatch(/secret|hush/);
    },
  );

  test("read-composite is never cached: it sees what was written past the service", async () => {
    await read(byId("r3"));
    await shop.fixture.sql(
      "update documents set title = 'past the service' where document_id = 'r3'",
    );
    check(await read(byId("r3")), { status: 200, data: { title: "past the service" } });
  });
});

describe("a detailQuery", () => {
  test("read-composite answers the columns of the detailQuery, joined ones too, in its own order", async () => {
    const data = record(await read(byId("r1"), "joined"));
    expect(data["document_lines"]).toEqual([
      { line_id: "r1-a", qty: 1, category_name: "Food", odd: ":header_id $1 ?" },
      { line_id: "r1-c", qty: 3, category_name: null, odd: ":header_id $1 ?" },
      { line_id: "r1-b", qty: 5, category_name: null, odd: ":header_id $1 ?" },
    ]);
  });

  test("read-composite takes $1 as the header's key", async () => {
    expect(ids(record(await read(byId("r2"), "positional")))).toEqual(["r2-a", "r2-c", "r2-b"]);
  });

  test("read-composite takes ? as the header's key, and leaves one in a literal alone", async () => {
    const lines = record(await read(byId("r2"), "marked"))["document_lines"];
    expect(lines).toEqual(expect.arrayContaining([{ line_id: "r2-a", mark: "?" }]));
    expect(lines).toHaveLength(3);
  });

  test("read-composite takes the header's key as a value, whatever it says", async () => {
    const document_id = "' or '1'='1";
    const documents = {
      document_id,
      number: "odd",
      document_lines: [line(1, { line_id: "odd-1" })],
    };
    await shop.post("documents", "create-composite", { documents });
    for (const endpoint of ["joined", "positional", "marked"])
      expect(ids(record(await read(byId(document_id), endpoint)))).toEqual(["odd-1"]);
  });
});

const refused: Case[] = [
  { name: "read-composite refuses no body", body: undefined, status: 400 },
  { name: "read-composite refuses an empty object", body: {}, status: 400 },
  { name: "read-composite refuses a body without where", body: { select: [] }, status: 400 },
  { name: "read-composite refuses an empty where", body: { where: [] }, status: 400 },
  {
    name: "read-composite refuses where as an object",
    body: { where: { key: "document_id", value: "r1" } },
    status: 400,
    message: "where must be a non-empty array of {key, value}",
  },
  { name: "read-composite refuses where as a text", body: { where: "r1" }, status: 400 },
  { name: "read-composite refuses a condition that is null", body: { where: [null] }, status: 400 },
  {
    name: "read-composite refuses a condition without value",
    body: { where: [{ key: "number" }] },
    status: 400,
  },
  {
    name: "read-composite refuses another operator than =",
    body: { where: [{ key: "number", operator: ">", value: "r1" }] },
    status: 400,
  },
];

describe("what read-composite refuses", () => {
  test.each(refused)("$name", async ({ body, ...expected }) => {
    const answer = await shop.post("documents", "read-composite", body);
    check(answer, { error: "Invalid payload", ...expected });
  });

  test.each(["nope", "secret", "__proto__", "qty", "document_lines"])(
    "read-composite refuses the column %s in where",
    async (key) => {
      check(await read([{ key, value: 1 }]), { status: 400, error: "Invalid field" });
    },
  );

  test("read-composite refuses a value that the column cannot take", async () => {
    const answer = await read([{ key: "total_items", value: "many" }]);
    check(answer, { status: 400, error: "Invalid parameter" });
  });

  test("read-composite answers 404 where the endpoint has no details", async () => {
    const answer = await shop.post("items", "read-composite", { where: byId("i01") });
    check(answer, { status: 404, error: "Not found" });
  });
});
