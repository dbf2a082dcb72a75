/**
 * A hand-written service for one table, as a good developer would write it: Hono and the driver, no layers. `run.ts`
 * compares Rowgate to it; both give the same answers for the bench's configuration.
 */
import { randomUUID } from "node:crypto";
import Database from "better-sqlite3";
import { Hono } from "hono";
import mysql, { type ResultSetHeader, type RowDataPacket } from "mysql2/promise";
import postgres from "postgres";
import { type NameRange, nameRanges, numbered, type Row, serveLogged } from "./by-hand-source.ts";

interface Item {
  id: string;
  name: string;
  price: number;
  stock: number;
}

/** The requests, implemented for one driver. */
interface Handlers {
  first(id: string): Promise<Row | undefined>;
  list(limit: number, order: "asc" | "desc"): Promise<Row[]>;
  /** Rows whose name begins with this, in upper or lower case. */
  labels(start: string, limit: number): Promise<Row[]>;
  page(perPage: number, offset: number): Promise<{ rows: Row[]; total: number }>;
  create(item: Item, now: string): Promise<Row>;
  update(item: Item, now: string): Promise<Row | undefined>;
  adjust(id: string, delta: number, now: string): Promise<Row | undefined>;
}

const columns = "id, name, price, stock, active, created_at, created_by, updated_at, updated_by";
const inserted = "id, name, price, stock, active, created_at, created_by";
const labelsOf = ({ where, order }: NameRange): string =>
  `SELECT id, name AS text FROM items WHERE ${where} ORDER BY ${order} LIMIT ?`;
const by = { create: "Input from API", update: "Update from API" };

function onPostgres(url: string): Handlers {
  const iso = (text: string | null) => (text === null ? null : `${text.replace(" ", "T")}Z`);
  const dates = {
    to: 1114,
    from: [1114],
    serialize: (value: string) => value,
    parse: (value: string) => value,
  };
  const sql = postgres(url, { max: 10, connection: { TimeZone: "UTC" }, types: { dates } });
  const show = (row?: Row) =>
    row && {
      ...row,
      price: Number(row["price"]),
      created_at: iso(row["created_at"] as string),
      updated_at: iso(row["updated_at"] as string | null),
    };
  const run = async (text: string, params: (string | number | boolean)[]) =>
    (await sql.unsafe(text, params, { prepare: true })).map((row) => show(row as Row)!);
  const labels = numbered(labelsOf(nameRanges.postgres));
  return {
    first: async (id) => (await run(`SELECT ${columns} FROM items WHERE id = $1`, [id]))[0],
    list: (limit, order) =>
      run(`SELECT ${columns} FROM items ORDER BY id ${order} LIMIT $1`, [limit]),
    labels: (start, limit) =>
      sql.unsafe(labels, [...nameRanges.postgres.params(start), limit], { prepare: true }),
    async page(perPage, offset) {
      const [rows, count] = await Promise.all([
        run(`SELECT ${columns} FROM items ORDER BY id LIMIT $1 OFFSET $2`, [perPage, offset]),
        sql.unsafe("SELECT count(*) AS n FROM items", [], { prepare: true }),
      ]);
      return { rows, total: Number(count[0]!["n"]) };
    },
    async create({ id, name, price, stock }, now) {
      const text = `INSERT INTO items (${inserted}) VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING ${columns}`;
      return (await run(text, [id, name, price, stock, true, now, by.create]))[0]!;
    },
    async update({ id, name, price }, now) {
      const set = "name = $2, price = $3, updated_at = $4, updated_by = $5";
      return (
        await run(`UPDATE items SET ${set} WHERE id = $1 RETURNING ${columns}`, [
          id,
          name,
          price,
          now,
          by.update,
        ])
      )[0];
    },
    async adjust(id, delta, now) {
      const set = "stock = stock + $2, updated_at = $3, updated_by = $4";
      const text = `UPDATE items SET ${set} WHERE id = $1 AND stock + $2 >= 0 RETURNING ${columns}`;
      return (await run(text, [id, delta, now, by.update]))[0];
    },
  };
}

function onMysql(url: string): Handlers {
  const pool = mysql.createPool({
    uri: url,
    connectionLimit: 10,
    timezone: "Z",
    dateStrings: true,
  });
  const isMariaDb = pool
    .query<RowDataPacket[]>("SELECT version() AS version")
    .then(([rows]) => String(rows[0]!["version"]).includes("MariaDB"));
  const iso = (text: string | null) => (text === null ? null : `${text.replace(" ", "T")}Z`);
  const show = (row?: Row) =>
    row && {
      ...row,
      price: Number(row["price"]),
      active: row["active"] === 1,
      created_at: iso(row["created_at"] as string),
      updated_at: iso(row["updated_at"] as string | null),
    };
  const sqlTime = (now: string) => now.replace("T", " ").replace("Z", "");
  /** Changes one row and reads it back in one transaction, so that no other change comes between. */
  const changed = async (text: string, params: (string | number)[], id: string) => {
    const connection = await pool.getConnection();
    try {
      await connection.beginTransaction();
      const [result] = await connection.execute<ResultSetHeader>(text, params);
      const [rows] = await connection.execute<RowDataPacket[]>(
        `SELECT ${columns} FROM items WHERE id = ?`,
        [id],
      );
      await connection.commit();
      return result.affectedRows === 0 ? undefined : show(rows[0]);
    } finally {
      connection.release();
    }
  };
  return {
    async first(id) {
      const [rows] = await pool.execute<RowDataPacket[]>(
        `SELECT ${columns} FROM items WHERE id = ?`,
        [id],
      );
      return show(rows[0]);
    },
    async list(limit, order) {
      const text = `SELECT ${columns} FROM items ORDER BY id ${order} LIMIT ?`;
      const [rows] = await pool.execute<RowDataPacket[]>(text, [limit]);
      return rows.map((row) => show(row)!);
    },
    async labels(start, limit) {
      const params = [...nameRanges.mysql.params(start), limit];
      const [rows] = await pool.execute<RowDataPacket[]>(labelsOf(nameRanges.mysql), params);
      return rows;
    },
    async page(perPage, offset) {
      const [[rows], [count]] = await Promise.all([
        pool.execute<RowDataPacket[]>(`SELECT ${columns} FROM items ORDER BY id LIMIT ? OFFSET ?`, [
          perPage,
          offset,
        ]),
        pool.execute<RowDataPacket[]>("SELECT count(*) AS n FROM items"),
      ]);
      return { rows: rows.map((row) => show(row)!), total: Number(count[0]!["n"]) };
    },
    async create({ id, name, price, stock }, now) {
      const text = `INSERT INTO items (${inserted}) VALUES (?, ?, ?, ?, ?, ?, ?)`;
      const params = [id, name, price, stock, 1, sqlTime(now), by.create];
      // MySQL cannot answer an inserted row.
      if (!(await isMariaDb)) return (await changed(text, params, id))!;
      const returning = `${text} RETURNING ${columns}`;
      return show((await pool.execute<RowDataPacket[]>(returning, params))[0][0])!;
    },
    async update({ id, name, price }, now) {
      const text =
        "UPDATE items SET name = ?, price = ?, updated_at = ?, updated_by = ? WHERE id = ?";
      return changed(text, [name, price, sqlTime(now), by.update, id], id);
    },
    async adjust(id, delta, now) {
      const set = "stock = stock + ?, updated_at = ?, updated_by = ?";
      const text = `UPDATE items SET ${set} WHERE id = ? AND stock + ? >= 0`;
      return changed(text, [delta, sqlTime(now), by.update, id, delta], id);
    },
  };
}

function onSqlite(path: string): Handlers {
  const db = new Database(path);
  db.pragma("journal_mode = WAL");
  db.pragma("synchronous = NORMAL");
  const iso = (text: string | null) =>
    text === null ? null : `${text.replace(" ", "T").padEnd(23, ".000")}Z`;
  const show = (row?: unknown) =>
    row
      ? {
          ...(row as Row),
          active: (row as Row)["active"] === 1,
          created_at: iso((row as Row)["created_at"] as string),
          updated_at: iso((row as Row)["updated_at"] as string | null),
        }
      : undefined;
  const sqlTime = (now: string) => now.replace("T", " ").replace("Z", "");
  const first = db.prepare(`SELECT ${columns} FROM items WHERE id = ?`);
  const lists = {
    asc: db.prepare(`SELECT ${columns} FROM items ORDER BY id LIMIT ?`),
    desc: db.prepare(`SELECT ${columns} FROM items ORDER BY id DESC LIMIT ?`),
  };
  const labels = db.prepare<(string | number)[], Row>(labelsOf(nameRanges.sqlite));
  const page = db.prepare(`SELECT ${columns} FROM items ORDER BY id LIMIT ? OFFSET ?`);
  const count = db.prepare("SELECT count(*) AS n FROM items");
  // Only what is read to its end makes SQLite write its log into the database: `get` lets the log grow without end.
  const create = db.prepare(
    `INSERT INTO items (${inserted}) VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING ${columns}`,
  );
  const update = db.prepare(
    `UPDATE items SET name = ?, price = ?, updated_at = ?, updated_by = ? WHERE id = ? RETURNING ${columns}`,
  );
  const adjust = db.prepare(
    `UPDATE items SET stock = stock + ?, updated_at = ?, updated_by = ? WHERE id = ? AND stock + ? >= 0 RETURNING ${columns}`,
  );
  return {
    first: async (id) => show(first.get(id)),
    list: async (limit, order) => lists[order].all(limit).map((row) => show(row)!),
    labels: async (start, limit) => labels.all(...nameRanges.sqlite.params(start), limit),
    page: async (perPage, offset) => ({
      rows: page.all(perPage, offset).map((row) => show(row)!),
      total: (count.get() as { n: number }).n,
    }),
    create: async ({ id, name, price, stock }, now) =>
      show(create.all(id, name, price, BigInt(stock), 1n, sqlTime(now), by.create)[0])!,
    update: async ({ id, name, price }, now) =>
      show(update.all(name, price, sqlTime(now), by.update, id)[0]),
    adjust: async (id, delta, now) =>
      show(adjust.all(BigInt(delta), sqlTime(now), by.update, id, BigInt(delta))[0]),
  };
}

interface ReadBody {
  readonly page: number;
  readonly per_page: number;
  readonly limit?: number;
  readonly sort_columns: [{ readonly direction: "asc" | "desc" }];
}

function createApp(handlers: Handlers): Hono {
  const app = new Hono();
  const time = () => new Date().toISOString();
  app.post("/api/bench/items/first", async (c) => {
    const { where } = await c.req.json<{ where: { key: string; value: string } }>();
    return c.json({
      success: true,
      data: (await handlers.first(where.value)) ?? null,
      timestamp: time(),
    });
  });
  app.get("/api/bench/items/lookup", async (c) => {
    const data = await handlers.labels(c.req.query("search") ?? "", Number(c.req.query("limit")));
    return c.json({ success: true, count: data.length, data, timestamp: time() });
  });
  app.post("/api/bench/items/read", async (c) => {
    const { page, per_page, limit, sort_columns } = await c.req.json<ReadBody>();
    if (limit !== undefined) {
      const data = await handlers.list(limit, sort_columns[0].direction);
      return c.json({ success: true, data, count: data.length, timestamp: time() });
    }
    const { rows, total } = await handlers.page(per_page, (page - 1) * per_page);
    const total_pages = Math.ceil(total / per_page);
    const pagination = {
      current_page: page,
      per_page,
      total_records: total,
      total_pages,
      has_next: page < total_pages,
      has_previous: page > 1,
    };
    return c.json({ success: true, data: rows, count: rows.length, pagination, timestamp: time() });
  });
  app.post("/api/bench/items/create", async (c) => {
    const { name, price, stock } = await c.req.json<Item>();
    if (!name)
      return c.json({ success: false, error: "Validation failed", timestamp: time() }, 400);
    const data = await handlers.create({ id: randomUUID(), name, price, stock }, time());
    return c.json(
      { success: true, message: "items data successfully added", data, timestamp: time() },
      201,
    );
  });
  app.post("/api/bench/items/update", async (c) => {
    const item = await c.req.json<Item>();
    const data = await handlers.update(item, time());
    if (!data) return c.json({ success: false, error: "Not found", timestamp: time() }, 404);
    return c.json({
      success: true,
      message: "items data successfully updated",
      data,
      timestamp: time(),
    });
  });
  app.post("/api/bench/items/adjust", async (c) => {
    const { id, adjustments } = await c.req.json<{
      id: string;
      adjustments: [{ field: string; value: number }];
    }>();
    const data = await handlers.adjust(id, adjustments[0].value, time());
    if (!data)
      return c.json({ success: false, error: "Constraint violation", timestamp: time() }, 409);
    return c.json({
      success: true,
      message: "items data successfully adjusted",
      data,
      timestamp: time(),
    });
  });
  return app;
}

const [engine = "", url = ""] = process.argv.slice(2);
const open = new Map([
  ["postgres", onPostgres],
  ["mysql", onMysql],
  ["sqlite", onSqlite],
]).get(engine);
if (!open) throw new Error(`by-hand.ts knows no engine called ${engine}`);
serveLogged(createApp(open(url)));
