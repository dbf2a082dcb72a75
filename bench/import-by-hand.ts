/**
 * A hand-written import: INSERTs of 500 rows in one transaction, with the same driver. Runs as its own process.
 * Arguments: the engine, its URL or path, the workbook, and `file` to include reading the workbook in the time, or
 * `values` to start when its rows are in memory.
 */
import Database from "better-sqlite3";
import mysql from "mysql2/promise";
import postgres from "postgres";
import type { Cell } from "../core/plans/workbooks-port.ts";
import { openWorkbook } from "../jobs/workbook/open-workbook.ts";
import type { EngineName } from "./contest.ts";
import { columnNames } from "./job-table.ts";
import { peakMiB, type Turn } from "./turn.ts";

const [engine, url, path, from] = process.argv.slice(2) as [EngineName, string, string, string];
const batchRows = 500;

type Value = string | number | boolean | null;
type Batches = AsyncIterable<Value[][]> | Iterable<Value[][]>;

const loaders: Readonly<Record<EngineName, (batches: Batches) => Promise<number>>> = {
  async postgres(batches) {
    const sql = postgres(url, { max: 1 });
    let count = 0;
    await sql.begin(async (tx) => {
      for await (const batch of batches) {
        const rows = batch.map((row) => {
          const record = Object.fromEntries(columnNames.map((name, at) => [name, row[at]!]));
          return record as Record<(typeof columnNames)[number], Value>;
        });
        await tx`insert into items ${tx(rows, ...columnNames)}`;
        count += rows.length;
      }
    });
    await sql.end();
    return count;
  },
  async mysql(batches) {
    const connection = await mysql.createConnection({ uri: url, timezone: "Z" });
    let count = 0;
    await connection.beginTransaction();
    for await (const batch of batches) {
      await connection.query(`insert into items (${columnNames.join(", ")}) values ?`, [batch]);
      count += batch.length;
    }
    await connection.commit();
    await connection.end();
    return count;
  },
  async sqlite(batches) {
    const database = new Database(url);
    const insert = database.prepare(
      `insert into items (${columnNames.join(", ")}) values (${columnNames.map(() => "?").join(", ")})`,
    );
    let count = 0;
    database.exec("begin immediate");
    for await (const batch of batches) {
      // This driver is fastest with one statement that stays prepared.
      for (const row of batch) insert.run(row);
      count += batch.length;
    }
    database.exec("commit");
    database.close();
    return count;
  },
};

/** Cells of the file in the order of the columns, as the driver takes them. */
async function* batchesOfFile(): AsyncGenerator<Value[][]> {
  let batch: Value[][] = [];
  for await (const { values } of (await openWorkbook(path)).rows()) {
    batch.push(columnNames.map((_, at) => bound(values[at] ?? null, at)));
    if (batch.length < batchRows) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

const dueAt = columnNames.indexOf("due");

function bound(cell: Cell, at: number): Value {
  if (cell !== null && typeof cell === "object") throw new Error(cell.error);
  if (engine === "sqlite") return typeof cell === "boolean" ? Number(cell) : cell;
  return engine === "mysql" && at === dueAt ? String(cell).replace("T", " ").slice(0, 23) : cell;
}

const batches: Batches =
  from === "values" ? await Array.fromAsync(batchesOfFile()) : batchesOfFile();
const startMs = performance.now();
const rows = await loaders[engine](batches);
const turn: Turn = { rows, ms: performance.now() - startMs, peakMiB: peakMiB() };
console.log(JSON.stringify(turn));
