/** OData 4: values of each type, their literals and names that OData does not allow, alike on every engine. */
import { describe, expect, inject, test } from "vitest";
import type { EngineName } from "../servers/session.ts";
import { openFixture, openForTests } from "./harness.ts";
import { odataOver, pathIn } from "./odata.ts";

const engine = inject("engine");
/** SQLite computes with 15 digits. */
const price = engine === "sqlite" ? "12345678901.2345" : "1234567890123456.7891";

const fixture = openForTests(openFixture, {
  tables: [
    {
      name: "kinds",
      columns: {
        id: "identity",
        small: "smallint",
        big: "bigint",
        price: "decimal(20,4)",
        ratio: "float",
        is_on: "boolean",
        day: "date",
        at: "timestamp",
        clock: "time",
        code: "uuid",
        doc: "json",
        raw: "bytes",
        note: { type: "text(40)", notNull: true, default: "''" },
      },
    },
    {
      name: "stocks",
      columns: {
        "bin no": "text(10)",
        "bin-no": "integer",
        qty: "integer",
        "9th": "text(5)",
        größe: "integer",
      },
      primaryKey: ["bin no", "bin-no"],
    },
  ],
  setUp: () => [
    `INSERT INTO kinds (id, small, big, price, ratio, is_on, day, at, clock, code, doc, raw, note) VALUES
        (1, 7, 9007199254740993, ${price}, 0.5, ${engine === "sqlite" ? "1" : "true"}, '2026-03-29', '2026-03-29 10:15:30.250', '08:15:00', '5e9d41f9-16d6-4a9b-8a1c-0f4e2bdf8a11', '{"a": [1, "x"]}', ${{ postgres: "'\\xfbff00'", mysql: "x'fbff00'", sqlite: "x'fbff00'" }[engine]}, 'a & b + c'),
        (2, null, null, null, null, null, null, null, null, null, null, null, 'it''s 100%')`,
    `INSERT INTO stocks VALUES ('A/1', 1, 5, 'x', 3), ('A/1', 2, 6, null, null), ('it''s', 1, 7, null, null)`,
    `CREATE VIEW notes AS SELECT note, small FROM kinds UNION ALL SELECT note, small FROM kinds`,
  ],
  endpoints: {
    "all-kinds": { tableName: "kinds", action: { read: true, first: true } },
    all_kinds: { tableName: "kinds", fieldName: ["id", "note"], action: { read: true } },
    "bin-stocks": { tableName: "stocks", action: { read: true, first: true } },
    // A view without a key, whose rows come twice.
    notes: { viewName: "notes", tableName: "kinds", action: { read: true } },
    since: {
      viewQuery: "select id, small from kinds where id >= :least",
      primaryKey: "id",
      params: { least: { type: "integer", required: true } },
      action: { read: true },
    },
    strict: {
      tableName: "kinds",
      fieldName: ["id"],
      action: { read: true },
      defaultScope: { read: { id: 1 } },
    },
  },
  project: { odata: true, requests: { unknown: "refuse" } },
});

const get = odataOver(() => fixture);
const textOf = async (path: string, headers: Record<string, string> = {}): Promise<string> =>
  (await fixture.fetch(`/odata/test/${path}`, { headers })).text();

test("values have the form of their types, with every digit", async () => {
  const text = await textOf("all_kinds_2(1)");
  expect(text).toContain(`"big":9007199254740993,"price":${price},`);
  expect(JSON.parse(text)).toMatchObject({
    id: 1,
    small: 7,
    ratio: 0.5,
    is_on: true,
    day: "2026-03-29",
    at: "2026-03-29T10:15:30.250Z",
    clock: "08:15:00",
    code: "5e9d41f9-16d6-4a9b-8a1c-0f4e2bdf8a11",
    raw: "-_8A",
    note: "a & b + c",
  });
  expect(JSON.parse(JSON.parse(text).doc)).toEqual({ a: [1, "x"] });
  const { body } = await get("all_kinds_2(2)");
  expect(body).toMatchObject({
    small: null,
    big: null,
    price: null,
    doc: null,
    raw: null,
    clock: null,
  });
});

test.each([
  [
    "Accept",
    "all_kinds_2?$filter=id eq 1&$count=true",
    { accept: "application/json;IEEE754Compatible=true" },
  ],
  [
    "$format",
    "all_kinds_2?$filter=id eq 1&$count=true&$format=application/json;IEEE754Compatible=true",
    {},
  ],
])("long numbers are texts for clients that ask for it by %s", async (_, path, headers) => {
  const answer = await get(path, headers as Record<string, string>);
  expect(answer.headers.get("content-type")).toContain(";IEEE754Compatible=true;");
  expect(answer.body["@odata.count"]).toBe("1");
  expect(answer.body.value[0]).toMatchObject({
    big: "9007199254740993",
    price,
    ratio: 0.5,
    small: 7,
  });
});

test("types have their names", async () => {
  const { body } = await get("$metadata");
  for (const [name, type] of [
    ["small", 'Edm.Int16"'],
    ["big", 'Edm.Int64"'],
    ["price", `Edm.Decimal" Precision="${engine === "sqlite" ? 15 : 20}" Scale="4"`],
    ["ratio", 'Edm.Double"'],
    ["is_on", 'Edm.Boolean"'],
    ["day", 'Edm.Date"'],
    ["at", 'Edm.DateTimeOffset" Precision="3"'],
    ["clock", 'Edm.TimeOfDay" Precision="0"'],
    ["code", 'Edm.Guid"'],
    ["doc", 'Edm.String"'],
    ["raw", 'Edm.Binary"'],
    ["note", 'Edm.String" Nullable="false" MaxLength="40"'],
  ] as const) {
    expect(body).toContain(`<Property Name="${name}" Type="${type}`);
  }
  expect(body).toContain('<EntityType Name="notesRecord">\n<Property');
});

const literals: [filter: string, ids: number[]][] = [
  ["small eq 7", [1]],
  ["small gt 6.5 and small lt 7.5", [1]],
  ["big eq 9007199254740993", [1]],
  ["big eq 9007199254740992", []],
  [`price eq ${price}`, [1]],
  ["price gt 1.2345678901e10M", [1]],
  ["ratio eq 0.5", [1]],
  ["ratio eq 5e-1", [1]],
  ["is_on eq true", [1]],
  ["is_on", [1]],
  ["not is_on", []],
  ["is_on ne true", [2]],
  ["day eq 2026-03-29", [1]],
  ["day eq 2026-03-29T00:00:00.000Z", [1]],
  ["at eq 2026-03-29T10:15:30.25Z", [1]],
  ["at eq 2026-03-29T12:15:30.250+02:00", [1]],
  ["at eq 2026-03-29T12:15:30.250%2B02:00", [1]],
  ["at ge datetimeoffset'2026-03-29T10:15:30Z' and at lt 2026-03-30", [1]],
  ["clock eq 08:15", [1]],
  ["code eq 5E9D41F9-16d6-4a9b-8a1c-0f4e2bdf8a11", [1]],
  ["code eq '5e9d41f9-16d6-4a9b-8a1c-0f4e2bdf8a11'", [1]],
  ["code in (guid'5e9d41f9-16d6-4a9b-8a1c-0f4e2bdf8a11')", [1]],
  ["raw eq binary'-_8A'", [1]],
  [`doc eq '{"a":[1,"x"]}'`, [1]],
  ["doc eq null", [2]],
  ["note eq 'a %26 b %2B c'", [1]],
  ["note eq 'it''s 100%25'", [2]],
  ["endswith(note,'%25')", [2]],
  ["contains(small,'7')", [1]],
];
test.each(literals)("%s is compared as a value of its column", async (filter, ids) => {
  const { status, body } = await get(`all_kinds_2?$filter=${filter}&$select=id`);
  expect(status, JSON.stringify(body)).toBe(200);
  expect(body.value.map(({ id }: { id: number }) => id)).toEqual(ids);
});

test.each([
  ["small eq 'seven'", /"small"/],
  ["day eq 2026-02-30", /"day"/],
  ["day ge 2026-03-28T23:00:00Z", /"day" must be a date/],
  ["at eq 2026-13-01T00:00:00Z", /"at"/],
  ["code eq 5", /"code"/],
  ["is_on eq 7", /"is_on"/],
  ["contains(doc,'a')", /"doc"/],
  ["doc gt 'a'", /"doc"/],
  ["note", /"note" in \$filter is no condition/],
])("%s is refused", async (filter, message) => {
  const { status, body } = await get(`all_kinds_2?$filter=${filter}`);
  expect(status).toBe(400);
  expect(body.error.message).toMatch(message);
});

describe("names", () => {
  test("have underscores for other characters, and no two are the same", async () => {
    const { body } = await get("");
    const names = body.value.map(({ name }: { name: string }) => name);
    expect(names.sort()).toEqual([
      "all_kinds",
      "all_kinds_2",
      "bin_stocks",
      "notes",
      "since",
      "strict",
    ]);
    const { body: stocks } = await get("bin_stocks?$orderby=bin_no,bin_no_2&$filter=größe eq 3");
    expect(stocks.value).toEqual([{ bin_no: "A/1", bin_no_2: 1, qty: 5, _9th: "x", größe: 3 }]);
  });

  test.each([
    ["bin_stocks(bin_no='A/1',bin_no_2=2)", 6],
    ["bin_stocks(bin_no_2=1,bin_no='it''s')", 7],
    ["bin_stocks(bin_no='A%2F1',bin_no_2=1)", 5],
  ])("%s finds one record", async (path, qty) => {
    expect((await get(path)).body).toMatchObject({ qty });
  });

  test.each([
    ["bin_stocks('A/1')", 400, "The key of bin_stocks is bin_no=…,bin_no_2=…"],
    ["bin_stocks(bin_no='A/1')", 400, "The key of bin_stocks is bin_no=…,bin_no_2=…"],
    [
      "bin_stocks(bin_no='A/1',bin_no_2=1,qty=5)",
      400,
      "The key of bin_stocks is bin_no=…,bin_no_2=…",
    ],
    ["bin_stocks(bin_no='A/1',bin_no_2=9)", 404, "bin_stocks has no such record"],
    ["bin_stocks(bin_no='A/1',bin_no_2=null)", 404, "bin_stocks has no such record"],
    ["all_kinds_2(99999999999999999999)", 404, "all_kinds_2 has no such record"],
    ["notes('x')", 404, "The records of notes have no key here; use $filter"],
  ])("%s does not", async (path, status, message) => {
    const answer = await get(path);
    expect([answer.status, answer.body.error.message]).toEqual([status, message]);
  });
});

test("records without a key are read to the end, equal ones too", async () => {
  const seen: unknown[] = [];
  for (
    let path: string | undefined = "/odata/test/notes?$select=note&$top=4";
    path !== undefined;
  ) {
    const { body }: { body: { value: { note: string }[]; "@odata.nextLink"?: string } } =
      await fixture.request(path, { headers: { prefer: "odata.maxpagesize=1" } });
    seen.push(...body.value.map(({ note }) => note));
    const next = body["@odata.nextLink"];
    path = next && pathIn(next);
  }
  expect(seen).toEqual(["a & b + c", "a & b + c", "it's 100%", "it's 100%"]);
});

test("parameters of a query are options without a dollar sign", async () => {
  expect((await get("since?params[least]=2")).body.value).toEqual([{ id: 2, small: null }]);
  const { status, body } = await get("since");
  expect(status).toBe(400);
  expect(body.error).toEqual({
    code: "Validation failed",
    message: "Invalid data",
    details: [{ code: "Validation failed", target: "params.least", message: expect.any(String) }],
  });
});

test("the default scope holds for lists", async () => {
  expect((await get("strict?$count=true")).body).toMatchObject({
    "@odata.count": 1,
    value: [{ id: 1 }],
  });
});

describe("values that no type of OData has", () => {
  /** Literals of SQL, by column, of which the engine stores what stands here. */
  const byEngine: Readonly<
    Record<EngineName, Readonly<Record<string, readonly [string, string]>>>
  > = {
    sqlite: {
      whole: ["integer", "'n/a'"],
      part: ["decimal(10,2)", "''"],
      rough: ["real", "'n/a'"],
      day: ["date", "'soon'"],
      at: ["datetime", "'29.03.2026'"],
      clock: ["time", "'noon'"],
      code: ["uuid", "'none'"],
    },
    mysql: { day: ["date", "'2026-00-00'"], clock: ["time", "'-12:00:00'"] },
    postgres: { day: ["date", "'0044-03-15 BC'"], at: ["timestamp", "'0044-03-15 10:00 BC'"] },
  };
  const strays = byEngine[engine];
  const names = Object.keys(strays);
  const odd = openForTests(async () => {
    const columns = names.map((name) => `${name} ${strays[name]![0]}`);
    const values = names.map((name) => strays[name]![1]);
    return openFixture({
      tables: [],
      setUp: () => [
        ...(engine === "mysql" ? ["set sql_mode = ''"] : []),
        `create table odd (id integer primary key, ${columns.join(", ")})`,
        `insert into odd values (1, ${values.join(", ")})`,
      ],
      endpoints: { odd: { tableName: "odd", action: { read: true, first: true } } },
      project: { odata: true },
    });
  });

  test.each(["odd", "odd(1)"])("are null in %s", async (path) => {
    const { status, body } = await odataOver(() => odd)(path);
    const [record] = [body.value ?? body].flat();
    expect([status, record]).toEqual([
      200,
      expect.objectContaining({ id: 1, ...Object.fromEntries(names.map((name) => [name, null])) }),
    ]);
  });
});
