/**
 * Columns whose type or collation ignores case, accents or trailing blanks: a `rowScope` compares them exactly, in
 * reads and in writes.
 */
import { describe, expect, inject, test } from "vitest";
import type { EngineName } from "../servers/session.ts";
import { apiKey, by } from "./api-keys.ts";
import { type Answer, openFixture, openForTests } from "./harness.ts";

const engine = inject("engine");

/** The types of the column `tenant`, by their names in these tests. */
const types: Readonly<Record<EngineName, Readonly<Record<string, string>>>> = {
  sqlite: {
    nocase: "text collate nocase",
    rtrim: "text collate rtrim",
    char: "char(10)",
    text: "text",
  },
  postgres: {
    citext: "citext",
    "domain of citext": "tenants",
    "collation without case": "varchar(10) collate without_case",
    "domain of a collation": "loose_tenants",
    char: "char(10)",
  },
  mysql: {
    general: "varchar(10) collate utf8mb4_general_ci",
    unicode: "varchar(10) collate utf8mb4_unicode_ci",
    "binary with padding": "varchar(10) collate utf8mb4_bin",
    latin: "varchar(10) character set latin1 collate latin1_swedish_ci",
    char: "char(10) collate utf8mb4_general_ci",
    text: "text collate utf8mb4_general_ci",
  },
};
const kinds = types[engine];
const first: Readonly<Record<EngineName, readonly string[]>> = {
  sqlite: [],
  postgres: [
    "create extension citext",
    "create domain tenants as citext",
    "create collation without_case (provider = icu, locale = 'und-u-ks-level1', deterministic = false)",
    "create domain loose_tenants as text collate without_case",
  ],
  mysql: [],
};

const values = ["a", "A", "á", "a "];
/** A column of CHAR keeps no blanks at the end. SQLite has none. */
const stored = (kind: string): string[] =>
  kind === "char" && engine !== "sqlite" ? values.slice(0, 3) : values;
const tableOf = (kind: string): string => `t_${kind.replaceAll(" ", "_")}`;

const callers = {
  a: "a",
  capital: "A",
  accent: "á",
  blank: "a ",
  blanks: "a  ",
  list: ["A", "a "],
};
const auth = {
  apiKeys: [
    ...Object.entries(callers).map(([id, tenant]) => apiKey(id, ["clerk"], { tenant })),
    apiKey("pattern", ["pattern"]),
    apiKey("other pattern", ["other pattern"]),
  ],
};

const fixture = openForTests(openFixture, {
  project: { auth, cache: { enabled: false } },
  tables: [],
  setUp: () => [
    ...first[engine],
    ...Object.entries(kinds).flatMap(([kind, type]) => [
      `create table ${tableOf(kind)} (id varchar(36) primary key, tenant ${type}, note varchar(10))`,
      ...stored(kind).map(
        (value) => `insert into ${tableOf(kind)} (id, tenant) values ('of ${value}.', '${value}')`,
      ),
    ]),
  ],
  endpoints: Object.fromEntries(
    Object.keys(kinds).map((kind) => [
      tableOf(kind),
      {
        tableName: tableOf(kind),
        action: { create: true, read: true, update: true, delete: true, aggregate: true },
        access: { clerk: "*", pattern: ["read"], "other pattern": ["read"] },
        rowScope: {
          clerk: { tenant: "{{claims.tenant}}" },
          pattern: { tenant: { operator: "LIKE", value: "a%" } },
          "other pattern": { tenant: { operator: "NOT LIKE", value: "a%" } },
        },
      },
    ]),
  ),
});

const as = (id: string, path: string, body: unknown): Promise<Answer> =>
  fixture.post(path, body, by(id));
const count = [{ function: "count", field: "*", alias: "n" }];

describe.each(Object.keys(kinds))("a scope on a column of %s", (kind) => {
  const table = tableOf(kind);

  test.each(Object.entries(callers))("shows %s the rows of %j and no others", async (id, claim) => {
    const expected = stored(kind)
      .filter((value) => [claim].flat().includes(value))
      .map((value) => `of ${value}.`);
    const { status, body } = await as(id, `${table}/read`, { limit: 10 });
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body.data.map((row: { id: string }) => row.id).toSorted()).toEqual(expected.toSorted());
    const counted = await as(id, `${table}/aggregate`, { operations: count });
    expect(counted.body.data).toEqual({ n: expected.length });
  });

  test("with LIKE tells upper and lower case apart", async () => {
    for (const [id, isLike] of [
      ["pattern", true],
      ["other pattern", false],
    ] as const) {
      const expected = stored(kind).filter((value) => value.startsWith("a") === isLike);
      const { body } = await as(id, `${table}/read`, { limit: 10 });
      const found = body.data.map((row: { id: string }) => row.id).toSorted();
      expect(found, id).toEqual(expected.map((value) => `of ${value}.`).toSorted());
    }
  });

  test.each(values.slice(1))("lets nobody of a write a row of %j", async (tenant) => {
    const id = `of ${tenant}.`;
    expect((await as("a", `${table}/update`, { id, note: "x" })).status).toBe(404);
    const { body } = await as("a", `${table}/delete`, { where: [{ key: "id", value: id }] });
    expect([body.deleted_count ?? 0, body.error]).toEqual([0, "Not found"]);
    // What the column cannot store as it is, is refused for that.
    const refused = stored(kind).includes(tenant) ? [403, "Forbidden"] : [400, "Validation failed"];
    const created = await as("a", `${table}/create`, { id: "new", tenant });
    expect([created.status, created.body.error]).toEqual(refused);
    const moved = await as("a", `${table}/update`, { id: "of a.", tenant });
    expect([moved.status, moved.body.error]).toEqual(refused);
    const rows = await fixture.sql(`select id from ${table}`);
    expect(rows).toHaveLength(stored(kind).length);
  });
});
