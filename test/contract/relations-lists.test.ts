/**
 * Related records in numbers: the statements of an answer, the bounds of lists, keys that are equal to the database
 * though their texts differ, and one moment for all that an answer shows.
 */
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import type { EngineName } from "../servers/session.ts";
import { type Fixture, openFixture, openForTests } from "./harness.ts";
import { openRecorder, type Recorder } from "./sent-statements.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** How often a line moves while lists are read; absent: a few times. */
    movedLines?: number;
  }
}

const engine = inject("engine");
const moves = inject("movedLines") ?? 150;

/** A type of texts whose case does not matter. */
const loose: Readonly<Record<EngineName, string>> = {
  sqlite: "varchar(20) collate nocase",
  postgres: "text collate level2",
  mysql: "varchar(20) collate utf8mb4_general_ci",
};
const bytes: Readonly<Record<EngineName, string>> = {
  sqlite: "varchar(20)",
  postgres: 'varchar(20) collate "C"',
  mysql: "varchar(20)",
};
const before: Readonly<Record<EngineName, readonly string[]>> = {
  sqlite: [],
  mysql: [],
  postgres: [
    "create collation level2 (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
  ],
};

const orders = 40;
const linesOf = (order: number): number => (order === 1 ? 1_100 : 10);
const numbered = (count: number): readonly number[] =>
  Array.from({ length: count }, (_, at) => at + 1);

const action = { read: true, first: true };
const statements = (engine: EngineName): readonly string[] => [
  ...before[engine],
  `create table makers (code ${loose[engine]} primary key, name ${bytes[engine]})`,
  `create table parts (id ${bytes[engine]} primary key, maker ${loose[engine]})`,
  `create table pins (id ${bytes[engine]} primary key, client_id ${bytes[engine]}, part_id ${bytes[engine]})`,
  `create table clients (id ${bytes[engine]} primary key, name ${bytes[engine]})`,
  `create table orders (id ${bytes[engine]} primary key, client_id ${bytes[engine]})`,
  `create table order_lines (id ${bytes[engine]} primary key, order_id ${bytes[engine]}, qty integer)`,
  "insert into makers values ('ABC', 'Abe'), ('def', 'Dee')",
  "insert into parts values ('p1', 'abc'), ('p2', 'ABC'), ('p3', 'DEF'), ('p4', 'xyz'), ('p5', null)",
  "insert into pins values ('1', 'c0', 'p1'), ('2', 'c0', 'p1'), ('3', 'c0', 'p2'), ('4', 'c1', 'p1'), ('5', 'c1', 'p1'), ('6', null, 'p3'), ('7', 'c2', null)",
  "insert into clients values ('c0', 'Ann'), ('c1', 'Ben'), ('c2', 'Cid')",
  `insert into orders values ${numbered(orders)
    .map((at) => `('o${100 + at}', 'c${at % 3}')`)
    .join(", ")}`,
  ...numbered(orders).map(
    (at) =>
      `insert into order_lines values ${numbered(linesOf(at))
        .map((line) => `('l${at}-${10_000 + line}', 'o${100 + at}', ${line})`)
        .join(", ")}`,
  ),
];

let world: Fixture;
let recorder: Recorder;
beforeAll(async () => {
  world = await openFixture({
    tables: [],
    setUp: statements,
    endpoints: {
      makers: {
        tableName: "makers",
        action,
        relations: { parts: { endpoint: "parts", foreignColumn: "maker" } },
      },
      parts: {
        tableName: "parts",
        action,
        relations: { made_by: { endpoint: "makers", column: "maker" } },
      },
      clients: {
        tableName: "clients",
        action,
        relations: {
          orders: { endpoint: "orders", foreignColumn: "client_id" },
          parts: {
            endpoint: "parts",
            through: { endpoint: "pins", column: "client_id", foreignColumn: "part_id" },
          },
        },
      },
      pins: { tableName: "pins", action },
      orders: {
        tableName: "orders",
        action,
        relations: {
          client: { endpoint: "clients", column: "client_id" },
          lines: { endpoint: "order-lines", foreignColumn: "order_id" },
        },
      },
      "order-lines": { tableName: "order_lines", action },
    },
  });
  const { database } = JSON.parse(world.files.get("test/project.json")!) as {
    database: { url: string };
  };
  recorder = await openRecorder(engine, database.url);
}, 60_000);
afterAll(async () => {
  await recorder?.close();
  await world?.close();
});

describe("statements", () => {
  const cases: [name: string, path: string, body: object, count: number][] = [
    ["a page with names", "orders/read", { select: ["id", "client.name"], limit: 40 }, 1],
    ["a numbered page", "orders/read", { select: ["id", "client.name"], page: 1 }, 2],
    ["a list of each record", "orders/read", { expand: ["lines"], limit: 40 }, 2],
    [
      "figures of each record",
      "orders/read",
      { expand: { lines: { operations: [{ function: "count", field: "*" }] } } },
      2,
    ],
    ["two levels", "clients/read", { expand: { orders: { expand: { lines: { limit: 2 } } } } }, 3],
    [
      "one record",
      "orders/first",
      { where: { key: "id", value: "o101" }, expand: ["client", "lines"] },
      2,
    ],
    [
      "no record",
      "orders/read",
      { where: { conditions: [{ key: "id", operator: "=", value: "x" }] }, expand: ["lines"] },
      1,
    ],
  ];
  test.each(cases)("%s", async (_, path, body, count) => {
    const sent = await recorder.during(async () => {
      expect((await world.post(path, body)).status).toBe(200);
    });
    const about = sent.map(({ text }) => text).filter((text) => /order|client/.test(text));
    // SQLite begins a long read again in another process.
    const texts = [...new Set(about)];
    expect(texts, texts.join("\n")).toHaveLength(count);
  });

  test("without a related record are what they were", async () => {
    const [sent] = await recorder.during(() => world.post("orders/read", { limit: 1 }));
    expect(sent!.text).not.toMatch(/join|exists/);
  });
});

describe("bounds", () => {
  test("a list holds 100 records unless it asks for more, and tells that it was cut", async () => {
    const answer = await world.post("orders/read", { select: ["id"], expand: ["lines"], limit: 2 });
    expect(answer.body.data.map(({ lines }: { lines: [] }) => lines.length)).toEqual([100, 10]);
    expect(answer.body.more).toEqual({ lines: ["o101"] });
  });

  test("a list of 1,000 is the longest", async () => {
    const expand = {
      lines: { limit: 1000, select: ["id"], sort_columns: [{ column: "qty", direction: "DESC" }] },
    };
    const answer = await world.post("orders/read", { select: ["id"], expand, limit: 1 });
    expect(answer.body.data[0].lines[0]).toEqual({ id: "l1-11100" });
    expect(answer.body.data[0].lines).toHaveLength(1000);
  });

  test("an answer of more than 20,000 related records is refused, and says by which", async () => {
    const expand = { orders: { limit: 1000, expand: { lines: { limit: 1000 } } } };
    await world.sql(
      `insert into orders values ${numbered(700)
        .map((at) => `('x${at}', 'c2')`)
        .join(", ")}`,
    );
    for (const part of [0, 1])
      await world.sql(
        `insert into order_lines values ${numbered(10_000)
          .map((line) => `('x${part}-${line}', 'x${(line % 700) + 1}', 1)`)
          .join(", ")}`,
      );
    const answer = await world.post("clients/read", { expand });
    expect(answer).toMatchObject({ status: 400, body: { error: "Invalid parameter" } });
    expect(answer.body.message).toContain("orders.lines");
    await world.sql("delete from order_lines where id like 'x%'");
    await world.sql("delete from orders where id like 'x%'");
  });
});

describe("keys that differ in case", () => {
  test("have one list each", async () => {
    const answer = await world.post("makers/read", {
      select: ["name"],
      expand: { parts: { select: ["id"] } },
    });
    expect(answer.body.data).toEqual([
      { name: "Abe", parts: [{ id: "p1" }, { id: "p2" }] },
      { name: "Dee", parts: [{ id: "p3" }] },
    ]);
  });

  test("have one figure each", async () => {
    const operations = [{ function: "count", field: "*", alias: "n" }];
    const answer = await world.post("makers/read", {
      select: ["name"],
      expand: { parts: { operations } },
    });
    expect(answer.body.data).toEqual([
      { name: "Abe", parts: { n: 2 } },
      { name: "Dee", parts: { n: 1 } },
    ]);
  });
});

describe("records that are linked twice", () => {
  const count = { operations: [{ function: "count", field: "*", alias: "n" }] };
  test.each<[name: string, options: object, parts: unknown[], more?: object]>([
    [
      "stand in a list once",
      { select: ["id"] },
      [[{ id: "p1" }, { id: "p2" }], [{ id: "p1" }], []],
    ],
    [
      "are one of a limit",
      { select: ["id"], limit: 1 },
      [[{ id: "p1" }], [{ id: "p1" }], []],
      { parts: ["c0"] },
    ],
    ["count once", count, [{ n: 2 }, { n: 1 }, { n: 0 }]],
  ])("%s", async (_, parts, lists, more) => {
    const { body } = await world.post("clients/read", { select: ["id"], expand: { parts } });
    expect(body.data?.map((one: { parts: unknown }) => one.parts)).toEqual(lists);
    expect(body.more).toEqual(more);
  });

  test("are found once", async () => {
    const where = { conditions: [{ key: "parts", operator: "ANY" }] };
    const { body } = await world.post("clients/read", { where, page: 1 });
    expect(body.pagination.total_records).toBe(2);
  });
});

test("a path leads to a key of another case", async () => {
  const answer = await world.post("parts/read", { select: ["id", "made_by.name"] });
  const names = answer.body.data.map(
    ({ made_by }: { made_by: { name: string } | null }) => made_by?.name ?? null,
  );
  expect(names).toEqual(["Abe", "Abe", "Dee", null, null]);
});

test("a line that moves between two orders is never seen in both or in neither", async () => {
  const where = { conditions: [{ key: "id", operator: "IN", value: ["o112", "o113"] }] };
  const asked = { select: ["id"], expand: { lines: { select: ["id"] } }, where };
  const seen = new Set<number>();
  for (let round = 0; round < moves; round++) {
    const [answer] = await Promise.all([
      // Another request each time, because writes past the service do not reach its cache.
      world.post("orders/read", { ...asked, limit: round + 2 }),
      world.sql(`update order_lines set order_id = 'o1${12 + (round % 2)}' where id = 'l12-10001'`),
    ]);
    expect(answer.status).toBe(200);
    const lines = answer.body.data.flatMap((order: { lines: { id: string }[] }) => order.lines);
    seen.add(lines.filter(({ id }: { id: string }) => id === "l12-10001").length);
  }
  expect([...seen]).toEqual([1]);
}, 240_000);

// Elsewhere such a relation is a fault at load; SQLite does not tell the collation of a view's column.
describe.runIf(engine === "sqlite")(
  "a key that tells case apart, and references that do not",
  () => {
    const cased = openForTests(openFixture, {
      tables: [],
      setUp: () => [
        "create table tubs (code text primary key, name text)",
        "create table lids (id text primary key, tub text collate nocase)",
        "create table hooks (tub text collate nocase, lid text collate nocase, primary key (tub, lid))",
        "insert into tubs values ('a', 'small'), ('A', 'large'), ('b', 'other')",
        "insert into lids values ('1', 'a'), ('2', 'A'), ('3', 'B'), ('4', null)",
        "insert into hooks values ('a', '1')",
      ],
      endpoints: {
        tubs: {
          tableName: "tubs",
          action,
          relations: {
            lids: { endpoint: "lids", foreignColumn: "tub" },
            hung: {
              endpoint: "lids",
              through: { endpoint: "hooks", column: "tub", foreignColumn: "lid" },
            },
          },
        },
        lids: {
          tableName: "lids",
          action: { ...action, aggregate: true },
          relations: { made: { endpoint: "tubs", column: "tub" } },
        },
        hooks: { tableName: "hooks", action },
      },
    });

    test("never show a second record, and multiply no row", async () => {
      const { body } = await cased.post("lids/read", { select: ["id", "made.name"], page: 1 });
      const names = body.data.map((row: { id: string; made: { name: string } | null }) => [
        row.id,
        row.made?.name ?? null,
      ]);
      expect(names).toEqual([
        ["1", "small"],
        ["2", "large"],
        ["3", null],
        ["4", null],
      ]);
      expect(body.pagination.total_records).toBe(4);
      const counted = await cased.post("lids/aggregate", {
        group_by: ["made.name"],
        operations: [{ function: "count", field: "*", alias: "n" }],
        sort_columns: [{ column: "n", direction: "DESC" }],
      });
      expect(counted.body.data.map(({ n }: { n: number }) => n)).toEqual([2, 1, 1]);
    });

    test("each record stands in one list", async () => {
      const expand = { lids: { select: ["id"] } };
      const { body } = await cased.post("tubs/read", { select: ["name"], expand });
      expect(body.data.map(({ lids }: { lids: unknown }) => lids)).toEqual([
        [{ id: "2" }],
        [{ id: "1" }],
        [],
      ]);
      const some = { conditions: [{ key: "lids", operator: "ANY" }] };
      const found = await cased.post("tubs/read", { select: ["name"], where: some });
      expect(found.body.data).toEqual([{ name: "large" }, { name: "small" }]);
      const hung = { conditions: [{ key: "hung", operator: "ANY" }] };
      const on = await cased.post("tubs/read", { select: ["name"], where: hung });
      expect(on.body.data).toEqual([{ name: "small" }]);
    });
  },
);
