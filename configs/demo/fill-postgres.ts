/**
 * Creates the demo's tables and rows in the PostgreSQL database of DEMO_DATABASE_URL, in one transaction. Keeps
 * those that exist. The containers of compose.yaml run it once: `node configs/demo/fill-postgres.ts`.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import postgres from "postgres";
import { demoRows, type TableRows, type Value } from "./seed/rows.ts";

/** Rows of one INSERT: fewer parameters than PostgreSQL takes. */
const batchRows = 1_000;
/** Connection attempts: the server can start later than this program. */
const triesMax = 30;

const url = process.env["DEMO_DATABASE_URL"] ?? "";
if (!/^postgres(?:ql)?:/.test(url)) {
  throw new Error("DEMO_DATABASE_URL must be the address of a PostgreSQL database");
}
const sql = postgres(url, { max: 1, onnotice: () => undefined });
await reach();
console.log((await fill()) ? "Made the demo's tables and rows" : "The demo is there already");
await sql.end();

async function reach(): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await sql`SELECT 1`;
      return;
    } catch (error) {
      if (tries === triesMax) throw error;
      await pause(1_000);
    }
  }
}

/** False: the tables already exist. */
async function fill(): Promise<boolean> {
  return sql.begin(async (tx) => {
    // A process that starts at the same time waits here and then finds the tables.
    await tx`SELECT pg_advisory_xact_lock(hashtext('rowgate demo'))`;
    const [found] = await tx`SELECT to_regclass('products') IS NOT NULL AS is_there`;
    if (found?.["is_there"]) {
      // Tables of an earlier release: receipts have no number until they are posted.
      await tx`ALTER TABLE stock_receipts ALTER COLUMN receipt_number DROP NOT NULL`;
      return false;
    }
    await tx.unsafe(readFileSync(join(import.meta.dirname, "seed/schema.sql"), "utf8"));
    for (const table of demoRows()) await insertRows(tx, table);
    return true;
  });
}

async function insertRows(tx: postgres.TransactionSql, { table, rows }: TableRows): Promise<void> {
  for (let start = 0; start < rows.length; start += batchRows) {
    const batch = rows.slice(start, start + batchRows).map(withBooleans);
    await tx`INSERT INTO ${tx(table)} ${tx(batch)}`;
  }
}

/** The rows are as SQLite stores them. */
function withBooleans(row: Readonly<Record<string, Value>>): Record<string, Value | boolean> {
  return Object.fromEntries(
    Object.entries(row).map(([column, value]) =>
      column.startsWith("is_") ? [column, value === 1] : [column, value],
    ),
  );
}
