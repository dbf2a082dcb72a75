/** update over HTTP: partial changes by primary key, audit fields, validation, If-Match, and database refusals. */
import { beforeEach, describe, expect, test } from "vitest";
import { check, instant, record, type Case } from "./cases.ts";
import { openShop } from "./shop.ts";

const shop = openShop();

/** Each test has its own row. */
let id = "";
let rows = 0;
beforeEach(async () => {
  id = `u${++rows}`;
  const body = {
    item_id: id,
    code: `U-${rows}`,
    name: "before",
    qty: 1,
    price: 2.5,
    active: true,
    due: "2026-01-01",
    category_id: "c1",
  };
  expect((await shop.post("items", "create", body)).status).toBe(201);
});

const first = async (item_id = id) =>
  (await shop.post("items", "first", { where: { key: "item_id", value: item_id } })).body.data;

describe("the answer", () => {
  test("update answers 200 with the message, the record and nothing else", async () => {
    const answer = await shop.post("items", "update", { item_id: id, name: "after" });
    check(answer, { status: 200, message: "items data successfully updated" });
    expect(Object.keys(answer.body).sort()).toEqual(["data", "message", "success", "timestamp"]);
    expect(record(answer)).toMatchObject({
      item_id: id,
      name: "after",
      updated_at: expect.stringMatching(instant),
    });
    expect(record(answer)).toEqual(await first());
  });

  test("update keeps the fields that are not sent", async () => {
    const before = await first();
    await shop.post("items", "update", { item_id: id, qty: 9 });
    const after = await first();
    expect(after).toEqual({
      ...before,
      qty: 9,
      updated_at: after.updated_at,
      updated_by: "Update from API",
    });
  });

  test("update stores null where the column takes it", async () => {
    const answer = await shop.post("items", "update", {
      item_id: id,
      qty: null,
      price: null,
      due: null,
      category_id: null,
    });
    expect(record(answer)).toMatchObject({ qty: null, price: null, due: null, category_id: null });
  });

  test("update takes the body {data, options}", async () => {
    const answer = await shop.post("items", "update", {
      data: { item_id: id, name: "wrapped" },
      options: { a: 1 },
    });
    check(answer, { status: 200, data: { name: "wrapped" } });
  });

  test("update changes the one record alone", async () => {
    const other = await first("i01");
    await shop.post("items", "update", { item_id: id, name: "alone" });
    expect(await first("i01")).toEqual(other);
  });

  test("update finds a record by an integer key", async () => {
    const { line_id } = record(await shop.post("lines", "create", { item_id: "i02", amount: 1 }));
    const answer = await shop.post("lines", "update", { line_id, amount: 2 });
    expect(record(answer)).toMatchObject({ line_id, amount: 2 });
    expect(
      record(await shop.post("lines", "update", { line_id: String(line_id), amount: 3 })),
    ).toMatchObject({ amount: 3 });
  });

  test("update carries the ETag that first carries", async () => {
    const answer = await shop.post("items", "update", { item_id: id, qty: 2 });
    const again = await shop.post("items", "first", { where: { key: "item_id", value: id } });
    expect(answer.headers.get("ETag")).toBe(again.headers.get("ETag"));
    expect(answer.headers.get("ETag")).toContain(answer.body.data.updated_at);
  });
});

describe("audit fields", () => {
  test("update sets updated_at itself, whatever the body says", async () => {
    const row = record(
      await shop.post("items", "update", {
        item_id: id,
        qty: 2,
        updated_at: "2001-01-01T00:00:00.000Z",
      }),
    );
    expect(Math.abs(Date.parse(String(row["updated_at"])) - Date.now())).toBeLessThan(5000);
  });

  test("update moves updated_at on with every change", async () => {
    const seen: string[] = [];
    for (let qty = 1; qty <= 5; qty++)
      seen.push(
        record(await shop.post("items", "update", { item_id: id, qty }))["updated_at"] as string,
      );
    expect(new Set(seen).size).toBe(5);
    expect(seen.toSorted()).toEqual(seen);
  });

  test("update takes updated_by from the body", async () => {
    expect(
      record(await shop.post("items", "update", { item_id: id, qty: 1, updated_by: "Bo" }))[
        "updated_by"
      ],
    ).toBe("Bo");
  });

  test("update fills updated_by anew when the body has none", async () => {
    await shop.post("items", "update", { item_id: id, qty: 1, updated_by: "Bo" });
    expect(record(await shop.post("items", "update", { item_id: id, qty: 2 }))["updated_by"]).toBe(
      "Update from API",
    );
  });

  test("update refuses an updated_by that is no text together with the other fields", async () => {
    const body = { item_id: id, name: null, updated_by: {} };
    const answer = await shop.post("items", "update", body);
    check(answer, { status: 400, error: "Validation failed", errors: ["name", "updated_by"] });
  });

  test("update never touches created_at and created_by", async () => {
    const { created_at, created_by } = await first();
    const body = { item_id: id, qty: 3, created_at: "2001-01-01T00:00:00.000Z", created_by: "Eve" };
    expect(record(await shop.post("items", "update", body))).toMatchObject({
      created_at,
      created_by,
    });
  });

  test("update never touches created_by under its configured name", async () => {
    const { category_id, made_on } = record(
      await shop.post("categories", "create", { name: "Made" }),
    );
    const answer = await shop.post("categories", "update", {
      category_id,
      name: "Made anew",
      made_by: "Eve",
      made_on: null,
    });
    expect(record(answer)).toMatchObject({
      made_on,
      made_by: "Input from API",
      changed_by: "Update from API",
    });
    expect(record(answer)["changed_on"]).toMatch(instant);
  });
});

describe("fields", () => {
  test("update ignores fields that the entity does not have", async () => {
    const answer = await shop.post("items", "update", {
      item_id: id,
      name: "known",
      nonsense: [1],
    });
    check(answer, { status: 200, data: { name: "known" } });
    expect(record(answer)).not.toHaveProperty("nonsense");
  });

  test("update ignores read-only fields", async () => {
    expect(
      record(await shop.post("items", "update", { item_id: "i04", locked: "mine", qty: 1 }))[
        "locked"
      ],
    ).toBe("set by hand");
  });

  test("update never shows hidden fields", async () => {
    const answer = await shop.post("items", "update", { item_id: "i04", qty: 2 });
    expect(JSON.stringify(answer.body)).not.toMatch(/hush|secret/);
  });
});

describe("the payload", () => {
  const payloads: Case[] = [
    { name: "update refuses no body", body: undefined, status: 400 },
    { name: "update refuses an empty object", body: {}, status: 400 },
    { name: "update refuses empty data", body: { data: {}, options: {} }, status: 400 },
    { name: "update refuses null", body: "null", status: 400 },
    { name: "update refuses an array", body: [{ item_id: "i01" }], status: 400 },
    { name: "update refuses a number", body: "1", status: 400 },
    { name: "update refuses a missing primary key", body: { name: "x" }, status: 400 },
    { name: "update refuses a null primary key", body: { item_id: null, name: "x" }, status: 400 },
    { name: "update refuses an empty primary key", body: { item_id: "", name: "x" }, status: 400 },
    {
      name: "update refuses an object as primary key",
      body: { item_id: { a: 1 }, name: "x" },
      status: 400,
    },
    {
      name: "update refuses an array as primary key",
      body: { item_id: ["i01", "i02"], name: "x" },
      status: 400,
    },
  ];
  test.each(payloads)("$name", async (row) => {
    check(await shop.post("items", "update", row.body), { ...row, error: "Invalid payload" });
  });
});

describe("the key and nothing else", () => {
  test.each(["items", "unaudited"])("answers the record of %s unchanged", async (endpoint) => {
    const before = await first();
    const answer = await shop.post(endpoint, "update", { item_id: id });
    check(answer, { status: 200, message: `${endpoint} data successfully updated` });
    const again = await shop.post(endpoint, "first", { where: { key: "item_id", value: id } });
    expect(record(answer)).toEqual(record(again));
    expect(answer.headers.get("ETag")).toBe(again.headers.get("ETag"));
    expect(await first()).toEqual(before);
  });

  test("is taken within {data, options}", async () => {
    const answer = await shop.post("items", "update", { data: { item_id: id }, options: {} });
    check(answer, { status: 200, data: { updated_at: null } });
  });

  test("answers 404 for a record that is not there", async () => {
    const answer = await shop.post("items", "update", { item_id: "nobody" });
    check(answer, { status: 404, error: "Not found" });
  });

  test("answers 412 where If-Match names another version", async () => {
    const { headers } = await shop.post("items", "update", { item_id: id });
    const send = (etag: string) =>
      shop.post("items", "update", { item_id: id }, { "If-Match": etag });
    check(await send(headers.get("ETag")!), { status: 200 });
    check(await send('"another"'), { status: 412, error: "Precondition failed" });
  });
});

describe("a payload that names no field to change", () => {
  const useless: [string, object][] = [
    ["a field that the entity does not have", { nmae: "after" }],
    ["a read-only field", { locked: "by hand" }],
    ["times that the service sets", { created_at: null, updated_at: null, created_by: "x" }],
  ];
  test.each(useless)("is refused by update: %s", async (_, fields) => {
    const before = await first();
    const answer = await shop.post("items", "update", { item_id: id, ...fields });
    check(answer, {
      status: 400,
      error: "Invalid payload",
      message: "The payload must contain at least one field to change besides the key item_id",
    });
    expect(await first()).toEqual(before);
  });

  test("is refused by update also where there are no audit columns", async () => {
    const answer = await shop.post("unaudited", "update", { item_id: id, nothing: 1 });
    check(answer, { status: 400, error: "Invalid payload" });
  });

  test("is none where update gets updated_by alone", async () => {
    const answer = await shop.post("items", "update", { item_id: id, updated_by: "somebody" });
    check(answer, { status: 200, data: { name: "before", updated_by: "somebody" } });
  });

  test("is none where update gets the value that the field has", async () => {
    const answer = await shop.post("items", "update", { item_id: id, name: "before" });
    check(answer, { status: 200, data: { name: "before" } });
  });
});

describe("validation", () => {
  const refused: (Case & { errors: readonly string[] | Record<string, string[]> })[] = [
    {
      name: "update refuses null for a required field",
      body: { title: null },
      status: 400,
      errors: { title: ["A title, please"] },
    },
    {
      name: "update refuses an empty required field",
      body: { title: "" },
      status: 400,
      errors: { title: ["A title, please"] },
    },
    {
      name: "update refuses a value against its rule",
      body: { ranked: 6 },
      status: 400,
      errors: { ranked: ["Five at most"] },
    },
    {
      name: "update refuses several fields at once",
      body: { title: "ab", choice: "blue", gain: 0 },
      status: 400,
      errors: ["choice", "gain", "title"],
    },
    {
      name: "update refuses a value that a column cannot hold",
      body: { ranked: "many", born: "soon" },
      status: 400,
      errors: ["born", "ranked"],
    },
  ];
  test.each(refused)("$name", async (row) => {
    const { form_id } = record(await shop.post("forms", "create", { title: "Report" }));
    const answer = await shop.post("forms", "update", { form_id, ...(row.body as object) });
    check(answer, { ...row, error: "Validation failed", message: "Invalid data" });
  });

  test("update checks only the fields that are sent", async () => {
    const { form_id } = record(await shop.post("forms", "create", { title: "Report" }));
    const answer = await shop.post("forms", "update", { form_id, nick: "  bob " });
    check(answer, { status: 200, data: { nick: "bob", title: "Report" } });
  });

  test("update fills in no defaults", async () => {
    const { form_id } = record(
      await shop.post("forms", "create", { title: "Report", filled: "mine" }),
    );
    expect(record(await shop.post("forms", "update", { form_id, nick: "bob" }))["filled"]).toBe(
      "mine",
    );
  });
});

describe("what the database refuses", () => {
  const refused: Case[] = [
    {
      name: "update answers 404 for a record that is not there",
      body: { item_id: "nobody", name: "x" },
      status: 404,
      error: "Not found",
    },
    {
      name: "update answers 404 for a key longer than the column",
      body: { item_id: "x".repeat(100), name: "x" },
      status: 404,
      error: "Not found",
    },
    {
      name: "update answers 409 for a value that must be unique",
      body: { code: "A-1" },
      status: 409,
      error: "Duplicate entry",
      errors: ["code"],
    },
    {
      name: "update answers 400 for a reference without its row",
      body: { category_id: "none" },
      status: 400,
      error: "Foreign key constraint",
    },
    {
      name: "update answers 400 for null in a column that refuses it",
      body: { code: null },
      status: 400,
      error: "Validation failed",
      errors: ["code"],
    },
    {
      name: "update answers 400 for a value that a check refuses",
      body: { qty: 100000 },
      status: 400,
      error: "Validation failed",
    },
  ];
  test.each(refused)("$name", async (row) => {
    const before = await first();
    check(await shop.post("items", "update", { item_id: id, ...(row.body as object) }), row);
    expect(await first()).toEqual(before);
  });
});

describe("If-Match", () => {
  const etag = async () =>
    (await shop.post("items", "first", { where: { key: "item_id", value: id } })).headers.get(
      "ETag",
    ) ?? "";

  test("update with the current ETag changes the record", async () => {
    const answer = await shop.post(
      "items",
      "update",
      { item_id: id, qty: 5 },
      { "If-Match": await etag() },
    );
    check(answer, { status: 200, data: { qty: 5 } });
  });

  test("update with the ETag of create changes the record", async () => {
    const created = await shop.post("items", "create", { code: `M-${id}`, name: "m" });
    const body = { item_id: created.body.data.item_id, qty: 5 };
    const answer = await shop.post("items", "update", body, {
      "If-Match": created.headers.get("ETag") ?? "",
    });
    expect(answer.status).toBe(200);
  });

  test("update with an ETag from before another change answers 412 and changes nothing", async () => {
    const old = await etag();
    await shop.post("items", "update", { item_id: id, qty: 6 });
    const answer = await shop.post("items", "update", { item_id: id, qty: 7 }, { "If-Match": old });
    check(answer, { status: 412, error: "Precondition failed" });
    expect((await first()).qty).toBe(6);
  });

  test("update with an ETag takes one of two writers", async () => {
    const headers = { "If-Match": await etag() };
    const both = await Promise.all(
      [20, 21].map((qty) => shop.post("items", "update", { item_id: id, qty }, headers)),
    );
    expect(both.map((answer) => answer.status).toSorted()).toEqual([200, 412]);
  });

  test("update with an ETag answers 404 for a record that is not there", async () => {
    const answer = await shop.post(
      "items",
      "update",
      { item_id: "nobody", qty: 1 },
      { "If-Match": '"x"' },
    );
    check(answer, { status: 404, error: "Not found" });
  });
});
