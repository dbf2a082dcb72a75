/**
 * The requests of the parity test, by action and in the order in which they run: reads after writes show what was
 * stored. They have no expected answers, because the engines are compared with each other. `test/contract/` checks each
 * answer.
 */
export interface ParityRequest {
  readonly endpoint: string;
  readonly action: string;
  /** Undefined sends no body; a string is sent as it is, all else as JSON. */
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

const of =
  (endpoint: string, action: string) =>
  (...bodies: unknown[]): ParityRequest[] =>
    bodies.map((body) => ({ endpoint, action, body }));

const where = (key: string, operator: string, value?: unknown, more: object = {}) => ({
  where: { logic: "AND", conditions: [{ key, operator, value, ...more }] },
});
const all = (logic: string, ...conditions: [string, string, unknown?][]) => ({
  where: {
    logic,
    conditions: conditions.map(([key, operator, value]) => ({ key, operator, value })),
  },
});
const by = (column: string, direction: string) => ({ sort_columns: [{ column, direction }] });
const key = (name: string, value: unknown) => ({ where: [{ key: name, value }] });

const read: ParityRequest[] = [
  ...of("items", "read")(
    undefined,
    {},
    "null",
    [],
    "",
    "{",
    { limit: 5 },
    { limit: 0 },
    { limit: 5001 },
    { limit: "5" },
    { limit: null },
    { limit: -1 },
    { limit: 1.5 },
    { page: 1 },
    { page: 2, per_page: 3 },
    { page: 3, per_page: 3 },
    { page: 4, per_page: 3 },
    { page: 0 },
    { page: "1" },
    { page: null },
    { page: 1, per_page: 101 },
    { page: 1, per_page: 0 },
    { page: 2 ** 53 },
    { page: 1e15, per_page: 100 },
    { page: 1, limit: 1 },
    { page: 1, count: "none" },
    { page: 2, per_page: 3, count: "none" },
    { page: 3, per_page: 3, count: "none" },
    { page: 9, count: "none" },
    { page: 1, count: "exact" },
    { page: 1, count: null },
    { page: 3, per_page: 3, count: "estimated" },
    { page: 1, count: "estimated", ...where("qty", ">", 10) },
    { page: 1, count: "all" },
    { count: "none" },
    { count: 1 },
    { cursor: true },
    { cursor: true, per_page: 3 },
    { cursor: true, per_page: 3, ...by("qty", "DESC") },
    { cursor: true, per_page: 3, ...by("due", "ASC"), select: ["name"] },
    { cursor: true, per_page: 2, ...where("qty", ">", 10) },
    { cursor: true, page: 1 },
    { cursor: true, limit: 1 },
    { cursor: true, per_page: 101 },
    { cursor: false },
    { cursor: null, page: 1 },
    { cursor: "" },
    { cursor: "WzEsIngiLFtdXQ" },
    { cursor: "WzEsIngiLFsiYSIsImIiXV0", ...by("qty", "ASC") },
    { cursor: [] },
    { cursor: 1 },
    { select: ["name"] },
    { select: ["name", "name"] },
    { select: [] },
    { select: "name" },
    { select: ["nope"] },
    { select: ["secret"] },
    { select: null },
    ...["=", "!=", "<>", ">", "<", ">=", "<="].map((operator) => where("qty", operator, 20)),
    ...["=", "!=", ">", "<"].map((operator) => where("price", operator, 7)),
    ...["=", "!=", ">", "<="].map((operator) => where("due", operator, "2026-03-10")),
    ...["=", "!=", ">", "<"].map((operator) => where("active", operator, true)),
    ...["=", ">", "<", ">="].map((operator) => where("name", operator, "banana")),
    ...["=", "!=", "<>", ">", "LIKE", "IN", "BETWEEN"].map((operator) =>
      where("qty", operator, null),
    ),
    ...[" apple", "APPLE", "Apple", "", "appl\u0065", "É", "éclair", "eclair", "ÉCLAIR"].map(
      (name) => where("name", "=", name),
    ),
    ...[
      "a%",
      "%A%",
      "%_%",
      "\\%",
      "%\\\\%",
      "%\\%",
      "back\\slash",
      "%'%",
      "",
      "%",
      "____",
      "É%",
      "é%",
      "e%",
      "100% %",
      "[a-c]%",
    ].map((name) => where("name", "LIKE", name, { sensitive: false })),
    ...[
      "a%",
      "%\\%",
      "back\\slash",
      "back\\\\slash",
      "snake\\_case",
      "100\\%%",
      "%%",
      "_pple",
      "",
      "%é%",
    ].map((name) => where("name", "NOT LIKE", name, { sensitive: false })),
    ...["APPLE", "éclair", "eclair", "%CASE", "100\\% cotton"].map((name) =>
      where("name", "ILIKE", name),
    ),
    ...["7%", "20", "%.%", "1.5", "2026-0_-10", "%2026%", "true", "1"].flatMap((text) =>
      ["qty", "price", "due", "active"].map((column) => where(column, "LIKE", text)),
    ),
    where("name", "LIKE", 100),
    where("name", "LIKE", true),
    where("name", "LIKE", ["a"]),
    where("name", "LIKE", "a", { sensitive: "no" }),
    ...[
      [],
      [20],
      [20, 20],
      [20, null],
      [null],
      ["20", 5],
      [1.5],
      ["a"],
      [[20]],
      Array.from({ length: 1001 }, () => 1),
    ].flatMap((list) => [where("qty", "IN", list), where("qty", "NOT IN", list)]),
    ...[[5, 10], [10, 5], [5, 5], [5], [1, 2, 3], [null, 5], "5,10", ["5", "10"]].flatMap(
      (range) => [where("qty", "BETWEEN", range), where("qty", "NOT BETWEEN", range)],
    ),
    where("due", "BETWEEN", ["2026-01-01", "2026-02-28"]),
    where("due", "IN", ["2026-01-10"]),
    where("price", "BETWEEN", [0.2, "1.50"]),
    where("name", "BETWEEN", ["a", "c"]),
    where("qty", "IS NULL"),
    where("qty", "IS NOT NULL"),
    where("qty", "is null"),
    where("qty", "IS NULL", 5),
    where("qty", "is"),
    where("qty", ""),
    where("qty", "="),
    ...[
      2147483648,
      -2147483649,
      "9223372036854775807",
      "1e3",
      "007",
      "+5",
      " 20",
      "20.0",
      20.5,
      "0x14",
    ].map((value) => where("qty", "=", value)),
    ...[
      7.001,
      "7.000",
      1e12,
      "1e1",
      "7,0",
      0.1,
      "-0",
      "12345678901234567890.12",
      "NaN",
      "Infinity",
    ].map((value) => where("price", ">", value)),
    ...[
      "2026-01-10T00:00:00Z",
      "2026-1-10",
      "20260110",
      "10000-01-01",
      "infinity",
      "0001-01-01",
      "yesterday",
      5,
    ].map((value) => where("due", ">=", value)),
    ...["true", "TRUE", 1, 0, "1", "t", "yes", 2].map((value) => where("active", "=", value)),
    all("or", ["qty", "=", 20], ["code", "=", "A-1"]),
    all("Or", ["qty", "=", 20]),
    all("AND"),
    all("OR"),
    all("NOT", ["qty", "=", 1]),
    { where: {} },
    { where: [] },
    { where: null },
    { where: "x" },
    {
      where: {
        logic: "OR",
        conditions: [
          { logic: "AND", conditions: [] },
          { key: "qty", operator: "=", value: 20 },
        ],
      },
    },
    {
      where: {
        conditions: [
          {
            logic: "OR",
            conditions: [
              { key: "qty", operator: "=", value: 20 },
              { key: "due", operator: "IS NULL" },
            ],
          },
          { key: "active", operator: "=", value: true },
        ],
      },
    },
    ...[
      "an",
      "AN",
      "é",
      "É",
      "e",
      "%",
      "_",
      "\\",
      "'",
      "20",
      "2026",
      "12",
      "1.5",
      "true",
      "null",
      "",
      " ",
      "hush",
      "set by",
    ].map((search_value) => ({ search_value })),
    ...["an", "20", "2026-0", "7", ".5", "TRUE", "1"].flatMap((search_value) =>
      ["name", "qty", "price", "due", "active", "all"].map((search_by) => ({
        search_value,
        search_by,
      })),
    ),
    { search_value: "a", search_by: "nope" },
    { search_by: "name" },
    { search_by: "secret" },
    { search_value: 20 },
    { search_value: null },
    { search_value: {} },
    { search_value: "a", search_by: 1 },
    ...["code", "name", "category_id", "qty", "price", "active", "due", "created_at"].flatMap(
      (column) => [by(column, "ASC"), by(column, "DESC")],
    ),
    by("qty", "asc"),
    by("qty", "sideways"),
    by("nope", "ASC"),
    by("secret", "ASC"),
    { sort_columns: "qty" },
    { sort_columns: [{}] },
    { sort_columns: [{ column: "qty" }] },
    { sort_columns: [] },
    { sort_columns: null },
    {
      sort_columns: [
        { column: "active", direction: "DESC" },
        { column: "price", direction: "ASC" },
        { column: "active", direction: "ASC" },
      ],
    },
    where("created_at", "IS NULL"),
    where("created_at", ">", "2026-01-01T00:00:00Z"),
    where("created_at", "<", "soon"),
    where("created_at", "=", 5),
  ),
  ...["scope-flat", "scope-nested", "scope-null", "scope-operator"].flatMap((endpoint) =>
    of(endpoint, "read")({ page: 1 }, all("OR", ["qty", ">=", 0], ["due", "IS NULL"]), {
      search_value: "a",
    }),
  ),
  ...["by-view", "by-query"].flatMap((endpoint) =>
    of(endpoint, "read")(
      { page: 1, per_page: 3 },
      by("name", "DESC"),
      { search_value: "FOOD" },
      where("origin", "=", "view"),
      { select: ["qty"] },
    ),
  ),
  ...of("labels", "read")({ limit: 2 }, { select: ["code"] }),
  ...of("nothing", "read")({ limit: 1 }),
  ...of("items", "attach")({ limit: 1 }),
];

const first: ParityRequest[] = of("items", "first")(
  undefined,
  {},
  { where: [] },
  { where: {} },
  { where: null },
  { where: "x" },
  { select: ["name"] },
  ...["i01", " i01", "I01", "none", "", 0, true, null, ["i01"], {}, "\ud800", "i\u000001"].map(
    (value) => key("item_id", value),
  ),
  { where: { key: "code", value: "A-1" } },
  {
    where: [
      { key: "code", value: "A-1" },
      { key: "qty", value: "10" },
    ],
  },
  { where: { key: "nope", value: 1 } },
  { where: { key: "secret", value: "x" } },
  key("price", 1.5),
  key("price", "1.500"),
  key("due", "2026-01-10"),
  key("active", 0),
  key("qty", null),
  key("qty", "10abc"),
  key("name", "back\\slash"),
  key("name", "100% cotton"),
  { ...key("item_id", "i01"), select: ["name"] },
  { ...key("item_id", "i01"), select: ["secret"] },
  { ...key("item_id", "i01"), select: "name" },
  { ...key("item_id", "i01"), select: [] },
);

/** Values that engines like to read in their own way: what one takes, the others must take, and show it the same. */
const kinds: Record<string, unknown[]> = {
  whole: [
    0,
    -0,
    1e3,
    "1e3",
    1.0,
    "1.0",
    "007",
    "+5",
    " 5",
    "5 ",
    "",
    "abc",
    true,
    1.5,
    "1_000",
    "0x10",
    "١",
    [],
    {},
  ],
  big: [
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    9007199254740991,
    1e19,
  ],
  unsigned: [0, 4294967295],
  exact: [0.1, "0.10000", "123456.78901", 1e-4, "-0", "1e2", ".5", "5.", "1,5", "NaN", "Infinity"],
  money: [99999999.99, 100000000, 0.005, "1.50", -1.5, 1e7],
  rough: [
    0.1,
    1e-300,
    1.7976931348623157e308,
    "1e5",
    "1e999",
    "NaN",
    "inf",
    -0,
    "123456789.123456789",
  ],
  flag: [true, false, 0, 1, 2, "true", "FALSE", "1", "0", "t", "on", "", null],
  day: [
    "2026-01-31",
    "2024-02-29",
    "2023-02-29",
    "0001-01-01",
    "9999-12-31",
    "10000-01-01",
    "2026-1-1",
    "20260131",
    "infinity",
    "now",
    "2026-01-31T00:00:00Z",
    " 2026-01-31",
    20260131,
  ],
  moment: [
    "2026-01-31T10:20:30.123Z",
    "2026-01-31T10:20:30Z",
    "2026-01-31T10:20:30.123456Z",
    "2026-01-31 10:20:30",
    "2026-01-31T10:20:30+05:30",
    "2026-01-31",
    "1969-12-31T23:59:59.999Z",
    "9999-12-31T23:59:59.999Z",
    "1000-01-01T00:00:00Z",
    "2026-06-30T23:59:60Z",
    "infinity",
    "now",
    1769854830,
    "",
  ],
  local_time: [
    "2026-03-29T02:30:00.000Z",
    "2026-03-29T02:30:00",
    "2026-10-25T02:30:00+02:00",
    "2026-01-31T24:00:00Z",
  ],
  clock: ["23:59:59", "00:00:00", "10:20", "10:20:30.5", "10:20:30Z", "allballs"],
  token: [
    "123e4567-e89b-42d3-a456-426614174000",
    "123E4567-E89B-42D3-A456-426614174000",
    "123e4567e89b42d3a456426614174000",
    "{123e4567-e89b-42d3-a456-426614174000}",
    "123",
    "",
  ],
  document: [
    { b: 1, a: [null, 1.5] },
    [],
    "text",
    5,
    true,
    null,
    "",
    { n: 1e21 },
    { s: "\u2028" },
    "[1]",
    { u: "\ud800" },
  ],
  raw: ["AP8Q/w==", "", "AP8Q/w", "***", "AP8Q_w==", 5],
  note: [
    "",
    " ",
    "a ",
    "\t\r\n",
    "😀",
    "e\u0301",
    "\u00e9",
    "\ufeffx",
    "x".repeat(70_000),
    5,
    true,
    {},
    "\ud800",
    "a\u0000b",
    "\\",
    "\\n",
    "%s",
    "''",
  ],
  short: [
    "1234567890",
    "12345678901",
    "123456789  ",
    "1234567890   ",
    "😀😀😀😀😀😀😀😀😀😀",
    "😀😀😀😀😀😀😀😀😀😀😀",
    "é".repeat(10),
  ],
  kind_id: ["k", "K", " k", "k", "x".repeat(36), "x".repeat(37), 5, null, "", "-", {}, "ключ"],
};

const create: ParityRequest[] = [
  ...of("items", "create")(
    undefined,
    {},
    "null",
    { data: {}, options: {} },
    { nonsense: 1 },
    { code: "A-1", name: "twice" },
    { code: "N-1", name: null },
    { code: "N-1" },
    { name: "n" },
  ),
  ...of(
    "items",
    "create",
  )({
    item_id: "n1",
    code: "N-1",
    name: "one",
    qty: 99_999,
    price: "1.50",
    active: 1,
    due: "2026-01-01",
    category_id: "c1",
    secret: "hush-n",
    locked: "l",
    created_by: "me",
  }),
  ...of("items", "create")(
    { item_id: "n1", code: "N-9", name: "same key" },
    { item_id: "n2", code: "N-1", name: "same code" },
  ),
  ...of("items", "create")(
    { code: "N-2", name: "x", qty: 100_000 },
    { code: "N-2", name: "x", category_id: "none" },
    { code: "N-2", name: "x", qty: "many", due: "soon" },
    { code: "x".repeat(21), name: "x" },
  ),
  ...of("items", "create")(
    { item_id: "n3", code: "n-1", name: "other case" },
    { item_id: "n4", code: "N-4", name: "ЖУК" },
    {
      item_id: "n5",
      code: "N-5",
      name: "x",
      created_at: "2001-01-01T00:00:00Z",
      updated_by: "me",
      updated_at: "x",
    },
  ),
  ...of("items", "create")(
    { item_id: "n6", code: "N-6", name: "x", created_by: 5 },
    { item_id: "n7", code: "N-7", name: "x", created_by: "x".repeat(61) },
    { item_id: "n8", code: "N-8", name: "x", created_by: null },
    { item_id: "n9", code: "N-9", name: "x", created_by: {} },
  ),
  ...of("items", "read")(
    where("item_id", "LIKE", "n_"),
    { search_value: "жук" },
    where("name", "ILIKE", "жУк"),
    where("created_by", "IS NOT NULL"),
  ),
  ...of("lines", "create")(
    { item_id: "n1", amount: 1 },
    { item_id: "n1", amount: 2, line_id: "-" },
    { item_id: "none", amount: 1 },
    { amount: 1 },
    { line_id: 77, item_id: "n1" },
    { line_id: 77, item_id: "n1" },
    { line_id: "abc", item_id: "n1" },
  ),
  ...of("lines", "read")({ ...by("amount", "ASC"), select: ["item_id", "amount", "note"] }),
  ...of("days", "create")(
    { day: "2026-01-01" },
    { day: "2026-01-02", note: "second" },
    { note: "no key" },
    { day: "-" },
    { day: "" },
    { day: null },
    { day: "2026-02-30" },
  ),
  ...of("days", "read")({ limit: 10 }),
  ...of("categories", "create")(
    { category_id: "c9", name: "Nine", made_by: "me", made_on: "2001-01-01T00:00:00Z" },
    { category_id: "c8", name: "Food" },
    { category_id: "c7", name: "food" },
  ),
  ...of("categories", "read")({ limit: 10 }),
  ...of("unaudited", "create")({ item_id: "u1", code: "U-1", name: "u" }),
  ...Object.entries(kinds).flatMap(([column, values]) =>
    of("kinds", "create")(...values.map((value) => ({ [column]: value }))),
  ),
  ...of("kinds", "create")(
    '{"big":9007199254740993}',
    '{"big":1e999}',
    '{"rough":1e999}',
    '{"money":1.10}',
    '{"document":{"n":12345678901234567890}}',
  ),
  ...of(
    "kinds",
    "read",
  )({ ...where("kind_id", "IN", ["k", "K", " k", "5", "ключ", "x".repeat(36)]) }),
  ...[
    where("moment", "=", "2026-01-31T10:20:30.123Z"),
    where("moment", "<", "2026-01-31T10:20:30.1Z"),
    where("clock", ">", "10:00"),
    where("token", "=", "123E4567-E89B-42D3-A456-426614174000"),
    where("raw", "=", "AP8Q/w=="),
    where("document", "=", {}),
    where("document", "IS NULL"),
    where("flag", "!=", true),
    where("big", ">", "9007199254740991"),
    where("rough", "=", 0.1),
    where("moment", "LIKE", "2026-01-31T10%"),
    where("clock", "LIKE", "%:20:%"),
    where("token", "LIKE", "123e%"),
    where("document", "LIKE", "%a%"),
    where("raw", "LIKE", "AP%"),
    where("rough", "LIKE", "0.1"),
  ].flatMap((filter) => of("kinds", "read")({ page: 1, per_page: 1, ...filter, select: ["flag"] })),
  // A bigint has the same range everywhere; SQLite's integer is wider than the others'.
  ...["9223372036854775807", "9223372036854775808", 1e20].flatMap((value) =>
    of("kinds", "read")({ ...where("big", "<=", value), ...by("big", "ASC"), select: ["big"] }),
  ),
  ...["moment", "clock", "token", "raw", "document", "flag", "rough", "big"].flatMap((column) =>
    of("kinds", "read")({ ...by(column, "DESC"), select: [column] }),
  ),
  ...["2026-01-31", "10:20", "123e4567", "AP8Q", "e+300", "9007199254740993", "true"].flatMap(
    (search_value) => of("kinds", "read")({ search_value, page: 1, per_page: 1, select: ["flag"] }),
  ),
  ...of("forms", "create")(
    { title: "ab", email: "x", choice: "blue", ranked: 9, gain: -1 },
    { form_id: "f1", title: "Report", nick: " bob ", low: "ÄÖ", shout: "äö", tags: [1, 2] },
    { title: "Report", tags: [1, 1] },
    { title: "Report", starts: "2026-05-05", ends: "2026-05-04" },
    { title: "Report", fine: "1.2345", firm: "5", unit: 1.5 },
  ),
  ...of("forms", "first")(key("form_id", "f1")),
];

const update: ParityRequest[] = [
  ...of("items", "update")(
    undefined,
    {},
    { name: "x" },
    { item_id: "none", name: "x" },
    { item_id: null, name: "x" },
    { item_id: {}, name: "x" },
    { item_id: ["n1"], name: "x" },
    { item_id: " n1", name: "leading" },
    { item_id: 0, name: "x" },
    { item_id: "", name: "x" },
  ),
  ...of("items", "update")(
    { item_id: "n1", name: "changed" },
    { item_id: "n1" },
    { item_id: "n1", nonsense: 1 },
    { item_id: "n1", qty: null, due: null },
    { item_id: "n1", code: "A-1" },
    { item_id: "n1", code: null },
    { item_id: "n1", category_id: "none" },
  ),
  ...of("items", "update")(
    { item_id: "n1", qty: 100_000 },
    { item_id: "n1", qty: "x", due: "y" },
    { item_id: "n1", name: "" },
    { item_id: "n1", updated_by: "me", created_by: "you", created_at: "2001-01-01T00:00:00Z" },
    { item_id: "n1", locked: "x", secret: "hush-u" },
    { data: { item_id: "n1", qty: 5 }, options: {} },
  ),
  ...of("items", "first")(key("item_id", "n1")),
  ...of("lines", "update")(
    { line_id: 77, amount: 7 },
    { line_id: "77", amount: 8 },
    { line_id: "77abc", amount: 9 },
    { line_id: 77.5, amount: 9 },
    { line_id: true, amount: 9 },
  ),
  ...of("lines", "first")(key("line_id", 77)),
  ...of("days", "update")(
    { day: "2026-01-02", note: "changed" },
    { day: "2026-01-03", note: "none" },
    { day: "soon", note: "x" },
    { note: "x" },
  ),
  ...of("days", "read")({ limit: 10 }),
  ...of("forms", "update")(
    { form_id: "f1", title: "" },
    { form_id: "f1", ranked: 0, choice: "green" },
    { form_id: "f1", nick: " al ", ends: "2026-09-09" },
    { form_id: "f1", email: null },
  ),
  ...of("forms", "first")(key("form_id", "f1")),
  ...of("categories", "update")(
    { category_id: "c9", name: "Ten", made_by: "you" },
    { category_id: "c9", name: "Food" },
  ),
  ...of("categories", "read")({ limit: 10 }),
  {
    endpoint: "items",
    action: "update",
    body: { item_id: "n1", qty: 6 },
    headers: { "If-Match": '"old"' },
  },
  {
    endpoint: "items",
    action: "update",
    body: { item_id: "none", qty: 6 },
    headers: { "If-Match": '"old"' },
  },
  {
    endpoint: "items",
    action: "update",
    body: { item_id: "n1", qty: 6 },
    headers: { "If-Match": "*" },
  },
  ...of("items", "read")({ limit: 100 }),
];

const change = (field: string, value: unknown, more: object = {}) => ({
  counter_id: "t1",
  adjustments: [{ field, value, ...more }],
});

const adjust: ParityRequest[] = [
  ...of(
    "counters",
    "create",
  )({
    counter_id: "t1",
    stock: 10,
    balance: 10.5,
    big: "9223372036854775800",
    free: 0,
    quota: 5,
    rough: 0.1,
  }),
  ...of("counters", "adjust")(
    undefined,
    {},
    { counter_id: "t1" },
    { counter_id: "t1", adjustments: [] },
    { adjustments: [{ field: "stock", value: 1 }] },
    { counter_id: "none", adjustments: [{ field: "stock", value: 1 }] },
    { counter_id: {}, adjustments: [{ field: "stock", value: 1 }] },
  ),
  ...of(
    "counters",
    "adjust",
  )(
    ...[5, -5, 0, 1.5, "5", null, true, [], {}, "", 1e20, -11, -1e20].map((value) =>
      change("stock", value),
    ),
  ),
  ...of(
    "counters",
    "adjust",
  )(
    ...[0.1, 0.2, -0.3, 0.001, "0.1", -100, 1e9, 1e10, 99999999999].map((value) =>
      change("balance", value),
    ),
  ),
  ...of("counters", "adjust")(
    ...[5, 5, 100, -1].map((value) => change("big", value)),
    '{"counter_id":"t1","adjustments":[{"field":"big","value":9223372036854775808}]}',
    '{"counter_id":"t1","adjustments":[{"field":"big","value":1e999}]}',
  ),
  ...of("counters", "adjust")(...[0.2, 1e308, 1e-7, -0.1].map((value) => change("rough", value))),
  ...of("counters", "adjust")(...[-5, 4294967295].map((value) => change("quota", value))),
  ...of("counters", "adjust")(
    ...[5, -20].map((value) => change("blank", value)),
    change("label", 1),
    change("nope", 1),
    change("updated_at", 1),
    change("counter_id", 1),
  ),
  ...of("counters", "adjust")(
    {
      counter_id: "t1",
      adjustments: [
        { field: "stock", value: 1 },
        { field: "stock", value: 2 },
      ],
    },
    {
      counter_id: "t1",
      adjustments: [
        { field: "free", value: -3 },
        { field: "stock", value: -1000 },
      ],
    },
    {
      counter_id: "t1",
      adjustments: [
        { field: "free", value: -3 },
        { field: "stock", value: 1 },
      ],
      updated_by: "me",
    },
  ),
  ...of("reasoned", "adjust")(
    change("stock", 1),
    change("stock", 1, { reason: "r" }),
    change("stock", 1, { reason: "" }),
    { ...change("stock", 1), reason: "r" },
    change("stock", -1000, { reason: "r" }),
    change("free", 1, { reason: "r" }),
  ),
  {
    endpoint: "counters",
    action: "adjust",
    body: change("stock", 1),
    headers: { "If-Match": '"old"' },
  },
  ...of("counters", "read")({ limit: 10 }),
];

const remove: ParityRequest[] = [
  ...of("items", "delete")(
    undefined,
    {},
    { where: [] },
    { where: {} },
    { where: null },
    { where: "1=1" },
    { where: { key: "item_id", value: "n1" } },
    { item_id: "n1" },
  ),
  ...of("items", "delete")(
    key("nope", 1),
    key("secret", "x"),
    key("item_id", "none"),
    key("item_id", ["n1"]),
    key("item_id", {}),
    key("qty", "5abc"),
    key("code", 0),
    key("code", ""),
    key("item_id", " n3"),
    key("item_id", "N3"),
  ),
  ...of("items", "delete")(
    key("item_id", "n1"),
    key("item_id", "i01"),
    {
      where: [
        { key: "item_id", value: "n3" },
        { key: "qty", value: 1 },
      ],
    },
    key("item_id", "n3"),
    key("item_id", "n3"),
    { data: key("item_id", "n4"), options: {} },
  ),
  {
    endpoint: "items",
    action: "delete",
    body: key("item_id", "n5"),
    headers: { "If-Match": '"old"' },
  },
  { endpoint: "items", action: "delete", body: key("item_id", "n5"), headers: { "If-Match": "*" } },
  ...of("items", "delete")(key("price", "7.00"), key("due", null), key("active", 2)),
  ...of("cascade", "delete")(key("item_id", "n1"), key("item_id", "n1")),
  ...of("lines", "read")({ select: ["item_id", "amount", "note"], limit: 10 }),
  ...of("items", "read")({ limit: 100 }),
  ...of("categories", "delete")(
    key("category_id", "c1"),
    key("category_id", "c9"),
    key("name", "Ten"),
  ),
  ...of("categories", "read")({ limit: 10 }),
  ...of("days", "delete")(key("day", "2026-01-02"), key("day", "2026-13-01"), key("note", null)),
  ...of("days", "read")({ limit: 10 }),
  ...of("kinds", "delete")(key("flag", true), key("kind_id", "K"), key("raw", "AP8Q/w==")),
  ...of("kinds", "read")({ page: 1, per_page: 1, select: ["flag"] }),
];

/** A blank at the end makes another text: no engine may find, change or delete `t1` for `t1 `. */
const trailingBlanks: ParityRequest[] = [
  ...of("items", "create")({ item_id: "b1", code: "B-1", name: "blank" }),
  ...of("items", "read")(
    where("name", "=", "blank "),
    where("name", "!=", "blank "),
    where("name", "IN", ["blank "]),
    where("name", "LIKE", "blank "),
  ),
  ...of("items", "first")(key("item_id", "b1 "), key("name", "blank ")),
  ...of("items", "update")({ item_id: "b1 ", name: "changed" }),
  ...of("counters", "adjust")({ ...change("stock", 1), counter_id: "t1 " }),
  ...of("items", "create")(
    { item_id: "b1 ", code: "B-2", name: "other key" },
    { item_id: "b2", code: "B-1 ", name: "other code" },
  ),
  ...of("items", "delete")(key("item_id", "b1 "), key("item_id", "b1 ")),
  ...of("items", "read")(where("item_id", "LIKE", "b%")),
];

const find = (value: unknown) => ({ search: { value, regex: false } });
const sent = (...columns: [data: unknown, search?: string][]) => ({
  columns: columns.map(([data, value = ""]) => ({
    data,
    searchable: true,
    orderable: true,
    search: { value, regex: false },
  })),
});
const order = (...terms: [column: unknown, dir: string][]) => ({
  order: terms.map(([column, dir]) => ({ column, dir })),
});

/** A criterion of the grid's SearchBuilder. */
const built = (origData: string, condition: string, ...value: unknown[]) => ({
  searchBuilder: { logic: "AND", criteria: [{ condition, origData, type: "string", value }] },
});
/** One condition after the other, on fields of several types. */
const criteria =
  "= != < <= > >= contains !contains starts !starts ends !ends null !null between !between"
    .split(" ")
    .flatMap((condition) => [
      built("name", condition, "snake", "t"),
      built("qty", condition, "20", "5"),
      built("price", condition, "7.00", "1.5"),
      built("due", condition, "2026-03-10", "2026-01-10"),
      built("active", condition, "true", "false"),
      built("created_at", condition, "2026-01-01", "2026-02-01 10:00:00"),
      built("secret", condition, "x", "y"),
    ]);
/** One logic of the grid's ColumnControl after the other. */
const controls =
  "contains notContains equal notEqual starts ends greater greaterOrEqual less lessOrEqual empty notEmpty"
    .split(" ")
    .flatMap((logic) => [
      { data: "name", search: { type: "text", logic, value: "SNAKE_" } },
      { data: "qty", search: { type: "num", logic, value: "20" } },
      { data: "due", search: { type: "date", logic, value: "2026-03-10", mask: "YYYY-MM-DD" } },
    ])
    .map(({ data, search }) => ({ columns: [{ data, columnControl: { search, list: {} } }] }));

/** Before the writes: all seeded items are there. */
const grid: ParityRequest[] = [
  ...of("grid", "datatables")(
    undefined,
    {},
    "{",
    [],
    { draw: 3 },
    { draw: "3" },
    { draw: null },
    { draw: 1.5 },
    { start: 3, length: 2 },
    { start: 2 ** 53 },
    { start: Number.MAX_SAFE_INTEGER },
    { length: -1 },
    { length: 1000 },
    { length: 1001 },
    ...[
      "7",
      7,
      1.5,
      "1.50",
      "É",
      "éclair",
      "%",
      "_",
      "\\",
      "\\\\",
      "'",
      '"; --',
      "ß",
      "ſnake",
      "🍰",
      "\ud800",
    ].map((value) => find(value)),
    ...["2026-03", "true", "t", "0.25", ".25", "hush-", "null"].map((value) => find(value)),
    find("x".repeat(10_001)),
    ...[
      "name",
      "qty",
      "price",
      "due",
      "active",
      "secret",
      "nope",
      "all",
      "",
      "ALL",
      "constructor",
    ].map((searchBy) => ({ ...find("a"), searchBy })),
    { ...find("snake"), ...where("qty", "=", 20) },
    where("due", ">", "2026-03-10"),
    where("price", "=", "x"),
    { ...find("7"), ...sent(["qty"], ["code"]) },
    { ...sent(["name", "E"], ["qty", "7"]) },
    { ...sent(["__proto__", "x"], ["name' or '1'='1", "x"], [null, "x"], [0, "x"]) },
    ...Array.from({ length: 14 }, (_, at) => order([at, "desc"])),
    ...criteria,
    ...controls,
    { searchPanes: { category_id: ["c1"], active: ["true"] } },
    { searchPanes: { category_id: { 0: null } }, searchPanes_null: { category_id: { 0: true } } },
    { searchPanes: { secret: ["x"], nope: ["x"] } },
    { searchPanes: { qty: ["x"] } },
    ...["exact", "none", "all", ""].map((count) => ({ count, start: 2, length: 2 })),
    {
      ...sent(["category_id"], ["price"], ["name"]),
      ...order([0, "desc"], [1, "asc"], [2, "desc"]),
    },
    { ...sent(["active"]), ...order([0, "desc"]) },
    { ...by("price", "DESC"), ...order([2, "desc"]) },
    order([0, "sideways"]),
    order(["name", "asc"]),
    by("secret", "ASC"),
  ),
  ...of("grid-query", "datatables")(
    { ...find("o"), length: 2 },
    { ...find("goods"), searchBy: "category_name" },
    by("category_name", "DESC"),
    where("category_name", "IS NULL"),
    find("hush-"),
  ),
  ...of("grid-narrow", "datatables")(find("7"), find("SNAKE")),
  ...of("grid-many", "datatables")({ ...by("code", "ASC"), ...sent(["code", "a-1"]) }),
  ...[
    "draw=5&start=1&length=2&search[value]=a&columns[0][data]=name&order[0][column]=0&order[0][dir]=desc",
    "search%5Bvalue%5D=%C3%89",
    "where[conditions][0][key]=price&where[conditions][0][operator]=%3E&where[conditions][0][value]=7.00",
    "a[__proto__][b]=1",
    "length=10&length=1",
    "searchValue=%",
    '{"draw": 6, "length": 1}',
  ].map((body) => ({
    endpoint: "grid",
    action: "datatables",
    body,
    headers: { "content-type": "application/x-www-form-urlencoded" },
  })),
];

const op = (name: string, field: string, alias?: string) => ({ function: name, field, alias });
const functions = ["count", "sum", "avg", "min", "max"];
const join = (tableName: string, key: string, fields: string[], joinType?: string) => ({
  joins: [{ tableName, joinType, sourceField: key, targetField: key, fields }],
});
const kindColumns = [
  "whole",
  "small",
  "big",
  "unsigned",
  "exact",
  "money",
  "rough",
  "flag",
  "day",
  "moment",
  "clock",
  "token",
  "document",
  "raw",
  "note",
  "short",
  "local_time",
];

/** Over what the requests before left, over further rows of every type, and over an empty table. */
const aggregate: ParityRequest[] = [
  ...of("totals", "aggregate")(
    undefined,
    {},
    [],
    "{",
    ...["qty", "price", "name", "due", "active", "category_id", "created_by", "secret"].flatMap(
      (field) => functions.map((name) => ({ operations: [op(name, field)] })),
    ),
    ...["category_id", "active", "qty", "price", "due", "name", "secret"].map((name) => ({
      group_by: [name],
      operations: [op("count", "*", "n"), op("sum", "price", "p"), op("avg", "qty", "q")],
    })),
    ...["asc", "DESC"].flatMap((direction) =>
      ["p", "n", "category_id"].map((column) => ({
        group_by: ["category_id", "active"],
        operations: [op("count", "*", "n"), op("sum", "price", "p")],
        sort_columns: [{ column, direction }],
        limit: 3,
      })),
    ),
    ...["=", "!=", ">", "<=", "LIKE", "BETWEEN", "IS NULL", "NOPE"].flatMap((operator) =>
      ["n", "p", "q", "m"].map((name) => ({
        group_by: ["category_id"],
        operations: [
          op("count", "*", "n"),
          op("sum", "price", "p"),
          op("avg", "qty", "q"),
          op("max", "name", "m"),
        ],
        having: {
          conditions: [{ key: name, operator, value: operator === "BETWEEN" ? [1, 30] : 3 }],
        },
      })),
    ),
    { joins: ["category"], group_by: ["category.name"] },
    { joins: ["category", "line"], group_by: ["category.name", "note"] },
    { joins: ["nope"] },
    ...[undefined, "LEFT", "INNER", "RIGHT", "FULL"].flatMap((type) => [
      {
        ...join("categories", "category_id", ["name"], type),
        group_by: ["categories.name"],
        operations: [op("count", "item_id", "n"), op("sum", "qty")],
      },
      {
        ...join("categories", "category_id", ["name"], type),
        where: [{ key: "categories.name", value: "Food" }],
      },
    ]),
    join("sqlite_sequence", "name", ["name"]),
    join("pg_class", "relname", ["relname"]),
    join("items", "item_id", ["secret"]),
    { group_by: ["active"], where: [{ key: "name", value: "back\\slash" }] },
    { ...where("name", "LIKE", "%a%", { sensitive: false }), operations: [op("avg", "price")] },
    { limit: 0 },
    { limit: 10_001 },
  ),
  ...of("kinds", "create")(
    {
      kind_id: "s1",
      whole: 1,
      small: 1,
      big: "9223372036854775807",
      unsigned: 4294967295,
      exact: "0.3333",
      money: 0.1,
      rough: 0.5,
    },
    {
      kind_id: "s2",
      whole: 2,
      small: 2,
      big: "9223372036854775807",
      unsigned: 4294967295,
      exact: "-0.0001",
      money: 0.2,
      rough: 0.125,
    },
    {
      kind_id: "s3",
      whole: -4,
      small: -3,
      big: "-1",
      exact: "12345678901.2345",
      money: "99999999.99",
      short: "x",
    },
    {
      kind_id: "s4",
      flag: true,
      day: "2026-02-28",
      moment: "2026-01-02T03:04:05.678Z",
      clock: "10:11:12",
    },
    {
      kind_id: "s5",
      flag: false,
      token: "00000000-0000-4000-8000-00000000000A",
      document: [1],
      raw: "AP8=",
      note: "é",
    },
  ),
  ...of("kind-totals", "aggregate")(
    ...kindColumns.flatMap((field) => [
      ...functions.map((name) => ({ operations: [op(name, field)] })),
      { group_by: [field] },
    ]),
    {
      group_by: ["flag"],
      operations: [op("sum", "big", "b"), op("avg", "exact", "e")],
      having: { conditions: [{ key: "b", operator: ">", value: "18446744073709551612" }] },
    },
  ),
  ...of("view-totals", "aggregate")({}, { group_by: ["origin"] }, { group_by: ["category_name"] }),
  ...of("line-totals", "aggregate")(
    {},
    {
      operations: functions.map((name) => op(name, "amount")),
      where: [{ key: "note", value: "?" }],
    },
    { ...join("items", "item_id", ["name"], "RIGHT"), group_by: ["name"] },
  ),
];

const lookup: ParityRequest[] = [
  ...of("items", "lookup")(
    undefined,
    {},
    { limit: 2 },
    { limit: 2, page: 2 },
    { limit: 0 },
    { ids: ["i01", "i03", "none"] },
    { ids: [] },
    { select: ["qty", "price", "made_on"] },
    { select: ["nope"] },
    { select: "qty" },
    { selected_tag: "i02" },
    { where: [{ key: "qty", value: 5 }] },
    { where: [{ key: "qty", value: null }] },
    { where: [{ key: "nope", value: 1 }] },
    { where: [{ key: "qty", value: "5abc" }] },
    where("name", "LIKE", "%a%", { sensitive: false }),
    by("price", "DESC"),
    by("due", "ASC"),
    by("nope", "ASC"),
  ),
  ...of("categories", "lookup")({}, by("name", "DESC")),
  ...of("lines", "lookup")({}, { ids: ["x"] }),
].map((request) => ({ ...request, headers: { "X-Request-Mode": "static" } }));

/** Keys that a column of 32 bits cannot hold name no record, on the engines whose integers are wider too. */
const farKeys: ParityRequest[] = ["2147483648", -2147483649, "9223372036854775807"].flatMap(
  (id) => [
    ...of("lines", "update")({ line_id: id, note: "far" }),
    ...of("lines", "first")(key("line_id", id)),
    ...of("lines", "delete")(key("line_id", id)),
  ],
);

const lock: ParityRequest[] = [
  ...of("items", "lock/status")(
    undefined,
    {},
    { lock_keys: [] },
    { lock_keys: "i01" },
    { lock_keys: ["i01"] },
    { lock_keys: [{ key: "item_id" }] },
    { lock_keys: [{ key: "item_id", value: "i01" }] },
    {
      lock_keys: [
        { key: "qty", value: "7" },
        { key: "price", value: 1.5 },
      ],
    },
    { lock_keys: [{ key: "qty", value: 2 ** 53 }] },
    { lock_keys: [{ key: "qty", value: "many" }] },
    { lock_keys: [{ key: "due", value: "2026-02-30" }] },
    { lock_keys: [{ key: "active", value: 1 }] },
    { lock_keys: [{ key: "item_id", value: null }] },
    { lock_keys: [{ key: "secret", value: "x" }] },
    { lock_keys: [{ key: "itemid", value: "x" }] },
    { resource: "lines", lock_keys: [{ key: "item_id", value: "i01" }] },
  ),
  ...of("items", "lock/acquire")(
    { lock_keys: [{ key: "item_id", value: "i01" }], ttl: 0 },
    { lock_keys: [{ key: "item_id", value: "i01" }], ttl: "5" },
    { lock_keys: [{ key: "item_id", value: "i01" }], owner: 5 },
    { lock_keys: [{ key: "item_id", value: "i01" }], lock_token: "none" },
  ),
  ...of("items", "lock/release")(
    { lock_keys: [{ key: "item_id", value: "i01" }] },
    { lock_keys: [{ key: "item_id", value: "i01" }], lock_token: "none" },
  ),
  ...of("lock", "status")(
    { lock_keys: [{ key: "item_id", value: "i01" }] },
    { resource: "items", lock_keys: [{ key: "item_id", value: "i01" }] },
    { resource: "labels", lock_keys: [{ key: "item_id", value: "i01" }] },
  ),
];

/** Orders with each kind of status, changed step by step, and some that may not change. */
const workflow: ParityRequest[] = [
  ...of("orders", "create")(
    { order_id: "w1", code: "w", status: "draft", stage: 1, total: 2.5 },
    { order_id: "w2", status: null },
    { order_id: "w3", status: "unheard" },
  ),
  ...of("orders", "next-statuses")({ id: "w1" }, { order_id: "w2" }, { id: "w3" }, { id: 5 }, {}),
  ...of("orders", "change-status")(
    { id: "w1", status: "closed" },
    { id: "w1", status: "posted", updated_by: "ann" },
    { id: "w1", status: "POSTED " },
    { id: "w1", status: "Posted", remarks: "again" },
    { id: "w1", status: "pösted" },
    { id: "w1", status: "x".repeat(13) },
    { id: "w1", status: "closed", updated_by: "x".repeat(61) },
    { id: "w1", status: "closed", updated_by: 5 },
    { id: "w1", status: "closed" },
    { id: "w1", status: "draft" },
    { id: "w2", status: "posted" },
    { id: "w2", status: "draft" },
    { id: "w3", status: "draft" },
    { id: "W1", status: "draft" },
    { id: ["w1"], status: "draft" },
    { id: 0, status: "draft" },
    { id: "w1" },
    { status: "draft" },
    undefined,
    {},
  ),
  ...of("order-stages", "change-status")(
    { id: "w1", status: "2" },
    { id: "w1", status: "02" },
    { id: "w1", status: "3" },
    { id: "w1", status: "two" },
    { id: "w2", status: "1" },
  ),
  ...of("order-stages", "next-statuses")({ id: "w1" }, { id: "w2" }),
  ...of("orders-free", "change-status")(
    { id: "w2", status: "a\u0000b" },
    { id: "w2", status: "é" },
  ),
  ...of("orders-view", "change-status")(
    { id: "w2", status: "draft" },
    { id: "w3", status: "draft" },
  ),
  ...of("orders-view", "first")(key("order_id", "w2")),
  ...of("orders", "first")(key("order_id", "w1"), key("order_id", "w2"), key("order_id", "w3")),
  ...of("tickets", "create")({}),
  ...of("tickets", "change-status")(
    { id: 1, status: "open" },
    { id: "1", status: "done" },
    { id: "2147483648", status: "open" },
    { id: 1.5, status: "open" },
  ),
];

const head = (document_id: string, document_lines?: unknown, more: object = {}) => ({
  documents: { document_id, number: document_id, ...more, document_lines },
});
const detail = (line_number: unknown, more: object = {}) => ({
  line_id: `pl-${String(line_number)}`,
  line_number,
  qty: 3,
  price: "2.15",
  ...more,
});
const changed = (lines: unknown, more: object = {}) => ({
  documents: { document_id: "p1", ...more, document_lines: lines },
});
const documents = ["documents", "joined", "positional", "marked", "folders"];
const readAll: ParityRequest[] = documents.flatMap((endpoint) => [
  ...of(endpoint, "read-composite")(key("document_id", "p1"), key("number", "p2")),
  ...of(endpoint, "first")(key("document_id", "p1")),
]);

/** Documents with their lines; keys are given where the database would number them. */
const composites: ParityRequest[] = [
  ...of("documents", "create-composite")(
    undefined,
    {},
    [],
    "{",
    { document: {} },
    { documents: {} },
    { documents: [] },
    { documents: null },
    head("p0"),
    head("p0", []),
    head("p0", {}),
    head("p0", "[]"),
    head("p0", [null]),
    head("p0", [[]]),
    head("p0", [1]),
    head("p0", [{}]),
    head("p0", [detail("one")]),
    head("p0", [detail(1, { qty: "1e5" })]),
    head("p0", [detail(1, { qty: 99_999.9999 })]),
    head("p0", [detail(1, { qty: null })]),
    head("p0", [detail(1, { category_id: "none" })]),
    head("p0", [detail(1), { ...detail(1), line_number: 2 }]),
    head("p0", [detail(1), detail(2, { line_number: 1 })]),
    head("p0", [detail(1, { parts: 0 })]),
    head("p0", [detail(1, { price: "99999999.99", qty: 99_999 })]),
    head("p0", [detail(1)], { title: "forbidden" }),
    head("p0", [detail(1)], { title: "x".repeat(61) }),
    head("p0", [detail(1)], { number: " " }),
    '{"documents": {"document_id": "p0", "number": "p0", "document_lines": [{"line_number": 1, "qty": 123456789012345678901234567890}]}}',
    '{"documents": {"document_id": "p0", "number": "p0", "document_lines": [{"line_number": 1, "qty": 1e400}]}}',
    head("p1", [
      detail(2, { qty: "0.005", price: 1, parts: 7, day: "2026-03-04" }),
      detail(1, { qty: "10.125", category_id: "c1", parts: 3 }),
      detail(3, { price: null, amount: 7 }),
      { line_id: "pl-4", line_number: 4, qty: 1 },
    ]),
    head("p0", [detail(5, { price: null })], { total_items: 9 }),
    head("p1", [detail(9)]),
    { data: head("p2", [detail(10, { created_by: "me" })], { created_by: "you" }), options: {} },
  ),
  ...readAll,
  ...of("folders", "create-composite")(
    head("p3", [], { document_notes: [] }),
    head("p3", undefined, {
      document_notes: [
        { note_id: 901, text: "a", weight: 1 },
        { note_id: 902, text: "b" },
        { note_id: 903, text: "c", weight: -7 },
      ],
    }),
    head("p4", undefined, { document_notes: [{ note_id: 901, text: "twice" }] }),
  ),
  ...of("folders", "read-composite")(key("document_id", "p3"), key("document_id", "none")),
  ...of("documents", "read-composite")(
    undefined,
    {},
    { where: [] },
    { where: { key: "number", value: "p1" } },
    key("secret", "x"),
    key("total_items", "x"),
    key("title", null),
  ),
  ...of("documents", "update-composite")(
    undefined,
    { documents: {} },
    { documents: { document_id: "none" } },
    { documents: { document_id: ["p1"] } },
    ...[null, [], "x", 1, true, { insert: {} }, { more: [] }, { delete: ["pl-1"] }].map((lines) =>
      changed(lines),
    ),
    changed({ update: [{ qty: 1 }] }),
    changed({ update: [{ line_id: "none", qty: 1 }] }),
    changed({ delete: [{ line_id: "pl-10" }] }),
    changed({ delete: [{ line_id: "pl-1" }, { line_id: "pl-1" }] }),
    changed({ update: [{ line_id: "pl-1", parts: 0 }] }),
    changed({ update: [{ line_id: "pl-1", qty: -1 }], insert: [{}] }),
    changed({ update: [{ line_id: "pl-1", line_number: 2 }] }),
    changed({ update: [{ line_id: "pl-1", category_id: "none" }] }),
    changed({ insert: [detail(20, { qty: 100_000 })] }),
    changed({}, { title: "forbidden" }),
    changed({}, { number: "p2" }),
    changed(undefined, { title: "header alone" }),
    changed({
      delete: [{ line_id: "pl-2" }],
      update: [{ line_id: "pl-1", line_number: 2, qty: "1.005", price: "0.5" }],
      insert: [detail(1, { line_id: "pl-new" })],
    }),
  ),
  ...readAll,
  ...of(
    "documents",
    "update-composite",
  )(changed({ delete: ["pl-1", "pl-3", "pl-4", "pl-new"].map((line_id) => ({ line_id })) })),
  ...readAll,
  ...of("folders", "delete")(key("document_id", "p3"), key("document_id", "p1")),
  ...of("unstamped", "update-composite")({ documents: { document_id: "p2" } }),
];

const made = (...codes: string[]) =>
  codes.map((code) => ({ item_id: code, code, name: "bulk", qty: 1 }));
/** Of its two unique columns one is taken: engines name different ones of two. */
const taken = { item_id: "again", code: "P1", name: "bulk" };
const ofBulk = (name: string) => ({
  conditions: [
    { key: "name", operator: "=", value: name },
    { key: "qty", operator: ">", value: 0 },
  ],
});

const bulk: ParityRequest[] = [
  ...of("items", "bulk-create")(
    undefined,
    { data: [] },
    { data: [{}, { code: "P1", name: null }, 7] },
    { data: [{}, { code: "P1", name: null }] },
    { data: made("P1", "P2", "P3") },
    { data: [...made("P4", "P5"), taken, ...made("P6")] },
    { data: [...made("P4"), { code: "P5", name: "x", category_id: "none" }] },
    {
      data: [...made("P4"), taken, { code: "P5" }, { ...made("P6")[0], qty: "many" }],
      mode: "each",
    },
    { data: made("P7"), dry_run: true },
  ),
  ...of("items", "bulk-update")(
    {
      data: [
        { item_id: "P1", qty: 5 },
        { item_id: "P2", name: "bulk", price: "1.5" },
      ],
    },
    {
      data: [
        { item_id: "P1", code: "P2" },
        { item_id: "P3", qty: 9 },
      ],
    },
    { data: [{ item_id: "P3" }, { item_id: "none" }, { item_id: "P3" }], mode: "each" },
    { data: [{ item_id: "P3", qty: 2 }], etags: ['"none"'] },
    { where: ofBulk("bulk"), set: { qty: 4 }, expect: 4 },
    { where: ofBulk("bulk"), set: { qty: 4 }, expect: 3 },
    { where: ofBulk("bulk"), set: { item_id: "x" }, expect: 3 },
  ),
  ...of("items", "upsert")(
    { data: { code: "P1", qty: 6 }, by: ["code"] },
    {
      data: [{ code: "P8" }, { code: "P1", item_id: "other" }, { name: "x" }],
      by: ["code"],
      mode: "each",
    },
    {
      data: [
        { item_id: "P9", code: "P9", name: "bulk" },
        { item_id: "P2", name: "bulk" },
      ],
    },
    { data: made("P9"), by: ["name"] },
    { data: { item_id: "P9", code: "P1" } },
  ),
  ...of("items", "bulk-delete")(
    { keys: ["P1", { item_id: "none" }] },
    { keys: ["P1", "P1", "i01"], mode: "each" },
    { where: ofBulk("bulk"), expect: 1 },
    { keys: ["P2", { item_id: "P3" }, "P4", "P9"] },
  ),
  ...of("items", "read")(where("code", "LIKE", "P%")),
];

/** In the order in which they must run. */
export const requests: readonly ParityRequest[] = [
  ...read,
  ...lookup,
  ...lock,
  ...grid,
  ...first,
  ...create,
  ...update,
  ...adjust,
  ...remove,
  ...bulk,
  ...trailingBlanks,
  ...farKeys,
  ...aggregate,
  ...workflow,
  ...composites,
];
