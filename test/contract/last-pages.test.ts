/**
 * Pages far into a list, read from the end where that is nearer: rows, order and counts equal those of a list read from
 * the beginning, for every sort and caller, and also during writes.
 */
import { createHash } from "node:crypto";
import { setImmediate as aTurn } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { check } from "./cases.ts";
import { type Fixture, openFixture } from "./harness.ts";
import { openRecorder, type Recorder } from "./sent-statements.ts";

const engine = inject("engine");
const rowsMax = 2_600;

const key = "a-key-of-the-tests";
const auth = {
  apiKeys: [
    {
      id: "half",
      sha256: createHash("sha256").update(key).digest("hex"),
      roles: ["half"],
      claims: { side: 1 },
    },
  ],
  anonymous: { roles: ["all"] },
};
const lists = {
  action: { read: true, datatables: true },
  access: { all: ["read", "datatables"], half: ["read", "datatables"] },
  rowScope: { half: { side: "{{claims.side}}" } },
};
/** Rows with equal names, equal numbers and nothing in the sorted columns. */
const rows = Array.from({ length: rowsMax }, (_, at) => {
  const name = at % 11 === 0 ? "null" : `'${at % 2 === 0 ? "Bolt" : "bolt"} ${at % 50}'`;
  const qty = at % 7 === 0 ? "null" : String((at * 7919) % 101);
  const price = at % 13 === 0 ? "null" : `${(at * 31) % 977}.25`;
  return `('k${String(at).padStart(5, "0")}', ${name}, ${qty}, ${price}, ${at % 3 === 0 ? 0 : 1}, ${at % 9 === 0 ? 1 : 0})`;
});
const caseless = { sqlite: "collate nocase", postgres: "", mysql: "collate utf8mb4_general_ci" };

let fixture: Fixture;
let recorder: Recorder;
beforeAll(async () => {
  fixture = await openFixture({
    tables: [],
    setUp: () => [
      `create table goods (id varchar(36) not null primary key, name varchar(20) ${caseless[engine]}, qty integer, price decimal(12,2),
        side integer not null, is_deleted smallint not null)`,
      `insert into goods values ${rows.join(", ")}`,
      "create table steps (n integer not null primary key)",
      `insert into steps values ${rows.map((_, at) => `(${at})`).join(", ")}`,
      "create view goods_view as select name, qty, side from goods",
    ],
    project: { auth },
    endpoints: {
      goods: { ...lists, tableName: "goods" },
      kept: { ...lists, tableName: "goods", softDelete: { flag: "is_deleted" } },
      queried: {
        ...lists,
        tableName: "goods",
        viewQuery: "select * from goods where qty is not null",
        datatablesQuery: "select * from goods where qty is not null",
      },
      keyless: {
        ...lists,
        viewName: "goods_view",
        datatablesQuery: "select name, qty, side from goods_view",
      },
      steps: { ...lists, tableName: "steps", rowScope: {} },
    },
  });
  const { database } = JSON.parse(fixture.files.get("test/project.json")!) as {
    database: { url: string };
  };
  recorder = await openRecorder(engine, database.url);
});
afterAll(async () => {
  await recorder?.close();
  await fixture?.close();
});

const headers = { all: undefined, half: { "X-Api-Key": key } };
const sorts: readonly (readonly { column: string; direction: string }[])[] = [
  [],
  [{ column: "name", direction: "ASC" }],
  [{ column: "name", direction: "DESC" }],
  [{ column: "qty", direction: "DESC" }],
  [
    { column: "qty", direction: "ASC" },
    { column: "name", direction: "DESC" },
  ],
];
const cases = ["goods", "kept", "queried", "keyless"].flatMap((endpoint) =>
  (["all", "half"] as const).flatMap((caller) =>
    sorts.map((sort) => ({
      endpoint,
      caller,
      sort,
      order: sort.map(({ column, direction }) => `${column} ${direction}`).join(", "),
    })),
  ),
);

describe("a page far into a list", () => {
  test.each(cases)(
    "has the rows of $endpoint for $caller, sorted by [$order]",
    async ({ endpoint, caller, sort }) => {
      const read = async (body: object) => {
        const answer = await fixture.post(
          `${endpoint}/read`,
          { sort_columns: sort, ...body },
          headers[caller],
        );
        expect(answer.status, JSON.stringify(answer.body)).toBe(200);
        return answer.body;
      };
      const { data: all } = await read({ limit: 5000 });
      expect(all.length).toBeGreaterThan(1_300);
      const last = Math.ceil(all.length / 100);
      for (const page of [last, last - 1, 12, 14, last + 1]) {
        for (const count of ["exact", "estimated", "none"]) {
          const answer = await read({ page, per_page: 100, count });
          expect(answer.data).toEqual(all.slice((page - 1) * 100, page * 100));
          expect(answer.pagination.has_next).toBe(page < last);
          if (count === "exact") expect(answer.pagination.total_records).toBe(all.length);
        }
      }
      for (const start of [all.length - 3, all.length - 1, all.length, all.length + 5]) {
        for (const count of ["exact", "estimated"]) {
          const { body } = await fixture.post(
            `${endpoint}/datatables`,
            { draw: 1, start, length: 3, sort_columns: sort, count },
            headers[caller],
          );
          expect(body.data).toEqual(all.slice(start, start + 3));
          if (count === "exact")
            expect([body.recordsTotal, body.recordsFiltered]).toEqual([all.length, all.length]);
        }
      }
    },
  );

  test("has the rows that a search leaves", async () => {
    const { data: all } = (await fixture.post("goods/read", { limit: 5000, search_value: "bolt" }))
      .body;
    const start = all.length - 4;
    for (const more of [{}, { start: start - 1 }]) {
      const { body } = await fixture.post("goods/datatables", {
        draw: 1,
        start,
        length: 3,
        search: { value: "bolt" },
        ...more,
      });
      const from = { start, ...more }.start;
      expect(body.data).toEqual(all.slice(from, from + 3));
      expect([body.recordsTotal, body.recordsFiltered]).toEqual([rowsMax, all.length]);
    }
  });

  test("is read from the end, with a count of the same moment", async () => {
    const body = { draw: 1, start: rowsMax - 10, length: 4, sort_columns: sorts[1] };
    const sent = await recorder.during(() => fixture.post("goods/datatables", body));
    const pages = sent.filter(({ text }) => text.includes("order by"));
    expect(pages).toHaveLength(1);
    expect(pages[0]!.text).toMatch(/"?`?name`?"? desc.*id`?"? desc/s);
    expect(pages[0]!.params.slice(-2).map(Number)).toEqual([4, 6]);
    expect(sent).toHaveLength(2);
  });

  test("is read from the beginning where that is nearer", async () => {
    const body = { draw: 1, start: 1_100, length: 4, sort_columns: sorts[1] };
    const sent = await recorder.during(() => fixture.post("goods/datatables", body));
    const pages = sent.filter(({ text }) => text.includes("order by"));
    expect(pages.map(({ params }) => params.slice(-2).map(Number))).toEqual([[4, 1_100]]);
    expect(pages[0]!.text).not.toContain(" desc");
  });

  test("shows one moment while rows come", async () => {
    let isOver = false;
    const writing = (async () => {
      for (let n = 1; !isOver; n++) {
        await fixture.sql(`insert into steps values (${-n})`);
        await aTurn();
      }
    })();
    const seen = new Set<number>();
    try {
      for (let turn = 0; turn < 60; turn++) {
        // The rows come past the service: an answer that is kept would not know them, and the kept count does not.
        const body = { page: 25, per_page: 100 - (turn % 2), turn };
        const answer = await fixture.post("steps/read", body);
        check(answer, { status: 200 });
        const { data, pagination } = answer.body;
        const offset = 24 * pagination.per_page;
        // Each new row sorts before all others, so the first row of the page shows how many there were.
        expect(data[0].n + pagination.total_records).toBe(offset + rowsMax);
        seen.add(pagination.total_records);
        // SQLite answers at once: without turns, readers and writers would wait for each other for ever.
        await aTurn();
      }
    } finally {
      isOver = true;
      await writing;
    }
    expect(seen.size).toBeGreaterThan(1);
  });
});
