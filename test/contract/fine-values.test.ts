/**
 * Values of high precision or range: fractions of a second up to six digits, MySQL times beyond a day, JSON numbers
 * that a double cannot hold, 32-bit floats, and decimals of a large scale. A value shown in an answer finds its row and
 * can be sent back.
 */
import { beforeAll, describe, expect, inject, test } from "vitest";
import { check, record, records } from "./cases.ts";
import { importerOf, sheetsOf, workbookOf } from "./imports.ts";
import { openJobFixture } from "./job-places.ts";
import { openForTests } from "./harness.ts";

const engine = inject("engine");
const micro = "2026-01-31T10:00:00.123456Z";
const types = {
  postgres: { moment: "timestamptz", clock: "time", rough: "real" },
  mysql: { moment: "datetime(6)", clock: "time(6)", rough: "float" },
  sqlite: { moment: "timestamp", clock: "time", rough: "real" },
}[engine];
const digits = '{"big": 9007199254740993, "list": [12345678901234567890], "n": 1.5}';

const service = openForTests(openJobFixture, "in the service", {
  tables: [],
  setUp: () => [
    `create table fine (id integer primary key, moment ${types.moment}, clock ${types.clock}, doc json, rough ${types.rough}, updated_at ${types.moment})`,
    `insert into fine (id, moment, clock, doc, rough, updated_at) values
        (1, '2026-01-31 10:00:00.123456', '08:15:00.25', '${digits}', 1.5, '2026-01-31 10:00:00.123456'),
        (2, '2026-01-31 10:00:00.123457', '08:15:00', '{}', 2.5, '2026-01-31 10:00:00.123400'),
        (3, '2026-01-31 10:00:00.123', '08:15:00.250001', '[]', 3.5, null)`,
    "create table coins (id integer primary key, amount decimal(38, 18))",
    "create table rates (id integer primary key, rate double precision, exact decimal(12, 8))",
    ...(engine === "postgres"
      ? [
          "alter table fine add column zoned timetz",
          "update fine set zoned = '08:15:00+02' where id = 1",
        ]
      : []),
  ],
  endpoints: {
    fine: {
      tableName: "fine",
      action: {
        read: true,
        first: true,
        create: true,
        update: true,
        adjust: true,
        export: true,
        import: true,
      },
      adjustConfig: { fields: { rough: {} }, reasonRequired: false },
    },
    coins: {
      tableName: "coins",
      action: { create: true, update: true, first: true, adjust: true },
      adjustConfig: { fields: { amount: {} }, reasonRequired: false },
      auditColumns: false,
    },
    rates: {
      tableName: "rates",
      action: { create: true, read: true, lookup: true },
      fieldNameLookup: { id: "id", text: "rate || ' '" },
    },
    ruled: {
      tableName: "fine",
      action: { create: true },
      fieldValidation: [
        { name: "moment", constraints: { after: micro } },
        { name: "clock", constraints: { min: "08:15:00.25", max: "20:00:00" } },
      ],
    },
  },
  project: { cache: { enabled: false } },
});

const found = async (key: string, operator: string, value: unknown): Promise<unknown[]> => {
  const answer = await service.post("fine/read", {
    where: {
      conditions: [
        { key, operator, value },
        { key: "id", operator: "<=", value: 3 },
      ],
    },
  });
  return records(answer).map(({ id }) => id);
};

describe("decimals of a large scale", () => {
  test.each([
    [1, "one and a half", 1.5, 1.5],
    [2, "a text", "123456.123456789", 123456.123456789],
    [3, "the smallest", "0.000000000000000001", 1e-18],
    [4, "large", -12_345_678_901_234, -12_345_678_901_234],
    [5, "none", 0, 0],
  ])("%i: hold %s", async (id, _, amount, shown) => {
    const created = await service.post("coins/create", { id, amount });
    expect(record(created)).toEqual({ id, amount: shown });
    const updated = await service.post("coins/update", { id, amount: shown });
    expect(record(updated)).toEqual({ id, amount: shown });
    const adjustments = [{ field: "amount", value: 0.5 }];
    const adjusted = await service.post("coins/adjust", { id, adjustments });
    expect(Number(record(adjusted)["amount"])).toBe(shown + 0.5);
  });

  const tooMany: [what: string, amount: string, message: RegExp][] = [
    ["more digits behind the point", "0.0000000000000000001", /at most 18 digits after/],
    ["more digits in front of it", "123456789012345678901", /^must have at most \d+ digits/],
  ];
  if (engine === "sqlite") tooMany.push(["more digits in all", "1.234567890123456", /15 digits$/]);
  test.each(tooMany)("refuse %s", async (_, amount, message) => {
    const answer = await service.post("coins/create", { id: 99, amount });
    check(answer, {
      status: 400,
      error: "Validation failed",
      errors: { amount: [expect.stringMatching(message)] },
    });
  });
});

test.each([
  0.000_05, -0.000_012, 1e-6, 5e-7, -1.25e-8, 1.5e-20, 0, 0.1, 3, 1_234_567.5, 1e15,
  123_456_789_012_345_680, 1e20, 1e21, -2.5e25,
])("the double %s is searched for and labelled as it is shown", async (rate) => {
  await service.sql("delete from rates");
  check(await service.post("rates/create", { id: 1, rate }), { status: 201 });
  const shown = JSON.stringify(rate);
  for (const text of [shown, shown.slice(-3)]) {
    const read = await service.post("rates/read", { search_by: "rate", search_value: text });
    expect(records(read)).toMatchObject([{ id: 1, rate }]);
  }
  const lookup = await service.post("rates/lookup", {}, { "X-Request-Mode": "static" });
  expect(lookup.body.data).toEqual([{ id: "1", text: `${shown} ` }]);
});

test.each(["0.00001", "0.00000012", "-0.00000001", "1234.5"])(
  "the decimal %s is searched for by its digits",
  async (exact) => {
    await service.sql("delete from rates");
    check(await service.post("rates/create", { id: 1, exact }), { status: 201 });
    const read = await service.post("rates/read", { search_by: "exact", search_value: exact });
    expect(records(read)).toMatchObject([{ id: 1, exact: Number(exact) }]);
  },
);

describe("fractions of a second", () => {
  test("are shown up to six digits", async () => {
    const rows = records(await service.post("fine/read", { limit: 3 }));
    expect(rows.map(({ moment, clock }) => [moment, clock])).toEqual([
      [micro, "08:15:00.25"],
      ["2026-01-31T10:00:00.123457Z", "08:15:00"],
      ["2026-01-31T10:00:00.123Z", "08:15:00.250001"],
    ]);
  });

  test.each([
    ["moment", "=", micro, [1]],
    ["moment", "=", "2026-01-31T10:00:00.123Z", [3]],
    ["moment", ">", micro, [2]],
    ["moment", "IN", [micro, "2026-01-31T10:00:00.123457Z"], [1, 2]],
    ["clock", "=", "08:15:00.25", [1]],
    ["clock", "=", "08:15:00.250", [1]],
    ["clock", ">", "08:15:00.25", [3]],
    ["clock", "LIKE", "%.25", [1]],
    ["moment", "LIKE", "%.123456Z", [1]],
    ["moment", "LIKE", "%.123Z", [3]],
    ["moment", "BETWEEN", ["2026-01-31T10:00:00.123001Z", micro], [1]],
  ])("find what was shown: %s %s %j", async (key, operator, value, ids) => {
    expect(await found(key, operator, value)).toEqual(ids);
  });

  test("can be sent back", async () => {
    const sent = { id: 10, moment: micro, clock: "23:59:59.000001" };
    const created = await service.post("fine/create", sent);
    expect(record(created)).toMatchObject(sent);
    const { id, moment, clock } = record(created);
    expect(record(await service.post("fine/update", { id, moment, clock }))).toMatchObject(sent);
  });

  test.skipIf(engine === "sqlite")("so can the end of a day", async () => {
    const sent = { id: 12, clock: "24:00:00" };
    expect(record(await service.post("fine/create", sent))).toMatchObject(sent);
    const first = await service.post("fine/first", { where: { key: "clock", value: "24:00:00" } });
    expect(record(first)).toMatchObject(sent);
    expect(record(await service.post("fine/update", sent))).toMatchObject(sent);
    await service.sql("delete from fine where id = 12");
  });

  test("are a version that If-Match takes", async () => {
    const first = await service.post("fine/first", { where: { key: "id", value: 1 } });
    expect(first.headers.get("etag")).toBe(`"${micro}"`);
    const update = (tag: string) =>
      service.post("fine/update", { id: 1, rough: 1.5 }, { "If-Match": tag });
    check(await update('"2026-01-31T10:00:00.123Z"'), {
      status: 412,
      error: "Precondition failed",
    });
    check(await update(`"${micro}"`), { status: 200 });
  });

  test("more than six digits are refused", async () => {
    const sent = { id: 11, moment: "2026-01-31T10:00:00.1234567Z", clock: "08:15:00.1234567" };
    const message = "must have at most 6 fractional digits in the seconds";
    check(await service.post("fine/create", sent), {
      status: 400,
      error: "Validation failed",
      errors: { moment: [message], clock: [message] },
    });
  });

  test("are all in an export as csv", async () => {
    const rows = (await service.exported("fine", { format: "csv" })).split(/\r?\n/);
    expect(rows[1]).toContain("10:00:00.123456Z");
    expect(rows[1]).toContain("08:15:00.25");
  });

  test("are in an export as xlsx: of times all, of dates the milliseconds that Excel knows", async () => {
    const where = { conditions: [{ key: "id", operator: "=", value: 1 }] };
    const jobId = await service.start("fine", { format: "xlsx", where });
    await service.ended("fine", jobId);
    const file = await service.fetch(`/api/test/fine/export-download?job_id=${jobId}`);
    const [sheet] = await sheetsOf(new Uint8Array(await file.arrayBuffer()));
    expect(sheet!.getRow(2).getCell(2).value).toEqual(new Date("2026-01-31T10:00:00.123Z"));
    expect(sheet!.getRow(2).getCell(3).value).toBe("08:15:00.25");
  });

  test("are in imports", async () => {
    const sent = { id: 40, moment: "2026-02-01T00:00:00.000001Z", clock: "08:15:00.250001" };
    const file = await workbookOf([Object.keys(sent), Object.values(sent)]);
    const { body } = await importerOf(service).committed("fine", file);
    expect(body.result).toMatchObject({ inserted: 1 });
    const stored = await service.post("fine/first", { where: { key: "id", value: 40 } });
    expect(record(stored)).toMatchObject(sent);
  });

  test.each(["moment", "clock"])("put the pages of a cursor by %s in order", async (column) => {
    const where = { conditions: [{ key: "id", operator: "<=", value: 3 }] };
    const sort_columns = [{ column, direction: "ASC" }];
    const ids: unknown[] = [];
    for (let cursor: unknown = true; cursor !== null;) {
      const page = await service.post("fine/read", { where, sort_columns, per_page: 1, cursor });
      ids.push(...records(page).map(({ id }) => id));
      cursor = page.body.pagination.next_cursor;
    }
    expect(ids).toEqual(column === "moment" ? [3, 1, 2] : [2, 1, 3]);
  });

  test.each([
    ["moment", micro, `must be after ${micro}`],
    ["moment", "2026-01-31T10:00:00.123455Z", `must be after ${micro}`],
    ["clock", "08:15:00.249999", "must be at least 08:15:00.25"],
    ["clock", "20:00:00.000001", "must be at most 20:00:00"],
  ])("are compared by rules: %s refuses %s", async (field, value, message) => {
    check(await service.post("ruled/create", { id: 50, [field]: value }), {
      status: 400,
      error: "Validation failed",
      errors: { [field]: [message] },
    });
  });

  test("are compared by rules, which take what is a microsecond later", async () => {
    const sent = { id: 51, moment: "2026-01-31T10:00:00.123457Z", clock: "08:15:00.250001" };
    expect(record(await service.post("ruled/create", sent))).toMatchObject(sent);
  });
});

describe("numbers within JSON that a double cannot hold", () => {
  const documentOf = async (action: string, body: object): Promise<string> => {
    const response = await service.fetch(`/api/test/fine/${action}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
    const text = await response.text();
    return /"doc":(\{[^}]*\})/.exec(text.replaceAll(" ", ""))?.[1] ?? text;
  };
  const shown = digits.replaceAll(" ", "");

  test("are shown with all digits", async () => {
    expect(await documentOf("first", { where: { key: "id", value: 1 } })).toBe(shown);
    const listed = { where: { conditions: [{ key: "id", operator: "=", value: 1 }] } };
    expect(await documentOf("read", listed)).toBe(shown);
  });

  test("are stored as they were shown", async () => {
    const body = `{"id": 1, "doc": ${digits}}` as unknown as object;
    expect(await documentOf("update", body)).toBe(shown);
    const [row] = await service.sql("select doc as doc from fine where id = 1");
    const stored = row!["doc"];
    if (typeof stored === "string") expect(stored).toContain("9007199254740993");
    expect(await documentOf("first", { where: { key: "id", value: 1 } })).toBe(shown);
  });
});

test("adjust adds to a float of 32 bits, and refuses what it cannot hold", async () => {
  const adjust = (value: number) =>
    service.post("fine/adjust", { id: 2, adjustments: [{ field: "rough", value }] });
  expect(record(await adjust(0.25))).toMatchObject({ rough: 2.75 });
  expect(record(await adjust(-0.25))).toMatchObject({ rough: 2.5 });
  if (engine !== "sqlite")
    check(await adjust(1e39), {
      status: 400,
      error: "Validation failed",
      errors: { rough: ["is out of the column's range"] },
    });
});

describe.runIf(engine === "mysql")("times of MySQL", () => {
  beforeAll(async () => {
    await service.sql("insert into fine (id, clock) values (20, '-01:30:00'), (21, '100:00:00.5')");
  });

  test.each([
    [20, "-01:30:00"],
    [21, "100:00:00.5"],
  ])("below zero and beyond a day are shown and stored again: %i %s", async (id, clock) => {
    const first = await service.post("fine/first", { where: { key: "id", value: id } });
    expect(record(first)).toMatchObject({ clock });
    expect(record(await service.post("fine/update", { id, clock }))).toMatchObject({ clock });
    const read = await service.post("fine/read", {
      where: { conditions: [{ key: "clock", operator: "=", value: clock }] },
    });
    expect(records(read)).toMatchObject([{ id }]);
  });

  test("beyond what the server holds are refused", async () => {
    check(await service.post("fine/update", { id: 20, clock: "839:00:00" }), {
      status: 400,
      error: "Validation failed",
      errors: ["clock"],
    });
  });
});

test.runIf(engine === "postgres")("timetz keeps its zone", async () => {
  const first = await service.post("fine/first", { where: { key: "id", value: 1 } });
  expect(record(first)).toMatchObject({ zoned: "08:15:00+02" });
  const sent = { id: 2, zoned: "23:00:00.5-05:30" };
  expect(record(await service.post("fine/update", sent))).toMatchObject(sent);
});
