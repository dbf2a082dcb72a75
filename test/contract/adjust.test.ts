/** adjust over HTTP: relative changes computed by the database, the guard, reasons, and numbers at column limits. */
import { beforeEach, describe, expect, test } from "vitest";
import { check, instant, record, type Case } from "./cases.ts";
import { openShop } from "./shop.ts";

const shop = openShop();

/** Each test has its own counter. */
let id = "";
let made = 0;
const start = { stock: 10, balance: 10.5, big: 0, free: 0, quota: 5, rough: 0.5, blank: null };
beforeEach(async () => {
  id = `n${++made}`;
  expect(
    (await shop.post("counters", "create", { counter_id: id, label: "l", ...start })).status,
  ).toBe(201);
});

const by = (field: string, value: unknown, more: object = {}) => ({ field, value, ...more });
const adjust = (...adjustments: object[]) =>
  shop.post("counters", "adjust", { counter_id: id, adjustments });
const first = async () =>
  (await shop.post("counters", "first", { where: { key: "counter_id", value: id } })).body.data;

describe("the answer", () => {
  test("adjust answers 200 with the message, the record and nothing else", async () => {
    const answer = await adjust(by("stock", 5));
    check(answer, { status: 200, message: "counters data successfully adjusted" });
    expect(Object.keys(answer.body).sort()).toEqual(["data", "message", "success", "timestamp"]);
    expect(record(answer)).toEqual({
      counter_id: id,
      label: "l",
      ...start,
      stock: 15,
      created_at: expect.stringMatching(instant),
      created_by: "Input from API",
      updated_at: expect.stringMatching(instant),
      updated_by: "Update from API",
    });
    expect(await first()).toEqual(record(answer));
  });

  const changes: { name: string; adjustments: object[]; data: object }[] = [
    { name: "adjust adds", adjustments: [by("stock", 1)], data: { stock: 11 } },
    {
      name: "adjust subtracts a negative value",
      adjustments: [by("stock", -4)],
      data: { stock: 6 },
    },
    {
      name: "adjust goes down to the minimum itself",
      adjustments: [by("stock", -10)],
      data: { stock: 0 },
    },
    {
      name: "adjust changes several fields at once",
      adjustments: [by("stock", 1), by("free", -7), by("balance", 0.25)],
      data: { stock: 11, free: -7, balance: 10.75 },
    },
    {
      name: "adjust adds decimals exactly",
      adjustments: [by("balance", 0.1)],
      data: { balance: 10.6 },
    },
    {
      name: "adjust takes a decimal as exact as its column",
      adjustments: [by("balance", -10.49)],
      data: { balance: 0.01 },
    },
    {
      name: "adjust goes below zero where that is allowed",
      adjustments: [by("free", -3)],
      data: { free: -3 },
    },
    { name: "adjust adds to a double", adjustments: [by("rough", 0.25)], data: { rough: 0.75 } },
    {
      name: "adjust adds to an unsigned column",
      adjustments: [by("quota", -5)],
      data: { quota: 0 },
    },
    {
      name: "adjust adds a whole number with a point to an integer",
      adjustments: [by("stock", 2.0)],
      data: { stock: 12 },
    },
    {
      name: "adjust takes a reason that nothing asks for",
      adjustments: [by("stock", 1, { reason: "found" })],
      data: { stock: 11 },
    },
  ];
  test.each(changes)("$name", async ({ adjustments, data }) => {
    const answer = await adjust(...adjustments);
    check(answer, { status: 200, data });
    expect(await first()).toMatchObject(data);
  });

  test("adjust adds ten times 0.1 to exactly 1", async () => {
    for (let time = 0; time < 10; time++) await adjust(by("balance", 0.1));
    expect((await first()).balance).toBe(11.5);
  });

  test("adjust keeps the digits of integers beyond the safe ones", async () => {
    await adjust(by("big", 9007199254740991));
    expect(record(await adjust(by("big", 2)))["big"]).toBe("9007199254740993");
  });

  test("adjust takes the body {data, options}", async () => {
    const body = { data: { counter_id: id, adjustments: [by("stock", 1)] }, options: {} };
    check(await shop.post("counters", "adjust", body), { status: 200, data: { stock: 11 } });
  });

  test("adjust takes updated_by from the body", async () => {
    const answer = await shop.post("counters", "adjust", {
      counter_id: id,
      adjustments: [by("stock", 1)],
      updated_by: "Cy",
    });
    expect(record(answer)).toMatchObject({ updated_by: "Cy" });
  });

  test("adjust never touches created_at and created_by", async () => {
    const { created_at, created_by } = await first();
    expect(record(await adjust(by("stock", 1)))).toMatchObject({ created_at, created_by });
  });

  test("adjust carries the ETag that first carries", async () => {
    const answer = await adjust(by("stock", 1));
    const again = await shop.post("counters", "first", { where: { key: "counter_id", value: id } });
    expect(answer.headers.get("ETag")).toBe(again.headers.get("ETag"));
  });

  test("adjust of the same field twice counts both or refuses, and never one of them", async () => {
    const answer = await adjust(by("stock", 1), by("stock", 2));
    if (answer.status === 200) expect(record(answer)["stock"]).toBe(13);
    else check(answer, { status: 400, error: "Invalid payload" });
    expect((await first()).stock).toBe(answer.status === 200 ? 13 : 10);
  });
});

describe("the guard", () => {
  const refused: { name: string; adjustments: object[]; limit: string }[] = [
    {
      name: "adjust refuses to go below the minimum",
      adjustments: [by("stock", -11)],
      limit: "stock",
    },
    {
      name: "adjust refuses a negative result where allowNegativeResult is false",
      adjustments: [by("balance", -10.51)],
      limit: "balance",
    },
    {
      name: "adjust changes nothing when one of several fields would go below",
      adjustments: [by("free", 5), by("stock", -11)],
      limit: "stock",
    },
    {
      name: "adjust changes nothing when the first of several fields would go below",
      adjustments: [by("stock", -11), by("balance", 5)],
      limit: "stock",
    },
  ];
  test.each(refused)("$name", async ({ adjustments, limit }) => {
    const before = await first();
    check(await adjust(...adjustments), {
      status: 409,
      error: "Constraint violation",
      message: `The adjustment would exceed a limit of ${limit}; nothing was changed`,
    });
    expect(await first()).toEqual(before);
  });

  test.each([
    { what: "with a minimum", endpoint: "counters", others: [] },
    { what: "without a limit", endpoint: "reasoned", others: [] },
    { what: "beside a value that can change", endpoint: "counters", others: [by("stock", 1)] },
    { what: "beside one that would go below", endpoint: "counters", others: [by("stock", -11)] },
  ])("adjust has nothing to add to in an empty field $what, and says so", async (row) => {
    const before = await first();
    const adjustments = [...row.others, by("blank", 1)];
    const body = { counter_id: id, adjustments, reason: "counted" };
    check(await shop.post(row.endpoint, "adjust", body), {
      status: 409,
      error: "Constraint violation",
      message: "The record has no value of blank to add to; nothing was changed",
    });
    expect(await first()).toEqual(before);
  });

  test("adjust guards by min where the minimum is not zero", async () => {
    const send = (value: number) =>
      shop.post("reasoned", "adjust", {
        counter_id: id,
        adjustments: [by("stock", value, { reason: "r" })],
      });
    check(await send(-6), { status: 409, error: "Constraint violation" });
    check(await send(-5), { status: 200, data: { stock: 5 } });
  });
});

describe("numbers that a column cannot hold", () => {
  /** `value` is JSON. */
  const refused: { what: string; field: string; value: string }[] = [
    { what: "beyond the greatest 64-bit integer", field: "big", value: "9223372036854775807" },
    { what: "beyond the precision of a decimal", field: "balance", value: "9999999999.99" },
    { what: "below zero in an unsigned column", field: "quota", value: "-6" },
    { what: "beyond the greatest double", field: "rough", value: "1.7e308" },
  ];
  test.each(refused)(
    "adjust refuses a result $what, and changes nothing",
    async ({ field, value }) => {
      const send = (json: string) =>
        shop.post("counters", "adjust", `{"counter_id":"${id}","adjustments":[${json}]}`);
      await send('{"field":"big","value":1},{"field":"rough","value":1.7e308}');
      const before = await first();
      check(await send(`{"field":"${field}","value":${value}}`), {
        status: 400,
        error: "Validation failed",
      });
      expect(await first()).toEqual(before);
    },
  );

  test("adjust names each field that cannot hold what is added to it", async () => {
    const answer = await adjust(by("balance", 1e30), by("free", 1), by("big", 1e30));
    check(answer, { status: 400, error: "Validation failed" });
    expect(Object.keys(answer.body.errors).sort()).toEqual(["balance", "big"]);
  });

  const inexact: { what: string; field: string; value: number }[] = [
    { what: "a fraction to an integer", field: "stock", value: 0.5 },
    { what: "more decimals than the scale of a decimal", field: "balance", value: 0.005 },
  ];
  test.each(inexact)("adjust never rounds: it refuses to add $what", async ({ field, value }) => {
    expect((await adjust(by(field, value))).status).toBe(400);
    expect(await first()).toMatchObject(start);
  });
});

describe("reasons", () => {
  const send = (body: object) => shop.post("reasoned", "adjust", { counter_id: id, ...body });

  test("adjust takes a reason beside each value", async () => {
    expect((await send({ adjustments: [by("stock", 1, { reason: "counted" })] })).status).toBe(200);
  });

  test("adjust takes one reason beside adjustments", async () => {
    expect((await send({ adjustments: [by("stock", 1)], reason: "counted" })).status).toBe(200);
  });

  const refused: Case[] = [
    {
      name: "adjust refuses a missing reason",
      body: { adjustments: [by("stock", 1)] },
      status: 400,
    },
    {
      name: "adjust refuses an empty reason",
      body: { adjustments: [by("stock", 1, { reason: "" })] },
      status: 400,
    },
    {
      name: "adjust refuses a reason that is no text",
      body: { adjustments: [by("stock", 1, { reason: 5 })] },
      status: 400,
    },
    {
      name: "adjust refuses a common reason that is no text, also where each value has its own",
      body: { adjustments: [by("stock", 1, { reason: "r" })], reason: 5 },
      status: 400,
    },
    {
      name: "adjust refuses half of a surrogate pair in a reason",
      body: { adjustments: [by("stock", 1, { reason: "half \ud83d" })] },
      status: 400,
    },
    {
      name: "adjust refuses half of a surrogate pair in a common reason",
      body: { adjustments: [by("stock", 1)], reason: "\udc00" },
      status: 400,
    },
    {
      name: "adjust refuses a null reason",
      body: { adjustments: [by("stock", 1, { reason: null })] },
      status: 400,
    },
  ];
  test.each(refused)("$name", async (row) => {
    check(await send(row.body as object), { ...row, error: "Invalid payload" });
    expect((await first()).stock).toBe(10);
  });
});

describe("the payload", () => {
  const payloads: Case[] = [
    { name: "adjust refuses no body", body: undefined, status: 400 },
    { name: "adjust refuses an empty object", body: {}, status: 400 },
    { name: "adjust refuses empty data", body: { data: {}, options: {} }, status: 400 },
    { name: "adjust refuses null", body: "null", status: 400 },
    { name: "adjust refuses an array", body: [by("stock", 1)], status: 400 },
    {
      name: "adjust refuses a missing primary key",
      body: { adjustments: [by("stock", 1)] },
      status: 400,
    },
    {
      name: "adjust refuses a null primary key",
      body: { counter_id: null, adjustments: [by("stock", 1)] },
      status: 400,
    },
    {
      name: "adjust refuses an object as primary key",
      body: { counter_id: {}, adjustments: [by("stock", 1)] },
      status: 400,
    },
    { name: "adjust refuses missing adjustments", body: { counter_id: "n1" }, status: 400 },
    {
      name: "adjust refuses adjustments []",
      body: { counter_id: "n1", adjustments: [] },
      status: 400,
    },
    {
      name: "adjust refuses adjustments that are no array",
      body: { counter_id: "n1", adjustments: by("stock", 1) },
      status: 400,
    },
    {
      name: "adjust refuses an adjustment that is null",
      body: { counter_id: "n1", adjustments: [null] },
      status: 400,
    },
    {
      name: "adjust refuses a missing field",
      body: { counter_id: "n1", adjustments: [{ value: 1 }] },
      status: 400,
    },
    {
      name: "adjust refuses a field that is no text",
      body: { counter_id: "n1", adjustments: [by(["stock"] as never, 1)] },
      status: 400,
    },
    {
      name: "adjust refuses a field that is not configured",
      body: { counter_id: "n1", adjustments: [by("label", 1)] },
      status: 400,
    },
    {
      name: "adjust refuses an unknown field",
      body: { counter_id: "n1", adjustments: [by("nope", 1)] },
      status: 400,
    },
    {
      name: "adjust refuses the field constructor",
      body: { counter_id: "n1", adjustments: [by("constructor", 1)] },
      status: 400,
    },
    {
      name: "adjust refuses SQL as field",
      body: { counter_id: "n1", adjustments: [by("stock = 0, free", 1)] },
      status: 400,
    },
    {
      name: "adjust refuses all when one field is not configured",
      body: { counter_id: "n1", adjustments: [by("stock", 1), by("nope", 1)] },
      status: 400,
    },
    {
      name: "adjust refuses a missing value",
      body: { counter_id: "n1", adjustments: [{ field: "stock" }] },
      status: 400,
    },
  ];
  test.each(payloads)("$name", async (row) => {
    check(await shop.post("counters", "adjust", row.body), { ...row, error: "Invalid payload" });
  });

  const values = [
    "0",
    "0.0",
    "-0",
    "null",
    "true",
    '"5"',
    '"NaN"',
    '""',
    "[1]",
    '{"a":1}',
    "1e999",
    "-1e999",
    "NaN",
    "Infinity",
  ];
  test.each(values)("adjust refuses the value %s", async (value) => {
    const body = `{"counter_id":"${id}","adjustments":[{"field":"stock","value":${value}}]}`;
    check(await shop.post("counters", "adjust", body), { status: 400, error: "Invalid payload" });
    expect((await first()).stock).toBe(10);
  });

  test("adjust answers 404 for a record that is not there", async () => {
    const answer = await shop.post("counters", "adjust", {
      counter_id: "nobody",
      adjustments: [by("stock", 1)],
    });
    check(answer, { status: 404, error: "Not found" });
  });
});

describe("If-Match", () => {
  test("adjust with the current ETag changes the record", async () => {
    const { headers } = await adjust(by("stock", 1));
    const body = { counter_id: id, adjustments: [by("stock", 1)] };
    const answer = await shop.post("counters", "adjust", body, {
      "If-Match": headers.get("ETag") ?? "",
    });
    check(answer, { status: 200, data: { stock: 12 } });
  });

  test("adjust with an ETag from before another change answers 412 and changes nothing", async () => {
    const { headers } = await adjust(by("stock", 1));
    await adjust(by("stock", 1));
    const body = { counter_id: id, adjustments: [by("stock", 1)] };
    const answer = await shop.post("counters", "adjust", body, {
      "If-Match": headers.get("ETag") ?? "",
    });
    check(answer, { status: 412, error: "Precondition failed" });
    expect((await first()).stock).toBe(12);
  });
});

describe("fields that fieldName does not name", () => {
  const slim = openShop({
    tables: [
      {
        name: "counters",
        columns: { counter_id: "key", label: "text(20)", stock: "integer", balance: "integer" },
      },
    ],
    setUp: () => ["insert into counters values ('a', 'l', 10, 20)"],
    endpoints: Object.fromEntries(
      [
        { name: "counters" },
        { name: "veiled", hiddenFields: ["balance"] },
        { name: "guarded", hiddenFields: { guest: ["balance"] } },
      ].map(({ name, ...more }) => [
        name,
        {
          tableName: "counters",
          fieldName: ["counter_id", "label"],
          action: { adjust: true },
          access: { guest: "*" },
          adjustConfig: { fields: { stock: { type: "integer" }, balance: { type: "integer" } } },
          ...more,
        },
      ]),
    ),
    project: {
      auth: {
        apiKeys: [{ id: "erp", sha256: "0".repeat(64), roles: ["guest"] }],
        anonymous: { roles: ["guest"] },
      },
    },
  });
  const stock = [by("stock", 1)];

  test("adjust answers those that it changes, also when it repeats the answer", async () => {
    const headers = { "Idempotency-Key": "again" };
    for (const replayed of [null, "true"]) {
      const answer = await slim.post(
        "counters",
        "adjust",
        { counter_id: "a", adjustments: stock },
        headers,
      );
      check(answer, { status: 200 });
      expect(record(answer)).toEqual({ counter_id: "a", label: "l", stock: 11, balance: 20 });
      expect(answer.headers.get("Idempotency-Replayed")).toBe(replayed);
    }
  });

  test.each(["veiled", "guarded"])("adjust does not answer hidden ones: %s", async (endpoint) => {
    const answer = await slim.post(endpoint, "adjust", { counter_id: "a", adjustments: stock });
    check(answer, { status: 200 });
    expect(Object.keys(record(answer))).toEqual(["counter_id", "label", "stock"]);
  });
});
