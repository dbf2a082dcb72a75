/** Each column type does what its object declares, has a mapping on each engine, and a row in the docs. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { sql } from "drizzle-orm/sql/sql";
import { describe, expect, test } from "vitest";
import type { ColumnType } from "../../core/values/types/column.ts";
import { accept } from "../../core/values/types/accept.ts";
import { columnTypes, ruleTypes } from "../../core/values/types/column-types.ts";
import { acceptedSchema, shownSchema } from "../../core/values/types/schemas.ts";
import type { Dialect } from "../../db/statements/dialect.ts";
import { createDialect as createMysql } from "../../db/engines/mysql/dialect.ts";
import { createDialect as createPostgres } from "../../db/engines/postgres/dialect.ts";
import { createDialect as createSqlite } from "../../db/engines/sqlite/dialect.ts";
import { createStoredForms } from "../../db/engines/sqlite/forms/stored-forms.ts";
import { column } from "./column.ts";
import { takes } from "../openapi/json-schema.ts";
import { rowsUnder } from "../house/page-tables.ts";
import type { EngineName } from "../servers/session.ts";
import { typeCases } from "./type-cases.ts";

const types = Object.keys(columnTypes) as ColumnType[];
const page = (path: string): string =>
  readFileSync(join(import.meta.dirname, "../..", path), "utf8");

describe.each(types)("%s", (type) => {
  const { taken, refused, native } = typeCases[type];
  const definition = columnTypes[type];

  test("takes its value, and so does its schema", () => {
    expect(accept(column(type), taken.sent)).toEqual({ ok: true, value: taken.stored });
    expect(takes(acceptedSchema(column(type)), taken.sent)).toBe(true);
  });

  test("refuses another one", () => {
    expect(accept(column(type), refused.sent)).toEqual({ ok: false, message: refused.message });
  });

  test("takes what it shows, and finds its rows by it", () => {
    expect(accept(column(type), taken.shown)).toEqual({ ok: true, value: taken.stored });
    expect(takes(shownSchema(column(type)), taken.shown)).toBe(true);
    if (definition.isCompared) expect(definition.fromShown(taken.shown)).toEqual(taken.stored);
  });

  test("can be computed with, joined and searched only where it can be compared", () => {
    const { isCompared, arithmetic, hasExtremes, isJoined, hasText, isSorted } = definition;
    if (arithmetic !== null) expect({ hasExtremes }).toEqual({ hasExtremes: true });
    for (const able of [isJoined, hasText, hasExtremes, isSorted])
      if (able) expect({ isCompared }).toEqual({ isCompared: true });
  });

  test("has words for somebody who fills in a cell", () => {
    const { words, width } = definition.cellForm(column(type));
    expect([words, width]).toEqual([expect.stringMatching(/^[A-Z].*[^.]$/), expect.any(Number)]);
  });

  test.skipIf(type === "file")("is the type of a column on some engine", () => {
    expect(Object.values(native).filter((name) => name !== null)).not.toEqual([]);
  });

  test("of numbers reads its digits back", () => {
    if (definition.arithmetic === null) return;
    expect(definition.arithmetic.fromDigits("12")).toEqual(definition.fromShown(12));
  });
});

const dialects: Record<EngineName, Dialect> = {
  postgres: createPostgres("number", () => null),
  mysql: createMysql("number"),
  sqlite: createSqlite(
    "number",
    createStoredForms(() => null),
  ),
};

describe.each(Object.keys(dialects) as EngineName[])("on %s", (name) => {
  const dialect = dialects[name];

  test.each(types)("%s has a text where the type says so", (type) => {
    const hasText = dialect.textOf(column(type), sql`term`) !== null;
    expect(hasText).toBe(columnTypes[type].hasText);
  });

  test.each(types.filter((type) => typeCases[type].native[name] !== null))(
    "%s is sent in a form that the driver takes",
    (type) => {
      const bound = dialect.bind(column(type), typeCases[type].taken.stored!);
      expect(bound === undefined || bound === null).toBe(false);
    },
  );
});

const answers = (...facts: readonly boolean[]): string[] =>
  facts.map((fact) => (fact ? "yes" : "no"));

test("docs/values.md says of each type what it takes and shows", () => {
  const rows = rowsUnder("# Values", page("docs/values.md"));
  const named = new Set(rows.map(([, kind]) => kind));
  expect([...named].toSorted()).toEqual(types.map((type) => `\`${type}\``).toSorted());
});

test("docs/values.md says of each type what can be done with it", () => {
  const rows = types.map((type) => {
    const { arithmetic, ...can } = columnTypes[type];
    return [
      `\`${type}\``,
      can.fromMember === null ? (can.isCompared ? "yes" : "no") : "as a whole",
      ...answers(can.hasText, can.isSorted, can.isGrouped, can.hasExtremes),
      ...answers(arithmetic !== null, arithmetic?.isExact === true, can.isJoined, can.findsRows),
    ];
  });
  expect(rowsUnder("## What can be done with a column", page("docs/values.md"))).toEqual(rows);
});

test("docs/configuration.md names each type that a rule may ask for", () => {
  const [, named = ""] = /`type` is one of ([^.]*)\./.exec(page("docs/configuration.md")) ?? [];
  expect(named.match(/\w+/g)).toEqual([...ruleTypes.keys()]);
});
