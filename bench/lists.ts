/**
 * `npm run bench:lists [-- postgres mysql sqlite]`: a grid that searches four columns, a drop-down that searches its labels and a list
 * of 1,000 rows, against hand-written handlers; what the cache gains, and what the counts of a grid cost. `BENCH_ROWS=10000,1000000`
 * chooses the sizes of the table. How it measures: `contest.ts`.
 */
import { bench, contest, printHead } from "./contest.ts";
import { createList } from "./list-table.ts";
import type { Load } from "./load.ts";

const sizes = (process.env["BENCH_ROWS"] ?? "10000,100000,1000000").split(",").map(Number);

const endpoint = {
  tableName: "items",
  action: { read: true, datatables: true, lookup: true },
  fieldNameLookup: { id: "id", text: "name" },
  datatablesWhere: ["code", "name", "category", "remark"],
  auditColumns: false,
};

const path = (action: string): string => `/api/bench/items/${action}`;
const grid = (more: object = {}): Load => ({
  path: path("datatables"),
  body: (at) =>
    JSON.stringify({
      draw: at,
      start: (at % 20) * 10,
      length: 10,
      search: { value: "valve" },
      ...more,
    }),
  expectedStatus: 200,
  connections: 4,
});
const loads: Readonly<Record<string, Load>> = {
  "datatables, search in 4 columns": grid(),
  "lookup, search": {
    path: `${path("lookup")}?limit=50&search=brass%20valve%201`,
    method: "GET",
    headers: { "X-Request-Mode": "dynamic" },
    body: () => "",
    expectedStatus: 200,
    connections: 4,
  },
  "read, 1000 rows": {
    path: path("read"),
    body: () => JSON.stringify({ limit: 1000 }),
    expectedStatus: 200,
    connections: 4,
  },
};
const page: Load = {
  path: path("read"),
  body: (at) => JSON.stringify({ page: (at % 5) + 1, per_page: 100 }),
  expectedStatus: 200,
};

await bench(async ({ engines, database, serve, serveByHand }) => {
  for (const rows of sizes) {
    console.log(`\n${rows} rows`);
    for (const engine of engines) {
      const url = await database(engine);
      await createList(engine, url, rows);
      const byHand = await serveByHand("lists-by-hand.ts", engine, url);
      const project = { cache: { enabled: false } };
      const rowgate = await serve(engine, { database: url, endpoint, project });
      const cached = await serve(engine, { database: url, endpoint });
      printHead("by hand", "Rowgate");
      for (const [name, load] of Object.entries(loads))
        await contest(`${engine} | ${name}`, { ...byHand, load }, { ...rowgate, load });
      printHead("without", "with");
      const names = "read, page of 100 with total: the cache";
      await contest(`${engine} | ${names}`, { ...rowgate, load: page }, { ...cached, load: page });
      const [exact, none] = [grid({ search: {} }), grid({ search: {}, count: "none" })];
      await contest(
        `${engine} | grid: exact counts`,
        { ...rowgate, load: none },
        { ...rowgate, load: exact },
      );
      for (const { stop } of [byHand, rowgate, cached]) stop();
    }
  }
});
