/** docs/types.md lists every type that the service reads and writes, with its kind and its group. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { ColumnType } from "../../core/values/types/column.ts";
import { nativeTypes as mysqlTypes } from "../../db/engines/mysql/column.ts";
import { nativeTypes as postgresTypes } from "../../db/engines/postgres/column.ts";
import { words as sqliteWords } from "../../db/engines/sqlite/types.ts";
import { rowsUnder } from "./page-tables.ts";

const page = readFileSync(join(import.meta.dirname, "../../docs/types.md"), "utf8");

/** What the page has besides the types that have one name: those of extensions, and those that their size makes. */
const others: Readonly<Record<string, readonly string[]>> = {
  PostgreSQL: ["citext", "hstore"],
  "MySQL and MariaDB": ["tinyint(1)", "bit(1)", "unsigned", "zerofill"],
  SQLite: [
    "enum",
    "INT",
    "CHAR",
    "CLOB",
    "TEXT",
    "BLOB",
    "BINARY",
    "BYTEA",
    "REAL",
    "FLOA",
    "DOUB",
    "ANY",
    "STRICT",
    "STRING",
  ],
};

const lists: readonly (readonly [string, ReadonlyMap<string, ColumnType>])[] = [
  ["PostgreSQL", postgresTypes],
  ["MySQL and MariaDB", mysqlTypes],
  ["SQLite", new Map([...sqliteWords].map(([word, type]) => [word.toLowerCase(), type]))],
];

test.each(lists)("docs/types.md lists the types of %s", (engine, types) => {
  const listed = rowsUnder(`## ${engine}`, page)
    .filter(([, group]) => group !== "shown only")
    .flatMap(([names = "", group, kind]) =>
      [...names.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => `${name}: ${group}, ${kind}`),
    )
    .filter((line) => !others[engine]!.includes(line.slice(0, line.indexOf(": "))));
  const known = [...types].map(([native, type]) => {
    const name = native === '"bit"' ? "bit" : native;
    return `${name}: ${type === "other" ? "text" : "full"}, \`${type}\``;
  });
  expect(listed.toSorted()).toEqual(known.toSorted());
});
