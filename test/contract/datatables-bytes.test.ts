/** The rows of a grid equal those of read, byte by byte, on every page and from either end of the list. */
import { expect, inject, test } from "vitest";
import { openFixture, openForTests } from "./harness.ts";

const engine = inject("engine");
const rowCount = 2500;
const numbers = {
  sqlite: `with recursive s(n) as (select 1 union all select n + 1 from s where n < ${rowCount}) select n from s`,
  mysql: `select seq as n from seq_1_to_${rowCount}`,
  postgres: `select n from generate_series(1, ${rowCount}) as n`,
}[engine];
const slash = engine === "mysql" ? "\\\\" : "\\";

const service = openForTests(async () => {
  const endpoint = { tableName: "kinds", action: { read: true, datatables: true } };
  return openFixture({
    tables: [
      {
        name: "kinds",
        columns: {
          id: "identity",
          name: "text(60)",
          big: "bigint",
          price: "decimal(20,4)",
          flag: "boolean",
          day: "date",
          moment: "timestamp",
          data: "json",
        },
      },
    ],
    setUp: () => [
      `insert into kinds (id, name, big, price, flag, day, moment, data)
        select n, 'Zoë "${slash}" 😀 <b>', 9007199254740993, 12.5000, ${engine === "postgres" ? "true" : "1"}, '2026-01-31', '2026-01-31 10:00:00', '{"n": 12345678901234567890}'
        from (${numbers}) as s`,
      "update kinds set name = null, big = 0, price = null, flag = null, day = null, moment = null, data = null where id in (2, 2499)",
    ],
    endpoints: { kinds: endpoint, named: { ...endpoint, datatables: { rowId: true } } },
    project: { cache: { enabled: false } },
  });
});

async function answered(path: string, body: object): Promise<string> {
  const answer = await service.fetch(`/api/test/${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  expect(answer.status, text).toBe(200);
  return text.slice(text.indexOf("["), text.lastIndexOf("]") + 1);
}

const grid = (path: string, start: number, dir: string, more: object = {}): Promise<string> =>
  answered(`${path}/datatables`, {
    draw: 1,
    start,
    length: 10,
    order: [{ column: 0, dir }],
    ...more,
  });
const list = (page: number, direction: string): Promise<string> =>
  answered("kinds/read", { page, per_page: 10, sort_columns: [{ column: "id", direction }] });

test.each([
  ["the first page", 0, "asc"],
  ["a page in descending order", 20, "desc"],
  ["the last page, read from the end", 2490, "asc"],
  ["a page behind the end", 5000, "asc"],
] as const)("%s has the rows of read", async (_name, start, dir) => {
  const read = await list(start / 10 + 1, dir);
  expect(await grid("kinds", start, dir)).toBe(read);
  for (const count of ["none", "estimated"])
    expect([count, await grid("kinds", start, dir, { count })]).toEqual([count, read]);
  const named = (JSON.parse(read) as { id: number }[]).map((row) => ({
    DT_RowId: String(row.id),
    ...row,
  }));
  expect(JSON.parse(await grid("named", start, dir))).toEqual(named);
});

test("the rows have what would be lost as numbers", async () => {
  expect(await grid("kinds", 0, "asc")).toContain("9007199254740993");
});
