/** delete over HTTP: every record that matches, all or none, with the deleted records in the answer. */
import { describe, expect, test } from "vitest";
import { check, record, type Case } from "./cases.ts";
import { openShop } from "./shop.ts";

const shop = openShop();

let made = 0;
async function create(body: object = {}) {
  const number = ++made;
  return record(
    await shop.post("items", "create", {
      item_id: `d${number}`,
      code: `D-${number}`,
      name: "doomed",
      ...body,
    }),
  );
}
const first = async (item_id: unknown) =>
  (await shop.post("items", "first", { where: { key: "item_id", value: item_id } })).body.data;
const byKey = (value: unknown) => ({ where: [{ key: "item_id", value }] });

describe("the answer", () => {
  test("delete answers 200 with the message, the number and the deleted records", async () => {
    const row = await create({ qty: 4, price: 1.5, active: true, due: "2026-01-01" });
    const answer = await shop.post("items", "delete", byKey(row["item_id"]));
    check(answer, { status: 200, message: "items data successfully deleted" });
    expect(Object.keys(answer.body).sort()).toEqual(["data", "message", "success", "timestamp"]);
    expect(answer.body.data).toEqual({ deleted_count: 1, deleted_items: [row] });
    expect(await first(row["item_id"])).toBeNull();
  });

  test("delete removes every record that matches", async () => {
    const rows = [
      await create({ qty: 4001 }),
      await create({ qty: 4001 }),
      await create({ qty: 4001 }),
    ];
    const other = await create({ qty: 4002 });
    const answer = await shop.post("items", "delete", { where: [{ key: "qty", value: 4001 }] });
    expect(answer.body.data.deleted_count).toBe(3);
    const byId = (left: { item_id: string }, right: { item_id: string }) =>
      left.item_id < right.item_id ? -1 : 1;
    expect(answer.body.data.deleted_items.toSorted(byId)).toEqual(rows);
    expect(await first(other["item_id"])).toEqual(other);
  });

  test("delete removes thousands of records, and answers each", async () => {
    const rows = Array.from({ length: 2500 }, (_, index) => `('bulk ${index}', 'bulk')`);
    await shop.fixture.sql(`insert into kinds (kind_id, note) values ${rows.join(", ")}`);
    const answer = await shop.post("kinds", "delete", { where: [{ key: "note", value: "bulk" }] });
    check(answer, { status: 200, data: { deleted_count: 2500 } });
    const ids = answer.body.data.deleted_items.map((row: { kind_id: string }) => row.kind_id);
    expect(new Set(ids).size).toBe(2500);
  });

  test("delete joins conditions by AND", async () => {
    const kept = await create({ qty: 4003, active: true });
    const gone = await create({ qty: 4003, active: false });
    const where = [
      { key: "qty", value: 4003 },
      { key: "active", value: false },
    ];
    const answer = await shop.post("items", "delete", { where });
    expect(answer.body.data.deleted_items).toEqual([gone]);
    expect(await first(kept["item_id"])).toEqual(kept);
  });

  test("delete takes null as IS NULL", async () => {
    const kept = await create({ qty: 4004, due: "2026-01-01" });
    const gone = await create({ qty: 4004 });
    const answer = await shop.post("items", "delete", {
      where: [
        { key: "qty", value: 4004 },
        { key: "due", value: null },
      ],
    });
    expect(answer.body.data.deleted_items).toEqual([gone]);
    expect(await first(kept["item_id"])).toEqual(kept);
  });

  test("delete takes the body {data, options} with where inside data", async () => {
    const row = await create();
    const answer = await shop.post("items", "delete", {
      data: byKey(row["item_id"]),
      options: { reason: "x" },
    });
    expect(answer.body.data.deleted_count).toBe(1);
  });

  test("delete never shows hidden fields", async () => {
    const row = await create({ secret: "hush-d" });
    const answer = await shop.post("items", "delete", byKey(row["item_id"]));
    expect(JSON.stringify(answer.body)).not.toMatch(/hush|secret/);
  });

  test("delete works on a table without audit columns", async () => {
    await shop.post("days", "create", { day: "2026-07-07", note: "gone" });
    const answer = await shop.post("days", "delete", {
      where: [{ key: "day", value: "2026-07-07" }],
    });
    expect(answer.body.data).toEqual({
      deleted_count: 1,
      deleted_items: [{ day: "2026-07-07", note: "gone" }],
    });
  });
});

describe("where", () => {
  const malformed: Case[] = [
    { name: "delete refuses no body", body: undefined, status: 400 },
    { name: "delete refuses an empty object", body: {}, status: 400 },
    { name: "delete refuses null", body: "null", status: 400 },
    { name: "delete refuses an array", body: [{ key: "item_id", value: "i01" }], status: 400 },
    { name: "delete refuses a text", body: '"all"', status: 400 },
    { name: "delete refuses a body without where", body: { item_id: "i01" }, status: 400 },
    { name: "delete refuses where null", body: { where: null }, status: 400 },
    { name: "delete refuses where []", body: { where: [] }, status: 400 },
    { name: "delete refuses where {}", body: { where: {} }, status: 400 },
    {
      name: "delete refuses where as one object",
      body: { where: { key: "item_id", value: "i01" } },
      status: 400,
    },
    {
      name: "delete refuses read's form of where",
      body: {
        where: { logic: "AND", conditions: [{ key: "item_id", operator: "=", value: "i01" }] },
      },
      status: 400,
    },
    { name: "delete refuses where as a text", body: { where: "1=1" }, status: 400 },
    {
      name: "delete refuses a condition without value",
      body: { where: [{ key: "item_id" }] },
      status: 400,
    },
    {
      name: "delete refuses a condition without key",
      body: { where: [{ value: "i01" }] },
      status: 400,
    },
    { name: "delete refuses a condition that is empty", body: { where: [{}] }, status: 400 },
    {
      name: "delete refuses a condition that is an array",
      body: { where: [["item_id", "i01"]] },
      status: 400,
    },
    {
      name: "delete refuses another operator than =",
      body: { where: [{ key: "qty", operator: ">", value: 0 }] },
      status: 400,
    },
    {
      name: "delete refuses where beside data and options",
      body: { data: {}, options: {}, where: [] },
      status: 400,
    },
    { name: "delete refuses empty data", body: { data: {}, options: {} }, status: 400 },
  ];
  test.each(malformed)("$name", async (row) => {
    check(await shop.post("items", "delete", row.body), { ...row, error: "Invalid payload" });
  });

  const refused: Case[] = [
    {
      name: "delete refuses an unknown column",
      body: { where: [{ key: "nope", value: 1 }] },
      status: 400,
      error: "Invalid field",
    },
    {
      name: "delete refuses a hidden column",
      body: { where: [{ key: "secret", value: "hush-i01" }] },
      status: 400,
      error: "Invalid field",
    },
    {
      name: "delete refuses a value that the column cannot take",
      body: { where: [{ key: "qty", value: "5abc" }] },
      status: 400,
      error: "Invalid parameter",
    },
    {
      name: "delete refuses an array as value",
      body: { where: [{ key: "item_id", value: ["i01", "i02"] }] },
      status: 400,
      error: "Invalid parameter",
    },
    {
      name: "delete refuses an object as value",
      body: { where: [{ key: "item_id", value: { item_id: 1 } }] },
      status: 400,
      error: "Invalid parameter",
    },
    {
      name: "delete answers 404 when nothing matches",
      body: byKey("nobody"),
      status: 404,
      error: "Not found",
    },
    {
      name: "delete answers 404 when one condition fails",
      body: {
        where: [
          { key: "item_id", value: "i02" },
          { key: "qty", value: 21 },
        ],
      },
      status: 404,
      error: "Not found",
    },
    {
      name: "delete takes 0 for a text column as the text 0",
      body: { where: [{ key: "code", value: 0 }] },
      status: 404,
      error: "Not found",
    },
    {
      name: "delete takes an empty text as itself",
      body: { where: [{ key: "code", value: "" }] },
      status: 404,
      error: "Not found",
    },
    {
      name: "delete takes SQL in a value as text",
      body: byKey("' or '1'='1"),
      status: 404,
      error: "Not found",
    },
  ];
  test.each(refused)("$name", async (row) => {
    const before = await shop.fixture.sql("select count(*) as number from items");
    check(await shop.post("items", "delete", row.body), row);
    expect(await shop.fixture.sql("select count(*) as number from items")).toEqual(before);
  });
});

describe("references", () => {
  test("delete answers 409 for a record that others point at, and keeps all", async () => {
    const free = await create({ qty: 4005 });
    const used = await create({ qty: 4005 });
    await shop.post("lines", "create", { item_id: used["item_id"], amount: 1 });
    const answer = await shop.post("items", "delete", { where: [{ key: "qty", value: 4005 }] });
    check(answer, { status: 409, error: "Foreign key constraint" });
    expect(await first(free["item_id"])).toEqual(free);
    expect(await first(used["item_id"])).toEqual(used);
  });

  test("delete with cascadeDelete removes the details first", async () => {
    const { item_id } = await create();
    const { item_id: other } = await create();
    for (const owner of [item_id, item_id, other])
      await shop.post("lines", "create", { item_id: owner, amount: 1 });
    const answer = await shop.post("cascade", "delete", byKey(item_id));
    check(answer, { status: 200, message: "cascade data successfully deleted" });
    expect(answer.body.data).toMatchObject({ deleted_count: 1, deleted_items: [{ item_id }] });
    const left = {
      limit: 100,
      where: { conditions: [{ key: "item_id", operator: "IN", value: [item_id, other] }] },
    };
    expect((await shop.post("lines", "read", left)).body.data).toEqual([
      expect.objectContaining({ item_id: other }),
    ]);
  });

  test("delete with cascadeDelete removes thousands of records and their details", async () => {
    const numbers = Array.from({ length: 2500 }, (_, index) => index);
    const headers = numbers.map((index) => `('c${index}', 'C-${index}', 'bulk')`);
    await shop.fixture.sql(`insert into items (item_id, code, name) values ${headers.join(", ")}`);
    const details = numbers.map((index) => `('c${index}', ${index})`);
    await shop.fixture.sql(`insert into item_lines (item_id, amount) values ${details.join(", ")}`);
    const answer = await shop.post("cascade", "delete", {
      where: [{ key: "name", value: "bulk" }],
    });
    check(answer, { status: 200, data: { deleted_count: 2500 } });
    const left = await shop.post("lines", "read", {
      where: { conditions: [{ key: "item_id", operator: "LIKE", value: "c%" }] },
    });
    expect(left.body.count).toBe(0);
  });

  test("delete with cascadeDelete answers 404 when nothing matches", async () => {
    check(await shop.post("cascade", "delete", byKey("nobody")), {
      status: 404,
      error: "Not found",
    });
  });
});

describe("If-Match", () => {
  const etag = async (item_id: unknown) =>
    (await shop.post("items", "first", { where: { key: "item_id", value: item_id } })).headers.get(
      "ETag",
    ) ?? "";

  test("delete by key with the current ETag removes the record", async () => {
    const { item_id } = await create();
    const answer = await shop.post("items", "delete", byKey(item_id), {
      "If-Match": await etag(item_id),
    });
    expect(answer.status).toBe(200);
  });

  test("delete by key with an ETag from before a change answers 412 and keeps the record", async () => {
    const { item_id } = await create();
    const old = await etag(item_id);
    await shop.post("items", "update", { item_id, qty: 1 });
    const answer = await shop.post("items", "delete", byKey(item_id), { "If-Match": old });
    check(answer, { status: 412, error: "Precondition failed" });
    expect(await first(item_id)).toMatchObject({ item_id, qty: 1 });
  });

  test("delete by key with an ETag answers 404 for a record that is not there", async () => {
    const answer = await shop.post("items", "delete", byKey("nobody"), { "If-Match": '"x"' });
    check(answer, { status: 404, error: "Not found" });
  });
});
