/**
 * Imports of one workbook on each engine: preview and commit in Rowgate's worker, in turns with hand-written loaders.
 * The goal compares the commit to the loader that also reads the workbook: both read the same bytes and write the same
 * rows.
 */
import { open } from "node:fs/promises";
import { join } from "node:path";
import type { Json } from "../core/values/json.ts";
import { createTable } from "../jobs/workbook/create-table.ts";
import { openSession } from "../test/servers/session.ts";
import type { Bench, EngineName } from "./contest.ts";
import { type JobPlace, openJobPlace } from "./job-place.ts";
import { columnNames, createItems } from "./job-table.ts";
import { peakOf, ratiosOf, secondsOf, type Turn, turnOf } from "./turn.ts";

const turns = Number(process.env["BENCH_TURNS"] ?? 3);

/** Prints one table for all engines. */
export async function compareImports(bench: Bench, rows: number): Promise<void> {
  const path = join(bench.folder, "rows.xlsx");
  await writeRows(path, rows);
  console.log(
    `\n| import of ${rows} rows | seconds | peak memory | of the loader that reads too (min – max) |\n|---|--:|--:|--:|`,
  );
  for (const engine of bench.engines) await compareEngine(bench, { engine, path, rows });
}

interface Import {
  readonly engine: EngineName;
  readonly path: string;
  readonly rows: number;
}

/** What each turn adds to. */
type Done = ReadonlyMap<string, Turn[]>;

const byHand = "by hand, workbook read too";
const names = [
  "Rowgate, preview",
  "Rowgate, commit",
  "Rowgate, commit, rows known by their code",
  byHand,
  "by hand, values in memory",
];

async function compareEngine(bench: Bench, { engine, path, rows }: Import): Promise<void> {
  const database = await bench.database(engine);
  await createItems(engine, database, 0);
  const where = "worker";
  const plain = await openJobPlace(bench, engine, { database, where });
  const endpoint = { importConfig: { upsertKeys: ["code"] } };
  const upserting = await openJobPlace(bench, engine, { database, where, endpoint });
  const done: Done = new Map(names.map((name) => [name, []]));
  const program = join(import.meta.dirname, "import-by-hand.ts");
  const loaded = (from: string) =>
    turnOf(process.execPath, [program, engine, database, path, from]);
  const url = engine === "sqlite" ? `sqlite:${database}` : database;
  const session = await openSession(engine, url);
  const stored = async (name: string, work: () => Promise<Turn>): Promise<void> => {
    done.get(name)!.push(await work());
    const [row] = await session.run("SELECT count(*) AS n FROM items");
    if (Number(row!["n"]) !== rows) throw new Error(`${name} stored ${row!["n"]} rows of ${rows}`);
    await session.run(engine === "sqlite" ? "DELETE FROM items" : "TRUNCATE TABLE items");
  };
  for (let turn = 0; turn < turns; turn++) {
    const { preview, commit } = await importTurn(plain, { path, rows });
    done.get(names[0]!)!.push(preview);
    await stored(names[1]!, async () => commit);
    await stored(byHand, () => loaded("file"));
    const other = await importTurn(upserting, { path, rows });
    await stored(names[2]!, async () => other.commit);
    await stored(names[4]!, () => loaded("values"));
  }
  await session.close();
  plain.close();
  upserting.close();
  printTurns(engine, done);
}

async function importTurn(
  place: JobPlace,
  { path, rows }: Omit<Import, "engine">,
): Promise<{ preview: Turn; commit: Turn }> {
  let previewMs = 0;
  const { ms, peak: peakMiB } = await place.measure(async (client) => {
    const preview = await client.preview(await client.upload(path));
    previewMs = preview.ms;
    return client.commit(preview.id);
  });
  return { preview: { rows, ms: previewMs, peakMiB: NaN }, commit: { rows, ms, peakMiB } };
}

function printTurns(engine: EngineName, done: Done): void {
  for (const [name, each] of done) {
    const shown = [
      `${engine}, ${name}`,
      secondsOf(each),
      peakOf(each),
      ratiosOf(each, done.get(byHand)!),
    ];
    console.log(`| ${shown.join(" | ")} |`);
  }
}

export async function writeRows(path: string, rows: number): Promise<void> {
  const formats = new Map([
    ["created", { type: "date" }],
    ["due", { type: "datetime", pattern: "DD/MM/YYYY HH:mm" }],
    ["price", { type: "number", pattern: "#,##0.00" }],
  ] as const);
  const columns = columnNames.map((heading) => ({
    heading,
    format: formats.get(heading as "created"),
  }));
  const file = await open(path, "w");
  for await (const bytes of createTable("xlsx", { sheetName: "Data", columns }).write(
    batches(rows),
  ))
    await file.write(bytes);
  await file.close();
}

function* batches(rows: number): Generator<Json[][]> {
  for (let from = 0; from < rows; from += 1000)
    yield Array.from({ length: Math.min(1000, rows - from) }, (_, row) => rowAt(from + row + 1));
}

const firstDayMs = Date.UTC(2024, 0, 15);
const dayMs = 86_400_000;

const rowAt = (at: number): Json[] => [
  at,
  new Date(firstDayMs + (at % 3000) * dayMs).toISOString().slice(0, 10),
  new Date(firstDayMs + at * 1000).toISOString(),
  `Customer ${at}`,
  `City ${at % 500}`,
  `Some note with the number ${(at * 7) % 100_003}`,
  `C-${10_000_000 + at}`,
  (at % 10_000) / 100,
  (at % 997) / 1000,
  at % 1000,
  at % 3 === 0,
  at % 10 === 0 ? `Remark ${at}` : null,
];
