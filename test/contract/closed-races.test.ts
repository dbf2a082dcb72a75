/** Details that many clients write while their record is being closed: none is stored afterwards. */
import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { check } from "./cases.ts";
import { openOffice } from "./closed.ts";
import type { Answer } from "./harness.ts";

const office = openOffice();
const { post } = office;

const clients = 16;

/** An engine that answers synchronously would never let the others run. */
const aTurn = () => new Promise((resolve) => setImmediate(resolve));

type Write = (order_id: string, line_id: string) => Promise<Answer>;

const writes: Readonly<Record<string, Write>> = {
  create: (order_id) => post("lines", "create", { line_id: randomUUID(), order_id, amount: 1 }),
  update: (_, line_id) =>
    post("lines", "adjust", { line_id, adjustments: [{ field: "amount", value: 1 }] }),
  delete: async (order_id) => {
    const line_id = await office.line(order_id, { amount: 0 }).catch(() => randomUUID());
    return post("lines", "delete", { where: [{ key: "line_id", value: line_id }] });
  },
  "update-composite": (order_id) =>
    post("orders", "update-composite", {
      orders: { order_id, order_lines: { insert: [{ line_id: randomUUID(), amount: 1 }] } },
    }),
  "bulk-create": (order_id) =>
    post("lines", "bulk-create", {
      data: [1, 2].map(() => ({ line_id: randomUUID(), order_id, amount: 1 })),
    }),
  "a line that moves in": async (order_id) => {
    const line_id = randomUUID();
    await post("lines", "create", { line_id, order_id: spare, amount: 1 });
    return post("lines", "update", { line_id, order_id });
  },
};

let spare = "";

async function linesOf(order_id: string): Promise<string> {
  const rows = await office.rows("order_lines", "order_id", order_id);
  return JSON.stringify(
    rows.map((row) => [row["line_id"], String(row["amount"]), row["is_deleted"]]).toSorted(),
  );
}

describe.each(Object.entries(writes))("%s of 16 clients", (_, write) => {
  test("is not acknowledged once the record is closed, and what was acknowledged is there", async () => {
    spare = await office.order();
    const order_id = await office.order();
    const lines = await Promise.all(
      Array.from({ length: clients }, () => office.line(order_id, { amount: 0 })),
    );
    let isClosed = false;
    let stored = 0;
    const statuses = new Set<number>();
    const writing = lines.map(async (line_id) => {
      for (let more = 3; more > 0;) {
        const beganAfter = isClosed;
        const answer = await write(order_id, line_id);
        statuses.add(answer.status);
        if (answer.status < 300) {
          stored++;
          expect(beganAfter, JSON.stringify(answer.body)).toBe(false);
        } else if (answer.body.error === "Record closed") more--;
        // Under so many writers the database may give a transaction up.
        else if (answer.status !== 503) more -= answer.status === 404 ? 1 : 3;
        await aTurn();
      }
    });
    while (stored < clients) await aTurn();
    let closing: Answer;
    do closing = await post("orders", "change-status", { order_id, status: "posted" });
    while (closing.status === 503);
    check(closing, { status: 200 });
    isClosed = true;
    const [seen, order] = [
      await linesOf(order_id),
      await office.rows("orders", "order_id", order_id),
    ];
    await Promise.all(writing);
    expect(await linesOf(order_id)).toBe(seen);
    expect(await office.rows("orders", "order_id", order_id)).toEqual(order);
    expect([...statuses].filter((status) => ![200, 201, 404, 409, 503].includes(status))).toEqual(
      [],
    );
  });
});
