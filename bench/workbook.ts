/**
 * `npm run bench:workbook`: writing 100,000 and 1,000,000 rows of 12 columns, and reading 100,000, with Rowgate and with exceljs as a stream, and
 * writing with python3-xlsxwriter where Python has it. Each turn is a process of its own (`workbook-turn.ts`). `BENCH_ROWS=100000` chooses
 * the sizes, `BENCH_TURNS=3` how often each is done; the best turn counts. `BENCH_PYTHON` names another python3.
 */
import { execFile } from "node:child_process";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Turn } from "./workbook-turn.ts";

const run = promisify(execFile);
const sizes = (process.env["BENCH_ROWS"] ?? "100000,1000000").split(",").map(Number);
const turns = Number(process.env["BENCH_TURNS"] ?? 1);
const python = process.env["BENCH_PYTHON"] ?? "python3";
const readRows = 100_000;

const folder = await mkdtemp(join(tmpdir(), "rowgate-bench-"));
const path = join(folder, "table.xlsx");
const program = join(import.meta.dirname, "workbook-turn");

const hasXlsxWriter = await run(python, ["-c", "import xlsxwriter"]).then(
  () => true,
  () => false,
);

try {
  for (const rows of sizes) {
    console.log(`\nwrite ${rows} rows`);
    await contest("Rowgate", rows, () => node("write with Rowgate", rows));
    await contest("exceljs", rows, () => node("write with exceljs", rows));
    if (hasXlsxWriter)
      await contest("XlsxWriter", rows, () => turnOf(python, [`${program}.py`, path, `${rows}`]));
  }
  for (const writer of ["Rowgate", "exceljs"]) {
    await node(`write with ${writer}`, readRows);
    console.log(`\nread ${readRows} rows that ${writer} wrote`);
    await contest("Rowgate", readRows, () => node("read with Rowgate", readRows));
    await contest("exceljs", readRows, () => node("read with exceljs", readRows));
  }
} finally {
  await rm(folder, { recursive: true });
}

async function contest(name: string, rows: number, turn: () => Promise<Turn>): Promise<void> {
  const done: Turn[] = [];
  for (let at = 0; at < turns; at++) done.push(await turn());
  if (done.some((one) => one.rows !== rows)) throw new Error(`${name} lost rows`);
  const seconds = (Math.min(...done.map(({ ms }) => ms)) / 1000).toFixed(2);
  const peak = Math.round(Math.max(...done.map(({ peakMiB }) => peakMiB)));
  const size = ((await stat(path)).size / 1024 ** 2).toFixed(1);
  const load = loadavg()[0]!.toFixed(1);
  console.log(`${name.padEnd(12)} ${seconds} s  ${peak} MiB  file ${size} MiB  (load ${load})`);
}

function node(task: string, rows: number): Promise<Turn> {
  return turnOf(process.execPath, [`${program}.ts`, task, path, `${rows}`]);
}

async function turnOf(command: string, args: string[]): Promise<Turn> {
  const { stdout } = await run(command, args);
  return JSON.parse(stdout) as Turn;
}
