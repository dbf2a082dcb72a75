/** `_batch` without handlers, over HTTP alone: the cases that also run where a service has no components. */
import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { check } from "./cases.ts";
import { type Answer, openFixture, openForTests } from "./harness.ts";

const fixture = openForTests(openFixture, {
  tables: [
    {
      name: "orders",
      columns: {
        order_id: "key",
        order_no: { type: "text(20)", unique: true },
        status: { type: "text(10)", notNull: true, default: "'draft'" },
        note: "text(20)",
      },
    },
    {
      name: "order_lines",
      columns: {
        line_id: "key",
        order_id: { type: "text(36)", references: { table: "orders", column: "order_id" } },
        qty: "integer",
      },
    },
  ],
  endpoints: {
    orders: {
      tableName: "orders",
      action: { create: true, first: true, read: true, update: true, "change-status": true },
      workflow: { transitions: { draft: ["posted"], posted: [] }, closed: ["posted"] },
      numbers: { order_no: { format: "O-{seq:4}", onStatus: "posted" } },
    },
    lines: {
      tableName: "order_lines",
      action: { "bulk-create": true, "bulk-update": true, upsert: true, read: true },
      fieldValidation: [{ name: "qty", type: "integer", constraints: { min: 1 } }],
      history: true,
    },
  },
  project: { batch: { enabled: true, maxSteps: 5 } },
});

const batch = (steps: readonly object[], more: object = {}, headers = {}): Promise<Answer> =>
  fixture.post("_batch", { steps, ...more }, headers);
const order = (more: object = {}) => ({
  id: "order",
  endpoint: "orders",
  action: "create",
  body: more,
});
const lines = (data: readonly object[], action = "bulk-create") => ({
  endpoint: "lines",
  action,
  body: { data },
});
const order_id = { $ref: "order.data.order_id" };
const posted = {
  endpoint: "orders",
  action: "change-status",
  body: { order_id, status: "posted" },
};
const count = async (note: string): Promise<number> => {
  const found = await fixture.sql(`select count(*) as n from orders where note = '${note}'`);
  return Number(found[0]!["n"]);
};

test("a batch reads the history before anything was recorded", async () => {
  const history = { id: "log", endpoint: "lines", action: "history", body: {} };
  const empty = await batch([history]);
  check(empty, { status: 200 });
  expect(empty.body.data).toMatchObject([{ status: 200, body: { data: [] } }]);

  const refused = await batch([history, lines([{ qty: 0 }])]);
  check(refused, { status: 400, error: "Validation failed" });
  const stored = await batch([lines([{ qty: 1 }]), history]);
  check(stored, { status: 200 });
  const [change] = stored.body.data[1].body.data;
  expect(change).toMatchObject({ action: "bulk-create" });
  const again = await batch([history]);
  expect(again.body.data[0].body.data).toEqual([change]);
});

describe("a batch", () => {
  test("stores an order with its lines, and posts it with its number", async () => {
    const answer = await batch([order({ note: "whole" }), lines([{ order_id, qty: 2 }]), posted]);
    check(answer, { status: 200 });
    const [made, added, moved] = answer.body.data;
    expect([made.status, added.status, moved.status]).toEqual([201, 201, 200]);
    expect(made.body.data.order_no).toBeNull();
    expect(added.body.data).toMatchObject([{ order_id: made.body.data.order_id, qty: 2 }]);
    expect(moved.body.data).toMatchObject({ order_no: "O-0001", status: "posted" });
  });

  test.each<[string, object, number, string]>([
    ["a value that a rule refuses", lines([{ order_id, qty: 0 }]), 400, "Validation failed"],
    ["a missing reference", lines([{ order_id: "none", qty: 1 }]), 400, "Foreign key"],
    ["a key that is taken", order({ order_id }), 409, "Duplicate entry"],
    [
      "a closed record",
      { endpoint: "orders", action: "update", body: { order_id, note: "x" } },
      409,
      "Record closed",
    ],
  ])("is undone by %s", async (_, step, status, error) => {
    const note = randomUUID().slice(0, 8);
    const before = error === "Record closed" ? [order({ note }), posted] : [order({ note })];
    const { id: __, ...last } = step as { id?: string };
    const answer = await batch([...before, last]);
    expect(answer.status, JSON.stringify(answer.body)).toBe(status);
    expect(answer.body.error).toContain(error);
    expect(answer.body.failed_step).toEqual({ index: before.length, id: null });
    expect(await count(note)).toBe(0);
  });

  test("refuses If-Match, which its steps have as if_match", async () => {
    const note = randomUUID().slice(0, 8);
    const answer = await batch([order({ note })], {}, { "If-Match": '"old"' });
    check(answer, { status: 400, error: "Invalid payload" });
    expect(answer.body.message).toContain("steps of a batch take if_match");
    expect(await count(note)).toBe(0);
  });

  test("as a dry run shows a number, and takes none", async () => {
    for (let at = 0; at < 2; at++) {
      const answer = await batch([order({ note: "dry" }), posted], { dry_run: true });
      check(answer, { status: 200 });
      expect(answer.body.data[1].body.data.order_no).toBe("O-0002");
    }
    expect(await count("dry")).toBe(0);
  });

  test("under one Idempotency-Key is done once", async () => {
    const key = { "Idempotency-Key": randomUUID() };
    const first = await batch([order({ note: "once" })], {}, key);
    const again = await batch([order({ note: "once" })], {}, key);
    expect(again.body.data).toEqual(first.body.data);
    expect(await count("once")).toBe(1);
  });

  test("of independent reads answers each with its own status", async () => {
    const answer = await batch(
      [
        { endpoint: "orders", action: "read", body: { page: 1, per_page: 1 } },
        { endpoint: "orders", action: "read", body: { page: "x" } },
      ],
      { independent: true },
    );
    check(answer, { status: 200 });
    expect(answer.body.data.map(({ status }: { status: number }) => status)).toEqual([200, 400]);
  });

  test.each<[string, readonly object[]]>([
    ["no step", []],
    ["more steps than maxSteps", Array.from({ length: 6 }, () => order())],
    ["a reference to a later step", [lines([{ order_id, qty: 1 }]), order()]],
    ["an id twice", [order(), order()]],
  ])("with %s is refused before its first step", async (_, steps) => {
    const answer = await batch(steps);
    expect(answer.status, JSON.stringify(answer.body)).toBe(400);
  });
});
