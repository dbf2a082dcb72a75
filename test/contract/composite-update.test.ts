/** update-composite over HTTP: order of its steps, which rows change, If-Match, and full rollback after a refusal. */
import { describe, expect, test } from "vitest";
import { check, record, uuid, type Case } from "./cases.ts";
import { line } from "./documents.ts";
import { openShop } from "./shop.ts";

const shop = openShop();

let made = 0;
/** A new document with three lines, whose keys are the document's with -1, -2 and -3. */
async function create(more: object = {}, endpoint = "documents") {
  const id = `u${++made}`;
  const document_lines = [1, 2, 3].map((at) => line(at, { line_id: `${id}-${at}`, qty: at }));
  const documents = { document_id: id, number: id, document_lines, ...more };
  const answer = await shop.post(endpoint, "create-composite", { documents });
  check(answer, { status: 201 });
  return { id, etag: answer.headers.get("ETag") ?? "" };
}
const update = (documents: unknown, headers: Record<string, string> = {}, endpoint = "documents") =>
  shop.post(endpoint, "update-composite", { documents }, headers);
const change = (id: string, document_lines: unknown, more: object = {}) =>
  update({ document_id: id, ...more, document_lines });
async function read(id: string, endpoint = "documents") {
  const where = [{ key: "document_id", value: id }];
  const answer = await shop.post(endpoint, "read-composite", { where });
  return { data: record(answer), etag: answer.headers.get("ETag") };
}
const linesOf = (data: Record<string, unknown>) =>
  data["document_lines"] as Record<string, unknown>[];
const numbers = (data: Record<string, unknown>) =>
  linesOf(data).map(({ line_number, qty }) => [line_number, qty]);

describe("the answer", () => {
  test("update-composite answers the header with its totals and how many details it deleted, updated and inserted", async () => {
    const { id } = await create();
    const answer = await change(
      id,
      {
        delete: [{ line_id: `${id}-1` }],
        update: [{ line_id: `${id}-2`, qty: 10 }],
        insert: [line(7), line(8)],
      },
      { title: "changed" },
    );
    check(answer, { status: 200, message: "documents data successfully updated" });
    expect(Object.keys(answer.body).sort()).toEqual(["data", "message", "success", "timestamp"]);
    const { _operations, ...header } = answer.body.data;
    expect(_operations).toEqual({ deleted: 1, updated: 1, inserted: 2 });
    const { data, etag } = await read(id);
    const { document_lines, ...shown } = data;
    expect(header).toEqual(shown);
    expect(document_lines).toHaveLength(4);
    expect(header).toMatchObject({
      title: "changed",
      total_items: 4,
      total_qty: 15,
      total_amount: 15,
    });
    expect(answer.headers.get("ETag")).toBe(etag);
  });

  test("update-composite takes the body {data, options}", async () => {
    const { id } = await create();
    const body = { data: { documents: { document_id: id, title: "wrapped" } }, options: {} };
    const answer = await shop.post("documents", "update-composite", body);
    check(answer, { status: 200, data: { title: "wrapped" } });
  });

  test("update-composite changes the header alone when the details are left out", async () => {
    const { id } = await create();
    const answer = await update({ document_id: id, title: "alone" });
    check(answer, {
      status: 200,
      data: {
        title: "alone",
        total_items: 3,
        _operations: { deleted: 0, updated: 0, inserted: 0 },
      },
    });
    expect(linesOf((await read(id)).data).every(({ updated_at }) => updated_at === null)).toBe(
      true,
    );
  });

  test("update-composite keeps the header's fields that are not sent", async () => {
    const { id } = await create({ title: "kept" });
    check(await change(id, { insert: [line(4)] }), {
      status: 200,
      data: { title: "kept", number: id },
    });
  });

  test("update-composite takes an empty object and empty lists of details", async () => {
    const { id } = await create();
    check(await change(id, {}), { status: 200, data: { total_items: 3 } });
    check(await change(id, { insert: [], update: [], delete: [] }), { status: 200 });
  });

  test("update-composite sets totals to those of nothing when the last detail goes", async () => {
    const { id } = await create();
    const answer = await change(id, {
      delete: [1, 2, 3].map((at) => ({ line_id: `${id}-${at}` })),
    });
    check(answer, {
      status: 200,
      data: { total_items: 0, total_qty: 0, total_amount: 0, average_price: null, top_price: null },
    });
  });

  test("update-composite changes a header without audit columns", async () => {
    const { id } = await create({ total_items: 1, total_amount: 1 });
    const answer = await update({ document_id: id }, {}, "unstamped");
    check(answer, { status: 200, data: { number: id } });
  });

  test("update-composite changes details of several tables", async () => {
    const { id } = await create({ document_notes: [{ text: "one", weight: 1 }] }, "folders");
    const before = (await read(id, "folders")).data["document_notes"] as Record<string, unknown>[];
    const document_notes = {
      update: [{ note_id: before[0]!["note_id"], weight: 21 }],
      insert: [{ text: "two", weight: 3 }],
    };
    const document_lines = { delete: [{ line_id: `${id}-3` }] };
    const answer = await update({ document_id: id, document_notes, document_lines }, {}, "folders");
    check(answer, {
      status: 200,
      data: { total_items: 2, _operations: { deleted: 1, updated: 1, inserted: 1 } },
    });
    expect((await read(id, "folders")).data["document_notes"]).toMatchObject([
      { text: "one", doubled: 42 },
      { text: "two", doubled: 6 },
    ]);
  });
});

describe("order and audit", () => {
  test("update-composite deletes, updates and inserts in this order, whatever the body's order", async () => {
    const { id } = await create();
    // Line 2 takes the number of the deleted line 1, and the new line that of line 2.
    const answer = await change(id, {
      insert: [line(2, { qty: 50 })],
      update: [{ line_id: `${id}-2`, line_number: 1 }],
      delete: [{ line_id: `${id}-1` }],
    });
    check(answer, { status: 200 });
    expect(numbers((await read(id)).data)).toEqual([
      [1, 2],
      [2, 50],
      [3, 3],
    ]);
  });

  test("update-composite fills updated_at and updated_by of the header and of the details that it changes", async () => {
    const { id } = await create();
    const answer = await change(
      id,
      {
        update: [
          { line_id: `${id}-1`, qty: 2 },
          { line_id: `${id}-2`, updated_by: "me" },
        ],
        insert: [line(4)],
      },
      { updated_by: "you" },
    );
    check(answer, { status: 200, data: { updated_by: "you", created_by: "Input from API" } });
    const lines = linesOf((await read(id)).data);
    expect(lines.map(({ updated_by }) => updated_by)).toEqual([
      "Update from API",
      "me",
      null,
      null,
    ]);
    expect(lines[0]!["updated_at"]).not.toBeNull();
    expect(lines[2]!["updated_at"]).toBeNull();
  });

  test.each<[body: string, header: object, lines: object]>([
    ["the key of the header alone", {}, {}],
    ["empty lists of details", {}, { insert: [], update: [], delete: [] }],
    ["the keys of details alone", {}, { update: [{ line_id: 1 }, { line_id: 2 }] }],
    ["fields that are none", { nothing: 1 }, { update: [{ line_id: 1, nothing: 1 }] }],
  ])("update-composite changes nothing, and no time, by %s", async (_, header, lines) => {
    const { id, etag } = await create();
    const before = (await read(id)).data;
    const { update: updates, ...others } = lines as { update?: { line_id: number }[] };
    const named = updates?.map((one) => ({ ...one, line_id: `${id}-${one.line_id}` }));
    const answer = await change(id, { ...others, ...(named && { update: named }) }, header);
    check(answer, { status: 200, data: { updated_at: null } });
    expect(answer.headers.get("ETag")).toBe(etag);
    expect((await read(id)).data).toEqual(before);
  });

  test("update-composite never touches created_at and created_by", async () => {
    const { id } = await create();
    const before = (await read(id)).data;
    await change(
      id,
      { update: [{ line_id: `${id}-1`, created_by: "x", created_at: "2020-01-01T00:00:00Z" }] },
      { created_by: "x", created_at: "2020-01-01T00:00:00Z" },
    );
    const after = (await read(id)).data;
    for (const name of ["created_at", "created_by"]) {
      expect(after[name]).toBe(before[name]);
      expect(linesOf(after)[0]![name]).toBe(linesOf(before)[0]![name]);
    }
  });

  test("update-composite makes keys of new details, and fills their foreign key", async () => {
    const { id } = await create();
    await change(id, { insert: [line(4, { document_id: "another" })] });
    const added = linesOf((await read(id)).data)[3]!;
    expect(added).toMatchObject({ line_id: expect.stringMatching(uuid), document_id: id });
  });

  test("update-composite moves no detail to another header", async () => {
    const { id } = await create();
    const other = await create();
    await change(id, { update: [{ line_id: `${id}-1`, document_id: other.id, qty: 9 }] });
    expect(numbers((await read(id)).data)[0]).toEqual([1, 9]);
    expect(linesOf((await read(other.id)).data)).toHaveLength(3);
  });

  test("update-composite computes anew what a changed detail makes of it, and ignores computed fields of the body", async () => {
    const { id } = await create();
    await change(
      id,
      { update: [{ line_id: `${id}-1`, qty: "2.5", parts: 2, amount: 999 }] },
      { total_amount: 1 },
    );
    const { data } = await read(id);
    expect(linesOf(data)[0]).toMatchObject({ amount: 2.5, tax: 0.48, per_part: 1.25 });
    expect(data["total_amount"]).toBe(7.5);
  });
});

test("update-composite changes a thousand details in one request", async () => {
  const keys = Array.from({ length: 1000 }, (_, at) => `many-${at}`);
  const { id } = await create({ document_lines: keys.map((line_id, at) => line(at, { line_id })) });
  const changes = keys.slice(0, 600).map((line_id) => ({ line_id, qty: 3 }));
  const answer = await change(id, {
    update: changes,
    delete: keys.slice(600).map((line_id) => ({ line_id })),
    insert: keys.slice(600).map((line_id, at) => line(2000 + at, { line_id: `${line_id}-new` })),
  });
  check(answer, {
    status: 200,
    data: {
      total_items: 1000,
      total_qty: 2200,
      _operations: { deleted: 400, updated: 600, inserted: 400 },
    },
  });
});

describe("If-Match", () => {
  test("update-composite with the current ETag changes the document", async () => {
    const { id, etag } = await create();
    const answer = await update({ document_id: id, title: "t" }, { "If-Match": etag });
    check(answer, { status: 200 });
    expect(answer.headers.get("ETag")).not.toBe(etag);
  });

  test("update-composite with an ETag from before another change answers 412 and changes nothing", async () => {
    const { id, etag } = await create();
    await change(id, { insert: [line(4)] });
    const before = await read(id);
    const document_lines = { delete: [{ line_id: `${id}-1` }] };
    const answer = await update({ document_id: id, document_lines }, { "If-Match": etag });
    check(answer, { status: 412, error: "Precondition failed" });
    expect(await read(id)).toEqual(before);
  });
});

const lineShape =
  "document_lines must be an object with arrays of objects as insert, update and delete";
const refused: Omit<Case, "status">[] = [
  { name: "update-composite refuses an array of details", body: [], message: lineShape },
  { name: "update-composite refuses null as details", body: null, message: lineShape },
  { name: "update-composite refuses a text as details", body: "x", message: lineShape },
  {
    name: "update-composite refuses an object as insert",
    body: { insert: {} },
    message: lineShape,
  },
  { name: "update-composite refuses null as delete", body: { delete: null }, message: lineShape },
  { name: "update-composite refuses a text as update", body: { update: "[]" }, message: lineShape },
  {
    name: "update-composite refuses another list of details",
    body: { upsert: [] },
    message: `${lineShape}; it has "upsert"`,
  },
  {
    name: "update-composite refuses a detail that is null",
    body: { insert: [null] },
    message: "document_lines.insert[0] must be an object",
  },
  {
    name: "update-composite refuses a key alone in delete",
    body: { delete: ["u1-1"] },
    message: "document_lines.delete[0] must be an object",
  },
  {
    name: "update-composite refuses an update without the detail's key",
    body: { update: [{ qty: 1 }] },
    message: "document_lines.update[0] needs the primary key line_id",
  },
  {
    name: "update-composite refuses a delete without the detail's key",
    body: { delete: [{ line_id: "" }] },
    message: "document_lines.delete[0] needs the primary key line_id",
  },
  {
    name: "update-composite refuses an object as the detail's key",
    body: { delete: [{ line_id: {} }] },
  },
  {
    name: "update-composite refuses the same detail twice in update",
    body: { update: [{ line_id: "a" }, { line_id: "a" }] },
    message: "document_lines contains the same record twice in update and delete",
  },
  {
    name: "update-composite refuses the same detail twice in delete",
    body: { delete: [{ line_id: "a" }, { line_id: "a" }] },
  },
  {
    name: "update-composite refuses the same detail in update and delete",
    body: { update: [{ line_id: "a" }], delete: [{ line_id: "a" }] },
  },
  {
    name: "update-composite refuses too many details",
    body: {
      insert: Array.from({ length: 5001 }, () => ({})),
      delete: Array.from({ length: 5000 }, () => ({})),
    },
    message: "A request takes at most 10000 details",
  },
];

describe("what update-composite refuses as a payload", () => {
  test.each(refused)("$name", async ({ body, ...expected }) => {
    const { id } = await create();
    const before = await read(id);
    const answer = await change(id, body, { title: "never" });
    check(answer, { status: 400, error: "Invalid payload", ...expected });
    expect(await read(id)).toEqual(before);
  });

  test.each([
    ["no body", undefined, "The payload is empty"],
    ["another root key", { document: {} }, "Root key must be 'documents'"],
    ["a second root key", { documents: {}, more: 1 }, "Root key must be 'documents'"],
    ["an array as header", { documents: [] }, "documents must be an object"],
    [
      "a missing primary key",
      { documents: { title: "x" } },
      "The primary key document_id is required",
    ],
    [
      "null as primary key",
      { documents: { document_id: null } },
      "The primary key document_id is required",
    ],
  ])("update-composite refuses %s", async (_, body, message) => {
    const answer = await shop.post("documents", "update-composite", body);
    check(answer, { status: 400, error: "Invalid payload", message });
  });
});

describe("what is not there", () => {
  test("update-composite answers 404 for a header that is not there", async () => {
    const answer = await update({ document_id: "none", document_lines: { insert: [line(1)] } });
    check(answer, { status: 404, error: "Not found", message: "documents record not found" });
  });

  test.each(["update", "delete"])(
    "update-composite answers 404 for an unknown detail in %s, and undoes the rest",
    async (list) => {
      const { id } = await create();
      const before = await read(id);
      const lines = {
        insert: [line(4)],
        delete: [{ line_id: `${id}-1` }],
        [list]: [{ line_id: "none" }],
      };
      check(await change(id, lines, { title: "never" }), { status: 404, error: "Not found" });
      expect(await read(id)).toEqual(before);
    },
  );

  test.each(["update", "delete"])(
    "update-composite answers 404 for another header's detail in %s, and touches neither",
    async (list) => {
      const { id } = await create();
      const other = await create();
      const before = [await read(id), await read(other.id)];
      const lines = { [list]: [{ line_id: `${id}-1` }, { line_id: `${other.id}-1`, qty: 77 }] };
      check(await change(id, lines), { status: 404, error: "Not found" });
      expect([await read(id), await read(other.id)]).toEqual(before);
    },
  );
});

const spoilt = [
  {
    name: "validation",
    list: "insert",
    item: { qty: "x" },
    status: 400,
    error: "Validation failed",
  },
  { name: "a unique value", list: "insert", item: line(3), status: 409, error: "Duplicate entry" },
  {
    name: "a foreign key",
    list: "insert",
    item: line(9, { category_id: "none" }),
    status: 400,
    error: "Foreign key constraint",
  },
  {
    name: "a check",
    list: "insert",
    item: line(9, { qty: 100_000 }),
    status: 400,
    error: "Validation failed",
  },
  {
    name: "validation",
    list: "update",
    item: { qty: "x" },
    status: 400,
    error: "Validation failed",
  },
  {
    name: "a unique value",
    list: "update",
    item: { line_number: 3 },
    status: 409,
    error: "Duplicate entry",
  },
  {
    name: "a foreign key",
    list: "update",
    item: { category_id: "none" },
    status: 400,
    error: "Foreign key constraint",
  },
  {
    name: "a check",
    list: "update",
    item: { qty: 100_000 },
    status: 400,
    error: "Validation failed",
  },
] as const;

describe("a failure of one detail undoes all", () => {
  test.each(spoilt.flatMap((one) => [0, 1, 2].map((at) => ({ ...one, at }))))(
    "update-composite changes nothing when detail $at of $list fails by $name, and says which",
    async ({ list, item, status, error, at }) => {
      const { id } = await create();
      await change(id, { insert: [line(20, { line_id: `${id}-20` })] });
      const before = await read(id);
      const fine =
        list === "insert"
          ? [line(11), line(12)]
          : [1, 20].map((key) => ({ line_id: `${id}-${key}`, qty: 8 }));
      const items: object[] = [...fine];
      items.splice(at, 0, list === "update" ? { line_id: `${id}-2`, ...item } : item);
      const answer = await change(id, { [list]: items }, { title: "never" });
      check(answer, { status, error });
      for (const name of Object.keys(answer.body.errors))
        expect(name).toMatch(new RegExp(`^document_lines\\[${at}\\]`));
      expect(await read(id)).toEqual(before);
    },
  );

  test("update-composite reports every fault of header and details at once, and says of which list", async () => {
    const { id } = await create();
    const answer = await change(
      id,
      { insert: [{ line_number: 4 }], update: [{ line_id: `${id}-1`, qty: null, day: "x" }] },
      { number: "" },
    );
    check(answer, { status: 400, error: "Validation failed" });
    expect(answer.body.errors).toEqual({
      number: ["is required"],
      "document_lines[0].qty": ["update: is required", "insert: is required"],
      "document_lines[0].day": [expect.stringMatching(/^update: must be a date/)],
    });
  });

  test("update-composite refuses a division by zero that a change leads to", async () => {
    const { id } = await create();
    const before = await read(id);
    const answer = await change(id, { update: [{ line_id: `${id}-2`, parts: 0 }] });
    check(answer, {
      status: 400,
      error: "Validation failed",
      errors: { "document_lines.per_part": ["divides by zero"] },
    });
    expect(await read(id)).toEqual(before);
  });

  test("update-composite refuses a total that its column cannot hold", async () => {
    const { id } = await create();
    const before = await read(id);
    const large = { qty: "99999", price: "9999999" };
    const answer = await change(id, { insert: [line(4, large), line(5, large)] });
    check(answer, { status: 400, error: "Validation failed", errors: ["total_amount"] });
    expect(await read(id)).toEqual(before);
  });

  test("update-composite answers 409 for a header value that must be unique, and keeps the details", async () => {
    const { id } = await create();
    const other = await create();
    const before = await read(id);
    const answer = await change(id, { delete: [{ line_id: `${id}-1` }] }, { number: other.id });
    check(answer, { status: 409, error: "Duplicate entry", errors: ["number"] });
    expect(await read(id)).toEqual(before);
  });

  test("update-composite answers 400 for a header value that a check refuses, and keeps the details", async () => {
    const { id } = await create();
    const before = await read(id);
    const answer = await change(id, { delete: [{ line_id: `${id}-1` }] }, { title: "forbidden" });
    check(answer, { status: 400, error: "Validation failed" });
    expect(await read(id)).toEqual(before);
  });
});

describe("delete with cascadeDelete", () => {
  test("delete takes the details of every table with their header", async () => {
    const { id } = await create({ document_notes: [{ text: "one" }, { text: "two" }] }, "folders");
    const where = [{ key: "document_id", value: id }];
    check(await shop.post("folders", "delete", { where }), {
      status: 200,
      data: { deleted_count: 1 },
    });
    for (const table of ["document_lines", "document_notes"])
      expect(await shop.fixture.sql(`select 1 from ${table} where document_id = '${id}'`)).toEqual(
        [],
      );
  });
});
