/** Every column type of PostgreSQL, its contributed extensions and PostGIS. */
import { full, shownOnly, text, type WideColumn, type WideTable } from "./wide-columns.ts";

const types: readonly string[] = [
  "create type mood as enum ('sad', 'so ''so''', 'happy')",
  "create type place as (street text, number integer)",
  "create type span as range (subtype = float8)",
  "create domain short as varchar(7) check (value <> 'bad')",
  "create domain positive as integer check (value > 0)",
  "create domain small_positive as positive check (value < 1000)",
  "create domain feeling as mood",
  "create domain few as text[] check (array_length(value, 1) < 4)",
  "create domain paper as jsonb",
];

const uuid = (last: string): string => `00000000-0000-4000-8000-00000000000${last}`;

const plain: readonly WideColumn[] = [
  full("text", "text", ["a 'quoted' \\ text", "ä"], { bad: [true] }),
  full("text", "varchar(20)", ["a", "b"], { bad: ["x".repeat(21)] }),
  full("text", "char(5)", ["ab", "cd"], { bad: ["abcdef"] }),
  full("text", "bpchar", ["ab", "cd"]),
  full("text", "name", ["n", "m"], { bad: ["x".repeat(64)] }),
  full("text", '"char"', ["a", "b"], { bad: ["ab"] }),
  full("text", "citext", ["Ab", "cd"], { extension: "citext" }),
  full("text", "mood", ["so 'so'", "happy"], { bad: ["angry"] }),
  full("text", "short", ["abc", "d"], { bad: ["bad", "too long to fit"] }),
  full("text", "feeling", ["sad", "happy"], { bad: ["angry"] }),
  full("integer", "smallint", [-32_768, 32_767], { bad: [32_768] }),
  full("integer", "integer", [-5, 7], { bad: [1.5, "x"] }),
  full("integer", "bigint", ["-9223372036854775808", 9_007_199_254_740_991], { bad: ["1e30"] }),
  full("integer", "positive", [1, 2], { bad: [0] }),
  full("integer", "small_positive", [1, 999], { bad: [0, 1000] }),
  full("decimal", "numeric(10,2)", [12.5, -0.25], { bad: [0.125] }),
  full("decimal", "numeric", ["12345678901234567890.0123456789", 1]),
  full("float", "real", [1.5, -2]),
  full("float", "double precision", [1e300, 0.1]),
  full("boolean", "boolean", [true, false], { bad: ["maybe"] }),
  full("date", "date", ["2024-02-29", "1999-12-31"], { bad: ["2023-02-29"] }),
  full("timestamp", "timestamp", ["2024-02-29T12:34:56.789Z", "1999-12-31T00:00:00.000Z"]),
  full("timestamp", "timestamptz", ["2024-02-29T12:34:56.123Z", "1999-12-31T00:00:00.000Z"]),
  full("time", "time", ["12:34:56.5", "08:00:00"], { bad: ["25:00"] }),
  full("uuid", "uuid", [uuid("a"), uuid("b")], { bad: ["x"] }),
  full("bytes", "bytea", ["AAH/", "AA=="], { bad: ["%"] }),
  full("json", "json", [{ a: [1, "x", null] }, ["b"]], { member: "b" }),
  full("json", "jsonb", ["a text", { b: { c: 1.5 } }], { member: { b: { c: 1.5 } } }),
  full("json", "paper", [[1], {}], { member: 1 }),
];

const asText: readonly WideColumn[] = [
  text("other", "bit(9)", ["000000101", "100000000"], { bad: ["101", "2"] }),
  text("other", "bit varying(9)", ["101", "1"], { bad: ["1".repeat(10)] }),
  text("other", "oid", ["4294967295", "0"], { bad: ["-1", "4294967296", "x"] }),
  text("other", "money", ["$1.50", "-$2.00"], { bad: ["dear"] }),
  text("other", "interval", ["1 day 02:03:04", "1 mon"], { bad: ["soon"] }),
  text("other", "timetz", ["12:34:56+00", "08:00:00.5+05:30"], { bad: ["noonish"] }),
  text("other", "inet", ["10.0.0.0/8", "::1"], { bad: ["10.0.0"] }),
  text("other", "cidr", ["10.0.0.0/8", "::1/128"], { bad: ["10.0.0.1/8"] }),
  text("other", "macaddr", ["08:00:2b:01:02:03", "00:00:00:00:00:00"], { bad: ["08"] }),
  text("other", "macaddr8", ["08:00:2b:01:02:03:04:05", "00:00:00:00:00:00:00:00"], {
    bad: ["08"],
  }),
  text("other", "xml", ["<a>1</a>", "<b/>"], { bad: ["<a"] }),
  text("other", "jsonpath", ['$."a"', '$."b"[*]'], { bad: ["$$$."] }),
  text("other", "tsquery", ["'a' & 'b'", "!'c'"], { bad: ["a &"] }),
  text("other", "xid8", ["18446744073709551615", "3"], { bad: ["x"] }),
  text("other", "pg_lsn", ["0/1", "FFFFFFFF/0"], { bad: ["x"] }),
  text("other", "hstore", ['"a"=>"1"', '"b"=>NULL'], { extension: "hstore", bad: ["a=>"] }),
  text("other", "int4range", ["[1,5)", "empty"], { bad: ["[5,1)"] }),
  text("other", "int8range", ["[1,5)", "[7,)"], { bad: ["[5,1)"] }),
  text("other", "numrange", ["[1.5,2.5]", "(,1)"], { bad: ["x"] }),
  text("other", "daterange", ["[2024-01-01,2024-02-01)", "empty"], { bad: ["x"] }),
  text("other", "tsrange", ['["2024-01-01 00:00:00","2024-02-01 00:00:00")', "empty"], {
    bad: ["x"],
  }),
  text("other", "tstzrange", ['["2024-01-01 00:00:00+00",)', "empty"], { bad: ["[now"] }),
  text("other", "span", ["[1.5,2]", "empty"], { bad: ["x"] }),
  text("other", "int4multirange", ["{[1,5)}", "{[1,3),[7,9)}"], { bad: ["{[5,1)}"] }),
  text("other", "int8multirange", ["{[1,5)}", "{}"], { bad: ["x"] }),
  text("other", "nummultirange", ["{[1.5,2.5]}", "{}"], { bad: ["x"] }),
  text("other", "datemultirange", ["{[2024-01-01,2024-02-01)}", "{}"], { bad: ["x"] }),
  text("other", "tsmultirange", ['{["2024-01-01 00:00:00","2024-02-01 00:00:00")}', "{}"], {
    bad: ["x"],
  }),
  text("other", "tstzmultirange", ['{["2024-01-01 00:00:00+00",)}', "{}"], { bad: ["x"] }),
  text("other", "span_multirange", ["{[1.5,2]}", "{}"], { name: "c_multispan", bad: ["x"] }),
  text("other", "point", ["(1,2)", "(3.5,-4)"], { bad: ["(1"] }),
  text("other", "line", ["{1,-1,0}", "{0,-1,2}"], { bad: ["x"] }),
  text("other", "lseg", ["[(0,0),(1,1)]", "[(2,2),(3,3)]"], { bad: ["x"] }),
  text("other", "box", ["(1,1),(0,0)", "(3,3),(2,2)"], { bad: ["x"] }),
  text("other", "path", ["((0,0),(1,1))", "[(2,2),(3,3)]"], { bad: ["x"] }),
  text("other", "polygon", ["((0,0),(1,1),(1,0))", "((2,2))"], { bad: ["x"] }),
  text("other", "circle", ["<(0,0),1>", "<(2,2),3>"], { bad: ["x"] }),
  text("other", "regclass", ["pg_class", "pg_type"], { bad: ["no_such_table"] }),
  text("other", "regcollation", ['"C"', '"POSIX"'], { bad: ["nowhere"] }),
  text("other", "regconfig", ["english", "simple"], { bad: ["klingon"] }),
  text("other", "regdictionary", ["simple", "english_stem"], { bad: ["klingon"] }),
  text("other", "regnamespace", ["public", "pg_catalog"], { bad: ["nowhere"] }),
  text("other", "regoper", ["||/", "|/"], { bad: ["no_operator"] }),
  text("other", "regoperator", ["+(integer,integer)", "-(integer,integer)"], { bad: ["x"] }),
  text("other", "regproc", ["now", "pg_sleep"], { bad: ["no_function"] }),
  text("other", "regprocedure", ["now()", "pg_sleep(double precision)"], { bad: ["x"] }),
  text("other", "regrole", ["pg_monitor", "pg_read_all_data"], { bad: ["nobody_at_all"] }),
  text("other", "regtype", ["integer", "text[]"], { bad: ["no_type", "a b c"] }),
];

const onlyShown: readonly WideColumn[] = [
  shownOnly("other", "tsvector", ["'a' 'b'", "'c':1"], { sql: ["'a b'", "'c:1'"] }),
  shownOnly("other", "place", ["(Main,1)", '("A b",)'], {
    sql: ["row('Main', 1)", "row('A b', null)"],
  }),
  shownOnly("other", "xid", ["3", "4"], { sql: ["'3'", "'4'"] }),
  shownOnly("other", "cid", ["3", "4"], { sql: ["'3'", "'4'"] }),
  shownOnly("other", "tid", ["(0,1)", "(0,2)"], { sql: ["'(0,1)'", "'(0,2)'"] }),
  shownOnly("other", "pg_snapshot", ["10:20:10", "1:2:"], { sql: ["'10:20:10'", "'1:2:'"] }),
  shownOnly("other", "txid_snapshot", ["10:20:10", "1:2:"], { sql: ["'10:20:10'", "'1:2:'"] }),
  shownOnly("other", "refcursor", ["a", "b"], { sql: ["'a'", "'b'"] }),
  shownOnly("other", "int2vector", ["1 2", "3"], { sql: ["'1 2'", "'3'"] }),
  shownOnly("other", "oidvector", ["1 2", "3"], { sql: ["'1 2'", "'3'"] }),
  shownOnly("other", "aclitem", ["=r/pg_monitor", "=w/pg_monitor"], {
    sql: ["'=r/pg_monitor'", "'=w/pg_monitor'"],
  }),
  shownOnly("other", "ltree", ["a.b", "c"], { extension: "ltree", sql: ["'a.b'", "'c'"] }),
  shownOnly("other", "lquery", ["a.*", "c"], { extension: "ltree", sql: ["'a.*'", "'c'"] }),
  shownOnly("other", "ltxtquery", ["a & b", "c"], { extension: "ltree", sql: ["'a & b'", "'c'"] }),
  shownOnly("other", "cube", ["(1, 2)", "(3)"], { extension: "cube", sql: ["'(1, 2)'", "'(3)'"] }),
  shownOnly("other", "seg", ["1 .. 2", "3"], { extension: "seg", sql: ["'1 .. 2'", "'3'"] }),
  shownOnly("other", "isbn", ["0-393-04002-X", "1-4133-0454-0"], {
    extension: "isn",
    sql: ["'0-393-04002-X'", "'1-4133-0454-0'"],
  }),
  shownOnly(
    "other",
    "geometry(point)",
    ["0101000000000000000000F03F0000000000000040", "010100000000000000000008400000000000001040"],
    { extension: "postgis", sql: ["'POINT(1 2)'", "'POINT(3 4)'"], name: "c_geometry" },
  ),
  shownOnly(
    "other",
    "geography",
    [
      "0101000020E6100000000000000000F03F0000000000000040",
      "0101000020E610000000000000000008400000000000001040",
    ],
    { extension: "postgis", sql: ["'POINT(1 2)'", "'POINT(3 4)'"] },
  ),
  shownOnly("other", "box2d", ["BOX(0 0,1 1)", "BOX(2 2,3 3)"], {
    extension: "postgis",
    sql: ["'BOX(0 0,1 1)'", "'BOX(2 2,3 3)'"],
  }),
  shownOnly("integer", "integer generated always as (id * 2) stored", [2, 4], {
    name: "c_generated",
    sql: null,
    isAlwaysFilled: true,
  }),
  shownOnly("integer", "integer generated always as identity", [1, 2], {
    name: "c_identity",
    sql: null,
    isAlwaysFilled: true,
  }),
  shownOnly("array", "place[]", [["(Main,1)"], ["(,2)", null]], {
    name: "c_places",
    sql: ["array[row('Main', 1)::place]", "array[row(null, 2)::place, null]"],
    member: "(Main,1)",
  }),
  shownOnly("array", "ltree[]", [["a.b"], []], {
    extension: "ltree",
    name: "c_ltrees",
    sql: ["'{a.b}'", "'{}'"],
    member: "a.b",
  }),
];

/** An array of each type that can be written, with both values of the type. */
function arrayOf({ native, name, values, bad = [], extension }: WideColumn): WideColumn {
  const [first, second] = values;
  const member = values.find((value) => !Array.isArray(value));
  return full("array", `${native}[]`, [[first, second, null], [second]], {
    name: `${name}_list`,
    bad: ["x", ...bad.map((one) => [one])],
    ...(member !== undefined && { member }),
    ...(extension && { extension }),
    isVariant: true,
  });
}

const arrays: readonly WideColumn[] = [
  ...[...plain, ...asText].map(arrayOf),
  full(
    "array",
    "integer[][]",
    [
      [
        [1, 2],
        [3, null],
      ],
      [],
    ],
    {
      name: "c_matrix",
      bad: [
        [[1, 2], [3]],
        [1, [2]],
        [[], []],
      ],
      member: 3,
    },
  ),
  full("array", "few", [["a", "b"], []], { bad: [["a", "b", "c", "d"]], member: "a" }),
];

export const postgresTable: WideTable = {
  setUp: types,
  columns: [...plain, ...asText, ...onlyShown, ...arrays],
};
