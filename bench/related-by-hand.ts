/**
 * Hand-written handlers for orders with related records, as a good developer would write them: joins for names, one
 * statement for the lines of a page. `related.ts` compares Rowgate to them.
 */
import { Hono } from "hono";
import { type Row, serveOver, type Source } from "./by-hand-source.ts";

interface Asked {
  readonly kind: "names" | "sorted" | "any" | "lines";
  readonly page: number;
}

const names = `SELECT o.id, o.order_no, c.name AS customer, t.name AS city FROM orders o
  LEFT JOIN customers c ON c.id = o.customer_id LEFT JOIN cities t ON t.id = c.city_id`;

const nested = ({ id, order_no, customer, city }: Row) => ({
  id,
  order_no,
  customer:
    customer == null ? null : { name: customer, city: city == null ? null : { name: city } },
});

const createApp = ({ all, like }: Source): Hono => {
  // Only PostgreSQL has this operator, and sorts nulls last.
  const nullsFirst = like === "ILIKE" ? " NULLS FIRST" : "";
  const app = new Hono();
  const rowsOf = async ({ kind, page }: Asked): Promise<object[]> => {
    const place = [21, (page - 1) * 20];
    const cut = (rows: Row[]): Row[] => rows.slice(0, 20);
    if (kind === "names")
      return cut(await all(`${names} ORDER BY o.id LIMIT ? OFFSET ?`, place)).map(nested);
    if (kind === "sorted")
      return cut(
        await all(`${names} ORDER BY c.name${nullsFirst}, o.id LIMIT ? OFFSET ?`, place),
      ).map(nested);
    if (kind === "any")
      return cut(
        await all(
          `SELECT id, order_no FROM orders o WHERE EXISTS (SELECT 1 FROM order_lines l WHERE l.order_id = o.id AND l.qty = 7) ORDER BY id LIMIT ? OFFSET ?`,
          place,
        ),
      );
    const orders = cut(
      await all("SELECT id, order_no FROM orders ORDER BY id LIMIT ? OFFSET ?", place),
    );
    const lines = await all(
      `SELECT * FROM (SELECT id, order_id, product, qty, row_number() OVER (PARTITION BY order_id ORDER BY id) AS place FROM order_lines WHERE order_id IN (${orders.map(() => "?").join(", ")})) AS numbered WHERE place <= 21 ORDER BY order_id, place`,
      orders.map(({ id }) => id as number),
    );
    for (const line of lines) delete line["place"];
    const byOrder = Map.groupBy(lines, (line) => line["order_id"]);
    return orders.map((order) => ({ ...order, lines: byOrder.get(order["id"]) ?? [] }));
  };
  app.post("/api/bench/items/read", async (c) => {
    const data = await rowsOf(await c.req.json<Asked>());
    return c.json({ success: true, data, count: data.length, timestamp: new Date().toISOString() });
  });
  return app;
};

serveOver(createApp);
