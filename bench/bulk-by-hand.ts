/** A bulk-create by hand, for `bulk.ts`: one INSERT of all records after the same checks, and the records it stored. */
import { Hono } from "hono";
import { serveOver } from "./by-hand-source.ts";

interface Item {
  readonly id: string;
  readonly name: string;
  readonly amount: number;
}

function fits({ id, name, amount }: Item): boolean {
  if (typeof id !== "string" || id.length > 36) return false;
  if (typeof name !== "string" || name.length > 60) return false;
  return Number.isInteger(amount) && amount >= 0;
}

serveOver((source) => {
  const app = new Hono();
  app.post("/api/bench/items/bulk-create", async (c) => {
    const { data } = await c.req.json<{ data: Item[] }>();
    if (!data.every(fits)) return c.json({ success: false, error: "Validation failed" }, 400);
    const rows = data.map(() => "(?, ?, ?)").join(", ");
    const stored = await source.all(
      `insert into items (id, name, amount) values ${rows} returning id, name, amount`,
      data.flatMap(({ id, name, amount }) => [id, name, amount]),
    );
    const timestamp = new Date().toISOString();
    return c.json({ success: true, count: stored.length, data: stored, timestamp }, 201);
  });
  return app;
});
