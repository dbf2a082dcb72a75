/**
 * What a good developer would write by hand for a grid, a drop-down and a long list over one table: Hono and the driver itself. The
 * other side of the ratios of `lists.ts`; it gives the same answers as Rowgate does for that configuration.
 */
import { serve } from "@hono/node-server";
import Database from "better-sqlite3";
import { Hono } from "hono";
import mysql, { type RowDataPacket } from "mysql2/promise";
import postgres from "postgres";

type Row = Record<string, unknown>;

/** Runs a SELECT; `like` is the operator that ignores case. */
interface Source {
  readonly like: string;
  all(text: string, params: (string | number)[]): Promise<Row[]>;
}

const columns = "id, code, name, category, remark, price, stock, created_at";
const iso = (text: string) =>
  `${text.replace(" ", "T").padEnd(23, text.length === 19 ? ".000" : "0")}Z`;
const shown = (row: Row): Row => {
  if (row["price"] !== undefined) row["price"] = Number(row["price"]);
  if (typeof row["created_at"] === "string") row["created_at"] = iso(row["created_at"]);
  return row;
};

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

function createApp({ like, all }: Source): Hono {
  const app = new Hono();
  const time = () => new Date().toISOString();
  const count = async (where: string, params: string[]) =>
    Number((await all(`SELECT count(*) AS n FROM items ${where}`, params))[0]!["n"]);
  app.post("/api/bench/items/datatables", async (c) => {
    const { draw, start, length, search, sort_columns } = await c.req.json<{
      draw: number;
      start: number;
      length: number;
      search?: { value: string };
      sort_columns?: unknown[];
    }>();
    const isSearched = search !== undefined && search.value !== "";
    const term = `%${search?.value}%`;
    const where = isSearched
      ? `WHERE code ${like} ? OR name ${like} ? OR category ${like} ? OR remark ${like} ?`
      : "";
    const terms = isSearched ? [term, term, term, term] : [];
    // The bench sorts by nothing else.
    const order = sort_columns === undefined ? "id" : "name, id";
    const page = `SELECT ${columns} FROM items ${where} ORDER BY ${order} LIMIT ? OFFSET ?`;
    const [rows, recordsTotal, recordsFiltered] = await Promise.all([
      all(page, [...terms, length, start]),
      count("", []),
      count(where, terms),
    ]);
    return c.json({ draw, recordsTotal, recordsFiltered, data: rows.map(shown) });
  });
  app.get("/api/bench/items/lookup", async (c) => {
    const search = c.req.query("search") ?? "";
    const before = c.req.query("prefix") === undefined ? "%" : "";
    const text = `SELECT id, name FROM items WHERE name ${like} ? ORDER BY name, id LIMIT ?`;
    const rows = await all(text, [`${before}${search}%`, 51]);
    const data = rows.slice(0, 50).map(({ id, name }) => ({ id: String(id), text: name }));
    return c.json({ success: true, count: data.length, data, search, timestamp: time() });
  });
  app.post("/api/bench/items/read", async (c) => {
    const { limit } = await c.req.json<{ limit: number }>();
    const rows = await all(`SELECT ${columns} FROM items ORDER BY id LIMIT ?`, [limit]);
    return c.json({ success: true, data: rows.map(shown), count: rows.length, timestamp: time() });
  });
  return app;
}

const [engine = "", url = ""] = process.argv.slice(2);
const open = new Map([
  ["postgres", onPostgres],
  ["mysql", onMysql],
  ["sqlite", onSqlite],
]).get(engine);
if (!open) throw new Error(`lists-by-hand.ts knows no engine called ${engine}`);
serve({ fetch: createApp(open(url)).fetch, hostname: "127.0.0.1", port: 0 }, ({ port }) => {
  process.stdout.write(`listening ${port}\n`);
});
