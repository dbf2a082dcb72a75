/** What hand-written services share: a SELECT on each engine, as a good developer would send it with the driver. */
import { serve } from "@hono/node-server";
import Database from "better-sqlite3";
import type { Hono } from "hono";
import mysql, { type RowDataPacket } from "mysql2/promise";
import postgres from "postgres";

export type Row = Record<string, unknown>;

/** Runs a SELECT; `like` is the operator that ignores case. */
export interface Source {
  readonly like: string;
  all(text: string, params: (string | number)[]): Promise<Row[]>;
}

function onPostgres(url: string): Source {
  const dates = {
    to: 1114,
    from: [1114],
    serialize: (value: string) => value,
    parse: (value: string) => value,
  };
  const sql = postgres(url, { max: 10, connection: { TimeZone: "UTC" }, types: { dates } });
  return {
    like: "ILIKE",
    async all(text, params) {
      let at = 0;
      const numbered = text.replace(/\?/g, () => `$${++at}`);
      return (await sql.unsafe(numbered, params, { prepare: true })) as Row[];
    },
  };
}

function onMysql(url: string): Source {
  const pool = mysql.createPool({
    uri: url,
    connectionLimit: 10,
    timezone: "Z",
    dateStrings: true,
  });
  return {
    like: "LIKE",
    all: async (text, params) => (await pool.execute<RowDataPacket[]>(text, params))[0],
  };
}

function onSqlite(path: string): Source {
  const db = new Database(path);
  const kept = new Map<string, Database.Statement>();
  return {
    like: "LIKE",
    async all(text, params) {
      const statement = kept.get(text) ?? db.prepare(text);
      kept.set(text, statement);
      const bound = params.map((value) => (typeof value === "number" ? BigInt(value) : value));
      return statement.all(...bound) as Row[];
    },
  };
}

/** Serves the app over the engine and database of the command line, and prints its port. */
export function serveOver(createApp: (source: Source) => Hono): void {
  const [engine = "", url = ""] = process.argv.slice(2);
  const open = new Map([
    ["postgres", onPostgres],
    ["mysql", onMysql],
    ["sqlite", onSqlite],
  ]).get(engine);
  if (!open) throw new Error(`There is no engine called ${engine}`);
  serve({ fetch: createApp(open(url)).fetch, hostname: "127.0.0.1", port: 0 }, ({ port }) => {
    process.stdout.write(`listening ${port}\n`);
  });
}
