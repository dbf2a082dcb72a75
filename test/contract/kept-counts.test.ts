/**
 * Count queries of list pages, observed in the statements sent: none where an earlier page's count is still valid (no
 * write since), or where the page itself shows the total.
 */
import { createHash } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from "vitest";
import { type Fixture, openFixture } from "./harness.ts";
import { openRecorder, type Recorder } from "./sent-statements.ts";

const key = "a-key-of-the-tests";
const headers = { "X-Api-Key": key };
const access = { all: "*", half: "*" };
const rows = Array.from({ length: 60 }, (_, at) => `('k${100 + at}', 'goods ${at}', ${at % 2}, 0)`);

let fixture: Fixture;
let recorder: Recorder;
beforeAll(async () => {
  fixture = await openFixture({
    tables: [
      {
        name: "goods",
        columns: { id: "key", name: "text(20)", side: "integer", is_deleted: "integer" },
      },
    ],
    setUp: () => [`insert into goods values ${rows.join(", ")}`],
    project: {
      auth: {
        apiKeys: [
          {
            id: "half",
            sha256: createHash("sha256").update(key).digest("hex"),
            roles: ["half"],
            claims: { side: 1 },
          },
        ],
        anonymous: { roles: ["all"] },
      },
    },
    endpoints: {
      goods: {
        tableName: "goods",
        action: { read: true, datatables: true, create: true, update: true, delete: true },
        access,
        rowScope: { half: { side: "{{claims.side}}" } },
        softDelete: { flag: "is_deleted" },
        auditColumns: false,
      },
    },
  });
  const { database } = JSON.parse(fixture.files.get("test/project.json")!) as {
    database: { url: string };
  };
  recorder = await openRecorder(inject("engine"), database.url);
});
afterAll(async () => {
  await recorder?.close();
  await fixture?.close();
});

/** A write, so that nothing is kept. */
let writes = 0;
beforeEach(async () => {
  await write();
});
async function write(): Promise<void> {
  const { status } = await fixture.post("goods/update", {
    id: "k100",
    name: `goods 0 ${++writes}`,
  });
  expect(status).toBe(200);
}

/** A request -> how many statements it sends for rows, and how many for counts, and what it answers of counts. */
async function sentFor(path: string, body: object, sent?: Record<string, string>) {
  let counts: unknown;
  const statements = await recorder.during(async () => {
    const answer = await fixture.post(path, body, sent);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    const { recordsTotal, recordsFiltered, pagination } = answer.body;
    counts = pagination?.total_records ?? [recordsTotal, recordsFiltered];
  });
  const pages = statements.filter(({ text }) => text.includes("order by")).length;
  return { rows: pages, counts: statements.length - pages, answer: counts };
}
const grid = (body: object, sent?: Record<string, string>) =>
  sentFor("goods/datatables", { draw: 1, start: 0, length: 10, ...body }, sent);
const read = (body: object, sent?: Record<string, string>) =>
  sentFor("goods/read", { page: 1, per_page: 10, ...body }, sent);
const searching = (value: string) => ({ search: { value } });

describe("datatables counts", () => {
  test("once where nothing filters", async () => {
    expect(await grid({})).toEqual({ rows: 1, counts: 1, answer: [60, 60] });
  });

  test("all rows and those that a search leaves", async () => {
    expect(await grid(searching("goods"))).toEqual({ rows: 1, counts: 2, answer: [60, 60] });
  });

  test.each([
    ["another page", { start: 20 }],
    ["another length", { length: 5 }],
    ["another order", { sort_columns: [{ column: "name", direction: "DESC" }] }],
    ["another draw", { draw: 7, _: 123, start: 10 }],
  ])("nothing again for %s", async (_name, change) => {
    for (const filter of [{}, searching("goods 1")]) {
      const first = await grid({ ...filter, length: 3 });
      expect(await grid({ ...filter, length: 3, ...change })).toEqual({
        rows: 1,
        counts: 0,
        answer: first.answer,
      });
    }
  });

  test("only the rows that another search leaves", async () => {
    await grid(searching("goods 1"));
    expect(await grid({ ...searching("goods 2"), length: 3 })).toEqual({
      rows: 1,
      counts: 1,
      answer: [60, 11],
    });
  });

  test("no rows that the page ends", async () => {
    expect(await grid({ ...searching("goods 2"), length: 12 })).toMatchObject({
      counts: 1,
      answer: [60, 11],
    });
    expect(await grid({ length: 12, ...searching("nothing") })).toMatchObject({
      counts: 0,
      answer: [60, 0],
    });
    await write();
    expect(await grid({ start: 55 })).toEqual({ rows: 1, counts: 0, answer: [60, 60] });
    expect(await grid({ start: 70, ...searching("goods 3") })).toEqual({
      rows: 1,
      counts: 1,
      answer: [60, 11],
    });
  });

  test("at the same time as it reads a page in another order", async () => {
    const sort_columns = [{ column: "name", direction: "DESC" }];
    expect(await grid({ ...searching("goods 2"), length: 12, sort_columns })).toEqual({
      rows: 1,
      counts: 2,
      answer: [60, 11],
    });
  });

  test("anew after a write", async () => {
    await grid(searching("goods"));
    await write();
    expect(await grid({ ...searching("goods"), start: 10 })).toMatchObject({ counts: 2 });
  });

  test("for each scope", async () => {
    await grid(searching("goods"));
    expect(await grid({ ...searching("goods"), start: 10 }, headers)).toEqual({
      rows: 1,
      counts: 2,
      answer: [30, 30],
    });
    expect(await grid({ ...searching("goods"), start: 20 })).toMatchObject({ answer: [60, 60] });
  });

  test("no deleted rows", async () => {
    await grid({});
    const removed = { where: [{ key: "id", value: "k159" }] };
    expect((await fixture.post("goods/delete", removed)).status).toBe(200);
    expect(await grid({ start: 10 })).toEqual({ rows: 1, counts: 1, answer: [59, 59] });
    await fixture.sql("update goods set is_deleted = 0");
    await write();
  });
});

describe("read counts", () => {
  const where = { conditions: [{ key: "side", operator: "=", value: 1 }] };

  test("once for all pages and orders of a filter", async () => {
    expect(await read({ where })).toEqual({ rows: 1, counts: 1, answer: 30 });
    const sort_columns = [{ column: "name", direction: "DESC" }];
    expect(await read({ where, page: 2 })).toEqual({ rows: 1, counts: 0, answer: 30 });
    expect(await read({ where, page: 2, sort_columns })).toMatchObject({ counts: 0, answer: 30 });
    expect(await read({ page: 2 })).toEqual({ rows: 1, counts: 1, answer: 60 });
  });

  test("nothing where the page ends the list", async () => {
    expect(await read({ where, per_page: 40 })).toEqual({ rows: 1, counts: 0, answer: 30 });
    expect(await read({ where, page: 2, per_page: 25 })).toMatchObject({ counts: 0, answer: 30 });
    expect(await read({ where, page: 9, per_page: 25 })).toMatchObject({ counts: 0, answer: 30 });
  });

  test("anew after a write, and for each scope", async () => {
    await read({});
    await write();
    expect(await read({ page: 2 })).toEqual({ rows: 1, counts: 1, answer: 60 });
    expect(await read({ page: 2 }, headers)).toEqual({ rows: 1, counts: 1, answer: 30 });
  });
});

test("pages that are asked for at the same time share a count", async () => {
  const pages = await Promise.all([0, 10, 20, 30].map((start) => grid({ start })));
  for (const { answer } of pages) expect(answer).toEqual([60, 60]);
});
