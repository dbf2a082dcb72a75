/**
 * What hand-written services share: a SELECT on each engine, as a good developer would send it with the driver; the
 * index for drop-downs that a good administrator would make; a line in the log for each request.
 */
import { serve } from "@hono/node-server";
import Database from "better-sqlite3";
import { Hono } from "hono";
import mysql, { type RowDataPacket } from "mysql2/promise";
import { pino } from "pino";
import postgres from "postgres";
import type { EngineName } from "./contest.ts";

export type Row = Record<string, unknown>;

/** Rows whose name begins with a text in upper or lower case, from the index on. Parameters are `?`. */
export interface NameRange {
  /** Also sorts them, so that the first ones are found as fast among millions. */
  readonly index: string;
  readonly where: string;
  readonly order: string;
  params(start: string): string[];
}

const highest = String.fromCodePoint(0x10ffff);
const bounds = (start: string): string[] => [
  start.toLowerCase(),
  `${start.toLowerCase()}${highest}`,
];

export const nameRanges: Readonly<Record<EngineName, NameRange>> = {
  postgres: {
    index: "CREATE INDEX items_names ON items (lower(name) text_pattern_ops, id)",
    where: "lower(name) ~>=~ ? AND lower(name) ~<~ ?",
    order: "lower(name) USING ~<~, id",
    params: bounds,
  },
  mysql: {
    index: "CREATE INDEX items_names ON items (name, id)",
    where: "name LIKE ?",
    order: "name, id",
    params: (start) => [`${start}%`],
  },
  sqlite: {
    index: "CREATE INDEX items_names ON items (name COLLATE NOCASE, id)",
    where: "name COLLATE NOCASE >= ? AND name COLLATE NOCASE < ?",
    order: "name COLLATE NOCASE, id",
    params: bounds,
  },
};

/** PostgreSQL's parameters. */
export function numbered(text: string): string {
  let at = 0;
  return text.replace(/\?/g, () => `$${++at}`);
}

/** Runs a SELECT; `like` is the operator that ignores case. */
export interface Source {
  readonly like: string;
  readonly names: NameRange;
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
    names: nameRanges.postgres,
    async all(text, params) {
      return (await sql.unsafe(numbered(text), params, { prepare: true })) as Row[];
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
    names: nameRanges.mysql,
    all: async (text, params) => (await pool.execute<RowDataPacket[]>(text, params))[0],
  };
}

function onSqlite(path: string): Source {
  const db = new Database(path);
  const kept = new Map<string, Database.Statement>();
  return {
    like: "LIKE",
    names: nameRanges.sqlite,
    async all(text, params) {
      const statement = kept.get(text) ?? db.prepare(text);
      kept.set(text, statement);
      const bound = params.map((value) => (typeof value === "number" ? BigInt(value) : value));
      return statement.all(...bound) as Row[];
    },
  };
}

/** Serves the app with a log, and prints its port. */
export function serveLogged(app: Hono): void {
  const log = pino();
  const logged = new Hono();
  logged.use(async (c, next) => {
    const startMs = performance.now();
    await next();
    const { method, path } = c.req;
    log.info({ method, path, status: c.res.status, ms: performance.now() - startMs });
  });
  logged.route("/", app);
  serve({ fetch: logged.fetch, hostname: "127.0.0.1", port: 0 }, ({ port }) => {
    process.stdout.write(`listening ${port}\n`);
  });
}

/** Serves the app over the engine and database of the command line. */
export function serveOver(createApp: (source: Source) => Hono): void {
  const [engine = "", url = ""] = process.argv.slice(2);
  const open = new Map([
    ["postgres", onPostgres],
    ["mysql", onMysql],
    ["sqlite", onSqlite],
  ]).get(engine);
  if (!open) throw new Error(`There is no engine called ${engine}`);
  serveLogged(createApp(open(url)));
}
