/**
 * `npm run bench:sizing -- postgres first=200 create=20 export=1000000`: how many processes, connections and workers a
 * load needs. Measures what each request costs on this machine, then computes the answer; without numbers it prints the
 * costs alone. Requests are per second, rows of exports and imports per hour. docs/sizing.md explains the model.
 */
import { join } from "node:path";
import { type Bench, bench, type Contender, cpuMsOf, type EngineName } from "./contest.ts";
import { writeRows } from "./job-import.ts";
import { openJobPlace } from "./job-place.ts";
import { createItems } from "./job-table.ts";
import { latencies, type Load } from "./load.ts";
import { endpoint, loads } from "./single-loads.ts";
import { createTable } from "./table.ts";
import { ratesIn, type RequestCost, type RowCosts, sizeFor } from "./sizing-model.ts";

const turnMs = Number(process.env["BENCH_TURN_MS"] ?? 4_000);
const rows = Number(process.env["BENCH_ROWS"] ?? 50_000);
/** Few, so that requests wait for each other neither in the service nor in the database. */
const connections = 2;

const asked = ratesIn(process.argv.slice(2), [
  ...Object.keys(loads).map(nameOf),
  "export",
  "import",
]);

/** `read 20` as a word of the command line. */
function nameOf(title: string): string {
  return title.replaceAll(" ", "-");
}

await bench(
  async (one) => {
    for (const engine of one.engines) {
      const requests = await costsOfRequests(one, engine);
      const jobs = await costsOfRows(one, engine);
      console.log(`\n${engine}\n\n| request | processor, ms | connection, ms |\n|---|--:|--:|`);
      for (const [name, { cpuMs, connectionMs }] of requests)
        console.log(`| ${name} | ${cpuMs.toFixed(2)} | ${connectionMs.toFixed(2)} |`);
      console.log(`\n| rows | processor, µs each |\n|---|--:|`);
      for (const [name, us] of Object.entries(jobs)) console.log(`| ${name} | ${us.toFixed(0)} |`);
      if (asked.size === 0) continue;
      const { processes, pool, workers } = sizeFor(asked, { requests, rows: jobs });
      console.log(
        `\n${processes} × process, each with "pool": ${pool} (${processes * pool} connections); ${workers} × worker`,
      );
    }
  },
  { needs: ["redis"] },
);

async function costsOfRequests(
  { database, serve }: Bench,
  engine: EngineName,
): Promise<Map<string, RequestCost>> {
  const url = await database(engine);
  await createTable(engine, url);
  const service = await serve(engine, {
    database: url,
    endpoint,
    project: { cache: { enabled: false } },
  });
  const costs = new Map<string, RequestCost>();
  for (const [title, load] of Object.entries(loads))
    costs.set(nameOf(title), await costOf(service, { ...load, connections }));
  service.stop();
  return costs;
}

async function costOf({ origin, pid }: Contender, load: Load): Promise<RequestCost> {
  await latencies(origin, load, turnMs);
  const [cpuMs, statementMs] = [cpuMsOf(pid), await statementMsAt(origin)];
  const { length } = await latencies(origin, load, turnMs);
  return {
    cpuMs: (cpuMsOf(pid) - cpuMs) / length,
    connectionMs: ((await statementMsAt(origin)) - statementMs) / length,
  };
}

/** The time of all statements so far, as the service's metrics have it. */
async function statementMsAt(origin: string): Promise<number> {
  const text = await (await fetch(`${origin}/metrics`)).text();
  const found = text.matchAll(/^rowgate_db_statement_duration_seconds_sum\S* (\S+)$/gm);
  return [...found].reduce((total, [, seconds]) => total + Number(seconds) * 1000, 0);
}

async function costsOfRows(one: Bench, engine: EngineName): Promise<RowCosts> {
  const database = await one.database(engine);
  await createItems(engine, database, rows);
  const place = await openJobPlace(one, engine, { database, where: "worker" });
  const worker = (await place.startWorker())!;
  const cost = async (job: () => Promise<unknown>): Promise<number> => {
    const before = cpuMsOf(worker.pid);
    await job();
    return ((cpuMsOf(worker.pid) - before) * 1000) / rows;
  };
  const exported = await cost(() => place.client.exportAll());
  place.close();
  worker.stop();

  const empty = await one.database(engine);
  await createItems(engine, empty, 0);
  const path = join(one.folder, "sizing.xlsx");
  await writeRows(path, rows);
  const into = await openJobPlace(one, engine, { database: empty, where: "worker" });
  const importer = (await into.startWorker())!;
  const before = cpuMsOf(importer.pid);
  const preview = await into.client.preview(await into.client.upload(path));
  await into.client.commit(preview.id);
  const imported = ((cpuMsOf(importer.pid) - before) * 1000) / rows;
  into.close();
  importer.stop();
  return { export: exported, import: imported };
}
