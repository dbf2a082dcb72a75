/** The tables that change with a write to another one, by engine. The list cache drops the lists of these tables. */
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import type { Table } from "../../core/values/types/column.ts";
import type { Db } from "../../core/plans/db-port.ts";
import { changesWith } from "../../db/engines/changes-with.ts";
import { openDb } from "../../db/open.ts";
import { type FreshDatabase, freshDatabase } from "../servers/database.ts";
import { openSession } from "../servers/session.ts";

describe("tables that change with one", () => {
  const links = [
    { from: "s.a", to: "s.b" },
    { from: "s.b", to: "s.c" },
    { from: "s.c", to: "s.a" },
    { from: "s.d", to: "s.d" },
    { from: "s.e", to: "s.f" },
  ];
  test.each([
    ["s.a", [], ["s.b", "s.c"]],
    ["s.c", [], ["s.a", "s.b"]],
    ["s.d", [], []],
    ["s.f", [], []],
    ["s.x", [], []],
    ["s.a", ["s.a"], null],
    ["s.a", ["s.c"], null],
    ["s.e", ["s.a"], ["s.f"]],
    ["s.f", ["s.e"], []],
  ])("are followed from %s, with triggers on %j, to %j", (table, triggered, expected) => {
    const found = changesWith(table, { links, triggered: new Set(triggered) });
    expect(found && [...found].toSorted()).toEqual(expected);
  });
});

const engine = inject("engine");
const key = "varchar(36) not null primary key";

/** A table whose foreign keys are `column: parent rule`. */
function create(name: string, parents: Record<string, string>): string {
  const columns = Object.keys(parents).map((column) => `${column} varchar(36)`);
  const keys = Object.entries(parents).map(([column, target]) => {
    const [parent = "", ...rule] = target.split(" ");
    return `foreign key (${column}) references ${parent} (id) ${rule.join(" ")}`;
  });
  return `create table ${name} (${[`id ${key}`, "note varchar(9)", ...columns, ...keys].join(", ")})`;
}

const onChange = {
  sqlite: (table: string) => [
    `create trigger t_${table} after insert on ${table} begin delete from others; end`,
  ],
  mysql: (table: string) => [
    `create trigger t_${table} after insert on ${table} for each row delete from others`,
  ],
  postgres: (table: string) => [
    "create or replace function f() returns trigger language plpgsql as $$ begin delete from others; return null; end $$",
    `create trigger t_${table} after insert on ${table} for each statement execute function f()`,
  ],
};

let database: FreshDatabase;
let db: Db;
let schema: string;

beforeAll(async () => {
  database = await freshDatabase(engine);
  schema = { sqlite: "main", postgres: "public", mysql: new URL(database.url).pathname.slice(1) }[
    engine
  ];
  const session = await openSession(engine, database.url);
  const statements = [
    create("others", {}),
    create("headers", {}),
    create("taken", { header: "headers on delete cascade" }),
    create("emptied", { header: "headers on delete set null" }),
    create("renamed", { header: "headers on update cascade" }),
    create("kept", { header: "headers" }),
    create("restricted", { header: "headers on delete restrict" }),
    create("grandchildren", { parent: "taken on delete cascade" }),
    create("tree", { parent: "tree on delete cascade" }),
    create("loud_parent", {}),
    create("loud_child", { parent: "loud_parent on delete cascade" }),
    ...onChange[engine]("loud_child"),
    "create view shown as select id from headers",
    ...(engine === "postgres"
      ? [
          "create table parts (id int not null) partition by range (id)",
          "create table parts_1 partition of parts for values from (0) to (10)",
          "create table parts_2 partition of parts for values from (10) to (20)",
          `create table "Ruled" (id int primary key)`,
          `create rule r as on insert to "Ruled" do also delete from others`,
        ]
      : []),
  ];
  for (const text of statements) await session.run(text);
  await session.close();
  db = await openDb(database.url, { connectionsMax: 2, statementTimeoutMs: 0, decimals: "number" });
});
afterAll(async () => {
  await db?.close();
  await database?.drop();
});

async function tableOf(name: string): Promise<Table> {
  const table = await db.catalog.table(name);
  expect(table, name).not.toBeNull();
  return table!;
}

test.each([
  ["headers", ["emptied", "grandchildren", "renamed", "taken"]],
  ["taken", ["grandchildren"]],
  ["kept", []],
  ["tree", []],
  ["others", []],
  ["loud_parent", null],
  ["loud_child", null],
  ...(engine === "postgres"
    ? ([
        ["parts", ["parts_1", "parts_2"]],
        // A part changes its whole, and with it what is read from there.
        ["parts_1", ["parts", "parts_2"]],
        ["Ruled", null],
      ] as [string, string[] | null][])
    : []),
] as [string, string[] | null][])(
  "the tables that change with %s are %j",
  async (name, expected) => {
    const { changesWith: found } = await tableOf(name);
    expect(found && [...found].toSorted()).toEqual(
      expected && expected.map((other) => `${schema}.${other}`.toLowerCase()),
    );
  },
);

test("a table has the same identity with and without its schema", async () => {
  const plain = await tableOf("headers");
  expect((await tableOf(`${schema}.headers`)).identity).toBe(plain.identity);
  expect(plain.identity).toBe(`${schema}.headers`);
  expect((await tableOf("taken")).identity).not.toBe(plain.identity);
});

test.skipIf(engine === "sqlite")("a dot in the name of a schema is no other schema", async () => {
  const own = await freshDatabase(engine);
  const url = new URL(own.url);
  const session = await openSession(engine, own.url);
  const outer = engine === "mysql" ? url.pathname.slice(1) : "outer";
  const quote = (name: string) => (engine === "mysql" ? `\`${name}\`` : `"${name}"`);
  const dotted = quote(`${outer}.b`);
  const statements = [
    ...(engine === "postgres" ? [`create schema ${quote(outer)}`] : []),
    `create schema ${dotted}`,
    `create table ${dotted}.c (id ${key})`,
    `create table ${quote(outer)}.${quote("b.c")} (id ${key})`,
    ...(engine === "postgres"
      ? [`alter database ${quote(url.pathname.slice(1))} set search_path to ${dotted}`]
      : []),
  ];
  for (const statement of statements) await session.run(statement);
  if (engine === "mysql") url.pathname += ".b";
  const other = await openDb(url.href, {
    connectionsMax: 2,
    statementTimeoutMs: 0,
    decimals: "number",
  });
  const identities = ["c", `${outer}.b.c`].map(
    async (name) => (await other.catalog.table(name))!.identity,
  );
  const [inner, plain] = await Promise.all(identities);
  await other.close();
  if (engine === "mysql") await session.run(`drop schema ${dotted}`);
  await session.close();
  await own.drop();
  expect([inner, plain]).toEqual([`${outer}/.b.c`, `${outer}.b.c`]);
});

test("a view has an identity of its own and is told from a table", async () => {
  const view = await tableOf("shown");
  expect([view.kind, view.identity]).toEqual(["view", `${schema}.shown`]);
});
