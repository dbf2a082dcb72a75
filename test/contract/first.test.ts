/** first over HTTP: one record by equality, null when there is none, and always without the default scope. */
import { describe, expect, test } from "vitest";
import { check, type Case } from "./cases.ts";
import { items } from "./fixture.ts";
import { openShop } from "./shop.ts";

const shop = openShop();

const audit = { created_at: null, created_by: null, updated_at: null, updated_by: null };
const apple = { ...items[0], locked: "set by hand", ...audit };

describe("the answer", () => {
  test("first answers the record and nothing else", async () => {
    const answer = await shop.post("items", "first", { where: { key: "code", value: "A-1" } });
    expect(Object.keys(answer.body).sort()).toEqual(["data", "success", "timestamp"]);
    expect(answer.status).toBe(200);
    expect(answer.body.data).toEqual(apple);
  });

  test("first answers 200 with null when nothing matches", async () => {
    const answer = await shop.post("items", "first", { where: { key: "code", value: "none" } });
    expect(answer.status).toBe(200);
    expect(answer.body.data).toBeNull();
    expect(answer.headers.get("ETag")).toBeNull();
  });

  test("first carries an ETag made from created_at, and from updated_at once that is set", async () => {
    const created = await shop.post("items", "create", {
      item_id: "e1",
      code: "E-1",
      name: "etag",
    });
    const where = { key: "item_id", value: "e1" };
    const before = await shop.post("items", "first", { where });
    expect(before.headers.get("ETag")).toContain(created.body.data.created_at);
    const updated = await shop.post("items", "update", { item_id: "e1", qty: 1 });
    const after = await shop.post("items", "first", { where });
    expect(after.headers.get("ETag")).toContain(updated.body.data.updated_at);
    expect(after.headers.get("ETag")).not.toBe(before.headers.get("ETag"));
  });

  test("first carries an ETag of a record without audit columns, which changes with the record", async () => {
    const where = { key: "day", value: "2026-01-01" };
    const before = (await shop.post("days", "first", { where })).headers.get("ETag");
    expect(before).toMatch(/^"[^"]+"$/);
    await shop.post("days", "update", { day: "2026-01-01", note: "changed" });
    expect((await shop.post("days", "first", { where })).headers.get("ETag")).not.toBe(before);
    await shop.post("days", "update", { day: "2026-01-01", note: "new year" });
    expect((await shop.post("days", "first", { where })).headers.get("ETag")).toBe(before);
  });

  test("first carries the same ETag whatever columns are selected", async () => {
    const where = { key: "item_id", value: "i02" };
    const whole = await shop.post("items", "first", { where });
    const part = await shop.post("items", "first", { where, select: ["name"] });
    expect(part.headers.get("ETag")).toBe(whole.headers.get("ETag"));
  });
});

describe("where", () => {
  const found: { name: string; where: unknown; id: string | null }[] = [
    { name: "first takes where as an object", where: { key: "item_id", value: "i03" }, id: "i03" },
    { name: "first takes where as an array", where: [{ key: "item_id", value: "i03" }], id: "i03" },
    {
      name: "first joins conditions by AND",
      where: [
        { key: "qty", value: 20 },
        { key: "active", value: false },
      ],
      id: "i08",
    },
    {
      name: "first finds nothing when one condition fails",
      where: [
        { key: "item_id", value: "i03" },
        { key: "qty", value: 6 },
      ],
      id: null,
    },
    { name: "first takes null as IS NULL", where: { key: "qty", value: null }, id: "i05" },
    { name: "first compares a number", where: { key: "price", value: 9.99 }, id: "i04" },
    {
      name: "first compares a number sent as text",
      where: { key: "qty", value: "777" },
      id: "i07",
    },
    { name: "first compares a date", where: { key: "due", value: "2026-03-10" }, id: "i03" },
    {
      name: "first compares text by its letters' case",
      where: { key: "code", value: "a-1" },
      id: null,
    },
    { name: "first takes % as itself", where: { key: "name", value: "%" }, id: null },
    {
      name: "first takes a number for a text column as its digits",
      where: { key: "code", value: 0 },
      id: null,
    },
    {
      name: "first takes a quote as text",
      where: { key: "name", value: "x' or '1'='1" },
      id: null,
    },
  ];
  test.each(found)("$name", async ({ where, id }) => {
    const answer = await shop.post("items", "first", { where, select: ["item_id"] });
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    expect(answer.body.data).toEqual(id === null ? null : { item_id: id });
  });

  test("first answers one record where several match", async () => {
    const answer = await shop.post("items", "first", { where: { key: "qty", value: 20 } });
    expect(["i02", "i08"]).toContain(answer.body.data.item_id);
  });

  const malformed: Case[] = [
    { name: "first refuses a body without where", body: { select: ["name"] }, status: 400 },
    { name: "first refuses where null", body: { where: null }, status: 400 },
    { name: "first refuses where []", body: { where: [] }, status: 400 },
    { name: "first refuses where {}", body: { where: {} }, status: 400 },
    { name: "first refuses where as a text", body: { where: "item_id = 1" }, status: 400 },
    { name: "first refuses where as a number", body: { where: 5 }, status: 400 },
    {
      name: "first refuses read's form of where",
      body: { where: { logic: "AND", conditions: [] } },
      status: 400,
    },
    {
      name: "first refuses a condition without value",
      body: { where: [{ key: "item_id" }] },
      status: 400,
    },
    {
      name: "first refuses a condition without key",
      body: { where: [{ value: "i01" }] },
      status: 400,
    },
    { name: "first refuses a condition that is null", body: { where: [null] }, status: 400 },
    { name: "first refuses a condition that is a text", body: { where: ["item_id"] }, status: 400 },
    {
      name: "first refuses a key that is no text",
      body: { where: { key: 1, value: 1 } },
      status: 400,
    },
    {
      name: "first refuses another operator than =",
      body: { where: [{ key: "qty", operator: ">", value: 1 }] },
      status: 400,
    },
  ];
  test.each(malformed)("$name", async (row) => {
    check(await shop.post("items", "first", row.body), { ...row, error: "Invalid payload" });
  });

  const fields: Case[] = [
    {
      name: "first refuses an unknown column in where",
      body: { where: { key: "nope", value: 1 } },
      status: 400,
      error: "Invalid field",
    },
    {
      name: "first refuses a hidden column in where",
      body: { where: { key: "secret", value: "hush-i01" } },
      status: 400,
      error: "Invalid field",
    },
    {
      name: "first refuses an unknown column in select",
      body: { where: { key: "item_id", value: "i01" }, select: ["nope"] },
      status: 400,
      error: "Invalid field",
    },
    {
      name: "first refuses a hidden column in select",
      body: { where: { key: "item_id", value: "i01" }, select: ["secret"] },
      status: 400,
      error: "Invalid field",
    },
    {
      name: "first refuses a value that the column cannot take",
      body: { where: { key: "qty", value: "many" } },
      status: 400,
      error: "Invalid parameter",
    },
    {
      name: "first refuses an object as value",
      body: { where: { key: "code", value: { a: 1 } } },
      status: 400,
      error: "Invalid parameter",
    },
    {
      name: "first refuses an array as value",
      body: { where: { key: "code", value: ["A-1", "A-2"] } },
      status: 400,
      error: "Invalid parameter",
    },
  ];
  test.each(fields)("$name", async (row) =>
    check(await shop.post("items", "first", row.body), row),
  );
});

describe("the source", () => {
  test("first reads a view before anything else", async () => {
    const answer = await shop.post("by-view", "first", { where: { key: "item_id", value: "i03" } });
    expect(answer.body.data).toEqual({
      item_id: "i03",
      name: "cherry",
      category_name: "Goods",
      origin: "view",
    });
  });

  test("first reads a query before the table", async () => {
    const answer = await shop.post("by-query", "first", {
      where: { key: "item_id", value: "i03" },
      select: ["origin"],
    });
    expect(answer.body.data).toEqual({ origin: "query" });
  });

  test("first applies no default scope", async () => {
    const answer = await shop.post("scope-flat", "first", {
      where: { key: "item_id", value: "i03" },
      select: ["active"],
    });
    expect(answer.body.data).toEqual({ active: false });
  });

  test("first never shows hidden fields", async () => {
    const answer = await shop.post("items", "first", { where: { key: "item_id", value: "i01" } });
    expect(answer.body.data).not.toHaveProperty("secret");
  });
});

describe("the payload", () => {
  const payloads: Case[] = [
    { name: "first refuses no body", body: undefined, status: 400 },
    { name: "first refuses an empty object", body: {}, status: 400 },
    { name: "first refuses null", body: "null", status: 400 },
    { name: "first refuses an array", body: [{ key: "item_id", value: "i01" }], status: 400 },
    { name: "first refuses a text", body: '"text"', status: 400 },
    {
      name: "first does not unwrap {data, options}",
      body: { data: { where: { key: "item_id", value: "i01" } }, options: {} },
      status: 400,
    },
  ];
  test.each(payloads)("$name", async (row) => {
    check(await shop.post("items", "first", row.body), { ...row, error: "Invalid payload" });
  });
});
