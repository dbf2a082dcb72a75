/**
 * `npm run bench:aging [-- sqlite postgres mysql]`: whether a process stays fast. Prints the processor time of one read
 * of a record by key in a fresh process, and again after each round of a mix of reads, writes, lists and drop-downs,
 * beside a hand-written server under the same load. `BENCH_ROUNDS` changes how many, `BENCH_ROUND_SECONDS` how long.
 */
import { bench, cpuMsOf, type Contender } from "./contest.ts";
import { latencies } from "./load.ts";
import { endpoint, loads } from "./single-loads.ts";
import { createTable } from "./table.ts";

const rounds = Number(process.env["BENCH_ROUNDS"] ?? 5);
const roundMs = Number(process.env["BENCH_ROUND_SECONDS"] ?? 30) * 1_000;
const measuredMs = 5_000;

/** Microseconds of processor time for one read. */
async function readCost({ origin, pid }: Contender): Promise<number> {
  const before = cpuMsOf(pid);
  const times = await latencies(origin, loads.first, measuredMs);
  return ((cpuMsOf(pid) - before) * 1_000) / times.length;
}

const mix = ({ origin }: Contender): Promise<unknown> =>
  Promise.all(
    Object.values(loads).map((load) => latencies(origin, { ...load, connections: 5 }, roundMs)),
  );

await bench(async ({ engines, database, serve, serveByHand }) => {
  console.log("engine | round | Rowgate, µs | to fresh | by hand, µs | to fresh");
  for (const engine of engines) {
    const [mine, theirs] = [await database(engine), await database(engine)];
    await createTable(engine, mine);
    await createTable(engine, theirs);
    const project = { cache: { enabled: false } };
    const rowgate = await serve(engine, { database: mine, endpoint, project });
    const byHand = await serveByHand("by-hand.ts", engine, theirs);
    const fresh: number[] = [];
    for (let round = 0; round <= rounds; round++) {
      const cells: string[] = [];
      for (const [at, one] of [rowgate, byHand].entries()) {
        // Compilers are busy at first.
        if (round === 0) await latencies(one.origin, loads.first, measuredMs);
        else await mix(one);
        const cost = await readCost(one);
        fresh[at] ??= cost;
        cells.push(cost.toFixed(0), (cost / fresh[at]).toFixed(2));
      }
      console.log([engine, round, ...cells].join(" | "));
    }
    rowgate.stop();
    byHand.stop();
  }
});
