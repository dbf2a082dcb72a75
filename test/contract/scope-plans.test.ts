/**
 * A row scope costs no more than the same condition written by hand: its statements get the same plan as plain SQL with
 * the condition in WHERE: the same indexes and join order, no further sort or scan.
 */
import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import type { EngineName } from "../servers/session.ts";
import { type Fixture, openFixture } from "./harness.ts";
import { openRecorder, type Recorder } from "./sent-statements.ts";

const engine = inject("engine");

/** `digits`: three of them. */
const uuidOf = (digits: string): string => `00000000-0000-4000-8000-000000000${digits}`;

/** Each caller's claims as a hand-written condition on a table of this alias. */
const callers: Readonly<
  Record<string, { roles: string[]; claims: object; scope: (t: string) => string }>
> = {
  "one value": { roles: ["tenant"], claims: { tenant: "t7" }, scope: (t) => `${t}.tenant = 't7'` },
  "a list": {
    roles: ["tenant"],
    claims: { tenant: ["t7", "t8", "t9"] },
    scope: (t) => `${t}.tenant in ('t7', 't8', 't9')`,
  },
  "one value of a collation that ignores case": {
    roles: ["loose"],
    claims: { tenant: "t7" },
    scope: (t) => `${t}.loose = 't7'`,
  },
  "a list of a collation that ignores case": {
    roles: ["loose"],
    claims: { tenant: ["t7", "t8", "t9"] },
    scope: (t) => `${t}.loose in ('t7', 't8', 't9')`,
  },
  "a number": { roles: ["region"], claims: { region: 7 }, scope: (t) => `${t}.region = 7` },
  "a list of numbers": {
    roles: ["region"],
    claims: { region: [7, 8, 9] },
    scope: (t) => `${t}.region in (7, 8, 9)`,
  },
  "a UUID": {
    roles: ["holder"],
    claims: { holder: uuidOf("007") },
    scope: (t) => `${t}.holder = '${uuidOf("007")}'`,
  },
  "a list of UUIDs": {
    roles: ["holder"],
    claims: { holder: [uuidOf("007"), uuidOf("008")] },
    scope: (t) => `${t}.holder in ('${uuidOf("007")}', '${uuidOf("008")}')`,
  },
  "two roles": {
    roles: ["tenant", "region"],
    claims: { tenant: "t7", region: 7 },
    scope: (t) => `(${t}.region = 7 or ${t}.tenant = 't7')`,
  },
  "two roles, one of a collation that ignores case": {
    roles: ["loose", "region"],
    claims: { tenant: "t7", region: 7 },
    scope: (t) => `(${t}.loose = 't7' or ${t}.region = 7)`,
  },
};

const key = (id: string): string => `key of ${id}`;
const auth = {
  apiKeys: Object.entries(callers).map(([id, { roles, claims }]) => ({
    id,
    sha256: createHash("sha256").update(key(id)).digest("hex"),
    roles,
    claims,
  })),
};
const rules = {
  access: { tenant: "*", loose: "*", region: "*", holder: "*" },
  rowScope: {
    tenant: { tenant: "{{claims.tenant}}" },
    loose: { loose: "{{claims.tenant}}" },
    region: { region: "{{claims.region}}" },
    holder: { holder: "{{claims.holder}}" },
  },
};

/** Text that compares by bytes, and text that does not. */
const texts: Readonly<Record<EngineName, readonly [string, string]>> = {
  sqlite: ["varchar(10)", "varchar(10) collate nocase"],
  postgres: ['varchar(10) collate "C"', "varchar(10) collate softly"],
  mysql: ["varchar(10)", "varchar(10) collate utf8mb4_general_ci"],
};
const softly =
  "create collation softly (provider = icu, locale = 'und-u-ks-level1', deterministic = false)";
const analyze: Readonly<Record<EngineName, readonly string[]>> = {
  sqlite: ["analyze"],
  postgres: ["analyze goods", "analyze places"],
  mysql: ["analyze table goods, places"],
};

/** 20,000 goods in 500 places; 200 tenants and 100 regions. */
function setUp(): readonly string[] {
  const [exact, loose] = texts[engine];
  const word = (letter: string, number: string): string =>
    engine === "mysql" ? `concat('${letter}', ${number})` : `'${letter}' || (${number})`;
  const owner = `tenant ${exact} not null, loose ${loose} not null, region integer not null, holder uuid not null`;
  const digitsOfTenant =
    engine === "mysql" ? "lpad(n % 200, 3, '0')" : "substr(cast(1000 + n % 200 as varchar(4)), 2)";
  const text = word(uuidOf(""), digitsOfTenant);
  const uuid = engine === "sqlite" ? text : `cast(${text} as uuid)`;
  const owned = `${word("t", "n % 200")}, ${word("t", "n % 200")}, n % 100, ${uuid}`;
  const digits = Array.from({ length: 10 }, (_, at) => `select ${at} as d`).join(" union all ");
  const numbers = `(select a.d + 10 * b.d + 100 * c.d + 1000 * e.d + 10000 * f.d as n
    from (${digits}) a, (${digits}) b, (${digits}) c, (${digits}) e, (select 0 as d union all select 1) f) as numbers`;
  return [
    ...(engine === "postgres" ? [softly] : []),
    `create table places (place_id integer primary key, ${owner}, title varchar(20))`,
    `create table goods (good_id integer primary key, ${owner}, name ${exact} not null, place_id integer not null, qty integer, note varchar(100))`,
    `insert into places select n, ${owned}, 'place' from ${numbers} where n < 500`,
    `insert into goods select n, ${owned}, ${word("n", "(n * 7919) % 20011")}, n % 500, n % 10, 'as long as the rows of people are' from ${numbers}`,
    "create index by_tenant on goods (tenant, name)",
    "create index by_loose on goods (loose, name)",
    "create index by_region on goods (region, name)",
    "create index by_holder on goods (holder, name)",
    "create index by_place on goods (place_id)",
    ...analyze[engine],
  ];
}

const goodsWithPlaces =
  "select g.good_id, g.tenant, g.loose, g.region, g.holder, g.name, p.title from goods g left join places p on p.place_id = g.place_id";
const join = { tableName: "places", sourceField: "place_id", targetField: "place_id" };

let fixture: Fixture;
let recorder: Recorder;
beforeAll(async () => {
  fixture = await openFixture({
    tables: [],
    setUp,
    project: { auth, cache: { enabled: false } },
    endpoints: {
      goods: {
        ...rules,
        tableName: "goods",
        action: {
          read: true,
          first: true,
          datatables: true,
          lookup: true,
          aggregate: true,
          update: true,
          delete: true,
        },
        fieldNameLookup: { id: "good_id", text: "name" },
        aggregateConfig: {
          joins: {
            outer: { ...join, fields: ["title"] },
            inner: { ...join, joinType: "INNER", fields: ["title"] },
          },
        },
      },
      queried: { ...rules, tableName: "goods", viewQuery: goodsWithPlaces, action: { read: true } },
      places: { ...rules, tableName: "places", action: { read: true } },
    },
  });
  const { database } = JSON.parse(fixture.files.get("test/project.json")!) as {
    database: { url: string };
  };
  recorder = await openRecorder(engine, database.url);
}, 120_000);
afterAll(async () => {
  await recorder?.close();
  await fixture?.close();
});

const matches = engine === "postgres" ? "ilike" : "like";
/** The service treats the columns of a query as nullable, and nulls come first. */
const nullsFirst = engine === "postgres" ? "nulls first" : "";
const count = [{ function: "count", field: "*", alias: "n" }];
const grouped = (inner: string): string =>
  `select * from (${inner}) as groups order by v0 ${nullsFirst} limit 10000`;

interface Asked {
  readonly path: string;
  readonly body: object;
  /** The statements by hand. `scope`: the condition on the table with this alias. */
  readonly byHand: (scope: (alias: string) => string) => readonly string[];
  /** Default: 200. */
  readonly status?: number;
}

const requests: Readonly<Record<string, Asked>> = {
  first: {
    path: "goods/first",
    body: { where: [{ key: "name", value: "n7" }] },
    byHand: (scope) => [
      `select * from goods g where g.name = 'n7' and ${scope("g")} order by good_id limit 1`,
    ],
  },
  "a page of read, and its count": {
    path: "goods/read",
    body: { sort_columns: [{ column: "name" }], page: 1, per_page: 20 },
    byHand: (scope) => [
      `select * from goods g where ${scope("g")} order by name, good_id limit 20`,
      `select count(*) from goods g where ${scope("g")}`,
    ],
  },
  "a page by cursor": {
    path: "goods/read",
    body: { sort_columns: [{ column: "name" }], cursor: true, per_page: 20 },
    byHand: (scope) => [
      `select * from goods g where ${scope("g")} order by name, good_id limit 21`,
    ],
  },
  "a page of read from a query, and its count": {
    path: "queried/read",
    body: { sort_columns: [{ column: "good_id" }], page: 1, per_page: 20 },
    byHand: (scope) => [
      `${goodsWithPlaces} where ${scope("g")} order by good_id ${nullsFirst} limit 20`,
      `select count(*) from goods g left join places p on p.place_id = g.place_id where ${scope("g")}`,
    ],
  },
  "the grid, and its counts": {
    path: "goods/datatables",
    body: {
      draw: 1,
      start: 0,
      length: 10,
      columns: [{ data: "name" }],
      order: [{ column: 0, dir: "asc" }],
      search: { value: "n1" },
    },
    byHand: (scope) => [
      `select count(*) from goods g where ${scope("g")}`,
      `select * from goods g where name ${matches} '%n1%' and ${scope("g")} order by name, good_id limit 10`,
      `select count(*) from goods g where name ${matches} '%n1%' and ${scope("g")}`,
    ],
  },
  lookup: {
    path: "goods/lookup",
    body: { limit: 10 },
    byHand: (scope) => [
      `select good_id, name from goods g where ${scope("g")} order by name, good_id limit 11`,
    ],
  },
  "lookup of ids": {
    path: "goods/lookup",
    body: { ids: ["7", "207", "208"] },
    byHand: (scope) => [
      `select good_id, name from goods g where good_id in (7, 207, 208) and ${scope("g")} order by name, good_id limit 4`,
    ],
  },
  "an update": {
    path: "goods/update",
    body: { good_id: 207, note: "changed" },
    byHand: (scope) => [
      `update goods set note = 'changed' where good_id = 207 and ${scope("goods")}`,
      ...(engine === "mysql" ? ["select * from goods where good_id = 207"] : []),
    ],
  },
  // The answer shows the deleted records; on MySQL and MariaDB they are read before.
  "a delete that finds nothing": {
    path: "goods/delete",
    body: { where: [{ key: "name", value: "none" }] },
    status: 404,
    byHand: (scope) => [
      engine === "mysql"
        ? `select * from goods g where name = 'none' and ${scope("g")} for update`
        : `delete from goods where name = 'none' and ${scope("goods")} returning *`,
    ],
  },
  "an aggregate": {
    path: "goods/aggregate",
    body: { operations: [{ function: "sum", field: "qty", alias: "n" }], group_by: ["qty"] },
    byHand: (scope) => [
      grouped(`select qty as v0, sum(qty) as v1 from goods g where ${scope("g")} group by qty`),
    ],
  },
  "an aggregate with an outer join": {
    path: "goods/aggregate",
    body: { operations: count, joins: ["outer"], group_by: ["outer.title"] },
    byHand: (scope) => [
      grouped(
        `select p.title as v0, count(*) as v1 from goods g left join places p on p.place_id = g.place_id and ${scope("p")} where ${scope("g")} group by p.title`,
      ),
    ],
  },
  "an aggregate with an inner join": {
    path: "goods/aggregate",
    body: { operations: count, joins: ["inner"], group_by: ["inner.title"] },
    byHand: (scope) => [
      grouped(
        `select p.title as v0, count(*) as v1 from goods g join places p on p.place_id = g.place_id where ${scope("p")} and ${scope("g")} group by p.title`,
      ),
    ],
  },
};

describe.each(Object.keys(requests))("the plan of %s", (name) => {
  const { path, body, byHand, status: expectedStatus = 200 } = requests[name]!;
  test.each(Object.keys(callers))("with a scope of %s is that by hand", async (id) => {
    const headers = { "x-api-key": key(id), "x-request-mode": "static" };
    const sent = await recorder.during(async () => {
      const { status, body: answer } = await fixture.post(path, body, headers);
      expect(status, JSON.stringify(answer)).toBe(expectedStatus);
    });
    const plansOf = (statements: readonly { text: string; params: readonly unknown[] }[]) =>
      Promise.all(statements.map((statement) => recorder.planOf(statement)));
    const expected = byHand(callers[id]!.scope).map((text) => ({ text, params: [] }));
    expect(await plansOf(sent)).toEqual(await plansOf(expected));
  });
});
