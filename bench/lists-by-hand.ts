/**
 * A hand-written service for a grid, a drop-down and a long list over one table, as a good developer would write it:
 * Hono and the driver. `lists.ts` compares Rowgate to it; both give the same answers for that configuration.
 */
import { Hono } from "hono";
import { type Row, serveOver, type Source } from "./by-hand-source.ts";

const columns = "id, code, name, category, remark, price, stock, created_at";
const iso = (text: string) =>
  `${text.replace(" ", "T").padEnd(23, text.length === 19 ? ".000" : "0")}Z`;
const shown = (row: Row): Row => {
  if (row["price"] !== undefined) row["price"] = Number(row["price"]);
  if (typeof row["created_at"] === "string") row["created_at"] = iso(row["created_at"]);
  return row;
};

function createApp({ like, names, all }: Source): Hono {
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
    // The bench sorts only by this.
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
    const limit = Number(c.req.query("limit"));
    const isPrefix = c.req.query("prefix") !== undefined;
    // Without a search, the index of the labels gives the first page.
    const isWhole = search === "";
    const [where, order, params] = isWhole
      ? ["true", names.order, []]
      : isPrefix
        ? [names.where, names.order, names.params(search)]
        : [`name ${like} ?`, "name, id", [`%${search}%`]];
    const text = `SELECT id, name FROM items WHERE ${where} ORDER BY ${order} LIMIT ?`;
    const rows = await all(text, [...params, limit + 1]);
    const data = rows.slice(0, limit).map(({ id, name }) => ({ id: String(id), text: name }));
    return c.json({ success: true, count: data.length, data, search, timestamp: time() });
  });
  app.post("/api/bench/items/read", async (c) => {
    const { limit, where } = await c.req.json<{
      limit: number;
      where?: { conditions: [{ value: string }] };
    }>();
    // The bench filters only by the beginning of a name.
    const start = where?.conditions[0].value.slice(0, -1);
    const filter = start === undefined ? "" : `WHERE ${names.where}`;
    const params = start === undefined ? [] : names.params(start);
    const text = `SELECT ${columns} FROM items ${filter} ORDER BY id LIMIT ?`;
    const rows = await all(text, [...params, limit]);
    return c.json({ success: true, data: rows.map(shown), count: rows.length, timestamp: time() });
  });
  return app;
}

serveOver(createApp);
