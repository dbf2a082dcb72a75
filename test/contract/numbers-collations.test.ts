/**
 * Values of `by` have one counter exactly where the database calls them equal, by the collation of their column. Each
 * pair is compared with the database's answer.
 */
import { describe, expect, inject, test } from "vitest";
import type { EngineName } from "../servers/session.ts";
import { record } from "./cases.ts";
import { openFixture, openForTests } from "./harness.ts";

const engine = inject("engine");

/** Types of the column of `by`, by the names of their tables. */
const types: Readonly<Record<EngineName, Readonly<Record<string, string>>>> = {
  sqlite: { plain: "text", no_case: "text collate nocase", no_blanks: "text collate rtrim" },
  postgres: {
    plain: "text",
    ci: "citext",
    level1: "varchar(20) collate level1",
    level2: "text collate level2",
  },
  mysql: {
    general: "varchar(20) collate utf8mb4_general_ci",
    unicode: "varchar(20) collate utf8mb4_unicode_ci",
    padded: "varchar(20) collate utf8mb4_bin",
    unpadded: "varchar(20) collate utf8mb4_nopad_bin",
    latin: "varchar(20) character set latin1 collate latin1_swedish_ci",
  },
};
const collation = (name: string, locale: string): string =>
  `create collation ${name} (provider = icu, locale = '${locale}', deterministic = false)`;
const before: Readonly<Record<EngineName, readonly string[]>> = {
  sqlite: [],
  mysql: [],
  postgres: [
    "create extension citext",
    collation("level1", "und-u-ks-level1"),
    collation("level2", "und-u-ks-level2"),
  ],
};
const tables = Object.keys(types[engine]);

/** Of the texts of numbers too: a number is taken where the database calls it equal to one. */
const pairs: readonly (readonly [string, string])[] = [
  ["north", "north"],
  ["north", "NORTH"],
  ["north", "south"],
  ["cafe", "caf\u00e9"],
  ["caf\u00e9", "CAF\u00c9"],
  ["a", "a "],
  ["Stra\u00dfe", "strasse"],
];

const fixture = openForTests(openFixture, {
  tables: [],
  setUp: () => [
    ...before[engine],
    ...tables.flatMap((name) => {
      const type = types[engine][name]!;
      return [
        `create table ${name}_by (id varchar(60) primary key, area ${type}, doc_no varchar(60), unique (area, doc_no))`,
        `create table ${name}_in (id varchar(60) primary key, area varchar(60), doc_no ${type} unique)`,
      ];
    }),
  ],
  endpoints: Object.fromEntries(
    tables.flatMap((name) => [
      [
        `${name}-by`,
        {
          tableName: `${name}_by`,
          primaryKey: "id",
          action: { create: true, "bulk-create": true, "next-number": true },
          numbers: { doc_no: { format: "N{seq:2}", by: ["area"] } },
        },
      ],
      [
        `${name}-in`,
        {
          tableName: `${name}_in`,
          primaryKey: "id",
          action: { create: true, "bulk-create": true, "next-number": true },
          numbers: { doc_no: { format: "{area}{seq:2}" } },
        },
      ],
    ]),
  ),
});

/** Null where the type does not accept a text. */
async function areEqual(table: string, column: string, [left, right]: readonly [string, string]) {
  await fixture.sql(`delete from ${table}`);
  const isKept = await fixture
    .sql(`insert into ${table} (id, ${column}) values ('x', '${left}')`)
    .then(
      () => true,
      () => false,
    );
  const found = isKept
    ? await fixture.sql(`select count(*) as n from ${table} where ${column} = '${right}'`)
    : [];
  await fixture.sql(`delete from ${table}`);
  return found[0] ? Number(found[0]["n"]) > 0 : null;
}

describe.each(tables)("the counters of the table %s", (table) => {
  test.each(pairs)("by %j and %j are one where the values are equal", async (left, right) => {
    const isOne = await areEqual(`${table}_by`, "area", [left, right]);
    if (isOne === null) return;
    await forget(`${table}_by`);
    const create = async (area: string) =>
      record(await fixture.post(`${table}-by/create`, { area }))["doc_no"];
    expect(await create(left)).toBe("N01");
    const shown = await fixture.post(`${table}-by/next-number`, { area: right });
    expect(record(shown)).toEqual({ doc_no: isOne ? "N02" : "N01" });
    expect(await create(right)).toBe(isOne ? "N02" : "N01");
    const data = [{ area: left }, { area: right }, { area: left }];
    const bulk = await fixture.post(`${table}-by/bulk-create`, { data });
    const given = (bulk.body.data as { doc_no: string }[]).map(({ doc_no }) => doc_no);
    expect(given).toEqual(isOne ? ["N03", "N04", "N05"] : ["N02", "N02", "N03"]);
  });

  test.each(pairs)(
    "in the format, %j and %j are one where numbers are equal",
    async (left, right) => {
      const isOne = await areEqual(`${table}_in`, "doc_no", [`${left}01`, `${right}01`]);
      if (isOne === null) return;
      await forget(`${table}_in`);
      const data = [{ area: left }, { area: right }, { area: right }];
      const bulk = await fixture.post(`${table}-in/bulk-create`, { data });
      expect(bulk.status, JSON.stringify(bulk.body)).toBe(201);
      const given = (bulk.body.data as { doc_no: string }[]).map(({ doc_no }) => doc_no);
      expect(given).toEqual(
        isOne
          ? [`${left}01`, `${right}02`, `${right}03`]
          : [`${left}01`, `${right}01`, `${right}02`],
      );
    },
  );
});

async function forget(table: string): Promise<void> {
  await fixture
    .sql(`delete from rowgate_numbers where table_name like '%${table}'`)
    .catch(() => []);
}
