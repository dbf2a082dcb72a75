/** create over HTTP: the answer, keys, audit fields, validation rules, column types, and database refusals. */
import { describe, expect, inject, test } from "vitest";
import { check, instant, record, uuid, type Case } from "./cases.ts";
import { openFixture, openForTests } from "./harness.ts";
import { openShop } from "./shop.ts";

const shop = openShop();

/** A body that every rule of `forms` accepts. */
const form = { title: "Report" };

describe("the answer", () => {
  test("create answers 201 with the message, the record and nothing else", async () => {
    const answer = await shop.post("items", "create", {
      code: "N-1",
      name: "new",
      qty: 3,
      price: 1.25,
      active: false,
    });
    check(answer, { status: 201, message: "items data successfully added" });
    expect(Object.keys(answer.body).sort()).toEqual(["data", "message", "success", "timestamp"]);
    expect(record(answer)).toEqual({
      item_id: expect.stringMatching(uuid),
      code: "N-1",
      name: "new",
      category_id: null,
      qty: 3,
      price: 1.25,
      active: false,
      due: null,
      locked: null,
      created_at: expect.stringMatching(instant),
      created_by: "Input from API",
      updated_at: null,
      updated_by: null,
    });
  });

  test("create answers the record that first answers", async () => {
    const answer = await shop.post("items", "create", {
      code: "N-2",
      name: "twice",
      due: "2026-02-28",
      category_id: "c1",
    });
    const { item_id } = record(answer);
    const again = await shop.post("items", "first", { where: { key: "item_id", value: item_id } });
    expect(again.body.data).toEqual(answer.body.data);
    expect(again.headers.get("ETag")).toBe(answer.headers.get("ETag"));
  });

  test("create and update answer what first answers through a view, and the table's own columns", async () => {
    const body = { code: "N-9", name: "viewed", category_id: "c2" };
    const created = await shop.post("by-both", "create", body);
    const { item_id } = record(created);
    const where = { key: "item_id", value: item_id };
    const before = await shop.post("by-both", "first", { where });
    expect(before.body.data).toMatchObject({ category_name: "Goods", origin: "view" });
    const own = { code: "N-9", created_by: "Input from API", updated_at: null };
    expect(record(created)).toMatchObject({ ...before.body.data, ...own });
    expect(record(created)["created_at"]).toMatch(/^\d{4}-/);
    expect(created.headers.get("ETag")).toBe(before.headers.get("ETag"));
    const updated = await shop.post("by-both", "update", { item_id, name: "viewed anew" });
    const after = await shop.post("by-both", "first", { where });
    expect(record(updated)).toMatchObject({ ...after.body.data, code: "N-9" });
    expect(record(updated)["updated_at"]).toMatch(/^\d{4}-/);
    expect(updated.headers.get("ETag")).toBe(after.headers.get("ETag"));
  });

  test("create carries an ETag made from created_at", async () => {
    const answer = await shop.post("items", "create", { code: "N-3", name: "tagged" });
    expect(answer.headers.get("ETag")).toContain(String(record(answer)["created_at"]));
  });

  test("create takes the body {data, options}", async () => {
    const answer = await shop.post("items", "create", {
      data: { code: "N-4", name: "wrapped" },
      options: { any: 1 },
    });
    check(answer, { status: 201, data: { code: "N-4", name: "wrapped" } });
  });

  const notWrapped = [
    { name: "a third member", body: { data: { code: "N-5", name: "w" }, options: {}, more: 1 } },
    { name: "options that are no object", body: { data: { code: "N-5", name: "w" }, options: [] } },
    { name: "data that is no object", body: { data: "N-5", options: {} } },
    { name: "no options", body: { data: { code: "N-5", name: "w" } } },
  ];
  test.each(notWrapped)("create does not unwrap {data, options} with $name", async ({ body }) => {
    const answer = await shop.post("items", "create", body);
    check(answer, { status: 400, error: "Validation failed", errors: ["code", "name"] });
  });
});

describe("the key", () => {
  const missing = [
    { name: "create makes a UUID v4 for a missing key", key: {} },
    { name: "create makes a UUID v4 for an empty key", key: { kind_id: "" } },
    { name: "create makes a UUID v4 for the key -", key: { kind_id: "-" } },
  ];
  test.each(missing)("$name", async ({ key }) => {
    expect(record(await shop.post("kinds", "create", { note: "n", ...key }))["kind_id"]).toMatch(
      uuid,
    );
  });

  test("create keeps a key that the body gives", async () => {
    const answer = await shop.post("kinds", "create", { kind_id: "my own key" });
    expect(record(answer)["kind_id"]).toBe("my own key");
  });

  test("create leaves a missing identity key to the database", async () => {
    const first = record(await shop.post("lines", "create", { item_id: "i02", amount: 1 }))[
      "line_id"
    ];
    const second = record(
      await shop.post("lines", "create", { item_id: "i02", amount: 1, line_id: "-" }),
    )["line_id"];
    expect(first).toEqual(expect.any(Number));
    expect(second).toBe(Number(first) + 1);
  });

  const refused: Case[] = [
    {
      name: "create refuses a missing key that nothing generates",
      body: { note: "?" },
      status: 400,
    },
    {
      name: "create refuses an empty key that nothing generates",
      body: { day: "", note: "?" },
      status: 400,
    },
    {
      name: "create refuses the key - that nothing generates",
      body: { day: "-", note: "?" },
      status: 400,
    },
    {
      name: "create refuses a key that its column cannot hold",
      body: { day: "2026-02-30" },
      status: 400,
    },
  ];
  test.each(refused)("$name", async (row) => {
    check(await shop.post("days", "create", row.body), {
      ...row,
      error: "Validation failed",
      errors: ["day"],
    });
  });

  test("create answers 409 for a key that exists", async () => {
    const answer = await shop.post("days", "create", { day: "2026-01-01" });
    check(answer, { status: 409, error: "Duplicate entry", errors: ["day"] });
  });
});

describe("audit fields", () => {
  test("create sets created_at itself, whatever the body says", async () => {
    const before = Date.now();
    const row = record(
      await shop.post("items", "create", {
        code: "T-1",
        name: "t",
        created_at: "2001-01-01T00:00:00.000Z",
      }),
    );
    const created = Date.parse(String(row["created_at"]));
    expect(created).toBeGreaterThanOrEqual(before - 1);
    expect(created).toBeLessThanOrEqual(Date.now() + 1);
  });

  test("create refuses a created_by that is no text together with the other fields", async () => {
    const body = { name: null, qty: "many", created_by: {} };
    const errors = ["code", "created_by", "name", "qty"];
    const answer = await shop.post("items", "create", body);
    check(answer, { status: 400, error: "Validation failed", errors });
  });

  test("create takes created_by from the body", async () => {
    const row = record(
      await shop.post("items", "create", { code: "T-2", name: "t", created_by: "Ann" }),
    );
    expect(row["created_by"]).toBe("Ann");
  });

  test("create, update and adjust ignore who a body says it was where that is read-only", async () => {
    const fields = { stock: 1, balance: 0, big: 0, free: 0, created_by: "Ann", updated_by: {} };
    const created = record(await shop.post("signed", "create", fields));
    expect(created).toMatchObject({ created_by: "Input from API", updated_by: null });
    const { counter_id } = created;
    const byApi = { created_by: "Input from API", updated_by: "Update from API" };
    const body = { counter_id, label: "new", created_by: "Eve", updated_by: {} };
    check(await shop.post("signed", "update", body), { status: 200, data: byApi });
    const adjustments = [{ field: "stock", value: 1 }];
    const adjusted = { counter_id, adjustments, updated_by: "Eve" };
    check(await shop.post("signed", "adjust", adjusted), { status: 200, data: byApi });
    const nothing = { counter_id, updated_by: "Eve" };
    const refused = await shop.post("signed", "update", nothing);
    check(refused, { status: 400, error: "Invalid payload" });
  });

  test("create leaves updated_at and updated_by empty", async () => {
    const body = { code: "T-3", name: "t", updated_at: "2001-01-01T00:00:00.000Z" };
    expect(record(await shop.post("items", "create", body))).toMatchObject({
      updated_at: null,
      updated_by: null,
    });
  });

  test("create fills audit columns under their configured names", async () => {
    const row = record(await shop.post("categories", "create", { name: "Tools" }));
    expect(row).toEqual({
      category_id: expect.stringMatching(uuid),
      name: "Tools",
      made_on: expect.stringMatching(instant),
      made_by: "Input from API",
      changed_on: null,
      changed_by: null,
    });
  });

  test("create fills no audit columns where they are switched off", async () => {
    const row = record(await shop.post("unaudited", "create", { code: "T-4", name: "t" }));
    expect(row).toMatchObject({
      created_at: null,
      created_by: null,
      updated_at: null,
      updated_by: null,
    });
  });

  test("create works on a table without audit columns", async () => {
    const row = record(await shop.post("days", "create", { day: "2026-05-05", note: "n" }));
    expect(row).toEqual({ day: "2026-05-05", note: "n" });
  });
});

describe("fields", () => {
  test("create ignores fields that the entity does not have", async () => {
    const answer = await shop.post("items", "create", {
      code: "F-1",
      name: "f",
      nonsense: { a: [1] },
    });
    expect(record(answer)).not.toHaveProperty("nonsense");
  });

  test("create ignores read-only fields", async () => {
    expect(
      record(await shop.post("items", "create", { code: "F-2", name: "f", locked: "mine" }))[
        "locked"
      ],
    ).toBeNull();
  });

  test("create never shows hidden fields", async () => {
    const answer = await shop.post("items", "create", { code: "F-3", name: "f", secret: "hush-1" });
    expect(JSON.stringify(answer.body)).not.toContain("hush-1");
    expect(record(answer)).not.toHaveProperty("secret");
  });
});

describe("the payload", () => {
  const payloads: Case[] = [
    { name: "create refuses no body", body: undefined, status: 400 },
    { name: "create refuses an empty object", body: {}, status: 400 },
    { name: "create refuses empty data", body: { data: {}, options: {} }, status: 400 },
    { name: "create refuses null", body: "null", status: 400 },
    { name: "create refuses an array", body: [{ code: "P-1", name: "p" }], status: 400 },
    { name: "create refuses a text", body: '"text"', status: 400 },
    { name: "create refuses a number", body: "12", status: 400 },
    { name: "create refuses what is not JSON", body: "{code: 1}", status: 400 },
  ];
  test.each(payloads)("$name", async (row) => {
    check(await shop.post("items", "create", row.body), { ...row, error: "Invalid payload" });
  });
});

describe("validation rules", () => {
  const refused = [
    rule(
      "required and missing, with its own message",
      { choice: "red" },
      { title: ["A title, please"] },
    ),
    rule("required and null", { title: null }, { title: ["A title, please"] }),
    rule("required and empty", { title: "" }, { title: ["A title, please"] }),
    rule("minLength", { title: "ab" }, ["title"]),
    rule("maxLength", { title: "abcdefghijk" }, ["title"]),
    rule("type string", { ...form, word: 12 }, ["word"]),
    rule(
      "format email, with its own message",
      { ...form, email: "ann.example.org" },
      { email: ["Not an address"] },
    ),
    rule("format phone", { ...form, phone: "call me" }, ["phone"]),
    rule("format url", { ...form, link: "not a link" }, ["link"]),
    rule("format uuid", { ...form, ref: "123" }, ["ref"]),
    rule(
      "pattern, with its own message",
      { ...form, word: "Abc" },
      { word: ["Small letters only"] },
    ),
    rule("enum", { ...form, choice: "blue" }, ["choice"]),
    rule("minLength after trim", { ...form, nick: "  a  " }, ["nick"]),
    rule("nullable: false", { ...form, solid: null }, ["solid"]),
    rule("min", { ...form, ranked: 0 }, ["ranked"]),
    rule("max, with its own message", { ...form, ranked: 6 }, { ranked: ["Five at most"] }),
    rule("type integer", { ...form, ranked: 1.5 }, ["ranked"]),
    rule("positive: zero", { ...form, gain: 0 }, ["gain"]),
    rule("positive", { ...form, gain: -1 }, ["gain"]),
    rule("negative", { ...form, loss: 1 }, ["loss"]),
    rule("integer", { ...form, unit: 1.5 }, ["unit"]),
    rule("precision", { ...form, fine: 1234.567 }, ["fine"]),
    rule("scale", { ...form, fine: 1.2345 }, ["fine"]),
    rule("strict: no text for a number", { ...form, firm: "5" }, ["firm"]),
    rule("before now", { ...form, born: "2999-01-01" }, ["born"]),
    rule("after a date", { ...form, starts: "2025-12-31" }, ["starts"]),
    rule(
      "after a field",
      { ...form, starts: "2026-05-05", ends: "2026-05-04" },
      { ends: ["Must end after it starts"] },
    ),
    rule("minItems", { ...form, tags: [] }, ["tags"]),
    rule("maxItems", { ...form, tags: [1, 2, 3, 4] }, ["tags"]),
    rule("uniqueItems", { ...form, tags: ["a", "a"] }, ["tags"]),
    rule("type array", { ...form, tags: "a,b" }, ["tags"]),
    rule(
      "one field alone and two fields together",
      { title: "ab", starts: "2026-05-05", ends: "2026-05-04" },
      ["ends", "title"],
    ),
    rule("several fields at once", { title: "", email: "x", ranked: 9, gain: -2 }, [
      "email",
      "gain",
      "ranked",
      "title",
    ]),
  ];
  test.each(refused)("create refuses a value against the rule: $what", async ({ body, errors }) => {
    const answer = await shop.post("forms", "create", body);
    check(answer, { status: 400, error: "Validation failed", message: "Invalid data", errors });
  });

  test("create stores nothing when a rule refuses", async () => {
    await shop.post("forms", "create", { form_id: "refused", ...form, ranked: 99 });
    const answer = await shop.post("forms", "first", {
      where: { key: "form_id", value: "refused" },
    });
    expect(answer.body.data).toBeNull();
  });

  const accepted: { name: string; body: object; data: object }[] = [
    { name: "create fills in a default", body: {}, data: { filled: "n/a" } },
    {
      name: "create prefers a sent value to the default",
      body: { filled: "mine" },
      data: { filled: "mine" },
    },
    { name: "create trims", body: { nick: "  bob  " }, data: { nick: "bob" } },
    { name: "create turns into small letters", body: { low: "ÀBC" }, data: { low: "àbc" } },
    { name: "create turns into capital letters", body: { shout: "àbc" }, data: { shout: "ÀBC" } },
    {
      name: "create takes the least and the greatest length",
      body: { title: "abc", nick: "ab" },
      data: { title: "abc" },
    },
    {
      name: "create counts characters, not code units",
      body: { title: "😀😀😀" },
      data: { title: "😀😀😀" },
    },
    {
      name: "create takes an email address",
      body: { email: "ann@example.org" },
      data: { email: "ann@example.org" },
    },
    {
      name: "create takes a phone number",
      body: { phone: "+46812345678" },
      data: { phone: "+46812345678" },
    },
    {
      name: "create takes a URL",
      body: { link: "https://example.org/a?b" },
      data: { link: "https://example.org/a?b" },
    },
    {
      name: "create takes a value of the enum",
      body: { choice: "green" },
      data: { choice: "green" },
    },
    {
      name: "create takes min and max themselves",
      body: { ranked: 5, firm: 5 },
      data: { ranked: 5, firm: 5 },
    },
    { name: "create takes a whole number with a point", body: { unit: 2.0 }, data: { unit: 2 } },
    {
      name: "create takes all digits that precision and scale leave",
      body: { fine: 123.456 },
      data: { fine: 123.456 },
    },
    {
      name: "create takes dates in order",
      body: { starts: "2026-01-02", ends: "2026-01-03" },
      data: { ends: "2026-01-03" },
    },
    {
      name: "create takes a date before now",
      body: { born: "1990-01-01" },
      data: { born: "1990-01-01" },
    },
    {
      name: "create takes an array of different items",
      body: { tags: ["a", "b"] },
      data: { tags: ["a", "b"] },
    },
    {
      name: "create takes null for a field that is not required",
      body: { email: null, gain: null },
      data: { email: null },
    },
  ];
  test.each(accepted)("$name", async ({ body, data }) => {
    const answer = await shop.post("forms", "create", { ...form, ...body });
    check(answer, { status: 201, data });
  });

  function rule(what: string, body: object, errors: readonly string[] | Record<string, string[]>) {
    return { what, body, errors };
  }
});

describe("column types without a rule", () => {
  const cases: { what: string; body: Record<string, unknown> }[] = [
    { what: "a text in an integer", body: { whole: "abc" } },
    { what: "a fraction in an integer", body: { whole: 1.5 } },
    { what: "an integer beyond 64 bits", body: { big: "9223372036854775808" } },
    { what: "more decimals than the scale", body: { money: 1.005 } },
    { what: "more digits than the precision", body: { money: 123456789.01 } },
    { what: "a text in a decimal", body: { money: "1,5" } },
    { what: "a text in a double", body: { rough: "x" } },
    { what: "another text in a boolean", body: { flag: "yes" } },
    { what: "another number in a boolean", body: { flag: 2 } },
    { what: "30 February", body: { day: "2026-02-30" } },
    { what: "a zero date", body: { day: "0000-00-00" } },
    { what: "a time without a date", body: { moment: "10:00:00" } },
    { what: "a minute 60", body: { clock: "10:60:00" } },
    { what: "a malformed uuid", body: { token: "1234" } },
    { what: "a text longer than the column", body: { short: "12345678901" } },
    { what: "base64 that is none", body: { raw: "***" } },
    { what: "an object in a text", body: { note: { a: 1 } } },
    { what: "an array in an integer", body: { whole: [1] } },
    { what: "a lone surrogate", body: '{"note":"\\ud800"}' as never },
  ];
  test.each(cases)("create refuses $what on its field", async ({ body }) => {
    const fields = typeof body === "string" ? ["note"] : Object.keys(body);
    const answer = await shop.post("kinds", "create", body);
    check(answer, { status: 400, error: "Validation failed", errors: fields });
  });

  test("create reports all columns that cannot hold their values", async () => {
    const answer = await shop.post("kinds", "create", {
      whole: "a",
      day: "b",
      token: "c",
      flag: true,
    });
    check(answer, {
      name: "",
      body: 0,
      status: 400,
      error: "Validation failed",
      errors: ["day", "token", "whole"],
    });
  });
});

describe("what the database refuses", () => {
  const refused: Case[] = [
    {
      name: "create answers 409 for a value that must be unique",
      body: { code: "A-1", name: "x" },
      status: 409,
      error: "Duplicate entry",
      errors: ["code"],
    },
    {
      name: "create answers 400 for a reference without its row",
      body: { code: "D-1", name: "x", category_id: "none" },
      status: 400,
      error: "Foreign key constraint",
    },
    {
      name: "create answers 400 for a missing value of a column that needs one",
      body: { name: "x" },
      status: 400,
      error: "Validation failed",
      errors: ["code"],
    },
    {
      name: "create answers 400 for null in a column that refuses it",
      body: { code: null, name: "x" },
      status: 400,
      error: "Validation failed",
      errors: ["code"],
    },
    {
      name: "create answers 400 for a value that a check refuses",
      body: { code: "D-2", name: "x", qty: 100000 },
      status: 400,
      error: "Validation failed",
    },
  ];
  test.each(refused)("$name", async (row) => {
    check(await shop.post("items", "create", row.body), row);
  });
});

describe.runIf(inject("engine") === "mysql")("create with zero dates as defaults", () => {
  const legacy = openForTests(openFixture, {
    tables: [],
    setUp: () => [
      // As on servers whose mode allows such a default.
      "set sql_mode = ''",
      `create table letters (id int auto_increment primary key, title varchar(20),
          sent date not null default '0000-00-00', seen datetime not null default '0000-00-00 00:00:00',
          stamp timestamp not null default '0000-00-00 00:00:00')`,
    ],
    endpoints: {
      letters: { tableName: "letters", action: { create: true, read: true, "bulk-create": true } },
    },
  });

  test("leaves out what the body leaves out", async () => {
    const answer = await legacy.post("letters/create", { title: "first" });
    expect(answer.status).toBe(201);
    expect(record(answer)).toMatchObject({ title: "first", sent: null, seen: null, stamp: null });
    const stored = await legacy.sql(
      "select cast(sent as char) as sent, cast(seen as char) as seen from letters",
    );
    expect(stored).toEqual([{ sent: "0000-00-00", seen: "0000-00-00 00:00:00" }]);
  });

  test("takes many records that leave them out", async () => {
    const answer = await legacy.post("letters/bulk-create", { data: [{ title: "second" }] });
    expect(answer.status).toBe(201);
  });

  test.each(["0000-00-00", "2026-00-00", "2026-02-31"])("refuses %s in a body", async (sent) => {
    const answer = await legacy.post("letters/create", { title: "third", sent });
    expect(answer.body.errors).toEqual({ sent: ["must be a date in the form YYYY-MM-DD"] });
  });
});
