/** Exports of whole tables on PostgreSQL: Rowgate's worker, exceljs and XlsxWriter in turn. Called by `jobs.ts`. */
import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { Bench } from "./contest.ts";
import { openJobPlace } from "./job-place.ts";
import { createItems } from "./job-table.ts";
import { findPython, printContest, type Turn, turnOf } from "./turn.ts";

/** How often each side is done; a million rows take a minute by hand. */
const turnsOf = (rows: number): number =>
  Number(process.env["BENCH_TURNS"] ?? (rows > 300_000 ? 1 : 3));

const rowgate = "Rowgate";

type Sides = ReadonlyMap<string, () => Promise<Turn>>;

/** Prints one table for all sizes. */
export async function compareExports(bench: Bench, sizes: readonly number[]): Promise<void> {
  const python = await findPython("xlsxwriter", "psycopg2");
  if (python === null) console.log("No python3 with xlsxwriter and psycopg2: left out");
  console.log(
    "\n| export, postgres | seconds | peak memory | file | time, of Rowgate's (min – max) |\n|---|--:|--:|--:|--:|",
  );
  for (const rows of sizes) {
    const database = await bench.database("postgres");
    await createItems("postgres", database, rows);
    await compareSize(bench, { database, rows, python });
  }
}

interface Size {
  readonly database: string;
  readonly rows: number;
  readonly python: string | null;
}

async function compareSize(bench: Bench, { database, rows, python }: Size): Promise<void> {
  const place = await openJobPlace(bench, "postgres", { database, where: "worker" });
  const path = join(bench.folder, "by-hand.xlsx");
  const program = join(import.meta.dirname, "export-by-hand");
  const sides: Sides = new Map([
    [
      rowgate,
      async () => {
        const { ms, peak } = await place.measure((client) => client.exportAll());
        return { rows, ms, peakMiB: peak };
      },
    ],
    ["exceljs", () => turnOf(process.execPath, [`${program}.ts`, database, path])],
    ...(python === null
      ? []
      : [["XlsxWriter", () => turnOf(python, [`${program}.py`, database, path])] as const]),
  ]);
  await printContest(`${rows} rows`, sides, {
    rows,
    turns: turnsOf(rows),
    bytesOf: async (name) => (name === rowgate ? place.newestFile() : (await stat(path)).size),
  });
  place.close();
}
