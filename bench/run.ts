/**
 * `npm run bench [-- postgres mysql sqlite]`: the actions on single records, pages and a drop-down, against a
 * hand-written Hono handler with the same driver, on each engine. Gets its databases as `npm test` does; how it
 * measures: `contest.ts`.
 */
import { nameRanges } from "./by-hand-source.ts";
import { bench, contest, printHead } from "./contest.ts";
import { makeAdvised, makeIndexes } from "./indexes.ts";
import { endpoint, loads } from "./single-loads.ts";
import { createTable } from "./table.ts";

await bench(async ({ engines, database, serve, serveByHand }) => {
  printHead("by hand", "Rowgate", { withCpu: true });
  for (const engine of engines) {
    const [mine, theirs] = [await database(engine), await database(engine)];
    await createTable(engine, mine);
    await createTable(engine, theirs);
    await makeAdvised(engine, mine, endpoint);
    await makeIndexes(engine, theirs, [nameRanges[engine].index]);
    const byHand = await serveByHand("by-hand.ts", engine, theirs);
    // Without caching, because the work itself is measured here.
    const project = { cache: { enabled: false } };
    const rowgate = await serve(engine, { database: mine, endpoint, project });
    for (const [name, load] of Object.entries(loads)) {
      const title = `${engine} | ${name}`;
      await contest(title, { ...byHand, load }, { ...rowgate, load });
    }
    byHand.stop();
    rowgate.stop();
  }
});
