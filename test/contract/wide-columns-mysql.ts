/** Every column type of MariaDB 10.11. */
import { full, shownOnly, text, type WideColumn, type WideTable } from "./wide-columns.ts";

const uuid = (last: string): string => `00000000-0000-4000-8000-00000000000${last}`;

const integers: readonly WideColumn[] = (
  [
    ["tinyint", 8n],
    ["smallint", 16n],
    ["mediumint", 24n],
    ["int", 32n],
    ["bigint", 64n],
  ] as const
).flatMap(([native, bits]) => {
  const [least, most] = [-(2n ** (bits - 1n)), 2n ** (bits - 1n) - 1n];
  const shown = (value: bigint) =>
    Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  const above = (value: bigint) => String(value + 1n);
  const whole = 2n ** bits - 1n;
  return [
    full("integer", native, [shown(least), shown(most)], { bad: [1.5, above(most)] }),
    full("integer", `${native} unsigned`, [0, shown(whole)], { bad: [-1, above(whole)] }),
    full("integer", `${native} zerofill`, [5, 7], { bad: [-1] }),
  ];
});

const plain: readonly WideColumn[] = [
  ...integers,
  full("boolean", "boolean", [true, false], { bad: ["maybe"] }),
  full("boolean", "bit(1)", [true, false], { bad: ["10"] }),
  full("decimal", "decimal(10,2)", [12.5, -0.25], { bad: [0.125] }),
  full("decimal", "decimal(65,30)", ["12345678901234567890.0123456789", 1]),
  full("decimal", "decimal(5,1) unsigned", [0.5, 1]),
  full("float", "float", [1.5, -2]),
  full("float", "double", [1.25, 0.1]),
  full("date", "date", ["2024-02-29", "1999-12-31"], { bad: ["2023-02-29"] }),
  full("timestamp", "datetime", ["2024-02-29T12:34:56.000Z", "1999-12-31T00:00:00.000Z"]),
  full("timestamp", "datetime(3)", ["2024-02-29T12:34:56.789Z", "1999-12-31T00:00:00.000Z"]),
  full("timestamp", "datetime(6)", ["2024-02-29T12:34:56.123Z", "1999-12-31T00:00:00.000Z"]),
  full("timestamp", "timestamp(3) null", ["2024-02-29T12:34:56.789Z", "1999-12-31T00:00:00.000Z"], {
    bad: ["1969-01-01T00:00:00Z"],
  }),
  full("time", "time", ["12:34:56", "-01:00:00"], { bad: ["900:00:00"] }),
  full("time", "time(6)", ["12:34:56.123456", "838:00:00.5"]),
  full("text", "char(5)", ["ab", "cd"], { bad: ["abcdef"] }),
  full("text", "varchar(20)", ["a 'quoted' \\ t", "ä"], { bad: ["x".repeat(21)] }),
  full("text", "varchar(20) character set latin1", ["é", "b"], { name: "c_latin" }),
  full("text", "tinytext", ["a", "b"], { bad: ["x".repeat(256)] }),
  full("text", "text", ["a", "b"]),
  full("text", "mediumtext", ["a", "b"]),
  full("text", "longtext", ["a", "b"]),
  full("text", "enum('sad','so ''so''','2')", ["so 'so'", "2"], { name: "c_enum", bad: ["angry"] }),
  full("bytes", "binary(3)", ["AAH/", "AAAA"], { bad: ["AA=="] }),
  full("bytes", "varbinary(3)", ["AAH/", "AA=="], { bad: ["AAAAAA=="] }),
  full("bytes", "tinyblob", ["AAH/", "AA=="]),
  full("bytes", "blob", ["AAH/", "AA=="], { bad: ["%"] }),
  full("bytes", "mediumblob", ["AAH/", "AA=="]),
  full("bytes", "longblob", ["AAH/", "AA=="]),
  full("json", "json", [{ a: [1, "x", null] }, ["b"]], { member: "b" }),
  full("uuid", "uuid", [uuid("a"), uuid("b")], { bad: ["x"] }),
  full("text", "varchar(9) invisible", ["a", "b"], { name: "c_invisible" }),
];

const asText: readonly WideColumn[] = [
  text("other", "bit(9)", ["000000101", "100000000"], { bad: ["101", "2"] }),
  text("other", "bit(64)", ["1".repeat(64), "0".repeat(64)], { bad: ["1"] }),
  text("other", "year", ["2026", "1901"], { bad: ["26", "1900", "2156"] }),
  text("other", "set('a','b','3')", ["a,b", "3"], { name: "c_set", bad: ["c", "a,c", "1"] }),
  text("other", "inet4", ["10.0.0.1", "192.168.0.255"], { bad: ["10.0.0", "::1", "x"] }),
  text("other", "inet6", ["::1", "2001:db8::ff00:42:8329"], { bad: ["nowhere", ":::", "1::g"] }),
  text("other", "geometry", ["POINT(1 2)", "LINESTRING(0 0,1 1)"], { bad: ["x"] }),
  text("other", "point", ["POINT(1 2)", "POINT(3.5 -4)"], { bad: ["x", "LINESTRING(0 0,1 1)"] }),
  text("other", "linestring", ["LINESTRING(0 0,1 1)", "LINESTRING(2 2,3 3)"], { bad: ["x"] }),
  text("other", "polygon", ["POLYGON((0 0,4 0,4 4,0 0))", "POLYGON((0 0,1 0,1 1,0 0))"], {
    bad: ["x"],
  }),
  text("other", "multipoint", ["MULTIPOINT(1 2,3 4)", "MULTIPOINT(5 6)"], { bad: ["x"] }),
  text("other", "multilinestring", ["MULTILINESTRING((0 0,1 1))", "MULTILINESTRING((2 2,3 3))"], {
    bad: ["x"],
  }),
  text(
    "other",
    "multipolygon",
    ["MULTIPOLYGON(((0 0,4 0,4 4,0 0)))", "MULTIPOLYGON(((0 0,1 0,1 1,0 0)))"],
    { bad: ["x"] },
  ),
  text(
    "other",
    "geometrycollection",
    ["GEOMETRYCOLLECTION(POINT(1 2))", "GEOMETRYCOLLECTION(POINT(3 4),LINESTRING(0 0,1 1))"],
    { bad: ["x"] },
  ),
];

const onlyShown: readonly WideColumn[] = [
  shownOnly("integer", "int generated always as (id * 2) stored", [2, 4], {
    name: "c_generated",
    sql: null,
    isAlwaysFilled: true,
  }),
  shownOnly("text", "varchar(9) generated always as (concat('n', id)) virtual", ["n1", "n2"], {
    name: "c_virtual",
    sql: null,
    isAlwaysFilled: true,
  }),
];

export const mysqlTable: WideTable = { setUp: [], columns: [...plain, ...asText, ...onlyShown] };
