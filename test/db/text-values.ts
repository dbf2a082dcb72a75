/**
 * Values, as SQL literals, that could differ when rows are written directly as JSON text: for every column type of each
 * engine, with the limits of ranges, other forms, and characters that JSON escapes.
 */
import type { EngineName } from "../servers/session.ts";

/** A column's type in the engine's SQL, and the values stored in it besides null. */
export type TextValues = readonly (readonly [native: string, literals: readonly string[]])[];

const controls = [1, 8, 9, 10, 12, 13, 27, 31, 127, 128, 159, 160];

/** Possible contents of a text. */
const hostileTexts: readonly string[] = [
  "",
  "plain",
  "it's",
  'a "quoted" \\ text',
  "</script>&",
  "null",
  "[]",
  ...controls.map((code) => `a${String.fromCharCode(code)}b`),
  "é",
  "Straße",
  "日本語",
  "🎉",
  "a🎉\n",
  "e\u0301",
  "\u2028\u2029",
  "\ufeffmark",
  "\uffff",
  "x".repeat(300),
  "é".repeat(40_000),
  `${"long ".repeat(30_000)}"`,
];

/** The bytes of a text, which each engine converts to a text in its own way. */
const utf8 = (text: string): string => Buffer.from(text).toString("hex");

const words = (text: string): string[] => text.split(" ");

const numbers = words(
  "0 1 -1 7 10 42 99 100 999999999 1000000000 4294967296 -2147483648 2147483647",
);
const longNumbers = words(
  "999999999999999 1000000000000000 9007199254740991 9007199254740992 9007199254740993 -9007199254740993 9223372036854775807 -9223372036854775808",
);
const fractions = words(
  "12.50 -12.50 0.5 -0.5 0.10 -0.10 100.00 0.000001 0.0000001 -0.0000001 0.00 -0.00 1.000000 123456789.123456 123456789012.345 1234567890123.45 0.1234567890123456 12345678901234567890.5 99999999999999.99",
);
const within = (texts: readonly string[], limit: number): string[] =>
  texts.filter((text) => Math.abs(Number(text)) <= limit);

const days = words("2026-01-01 2024-02-29 1000-01-01 9999-12-31");
const fractionsOfSeconds = words(".1 .12 .123 .1234 .12345 .123456 .120000 .000001");
const moments = [
  "2026-01-01 00:00:00",
  ...fractionsOfSeconds.map((fraction) => `2026-01-01 08:15:00${fraction}`),
  "9999-12-31 23:59:59.999999",
];
const hours = words("00:00:00 08:15:00 23:59:59 08:15:00.25 08:15:00.123456 08:15:00.100000");
const uuids = ["0b9e4f0a-31c2-4d5e-8f60-718293a4b5c6"];
const documents = [
  '{"b": 1, "a": [1, 2, {"c": null}]}',
  '{"2": 1, "1": 2}',
  '"\\u2028\\n"',
  "  [1 , 2]",
  ...words('[] {} "text" true null 1.0 1e2 0.1234567890123456789 9007199254740993'),
  `${"[".repeat(30)}${"]".repeat(30)}`,
];

const quoted = (texts: readonly string[]): string[] =>
  texts.map((text) => `'${text.replaceAll("'", "''")}'`);

const postgresText = hostileTexts.map((text) => `convert_from('\\x${utf8(text)}', 'UTF8')`);
const postgres: TextValues = [
  ["text", postgresText],
  ["varchar(200000)", postgresText],
  ["char(8)", quoted(["", "ab", "é日", '"\\'])],
  ["name", quoted(["a", 'quo"te'])],
  ['"char"', quoted(["a", '"'])],
  ["mood", quoted(["calm", 'gl"ad', "trüb"])],
  ["short_text", quoted(["a", '"'])],
  ["smallint", within(numbers, 32_767)],
  ["integer", within(numbers, 2_147_483_647)],
  ["bigint", [...numbers, ...longNumbers]],
  ["whole", within(numbers, 1000)],
  ["numeric", [...numbers, ...longNumbers, ...fractions, "'NaN'", "1e30", "1e-30"]],
  ["numeric(12,2)", within(fractions, 1e9)],
  ["real", [...within(numbers, 1e9), "1.1", "-0.0", "3.4e38", "1e-40", "'NaN'", "'-Infinity'"]],
  ["float8", [...numbers, ...longNumbers, ...fractions, "1e15", "1e21", "1e-7", "1e300", "5e-324"]],
  ["double precision", ["'-0'", "'NaN'", "'Infinity'", "'-Infinity'", "0.1 + 0.2", "1.0 / 3"]],
  ["boolean", ["true", "false"]],
  [
    "date",
    quoted([...days, "infinity", "-infinity", "0044-03-15 BC", "12345-01-01", "0001-01-01"]),
  ],
  [
    "timestamp",
    quoted([...moments, "infinity", "0044-03-15 12:00:00.5 BC", "12345-01-01 00:00:00"]),
  ],
  [
    "timestamptz",
    quoted([...moments, "-infinity", "2026-01-01 08:15:00+05:30", "12345-01-01 0:0"]),
  ],
  ["timestamp(0)", quoted(moments)],
  ["time", quoted([...hours, "24:00:00"])],
  ["timetz", quoted(["08:15:00+02", "08:15:00.5-05:30"])],
  ["uuid", quoted(uuids)],
  ["json", quoted([...documents, '{"a":1,"a":2}', '"\\ud800"', "1e400"])],
  ["jsonb", quoted(documents)],
  ["bytea", ["''", "'\\x00ff2227'"]],
  ["text[]", ["'{}'", `array['a"b', null, E'\\n', 'é']`, "array[['a','b'],['c','d']]"]],
  ["bigint[]", ["array[1, null, 9007199254740993]"]],
  ["numeric[]", ["array[1.50, 'NaN']"]],
  ["boolean[]", ["array[true, false, null]"]],
  ["timestamp[]", ["array['2026-01-01'::timestamp, 'infinity']"]],
  ["bytea[]", ["array['\\x00'::bytea]"]],
  ["inet", quoted(["10.0.0.1", "10.0.0.0/8", "::1"])],
  ["interval", quoted(["1 year 2 days 03:04:05.5", "-1 day"])],
  ["money", ["12.5", "-1"]],
  ["bit(9)", ["B'000000101'"]],
  ["point", quoted(["(1,2)"])],
  ["xml", [`'<a b="c">\n</a>'`]],
  ["int4range", quoted(["[1,5)", "empty"])],
  ["oid", ["0", "4294967295"]],
  ["tsvector", quoted(["a:1 'b\"c':2"])],
];

const mysqlText = hostileTexts.map((text) => `convert(x'${utf8(text)}' using utf8mb4)`);
const mysql: TextValues = [
  ["longtext", mysqlText],
  ["varchar(40)", mysqlText.slice(0, 5)],
  ["char(8)", quoted(["", "ab", "é日", '"'])],
  ["longtext character set utf8mb4 collate utf8mb4_bin", mysqlText.slice(0, 5)],
  ["varchar(20) character set latin1", quoted(["é", '"'])],
  [`enum('calm', 'gl"ad', 'trüb')`, quoted(["calm", 'gl"ad', "trüb"])],
  ["set('a', 'b')", quoted(["", "a,b"])],
  ["tinyint", within(numbers, 127)],
  ["smallint unsigned", ["0", "65535"]],
  ["mediumint", within(numbers, 1e6)],
  ["int", within(numbers, 2_147_483_647)],
  ["int unsigned", ["0", "4294967295"]],
  ["bigint", [...numbers, ...longNumbers]],
  ["bigint unsigned", ["0", "18446744073709551615", "9007199254740993"]],
  ["int(5) zerofill", ["42"]],
  ["decimal(12,2)", within(fractions, 1e9)],
  ["decimal(40,12)", [...fractions, ...longNumbers]],
  ["decimal(20,0)", [...numbers, ...longNumbers]],
  ["float", ["0", "1.1", "-0.0", "3.4e38", "1e-30", "16777217"]],
  ["double", [...numbers, ...longNumbers, ...fractions, "1e15", "1e21", "1e-7", "1e300", "-0e0"]],
  ["boolean", ["true", "false", "2", "-1"]],
  ["bit(1)", ["b'0'", "b'1'"]],
  ["bit(9)", ["b'000000101'"]],
  ["date", quoted([...days, "0000-00-00"])],
  ["datetime", quoted([...moments, "0000-00-00 00:00:00"])],
  ["datetime(3)", quoted(moments)],
  ["datetime(6)", quoted(moments)],
  ["timestamp(6)", quoted(moments.slice(0, 9))],
  ["time", quoted(["00:00:00", "-838:59:59", "838:59:59", "-00:00:01"])],
  ["time(6)", quoted([...hours, "100:00:00.5"])],
  ["year", ["2026", "0"]],
  ["json", quoted(documents.map((text) => text.replaceAll("\\", "\\\\")))],
  ["blob", ["''", "x'00ff2227'"]],
  ["binary(4)", ["x'00ff2227'"]],
  ["point", ["st_geomfromtext('POINT(1 2)')"]],
];

/** SQLite accepts any value in any column. */
const anything = [
  ...hostileTexts.slice(0, -2).map((text) => `cast(x'${utf8(text)}' as text)`),
  "cast(x'61ff62' as text)",
  "cast(x'eda080' as text)",
  "cast(x'c3' as text)",
  "'a' || char(0) || 'b'",
  "''",
  "x''",
  "x'00ff2227'",
  ...[...numbers, ...longNumbers, ...fractions].flatMap((text) => [text, `'${text}'`]),
  ...words("-0.0 1e15 1e21 1e-7 1e300 9e999 -9e999 3.0"),
  "0.1 + 0.2",
  "1.0 / 3",
  ...quoted([...days, ...moments, ...hours, ...uuids, ...documents]),
  ...quoted(["0000-00-00", "0000-01-01 00:00:00", "2026-01-01T08:15:00Z", "0B9E", 'x" 8:15:00']),
  ...quoted(['2026-"1-01', '2026-01-01 0":00:00', '"8:15:00', "2026-01-01 08:15:00+02:00"]),
  "1767225600000",
];
const sqlite: TextValues = [
  ...words(
    "TEXT VARCHAR(10) INTEGER BIGINT DECIMAL(12,2) NUMERIC DECIMAL_TEXT REAL DOUBLE BOOLEAN",
  ),
  ...words("DATE DATETIME TIMESTAMP TIME UUID JSON BLOB INET"),
  "",
].map((native) => [native, anything] as const);

export const textValues: Readonly<Record<EngineName, TextValues>> = { postgres, mysql, sqlite };

/** What the types above need. */
export const textSetUp: Readonly<Record<EngineName, readonly string[]>> = {
  postgres: [
    `create type mood as enum ('calm', 'gl"ad', 'trüb')`,
    "create domain short_text as varchar(10)",
    "create domain whole as integer",
  ],
  mysql: [],
  sqlite: [],
};
