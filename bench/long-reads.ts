/**
 * `npm run bench:long-reads`: a SQLite file with two tables of a million rows. 8 clients send joins that would take
 * minutes, and 32 read single records meanwhile. Prints the times of each kind of request, and of a stop by SIGTERM.
 * `BENCH_SECONDS=60` for a longer run.
 */
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { fillLargeFile, largeFiles, worstJoin } from "../test/faults/large-file.ts";
import { serveProcess } from "../test/running/serve-process.ts";
import { latencies, type Load } from "./load.ts";

const rows = 1_000_000;
const durationMs = Number(process.env["BENCH_SECONDS"] ?? 30) * 1000;

const first: Load = {
  path: "/api/test/facts/first",
  body: (at) => JSON.stringify({ where: { key: "id", value: 1 + ((at * 7919) % rows) } }),
  expectedStatus: 200,
  connections: 32,
};
const health: Load = {
  path: "/health/live",
  method: "GET",
  body: () => "",
  expectedStatus: 200,
  connections: 1,
  pauseMs: 20,
};

const folder = await mkdtemp(join(tmpdir(), "rowgate-bench-"));
const file = join(folder, "large.db");
new Database(file).close();
fillLargeFile(file, rows);
await mkdir(join(folder, "configs/test"), { recursive: true });
for (const [name, content] of Object.entries(largeFiles(`sqlite:${file}`)))
  await writeFile(join(folder, "configs/test", name), JSON.stringify(content));
const service = await serveProcess({
  env: {
    CONFIG_DIR: join(folder, "configs"),
    STORAGE_URL: `file:${folder}/files`,
    TRUST_PROXY: "1",
    LOG_LEVEL: "fatal",
  },
});
const { origin, child } = service;

/** Eight different callers, each with one join after the other. */
async function sendJoins(endMs: number): Promise<{ status: number; tookMs: number }[]> {
  const answers: { status: number; tookMs: number }[] = [];
  const client = async (at: number) => {
    while (performance.now() < endMs) {
      const startedMs = performance.now();
      const { status } = await fetch(`${origin}/api/test/facts/aggregate`, {
        method: "POST",
        headers: { "Content-Type": "application/json", "X-Forwarded-For": `10.0.0.${at}` },
        body: JSON.stringify(worstJoin),
      }).catch(() => ({ status: 0 }));
      answers.push({ status, tookMs: performance.now() - startedMs });
    }
  };
  await Promise.all(Array.from({ length: 8 }, (_, at) => client(at)));
  return answers;
}

function show(title: string, times: readonly number[]): void {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (part: number) => sorted[Math.floor((sorted.length - 1) * part)]!.toFixed(1);
  console.log(`${title}: ${times.length}, p50 ${at(0.5)}, p99 ${at(0.99)}, longest ${at(1)} ms`);
}

show("single records alone", await latencies(origin, first, 5_000));
const joins = sendJoins(performance.now() + durationMs);
const [records, lives] = await Promise.all([
  latencies(origin, first, durationMs),
  latencies(origin, health, durationMs),
]);
show("single records beside joins", records);
show("/health/live beside joins", lives);
const answers = await joins;
show(
  `joins (${[...new Set(answers.map(({ status }) => status))]})`,
  answers.map(({ tookMs }) => tookMs),
);
const asked = sendJoins(performance.now() + 1_000);
await new Promise((resolve) => setTimeout(resolve, 2_000));
const startedMs = performance.now();
child.kill("SIGTERM");
await once(child, "exit");
console.log(`SIGTERM: ${Math.round(performance.now() - startedMs)} ms`);
await asked;
await rm(folder, { recursive: true, force: true });
