/**
 * `npm run bench:workbook`: writing 100,000 and 1,000,000 rows of 12 columns, and reading 100,000, with Rowgate and with exceljs as a stream, and
 * writing with python3-xlsxwriter where Python has it. Each turn is a process of its own (`workbook-turn.ts`), and the programs take turns.
 * `BENCH_ROWS=100000` chooses the sizes, `BENCH_TURNS=3` how often each is done; medians count. `BENCH_PYTHON` names another python3.
 */
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findPython, printContest, type Turn, turnOf } from "./turn.ts";

const sizes = (process.env["BENCH_ROWS"] ?? "100000,1000000").split(",").map(Number);
const readRows = 100_000;
/** A million rows take a minute with the others. */
const turnsOf = (rows: number): number =>
  Number(process.env["BENCH_TURNS"] ?? (rows > 300_000 ? 1 : 3));

const folder = await mkdtemp(join(tmpdir(), "rowgate-bench-"));
const path = join(folder, "table.xlsx");
const program = join(import.meta.dirname, "workbook-turn");
const python = await findPython("xlsxwriter");

try {
  console.log(
    "| task | seconds | peak memory | file | time, of Rowgate's (min – max) |\n|---|--:|--:|--:|--:|",
  );
  for (const rows of sizes) {
    const sides = new Map([
      ["Rowgate", () => node("write with Rowgate", rows)],
      ["exceljs", () => node("write with exceljs", rows)],
    ]);
    if (python) sides.set("XlsxWriter", () => turnOf(python, [`${program}.py`, path, `${rows}`]));
    await printContest(`write ${rows} rows`, sides, { rows, turns: turnsOf(rows), bytesOf });
  }
  for (const writer of ["Rowgate", "exceljs"]) {
    await node(`write with ${writer}`, readRows);
    const sides = new Map(
      ["Rowgate", "exceljs"].map((name) => [name, () => node(`read with ${name}`, readRows)]),
    );
    const title = `read ${readRows} rows that ${writer} wrote`;
    await printContest(title, sides, { rows: readRows, turns: turnsOf(readRows), bytesOf });
  }
} finally {
  await rm(folder, { recursive: true });
}

async function bytesOf(): Promise<number> {
  return (await stat(path)).size;
}

function node(task: string, rows: number): Promise<Turn> {
  return turnOf(process.execPath, [`${program}.ts`, task, path, `${rows}`]);
}
