/**
 * How an export slows the requests beside it: their 99th percentile with and without an export, in turns, once with the
 * export in a worker and once in the service. Eight clients pause between requests, as people do, because the maximum
 * throughput of a service shows little about response times.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Bench, EngineName } from "./contest.ts";
import { type JobPlace, type JobPlaceOptions, openJobPlace } from "./job-place.ts";
import { createItems } from "./job-table.ts";
import { latencies, type Load } from "./load.ts";
import { median } from "./turn.ts";

const turns = Number(process.env["BENCH_TURNS"] ?? 3);
const turnMs = Number(process.env["BENCH_TURN_MS"] ?? 4_000);
/** Of each client, between an answer and its next request. */
const pauseMs = 20;

/** Prints one table. */
export async function compareApi(bench: Bench, rows: number): Promise<void> {
  console.log(
    `\n| beside an export of ${rows} rows | p50 without | p50 beside | p99 without | p99 beside | p99, times (min – max) |\n|---|--:|--:|--:|--:|--:|`,
  );
  for (const engine of bench.engines) {
    const database = await bench.database(engine);
    await createItems(engine, database, rows);
    for (const where of ["worker", "service"] as const)
      await comparePlace(bench, engine, { database, where, rows });
  }
}

const request = (action: string, body: (at: number) => object): Load => ({
  path: `/api/bench/items/${action}`,
  body: (at) => JSON.stringify(body(at)),
  expectedStatus: 200,
  connections: 8,
  pauseMs,
});

async function comparePlace(
  bench: Bench,
  engine: EngineName,
  { rows, ...options }: JobPlaceOptions & { rows: number },
): Promise<void> {
  const place = await openJobPlace(bench, engine, options);
  const worker = await place.startWorker();
  const anyNumber = (at: number): number => ((at * 7919) % rows) + 1;
  const loads = {
    first: request("first", (at) => ({ where: { key: "number", value: anyNumber(at) } })),
    "read 20": request("read", (at) => ({
      where: { conditions: [{ key: "number", operator: ">=", value: anyNumber(at) }] },
      sort_columns: [{ column: "number" }],
      limit: 20,
    })),
  };
  for (const [name, load] of Object.entries(loads)) {
    const done: { without: number[]; beside: number[] }[] = [];
    await latencies(place.service.origin, load, turnMs / 4);
    for (let turn = 0; turn < turns; turn++) {
      const without = await latencies(place.service.origin, load, turnMs);
      done.push({ without, beside: await besideExport(place, load) });
    }
    printTurns(`${engine}, ${name}, the ${options.where} exports`, done);
  }
  worker?.stop();
  place.close();
}

async function besideExport(place: JobPlace, load: Load): Promise<number[]> {
  const { client, service } = place;
  const { job_id } = await client.post("export", {});
  await client.untilProcessing(String(job_id));
  const beside = await latencies(service.origin, load, turnMs);
  await client.cancelExport(String(job_id));
  // The thread ends its statement.
  await sleep(500);
  return beside;
}

function printTurns(
  title: string,
  done: readonly { readonly without: number[]; readonly beside: number[] }[],
): void {
  const ratios = done.map(({ without, beside }) => atShare(beside, 0.99) / atShare(without, 0.99));
  const shown = (side: "without" | "beside", share: number): string =>
    `${median(done.map((turn) => atShare(turn[side], share))).toFixed(2)} ms`;
  const spread = `${Math.min(...ratios).toFixed(2)} – ${Math.max(...ratios).toFixed(2)}`;
  const cells = [
    title,
    shown("without", 0.5),
    shown("beside", 0.5),
    shown("without", 0.99),
    shown("beside", 0.99),
    `${median(ratios).toFixed(2)} (${spread})`,
  ];
  console.log(`| ${cells.join(" | ")} |`);
}

/** The percentile of the times: `share` of the answers took at most so long. */
const atShare = (times: readonly number[], share: number): number =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length * share)] ?? NaN;
