/**
 * Makes the demo's database, data/demo.db, where it is missing. `npm start` runs this before the service. It works on
 * a temporary file and renames it at the end, so that an interrupted run leaves nothing half filled behind.
 * A database of an earlier release, which no longer fits the configuration, is set aside and made anew.
 * A configuration or database of your own (CONFIG_DIR, DEMO_DATABASE_URL) makes it do nothing.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import Database from "better-sqlite3";
import { demoRows, type TableRows } from "./seed/rows.ts";

/** Where project.json looks when DEMO_DATABASE_URL is not set. */
const demoUrl = "sqlite:./data/demo.db";

/** Of the tables and rows in `seed`: to be raised where the configuration needs others than before. */
const seedVersion = 1;

if (import.meta.main && isWanted(process.env)) {
  const file = resolve("data/demo.db");
  const startMs = performance.now();
  const rowCount = createDemo(file);
  if (rowCount !== null) {
    const seconds = ((performance.now() - startMs) / 1000).toFixed(1);
    console.log(
      `Created the demo database ${relative("", file)} with ${rowCount} rows in ${seconds} s`,
    );
  }
}

/** Writes the demo database to `file` and returns the number of rows; null when it is there already. */
export function createDemo(file: string): number | null {
  if (existsSync(file)) {
    if (versionOf(file) >= seedVersion) return null;
    setAside(file);
  }
  const tables = demoRows();
  const temporary = `${file}.${process.pid}.tmp`;
  mkdirSync(dirname(file), { recursive: true });
  rmSync(temporary, { force: true });
  try {
    fill(temporary, tables);
    // Another process can have created the file meanwhile, and its service already uses it.
    if (existsSync(file)) return null;
    // SQLite would take the log of an earlier database with this name for the new one's.
    for (const log of ["-wal", "-shm"]) rmSync(file + log, { force: true });
    renameSync(temporary, file);
  } finally {
    rmSync(temporary, { force: true });
  }
  return tables.reduce((count, { rows }) => count + rows.length, 0);
}

function versionOf(file: string): number {
  const database = new Database(file);
  try {
    return Number(database.pragma("user_version", { simple: true }));
  } finally {
    database.close();
  }
}

function setAside(file: string): void {
  for (const part of ["", "-wal", "-shm"])
    if (existsSync(file + part)) renameSync(file + part, `${file}.old${part}`);
  console.log(`Kept the demo database of an earlier release as ${relative("", file)}.old`);
}

function isWanted(env: NodeJS.ProcessEnv): boolean {
  const usesDemoConfig = resolve(env["CONFIG_DIR"] || "configs") === dirname(import.meta.dirname);
  return usesDemoConfig && (env["DEMO_DATABASE_URL"] || demoUrl) === demoUrl;
}

function fill(file: string, tables: readonly TableRows[]): void {
  const database = new Database(file);
  try {
    // No journal next to the temporary file: a failed run deletes the whole file.
    database.pragma("journal_mode = MEMORY");
    database.pragma("foreign_keys = ON");
    database.pragma(`user_version = ${seedVersion}`);
    const insertAll = database.transaction(() => {
      database.exec(readFileSync(join(import.meta.dirname, "seed/schema.sql"), "utf8"));
      for (const table of tables) insertRows(database, table);
    });
    insertAll();
    database.exec("ANALYZE");
  } finally {
    database.close();
  }
}

function insertRows(database: Database.Database, { table, rows }: TableRows): void {
  const columns = Object.keys(rows[0] ?? {});
  const places = columns.map((column) => `@${column}`);
  const insert = database.prepare(
    `INSERT INTO ${table} (${columns.join(", ")}) VALUES (${places.join(", ")})`,
  );
  for (const row of rows) insert.run(row);
}
