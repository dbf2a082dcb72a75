/**
 * `npm run bench:lists [-- postgres mysql sqlite]`: a grid that searches four columns, a drop-down that searches its
 * labels and a list of 1,000 rows, against hand-written handlers. Also: the gain from the cache, the cost of a grid's
 * counts, pages that are not cached, the last page of a sorted grid, and searches with the indexes of `check --advise`.
 * `BENCH_ROWS=10000,1000000` sets the sizes of the table. How it measures: `contest.ts`.
 */
import { bench, contest, printHead } from "./contest.ts";
import { makeAdvised } from "./indexes.ts";
import { createList } from "./list-table.ts";
import type { Load } from "./load.ts";

const sizes = (process.env["BENCH_ROWS"] ?? "10000,100000,1000000").split(",").map(Number);

const endpoint = {
  tableName: "items",
  action: { read: true, datatables: true, lookup: true, update: true },
  fieldNameLookup: { id: "id", text: "name" },
  datatablesWhere: ["code", "name", "category", "remark"],
  auditColumns: false,
};

const path = (action: string): string => `/api/bench/items/${action}`;
const grid = (more: () => object = () => ({})): Load => ({
  path: path("datatables"),
  body: (at) =>
    JSON.stringify({
      draw: at,
      start: (at % 20) * 10,
      length: 10,
      search: { value: "valve" },
      ...more(),
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

/** Counts on over all turns, so that each page is requested only once. */
let asked = 0;
const newPage = (more: object = {}): Load =>
  grid(() => {
    asked++;
    return { start: asked % 200, length: 10 + (Math.floor(asked / 200) % 90), ...more };
  });
const lastPage = (rows: number): Load =>
  grid(() => ({
    search: { value: "" },
    sort_columns: [{ column: "name", direction: "ASC" }],
    start: rows - 110 + (++asked % 100),
  }));
const rareSearch = grid(() => ({
  search: { value: `valve ${1000 + (++asked % 8000)}` },
  start: 0,
}));

/** Writes through the service, one row after the other, until it is stopped. */
function writeTo(origin: string): () => Promise<void> {
  let isOver = false;
  const writing = (async () => {
    for (let at = 0; !isOver; at++) {
      const response = await fetch(`${origin}${path("update")}`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ id: 1 + (at % 1000), stock: at % 100 }),
      });
      if (response.status !== 200) throw new Error(`update answered ${response.status}`);
    }
  })();
  return () => ((isOver = true), writing);
}

await bench(async ({ engines, database, serve, serveByHand }) => {
  for (const rows of sizes) {
    console.log(`\n${rows} rows`);
    for (const engine of engines) {
      const url = await database(engine);
      await createList(engine, url, rows);
      const byHand = await serveByHand("lists-by-hand.ts", engine, url);
      // The last pages are among the requested ones.
      const limits = { limits: { maxOffset: rows } };
      const project = { ...limits, cache: { enabled: false } };
      const rowgate = await serve(engine, { database: url, endpoint, project });
      const cached = await serve(engine, { database: url, endpoint, project: limits });
      printHead("by hand", "Rowgate");
      for (const [name, load] of Object.entries(loads))
        await contest(`${engine} | ${name}`, { ...byHand, load }, { ...rowgate, load });
      printHead("without", "with");
      const names = "read, page of 100 with total: the cache";
      await contest(`${engine} | ${names}`, { ...rowgate, load: page }, { ...cached, load: page });
      const [exact, none] = [
        grid(() => ({ search: {} })),
        grid(() => ({ search: {}, count: "none" })),
      ];
      await contest(
        `${engine} | grid: exact counts`,
        { ...rowgate, load: none },
        { ...rowgate, load: exact },
      );
      printHead("by hand", "Rowgate");
      const whole = newPage({ search: { value: "" } });
      const pages = { "another page of a grid": whole, "another page of a search": newPage() };
      for (const [name, load] of Object.entries(pages))
        await contest(
          `${engine} | ${name}: the total is kept`,
          { ...byHand, load },
          { ...cached, load },
        );
      const stopWriting = writeTo(cached.origin);
      for (const [name, load] of Object.entries(pages))
        await contest(
          `${engine} | ${name}, while rows are written`,
          { ...byHand, load },
          { ...cached, load },
        );
      await stopWriting();
      const last = lastPage(rows);
      await contest(
        `${engine} | the last pages of a sorted grid, counted`,
        { ...byHand, load: last },
        { ...rowgate, load: last },
      );
      await contest(
        `${engine} | the same: the total is kept`,
        { ...byHand, load: last },
        { ...cached, load: last },
      );
      const estimated = newPage({ count: "estimated" });
      await contest(
        `${engine} | a page of a search, estimated`,
        { ...byHand, load: estimated },
        { ...rowgate, load: estimated },
      );

      const indexed = await database(engine);
      await createList(engine, indexed, rows);
      await makeAdvised(engine, indexed, endpoint);
      const byHandIndexed = await serveByHand("lists-by-hand.ts", engine, indexed);
      const quick = await serve(engine, { database: indexed, endpoint, project });
      const load = rareSearch;
      await contest(
        `${engine} | a rare search of a grid: the advised index`,
        { ...byHand, load },
        { ...quick, load },
      );
      await contest(
        `${engine} | the same: the index on both sides`,
        { ...byHandIndexed, load },
        { ...quick, load },
      );
      for (const { stop } of [byHand, rowgate, cached, byHandIndexed, quick]) stop();
    }
  }
});
