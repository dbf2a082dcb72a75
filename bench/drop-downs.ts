/**
 * `npm run bench:drop-downs [-- postgres mysql sqlite]`: drop-downs that search from the beginning of labels, their first
 * page, and a list filtered so, in tables of growing size, against a hand-written handler. Each side has the index that
 * it likes best. `BENCH_ROWS=100000,10000000` sets the sizes. How it measures: `contest.ts`.
 */
import { nameRanges } from "./by-hand-source.ts";
import { bench, contest, printHead } from "./contest.ts";
import { makeAdvised, makeIndexes } from "./indexes.ts";
import { createList } from "./list-table.ts";
import type { Load } from "./load.ts";

const sizes = (process.env["BENCH_ROWS"] ?? "100000,1000000,10000000").split(",").map(Number);

const endpoint = {
  tableName: "items",
  action: { read: true, lookup: true },
  fieldNameLookup: { id: "id", text: "name", match: "prefix" },
  auditColumns: false,
};

const lookup = (query: string): Load => ({
  path: `/api/bench/items/lookup?limit=20&${query}`,
  method: "GET",
  headers: { "X-Request-Mode": "dynamic" },
  body: () => "",
  expectedStatus: 200,
});
const loads: Readonly<Record<string, Load>> = {
  "first page": lookup(""),
  "one letter": lookup("prefix&search=b"),
  "the beginning of a label": lookup("prefix&search=brass%20valve%2012"),
  "a list filtered so, by key": {
    path: "/api/bench/items/read",
    body: () =>
      JSON.stringify({
        limit: 20,
        where: {
          conditions: [
            { key: "name", operator: "LIKE", value: "brass valve 12%", sensitive: false },
          ],
        },
      }),
    expectedStatus: 200,
  },
};

await bench(async ({ engines, database, serve, serveByHand }) => {
  for (const engine of engines) {
    printHead("by hand", "Rowgate", { withCpu: true });
    for (const rows of sizes) {
      const url = await database(engine);
      await createList(engine, url, rows);
      // In this order: nothing is advised beside an index that already serves.
      await makeAdvised(engine, url, endpoint);
      await makeIndexes(engine, url, [nameRanges[engine].index]);
      const byHand = await serveByHand("lists-by-hand.ts", engine, url);
      const project = { cache: { enabled: false } };
      const rowgate = await serve(engine, { database: url, endpoint, project });
      for (const [name, load] of Object.entries(loads))
        await contest(
          `${engine} | ${name}, ${rows} rows`,
          { ...byHand, load },
          { ...rowgate, load },
        );
      byHand.stop();
      rowgate.stop();
    }
  }
});
