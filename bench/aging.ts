/**
 * `npm run bench:aging [-- sqlite postgres mysql]`: whether a process stays fast. After each round of a mix of reads,
 * writes, lists and drop-downs, prints what one read of a record by key costs in the process that has served all rounds
 * and in one that was just started, which take turns; beside it the same of a hand-written server. `BENCH_ROUNDS`
 * changes how many, `BENCH_ROUND_SECONDS` how long.
 */
import { bench, cpuMsOf, type Contender, ratioOf } from "./contest.ts";
import { latencies } from "./load.ts";
import { endpoint, loads } from "./single-loads.ts";
import { createTable } from "./table.ts";
import { median } from "./turn.ts";

const rounds = Number(process.env["BENCH_ROUNDS"] ?? 5);
const roundMs = Number(process.env["BENCH_ROUND_SECONDS"] ?? 30) * 1_000;
const turns = 7;
const turnMs = 3_000;
/** The compilers are busy at first. */
const warmUpMs = 16_000;
/** Requests per second: the table would grow so fast that its counts took most of the processor. */
const rare = new Map([
  ["create", 100],
  ["read 20 with total", 3],
]);

/** Microseconds of processor time for one read. */
async function readCost({ origin, pid }: Contender): Promise<number> {
  const before = cpuMsOf(pid);
  const times = await latencies(origin, loads.first, turnMs);
  return ((cpuMsOf(pid) - before) * 1_000) / times.length;
}

/** How many requests were answered. */
async function mix({ origin }: Contender): Promise<number> {
  const times = Object.entries(loads).map(([name, load]) => {
    const perSecond = rare.get(name);
    return latencies(
      origin,
      { ...load, connections: 5, ...(perSecond !== undefined && { perSecond }) },
      roundMs,
    );
  });
  return (await Promise.all(times)).flat().length;
}

await bench(async ({ engines, database, serve, serveByHand }) => {
  const columns = ["requests", "then, µs", "fresh, µs", "ratio (95 %)"].join(" | ");
  console.log(`engine | round | Rowgate: ${columns} | by hand: ${columns}`);
  for (const engine of engines) {
    const [mine, theirs] = [await database(engine), await database(engine)];
    await createTable(engine, mine);
    await createTable(engine, theirs);
    const url = engine === "sqlite" ? `sqlite:${mine}` : mine;
    // One caller gets half of the connections, which is as many as the other side has.
    const project = { cache: { enabled: false }, database: { url, pool: 20 } };
    const starts = [
      () => serve(engine, { database: mine, endpoint, project }),
      () => serveByHand("by-hand.ts", engine, theirs),
    ];
    const sides: { start: () => Promise<Contender>; aged: Contender; served: number }[] = [];
    for (const start of starts) sides.push({ start, aged: await start(), served: 0 });
    for (let round = 1; round <= rounds; round++) {
      await Promise.all(sides.map(async (side) => (side.served += await mix(side.aged))));
      const cells: string[] = [];
      for (const { start, aged, served } of sides) {
        const fresh = await start();
        // At once: a process without requests for five seconds discards its compiled code with its unused memory.
        await Promise.all(
          [aged, fresh].map(({ origin }) => latencies(origin, loads.first, warmUpMs)),
        );
        const costs: { aged: number; fresh: number }[] = [];
        for (let turn = 0; turn < turns; turn++)
          costs.push({ aged: await readCost(aged), fresh: await readCost(fresh) });
        fresh.stop();
        cells.push(
          String(served),
          median(costs.map((turn) => turn.aged)).toFixed(0),
          median(costs.map((turn) => turn.fresh)).toFixed(0),
          ratioOf(costs.map((turn) => turn.aged / turn.fresh)),
        );
      }
      console.log([engine, round, ...cells].join(" | "));
    }
    for (const { aged } of sides) aged.stop();
  }
});
