/** The declared types of SQLite columns, in the type names of all databases. */
import { full, shownOnly, text, type WideColumn, type WideTable } from "./wide-columns.ts";

const uuid = (last: string): string => `00000000-0000-4000-8000-00000000000${last}`;
const instants = ["2024-02-29T12:34:56.789Z", "1999-12-31T00:00:00.000Z"] as const;

const integers = ["int", "integer", "bigint", "int8", "unsigned big int", "mediumint", "long"];
const texts = [
  "text",
  "clob",
  "character(20)",
  "varchar(255)",
  "varying character(255)",
  "nchar(55)",
  "native character(70)",
  "nvarchar(100)",
  "character varying(20)",
  "longtext",
];
const decimals = ["decimal(10,2)", "numeric", "number(10,2)", "num", "money", "currency"];
const moments = ["datetime", "timestamp", "timestamptz", "timestamp with time zone", "datetime2"];

const plain: readonly WideColumn[] = [
  ...integers.map((native) => full("integer", native, [-5, 7], { bad: [1.5, "x"] })),
  full("integer", "smallint", [-32_768, 32_767], { bad: [32_768] }),
  full("integer", "tinyint", [-128, 127], { bad: [128] }),
  ...texts.map((native) => full("text", native, ["007", "ä"], { bad: [true] })),
  ...decimals.map((native) => full("decimal", native, [12.5, -0.25], { bad: ["x"] })),
  ...["real", "double", "double precision", "float"].map((native) =>
    full("float", native, [1.5, 0.1], { bad: ["x"] }),
  ),
  ...["boolean", "bool"].map((native) =>
    full("boolean", native, [true, false], { bad: ["maybe"] }),
  ),
  full("date", "date", ["2024-02-29", "1999-12-31"], { bad: ["2023-02-29"] }),
  ...moments.map((native) => full("timestamp", native, instants, { bad: ["noon"] })),
  full("time", "time", ["12:34:56.5", "08:00:00"], { bad: ["25:00"] }),
  ...["uuid", "guid", "uniqueidentifier"].map((native) =>
    full("uuid", native, [uuid("a"), uuid("b")], { bad: ["x"] }),
  ),
  ...["blob", "varbinary(20)", "bytea"].map((native) =>
    full("bytes", native, ["AAH/", "AA=="], { bad: ["%"] }),
  ),
  ...["json", "jsonb"].map((native) =>
    full("json", native, [{ a: [1, "x", null] }, ["b"]], { member: "b" }),
  ),
];

const asText: readonly WideColumn[] = [
  text("other", "", ["007", "a"], { name: "c_without_type" }),
  text("other", "any", ["7", "a"], { bad: ["007", "1e3", "1.50"] }),
  text("other", "string", ["1.5", "a"], { bad: ["007", "1.0"] }),
  text("other", "geometry", ["POINT(1 2)", "x"]),
];

const onlyShown: readonly WideColumn[] = (["stored", "virtual"] as const).map((kind) =>
  shownOnly("integer", `integer generated always as (id * 2) ${kind}`, [2, 4], {
    name: `c_${kind}`,
    sql: null,
    isAlwaysFilled: true,
  }),
);

export const sqliteTable: WideTable = {
  setUp: [],
  columns: [...plain, ...asText, ...onlyShown],
  suffix: "without rowid",
};
