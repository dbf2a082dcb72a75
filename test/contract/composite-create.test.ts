/** create-composite over HTTP: header and details in one answer, computed values, and refusals that store nothing. */
import { describe, expect, inject, test } from "vitest";
import { check, instant, record, uuid, type Case } from "./cases.ts";
import { openShop } from "./shop.ts";

const shop = openShop();

let made = 0;
/** A number that no other document has. */
const number = () => `C-${++made}`;
const line = (line_number: number, more: object = {}) => ({
  line_number,
  qty: 1,
  price: 2,
  ...more,
});
const documentOf = (lines: unknown, more: object = {}) => ({
  documents: { number: number(), ...more, document_lines: lines },
});
const create = (body: unknown, endpoint = "documents") =>
  shop.post(endpoint, "create-composite", body);
const linesOf = (data: Record<string, unknown>) =>
  data["document_lines"] as Record<string, unknown>[];
const rowsLeft = async (documentNumber: string) =>
  (await shop.fixture.sql(`select document_id from documents where number = '${documentNumber}'`))
    .length;
const countOf = async (table: string) =>
  Number((await shop.fixture.sql(`select count(*) as n from ${table}`))[0]!["n"]);

describe("the answer", () => {
  test("create-composite answers 201 with the header, its totals and the details in the order sent", async () => {
    const sent = [
      line(3, { qty: 2, price: "3.25", day: "2026-01-02", category_id: "c1" }),
      line(1, { qty: "0.333", price: 1.5, parts: 7 }),
      { line_number: 2, qty: 1, day: "2026-01-01" },
    ];
    const answer = await create(documentOf(sent, { number: "FIRST", title: "one" }));
    check(answer, { status: 201, message: "documents data successfully added" });
    expect(Object.keys(answer.body).sort()).toEqual(["data", "message", "success", "timestamp"]);
    const { document_lines, ...header } = answer.body.data;
    expect(header).toEqual({
      document_id: expect.stringMatching(uuid),
      number: "FIRST",
      title: "one",
      total_items: 3,
      total_qty: 3.333,
      total_amount: 12,
      average_price: 3.25,
      top_price: 5,
      first_day: "2026-01-01",
      created_at: expect.stringMatching(instant),
      created_by: "Input from API",
      updated_at: null,
      updated_by: null,
    });
    expect(document_lines.map((one: { line_number: number }) => one.line_number)).toEqual([
      3, 1, 2,
    ]);
    expect(document_lines[1]).toEqual({
      line_id: expect.stringMatching(uuid),
      document_id: header.document_id,
      line_number: 1,
      category_id: null,
      qty: 0.333,
      price: 1.5,
      parts: 7,
      amount: 0.5,
      tax: 0.1,
      per_part: 0.0714,
      whole: -1,
      day: null,
      created_at: header.created_at,
      created_by: "Input from API",
      updated_at: null,
      updated_by: null,
    });
  });

  test("create-composite answers what read-composite answers", async () => {
    const answer = await create(documentOf([line(1), line(2, { qty: "7.125" })]));
    const { document_id } = record(answer);
    const where = [{ key: "document_id", value: document_id }];
    const again = await shop.post("documents", "read-composite", { where });
    expect(again.body.data).toEqual(answer.body.data);
    expect(again.headers.get("ETag")).toBe(answer.headers.get("ETag"));
    const first = await shop.post("documents", "first", { where });
    expect(first.headers.get("ETag")).toBe(answer.headers.get("ETag"));
  });

  test("create-composite takes the body {data, options}", async () => {
    const answer = await create({ data: documentOf([line(1)]), options: { any: 1 } });
    check(answer, { status: 201, data: { total_items: 1 } });
  });

  test("create-composite stores details of several tables", async () => {
    const document_notes = [{ text: "a", weight: 4 }, { text: "b" }, { text: "c", weight: -3 }];
    const body = { documents: { number: number(), document_lines: [line(1)], document_notes } };
    const answer = await create(body, "folders");
    check(answer, { status: 201, data: { total_items: 1, total_amount: 2 } });
    const notes = answer.body.data.document_notes;
    expect(notes.map(({ text, doubled }: Record<string, unknown>) => [text, doubled])).toEqual([
      ["a", 8],
      ["b", null],
      ["c", -6],
    ]);
    const ids = notes.map(({ note_id }: { note_id: number }) => note_id);
    expect(ids).toEqual([ids[0], ids[0] + 1, ids[0] + 2]);
  });

  test("create-composite takes an empty list where another table has details", async () => {
    const body = {
      documents: { number: number(), document_lines: [], document_notes: [{ text: "n" }] },
    };
    const answer = await create(body, "folders");
    check(answer, {
      status: 201,
      data: { total_items: 0, total_qty: 0, total_amount: 0, average_price: null, top_price: null },
    });
  });
});

describe("keys and fields that the service fills", () => {
  test("create-composite keeps keys that the body gives", async () => {
    const body = documentOf([line(1, { line_id: "my line" })], { document_id: "my document" });
    const answer = await create(body);
    check(answer, { status: 201, data: { document_id: "my document" } });
    expect(linesOf(record(answer))[0]).toMatchObject({
      line_id: "my line",
      document_id: "my document",
    });
  });

  test("create-composite makes a UUID v4 for a missing, empty or - key", async () => {
    const lines = [line(1, { line_id: "" }), line(2, { line_id: "-" }), line(3)];
    const answer = await create(documentOf(lines, { document_id: "-" }));
    expect(record(answer)["document_id"]).toMatch(uuid);
    for (const { line_id } of linesOf(record(answer))) expect(line_id).toMatch(uuid);
  });

  test("create-composite fills the foreign key itself, whatever a detail says", async () => {
    const answer = await create(documentOf([line(1, { document_id: "another" })]));
    const data = record(answer);
    expect(linesOf(data)[0]!["document_id"]).toBe(data["document_id"]);
  });

  test("create-composite computes fields itself, whatever the body says", async () => {
    const lines = [line(1, { amount: 999, tax: "nonsense" })];
    const answer = await create(documentOf(lines, { total_amount: 5, total_items: "x" }));
    check(answer, { status: 201, data: { total_amount: 2, total_items: 1 } });
    expect(linesOf(record(answer))[0]).toMatchObject({ amount: 2, tax: 0.38 });
  });

  test("create-composite takes created_by of the header for its details, and of a detail for itself", async () => {
    const lines = [line(1), line(2, { created_by: "me" })];
    const answer = await create(
      documentOf(lines, { created_by: "you", created_at: "2020-01-01T00:00:00Z" }),
    );
    const data = record(answer);
    expect(data["created_by"]).toBe("you");
    expect(data["created_at"]).not.toBe("2020-01-01T00:00:00.000Z");
    expect(linesOf(data).map(({ created_by }) => created_by)).toEqual(["you", "me"]);
  });

  test("create-composite answers null for a result over null", async () => {
    const answer = await create(documentOf([line(1)]));
    expect(linesOf(record(answer))[0]).toMatchObject({ parts: null, per_part: null });
  });

  test("create-composite never shows hidden fields", async () => {
    const answer = await create(documentOf([line(1, { secret: "hush-1" })], { secret: "hush-2" }));
    expect(answer.status).toBe(201);
    expect(JSON.stringify(answer.body)).not.toContain("secret");
  });
});

const shape = "document_lines must be an array of objects";
const refused: Case[] = [
  { name: "create-composite refuses no body", body: undefined, status: 400 },
  { name: "create-composite refuses an empty object", body: {}, status: 400 },
  { name: "create-composite refuses an array", body: [], status: 400 },
  {
    name: "create-composite refuses another root key",
    body: { document: { document_lines: [line(1)] } },
    status: 400,
    message: "Root key must be 'documents'",
  },
  {
    name: "create-composite refuses the header without a root key",
    body: { number: "x", document_lines: [line(1)] },
    status: 400,
    message: "Root key must be 'documents'",
  },
  {
    name: "create-composite refuses a second root key",
    body: { ...documentOf([line(1)]), more: {} },
    status: 400,
    message: "Root key must be 'documents'",
  },
  {
    name: "create-composite refuses the root key __proto__",
    body: '{"__proto__": {"number": "P", "document_lines": []}}',
    status: 400,
    message: "Root key must be 'documents'",
  },
  {
    name: "create-composite refuses an array as header",
    body: { documents: [] },
    status: 400,
    message: "documents must be an object",
  },
  { name: "create-composite refuses null as header", body: { documents: null }, status: 400 },
  {
    name: "create-composite refuses missing details",
    body: { documents: { number: "x" } },
    status: 400,
    message: "document_lines must not be empty",
  },
  {
    name: "create-composite refuses an empty list of details",
    body: documentOf([]),
    status: 400,
    message: "document_lines must not be empty",
  },
  {
    name: "create-composite refuses an object as list of details",
    body: documentOf({ insert: [line(1)] }),
    status: 400,
    message: shape,
  },
  {
    name: "create-composite refuses a text as list of details",
    body: documentOf("[]"),
    status: 400,
    message: shape,
  },
  {
    name: "create-composite refuses a detail that is null",
    body: documentOf([line(1), null]),
    status: 400,
    message: "document_lines[1] must be an object",
  },
  {
    name: "create-composite refuses a detail that is an array",
    body: documentOf([[line(1)]]),
    status: 400,
    message: "document_lines[0] must be an object",
  },
  {
    name: "create-composite refuses too many details",
    body: documentOf(Array.from({ length: 10_001 }, () => ({}))),
    status: 400,
    message: "A request takes at most 10000 details",
  },
];

describe("what create-composite refuses as a payload", () => {
  test.each(refused)("$name", async ({ body, ...expected }) => {
    const before = await countOf("documents");
    check(await create(body), { error: "Invalid payload", ...expected });
    expect(await countOf("documents")).toBe(before);
  });
});

const invalid: Case[] = [
  {
    name: "create-composite reports every fault of header and details at once",
    body: {
      documents: {
        title: "x".repeat(61),
        document_lines: [{}, line(2, { qty: "many", day: "2026-02-30" }), line(3, { qty: -1 })],
      },
    },
    status: 400,
    errors: [
      "number",
      "title",
      "document_lines[0].line_number",
      "document_lines[0].qty",
      "document_lines[1].day",
      "document_lines[1].qty",
      "document_lines[2].qty",
    ],
  },
  {
    name: "create-composite refuses a number of thirty digits on its detail",
    body: `{"documents": {"number": "B", "document_lines": [{"line_number": 1, "qty": 123456789012345678901234567890, "price": 1}]}}`,
    status: 400,
    errors: ["document_lines[0].qty"],
  },
  {
    name: "create-composite refuses a division by zero on the computed field",
    body: documentOf([line(1), line(2, { parts: 0 })]),
    status: 400,
    errors: { "document_lines[1].per_part": ["divides by zero"] },
  },
  {
    name: "create-composite refuses a created_by that is no text, of a detail too",
    body: documentOf([line(1, { created_by: {} })], { created_by: [] }),
    status: 400,
    errors: ["created_by", "document_lines[0].created_by"],
  },
  {
    name: "create-composite refuses a key that its column cannot hold",
    body: documentOf([line(1, { line_id: "k".repeat(37) })], { document_id: {} }),
    status: 400,
    errors: ["document_id", "document_lines[0].line_id"],
  },
];

describe("what create-composite refuses as data", () => {
  test.each(invalid)("$name", async ({ body, ...expected }) => {
    check(await create(body), { error: "Validation failed", message: "Invalid data", ...expected });
  });

  test("create-composite refuses a result that its column cannot hold", async () => {
    // The amount still fits, with two digits after the decimal point; per_part has four of them.
    const large = line(2, { qty: "99999", price: "9999999.99", parts: 1 });
    const answer = await create(documentOf([line(1), large]));
    check(answer, {
      status: 400,
      error: "Validation failed",
      errors: { "document_lines[1].per_part": ["is out of range"] },
    });
  });
});

/** One line of four spoils the request, each in its turn. */
const spoilt = [
  { name: "validation", more: { qty: "x" }, status: 400, error: "Validation failed", field: "qty" },
  {
    name: "a unique value",
    more: { line_number: 9 },
    status: 409,
    error: "Duplicate entry",
    field: "line_number",
  },
  {
    name: "a foreign key",
    more: { category_id: "none" },
    status: 400,
    error: "Foreign key constraint",
    field: "category_id",
  },
  { name: "a check", more: { qty: 100_000 }, status: 400, error: "Validation failed", field: null },
  {
    name: "a computation",
    more: { parts: 0 },
    status: 400,
    error: "Validation failed",
    field: "per_part",
  },
  {
    name: "a key that is taken",
    more: { line_id: "twin" },
    status: 409,
    error: "Duplicate entry",
    field: "line_id",
  },
].flatMap((one) => [0, 1, 2, 3].map((at) => ({ ...one, at })));

describe("a failure of one detail leaves nothing", () => {
  test.each(spoilt)(
    "create-composite leaves no row when detail $at of 4 fails by $name, and says which",
    async ({ name, more, status, error, field, at }) => {
      const documentNumber = number();
      const lines: object[] = [1, 2, 3, 4].map((line_number) => line(line_number));
      lines[at] = { ...lines[at], ...more };
      // What it collides with comes first, or last where it is first itself.
      const twin = {
        ...line(name === "a unique value" ? 9 : 5),
        ...(name === "a key that is taken" && { line_id: "twin" }),
      };
      const before = await countOf("document_lines");
      const sent =
        name.startsWith("a unique") || name.startsWith("a key") ? [twin, ...lines] : lines;
      const index = sent.length === 5 ? at + 1 : at;
      const answer = await create({ documents: { number: documentNumber, document_lines: sent } });
      check(answer, { status, error });
      const names = Object.keys(answer.body.errors);
      for (const one of names) expect(one).toMatch(new RegExp(`^document_lines\\[${index}\\]`));
      if (field !== null) expect(names).toContain(`document_lines[${index}].${field}`);
      expect(await rowsLeft(documentNumber)).toBe(0);
      expect(await countOf("document_lines")).toBe(before);
    },
  );

  test("create-composite answers 409 for a header that is there already, and stores no detail", async () => {
    const body = documentOf([line(1)]);
    check(await create(body), { status: 201 });
    const before = await countOf("document_lines");
    check(await create(body), { status: 409, error: "Duplicate entry", errors: ["number"] });
    expect(await countOf("document_lines")).toBe(before);
  });

  test("create-composite stores no header when a detail of the second table fails", async () => {
    const documentNumber = number();
    const document_notes = [{ text: "fine" }, { text: "x".repeat(41) }];
    const answer = await create(
      { documents: { number: documentNumber, document_lines: [line(1)], document_notes } },
      "folders",
    );
    check(answer, { status: 400, error: "Validation failed", errors: ["document_notes[1].text"] });
    expect(await rowsLeft(documentNumber)).toBe(0);
  });
});

describe("many details and hostile names", () => {
  test("create-composite stores five thousand details in one request", async () => {
    const lines = Array.from({ length: 5000 }, (_, at) => ({
      line_number: at + 1,
      qty: 1.5,
      price: 2,
      ...(at % 2 === 0 ? { parts: 3 } : { day: "2026-01-01" }),
    }));
    const answer = await create(documentOf(lines));
    check(answer, {
      status: 201,
      data: { total_items: 5000, total_qty: 7500, total_amount: 15_000 },
    });
    const stored = linesOf(record(answer));
    expect(stored.map(({ line_number }) => line_number)).toEqual(
      lines.map(({ line_number }) => line_number),
    );
  });

  test("create-composite says which of thousands of details fails", async () => {
    const lines = Array.from({ length: 2000 }, (_, at) => line(at + 1));
    lines[1777] = line(1778, { category_id: "none" });
    const answer = await create(documentOf(lines));
    check(answer, { status: 400, error: "Foreign key constraint" });
    expect(Object.keys(answer.body.errors)).toEqual(["document_lines[1777].category_id"]);
  });

  test("create-composite takes no field from a prototype", async () => {
    const body = `{"documents": {"number": "${number()}", "constructor": {"a": 1}, "document_lines": [{"line_number": 1, "qty": 1, "price": 1, "__proto__": {"parts": 0}, "toString": 1}]}}`;
    const answer = await create(body);
    check(answer, { status: 201 });
    expect(linesOf(record(answer))[0]!["parts"]).toBeNull();
  });

  test("create-composite takes the last of two members of one name, as JSON does", async () => {
    const text = `{"documents": {"number": "${number()}", "document_lines": [], "document_lines": [{"line_number": 1, "qty": 1, "qty": 2, "price": 1}]}}`;
    check(await create(text), { status: 201, data: { total_qty: 2 } });
  });
});

/** MySQL has no schema whose name is known before the database is made. */
describe.skipIf(inject("engine") === "mysql")(
  "tables that the configuration names with their schema",
  () => {
    const schema = inject("engine") === "sqlite" ? "main" : "public";
    const [header, lines] = [`${schema}.heads`, `${schema}.entries`];
    const named = openShop({
      tables: [
        { name: "heads", columns: { head_id: "key", number: "text(20)" } },
        { name: "entries", columns: { entry_id: "key", head_id: "text(36)", qty: "integer" } },
      ],
      endpoints: {
        heads: {
          tableName: header,
          action: { "create-composite": true, "update-composite": true, "read-composite": true },
          masterDetail: { detailTable: lines, foreignKey: "head_id" },
        },
      },
    });
    const send = (action: string, body: unknown) => named.post("heads", action, body);

    test.each([
      ["their whole names", header, lines],
      ["the whole name of the header", header, "entries"],
      ["the whole name of the details", "heads", lines],
      ["their bare names", "heads", "entries"],
    ])("are written by %s, and answered by their bare ones", async (_, root, list) => {
      const made = await send("create-composite", {
        [root]: { number: "1", [list]: [{ qty: 1 }] },
      });
      check(made, { status: 201 });
      const { head_id, entries } = record(made) as { head_id: string; entries: unknown[] };
      expect(entries).toMatchObject([{ qty: 1 }]);
      const changed = { head_id, [list]: { insert: [{ qty: 2 }] } };
      check(await send("update-composite", { [root]: changed }), {
        status: 200,
        data: { _operations: { deleted: 0, updated: 0, inserted: 1 } },
      });
      const where = [{ key: "head_id", value: head_id }];
      expect(record(await send("read-composite", { where }))["entries"]).toHaveLength(2);
    });

    test.each([
      ["another name", { other: {} }, `Root key must be '${header}'`],
      ["both names of the header", { [header]: {}, heads: {} }, `Root key must be '${header}'`],
      [
        "both names of the details",
        { heads: { [lines]: [{ qty: 1 }], entries: [{ qty: 1 }] } },
        `${lines} and entries are the same table`,
      ],
    ])("are refused with %s", async (_, body, message) => {
      check(await send("create-composite", body), {
        status: 400,
        error: "Invalid payload",
        message,
      });
    });
  },
);
