/**
 * Values of types that only the database can parse: a value that it refuses is a fault of the request, reported with
 * the field on writes and with the column in conditions.
 */
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import type { EngineName } from "../servers/session.ts";
import { check, record } from "./cases.ts";
import { type Fixture, openFixture } from "./harness.ts";
import { importerOf, workbookOf } from "./imports.ts";

const engine = inject("engine");

interface TypeCase {
  readonly native: string;
  readonly good: string;
  readonly bad: string;
  /** What is said of it; absent = what the database's refusal becomes. */
  readonly message?: string;
}

/** By column. SQLite has no such types. */
const cases: Readonly<Record<EngineName, Readonly<Record<string, TypeCase>>>> = {
  sqlite: {},
  mysql: {
    address6: { native: "inet6", good: "::1", bad: "nowhere", message: "must be an IPv6 address" },
  },
  postgres: {
    span: { native: "int4range", good: "[1,5)", bad: "[5,1)" },
    spans: { native: "int4multirange", good: "{[1,5)}", bad: "{[5,1)}" },
    during: { native: "tstzrange", good: "empty", bad: "[now" },
    words: { native: "tsquery", good: "'a' & 'b'", bad: "a &" },
    pairs: { native: "hstore", good: '"a"=>"1"', bad: "a=>" },
    network: { native: "cidr", good: "10.0.0.0/8", bad: "10.0.0.1/8" },
    host: { native: "inet", good: "10.0.0.1", bad: "10.0.0" },
    machine: { native: "macaddr", good: "08:00:2b:01:02:03", bad: "08:00" },
    took: { native: "interval", good: "01:00:00", bad: "soon" },
    place: { native: "point", good: "(1,2)", bad: "(1" },
    way: { native: "jsonpath", good: '$."a"', bad: "$$$." },
    page: { native: "xml", good: "<a/>", bad: "<a" },
    price: { native: "money", good: "$1.00", bad: "dear" },
    log: { native: "pg_lsn", good: "0/1", bad: "x" },
    relation: { native: "regclass", good: "pg_class", bad: "no_such_table" },
  },
};
const columns = Object.entries(cases[engine]);

describe.runIf(columns.length > 0)("types that the database alone can read", () => {
  let service: Fixture;
  beforeAll(async () => {
    const list = columns.map(([name, { native }]) => `${name} ${native}`).join(", ");
    service = await openFixture({
      tables: [],
      setUp: () => [
        ...(engine === "postgres" ? ["create extension if not exists hstore"] : []),
        `create table things (id varchar(36) primary key, ${list})`,
      ],
      endpoints: {
        things: {
          tableName: "things",
          action: {
            create: true,
            update: true,
            read: true,
            first: true,
            delete: true,
            lookup: true,
            datatables: true,
            aggregate: true,
          },
        },
      },
      project: { cache: { enabled: false } },
    });
  });
  afterAll(() => service.close());

  test.each(columns)(
    "create and update refuse bad text for %s, on its field",
    async (name, one) => {
      const others = Object.fromEntries(columns.map(([other, { good }]) => [other, good]));
      const stored = await service.post("things/create", others);
      expect(stored.status, JSON.stringify(stored.body)).toBe(201);
      expect(record(stored)[name]).toBe(one.good);
      const expected = {
        status: 400,
        error: "Validation failed",
        errors: { [name]: [one.message ?? "has a value that the column cannot hold"] },
      };
      const { id } = record(stored);
      check(await service.post("things/create", { ...others, [name]: one.bad }), expected);
      check(await service.post("things/update", { id, ...others, [name]: one.bad }), expected);
    },
  );

  test.each(columns)("conditions compare %s with good text", async (name, one) => {
    const where = { conditions: [{ key: name, operator: "=", value: one.good }] };
    const answer = await service.post("things/read", { where, page: 1, per_page: 1 });
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    expect(answer.body.data).toMatchObject([{ [name]: one.good }]);
  });

  // MariaDB only warns about such a text in a comparison: no row is equal to it.
  test.runIf(engine === "postgres").each(columns)(
    "conditions refuse bad text for %s with Invalid parameter",
    async (name, one) => {
      const expected = {
        status: 400,
        error: "Invalid parameter",
        message: `The value for column "${name}" is not valid for its type`,
      };
      const pair = [{ key: name, value: one.bad }];
      const where = { conditions: [{ key: name, operator: "=", value: one.bad }] };
      check(await service.post("things/read", { where }), expected);
      check(await service.post("things/first", { where: pair }), expected);
      check(await service.post("things/delete", { where: pair }), expected);
      const operations = [{ function: "count", field: "*" }];
      check(await service.post("things/aggregate", { where, operations }), expected);
    },
  );
});

describe.runIf(engine === "mysql")("texts that a column cannot hold", () => {
  let service: Fixture;
  beforeAll(async () => {
    service = await openFixture({
      tables: [],
      setUp: () => [
        `create table old (id varchar(9) character set latin1 primary key,
          three varchar(20) character set utf8mb3, plain varchar(20) character set ascii, flags bit(9))`,
        "insert into old values ('a', 'b', 'c', 5)",
        "create table parts (part_id varchar(9) primary key, id varchar(9), note varchar(20) character set utf8mb3)",
      ],
      endpoints: {
        old: {
          tableName: "old",
          action: { read: true, first: true, update: true, delete: true, aggregate: true },
        },
        parts: {
          tableName: "parts",
          action: { import: true },
          importConfig: {
            upsertKeys: ["note"],
            lookupFields: { Old: { targetTable: "old", targetField: "id", lookupField: "three" } },
          },
        },
      },
      project: { cache: { enabled: false } },
    });
  });
  afterAll(() => service.close());

  const smile = "\u{1F600}";
  const expected = { status: 400, error: "Invalid parameter" };

  test.each(["id", "three", "plain"])("are refused in conditions on %s", async (key) => {
    const conditions = [
      { key, operator: "=", value: smile },
      { key, operator: "!=", value: smile },
      { key, operator: ">", value: smile },
      { key, operator: "LIKE", value: `${smile}%` },
      { key, operator: "IN", value: [smile, "a"] },
      { key, operator: "IN", value: [smile, "a", "b", "c", "d"] },
      { key, operator: "BETWEEN", value: ["a", smile] },
    ];
    for (const condition of conditions) {
      const where = { conditions: [condition] };
      check(await service.post("old/read", { where }), expected);
      check(await service.post("old/aggregate", { where }), expected);
    }
    const where = [{ key, value: smile }];
    check(await service.post("old/first", { where }), expected);
    check(await service.post("old/delete", { where }), expected);
    const having = { conditions: [{ key: "most", operator: "=", value: smile }] };
    const operations = [{ function: "max", field: key, alias: "most" }];
    check(await service.post("old/aggregate", { group_by: [key], operations, having }), expected);
  });

  test("are refused as a key", async () => {
    check(await service.post("old/update", { id: smile, plain: "d" }), {
      ...expected,
      message: "A text has characters that the column it is compared with cannot hold",
    });
  });

  test.each([
    ["three", "ñ"],
    ["plain", "n"],
  ])("are refused in %s, and %s is not", async (field, fitting) => {
    for (const text of [smile, `a${smile}`, ...(field === "plain" ? ["ñ"] : [])])
      check(await service.post("old/update", { id: "a", [field]: text }), {
        status: 400,
        error: "Validation failed",
        errors: { [field]: ["has characters that the column cannot hold"] },
      });
    const updated = await service.post("old/update", { id: "a", [field]: fitting });
    expect(record(updated)).toMatchObject({ [field]: fitting });
  });

  test("are errors of their rows in an import", async () => {
    const file = await workbookOf([
      ["part_id", "note", "Old"],
      ["p1", smile, null],
      ["p2", "n", smile],
      ["p3", "m", null],
    ]);
    const { body } = await importerOf(service).previewed("parts", file);
    expect([body.status, body.summary]).toEqual([
      "preview_error",
      { valid: 1, invalid: 2, skip: 0 },
    ]);
    expect(body.errors.map(({ messages }: { messages: string[] }) => messages)).toEqual([
      ["note: has characters that the column cannot hold"],
      [expect.stringContaining("Old")],
    ]);
  });

  test("are searched for, and not found", async () => {
    const answer = await service.post("old/read", { search_value: smile });
    expect([answer.status, answer.body.data]).toEqual([200, []]);
  });

  test("no digits come before all bits", async () => {
    const found = async (operator: string) => {
      const where = { conditions: [{ key: "flags", operator, value: "" }] };
      const answer = await service.post("old/read", { where, select: ["id"] });
      return [answer.status, answer.body.data.length];
    };
    expect(await Promise.all(["=", "<", ">"].map(found))).toEqual([
      [200, 0],
      [200, 0],
      [200, 1],
    ]);
  });
});
