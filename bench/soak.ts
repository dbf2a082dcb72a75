/**
 * `npm run bench:soak [-- sqlite postgres mysql]`: 64 clients read and write for ten minutes at 70 % of the service's
 * maximum load, and every answer must be right. Prints the response times and the memory of the service for each
 * minute, and its memory before the load and after a quiet time. `BENCH_MINUTES=1` is a shorter run.
 */
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { bench, type Contender } from "./contest.ts";
import { latencies, type Load } from "./load.ts";
import { endpoint, loads } from "./single-loads.ts";
import { createTable } from "./table.ts";

const minutes = Number(process.env["BENCH_MINUTES"] ?? 10);
const share = 0.7;
const minuteMs = 60_000;
/** The service releases memory some seconds after its start, and after the last request. */
const quietMs = 20_000;

/** 64 connections in all. */
const shares: readonly (Load & { readonly connections: number })[] = [
  { ...loads.first, connections: 32 },
  { ...loads["read 20 with total"], connections: 16 },
  { ...loads.update, connections: 12 },
  { ...loads.adjust, connections: 4 },
];

const quantile = (sorted: readonly number[], part: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? NaN;

function residentMiB(pid: number): number {
  const [, kiB] = /VmRSS:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Math.round(Number(kiB) / 1024);
}

/** The answer times of each load. Rejects with the first answer that is not as expected. */
const run = (
  { origin }: Contender,
  durationMs: number,
  perSecond: readonly (number | undefined)[],
): Promise<number[][]> =>
  Promise.all(
    shares.map((load, at) => {
      const rate = perSecond[at];
      return latencies(
        origin,
        { ...load, ...(rate !== undefined && { perSecond: rate }) },
        durationMs,
      );
    }),
  );

await bench(async ({ engines, database, serve }) => {
  for (const engine of engines) {
    const url = await database(engine);
    await createTable(engine, url);
    const service = await serve(engine, { database: url, endpoint });
    await sleep(quietMs);
    const idle = residentMiB(service.pid);
    await run(service, 5_000, []);
    const most = (await run(service, 10_000, [])).map((times) => times.length / 10);
    const rates = most.map((perSecond) => perSecond * share);
    const total = rates.reduce((sum, rate) => sum + rate, 0);
    console.log(`\n${engine}: 64 clients, ${Math.round(total)} requests per second`);
    console.log("| minute | requests | median, ms | p99, ms | p99 : median | memory, MiB |");
    console.log("| --: | --: | --: | --: | --: | --: |");
    for (let minute = 1; minute <= minutes; minute++) {
      const sorted = (await run(service, minuteMs, rates)).flat().toSorted((a, b) => a - b);
      const [median, p99] = [quantile(sorted, 0.5), quantile(sorted, 0.99)];
      const times = [median.toFixed(2), p99.toFixed(2), (p99 / median).toFixed(1)];
      const cells = [minute, sorted.length, ...times, residentMiB(service.pid)];
      console.log(`| ${cells.join(" | ")} |`);
    }
    await sleep(quietMs);
    console.log(
      `memory: ${idle} MiB before, ${residentMiB(service.pid)} MiB after, each time when it was quiet`,
    );
    service.stop();
  }
});
