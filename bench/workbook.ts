/**
 * `npm run bench:workbook`: writes 100,000 and 1,000,000 rows of 12 columns, and reads 100,000, with Rowgate and with
 * exceljs as a stream; also writes with python3-xlsxwriter if Python has it. The programs take turns, each turn as its
 * own process (`workbook-turn.ts`). `BENCH_ROWS=100000` sets the sizes, `BENCH_TURNS=3` the number of turns; results
 * are medians. `BENCH_PYTHON` names another python3.
 */
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findPython, printContest, type Turn, turnOf } from "./turn.ts";

const sizes = (process.env["BENCH_ROWS"] ?? "100000,1000000").split(",").map(Number);
const readRows = 100_000;
/** A single turn for many rows, because the other programs need a minute for a million. */
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
