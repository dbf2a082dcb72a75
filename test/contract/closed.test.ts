/** `workflow.closed`: no way of writing changes a closed record or its details. */
import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { check } from "./cases.ts";
import { openOffice } from "./closed.ts";
import type { Answer } from "./harness.ts";

const office = openOffice();
const { post } = office;

type Send = (order_id: string) => Promise<Answer>;
type Row = readonly [name: string, send: Send];

const composite = (order_id: string, more: object) =>
  post("orders", "update-composite", { orders: { order_id, ...more } });
const by = (key: string, value: string) => ({ where: [{ key, value }] });
const matching = (key: string, value: string) => ({
  where: { conditions: [{ key, operator: "=", value }] },
});
const batch = (endpoint: string, action: string, body: object) =>
  post("", "_batch", { steps: [{ endpoint, action, body }] });
const code = (order_id: string) => order_id.slice(0, 8);

/** Writes of the order itself. */
const ofRecord: readonly Row[] = [
  ["update", (order_id) => post("orders", "update", { order_id, note: "x" })],
  [
    "update of the endpoint without rules",
    (order_id) => post("orders-plain", "update", { order_id, note: "x" }),
  ],
  [
    "update with the same status",
    (order_id) => post("orders", "update", { order_id, status: "posted" }),
  ],
  [
    "update with another status",
    (order_id) => post("orders", "update", { order_id, status: "draft" }),
  ],
  ["delete that marks", (order_id) => post("orders", "delete", by("order_id", order_id))],
  ["delete", (order_id) => post("orders-plain", "delete", by("order_id", order_id))],
  [
    "delete with the lines",
    (order_id) => post("orders-cascading", "delete", by("order_id", order_id)),
  ],
  [
    "adjust",
    (order_id) => post("orders", "adjust", { order_id, adjustments: [{ field: "qty", value: 1 }] }),
  ],
  [
    "adjust of the endpoint without rules",
    (order_id) =>
      post("orders-plain", "adjust", { order_id, adjustments: [{ field: "qty", value: -1 }] }),
  ],
  ["update-composite of a field", (order_id) => composite(order_id, { note: "x" })],
  ["update-composite of nothing", (order_id) => composite(order_id, {})],
  [
    "update-composite of a line's key",
    (order_id) => composite(order_id, { order_lines: { update: [{ line_id: order_id }] } }),
  ],
  [
    "update-composite that adds a line",
    (order_id) =>
      composite(order_id, { order_lines: { insert: [{ line_id: randomUUID(), amount: 2 }] } }),
  ],
  [
    "update-composite that changes a line",
    (order_id) =>
      composite(order_id, { order_lines: { update: [{ line_id: order_id, amount: 2 }] } }),
  ],
  [
    "update-composite that deletes a line",
    (order_id) => composite(order_id, { order_lines: { delete: [{ line_id: order_id }] } }),
  ],
  ["bulk-update", (order_id) => post("orders", "bulk-update", { data: [{ order_id, note: "x" }] })],
  [
    "bulk-update by where",
    (order_id) =>
      post("orders", "bulk-update", {
        ...matching("order_id", order_id),
        set: { note: "x" },
        expect: 1,
      }),
  ],
  ["bulk-delete", (order_id) => post("orders", "bulk-delete", { keys: [order_id] })],
  [
    "bulk-delete by where",
    (order_id) =>
      post("orders-plain", "bulk-delete", { ...matching("order_id", order_id), expect: 1 }),
  ],
  ["upsert by key", (order_id) => post("orders", "upsert", { data: { order_id, note: "x" } })],
  [
    "upsert by code",
    (order_id) =>
      post("orders-plain", "upsert", { data: { code: code(order_id), note: "x" }, by: ["code"] }),
  ],
  ["a step of a batch", (order_id) => batch("orders", "update", { order_id, note: "x" })],
  [
    "a dry run",
    (order_id) => post("orders", "update", { order_id, note: "x" }, { Prefer: "tx=rollback" }),
  ],
];

/** Writes of its lines, through the endpoint of their own table. */
const ofLines: readonly Row[] = [
  ["create", (order_id) => post("lines", "create", { line_id: randomUUID(), order_id, amount: 1 })],
  ["update", (order_id) => post("lines", "update", { line_id: order_id, amount: 9 })],
  [
    "adjust",
    (order_id) =>
      post("lines", "adjust", { line_id: order_id, adjustments: [{ field: "amount", value: 1 }] }),
  ],
  ["change-status", (line_id) => post("lines", "change-status", { line_id, status: "x" })],
  ["delete", (order_id) => post("lines", "delete", by("line_id", order_id))],
  ["delete of all", (order_id) => post("lines", "delete", by("order_id", order_id))],
  [
    "bulk-create",
    (order_id) => post("lines", "bulk-create", { data: [{ line_id: randomUUID(), order_id }] }),
  ],
  [
    "bulk-update",
    (order_id) => post("lines", "bulk-update", { data: [{ line_id: order_id, code: "x" }] }),
  ],
  [
    "bulk-update by where",
    (order_id) =>
      post("lines", "bulk-update", {
        ...matching("order_id", order_id),
        set: { code: "x" },
        expect: 1,
      }),
  ],
  ["bulk-delete", (order_id) => post("lines", "bulk-delete", { keys: [order_id] })],
  [
    "upsert of a new one",
    (order_id) => post("lines", "upsert", { data: { line_id: randomUUID(), order_id } }),
  ],
  [
    "upsert of one that exists",
    (order_id) => post("lines", "upsert", { data: { line_id: order_id, code: "x" } }),
  ],
  ["a step of a batch", (order_id) => batch("lines", "update", { line_id: order_id, code: "x" })],
  [
    "a line that moves away",
    async (order_id) =>
      post("lines", "update", { line_id: order_id, order_id: await office.order() }),
  ],
  [
    "a line that moves away with others",
    async (order_id) =>
      post("lines", "bulk-update", {
        data: [{ line_id: order_id, order_id: await office.order() }],
      }),
  ],
  [
    "a line that moves in",
    async (order_id) => post("lines", "update", { line_id: await office.order(), order_id }),
  ],
  [
    "a line that moves in with others",
    async (order_id) =>
      post("lines", "bulk-update", { data: [{ line_id: await office.order(), order_id }] }),
  ],
  [
    "lines that all move in",
    async (order_id) => {
      const other = await office.order();
      return post("lines", "bulk-update", {
        ...matching("order_id", other),
        set: { order_id },
        expect: 1,
      });
    },
  ],
  ["a note", (order_id) => post("notes", "create", { note_id: randomUUID(), order_id })],
  [
    "a record between",
    (order_id) => post("order-tags", "create", { order_tag_id: randomUUID(), order_id }),
  ],
  ["a parcel", (order_id) => post("parcels", "create", { parcel_id: randomUUID(), order_id })],
];

/** The order and its lines, without the time of its last change. */
async function stateOf(order_id: string) {
  const [order] = await office.rows("orders", "order_id", order_id);
  return { order, lines: await office.rows("order_lines", "order_id", order_id) };
}

const closed = { status: 409, error: "Record closed" };

describe.each(["posted", "cancelled"])("a record that is %s", (status) => {
  test.each(ofRecord)("takes no %s", async (_, send) => {
    const order_id = await office.order(status);
    const before = await stateOf(order_id);
    const answer = await send(order_id);
    check(answer, closed);
    expect(answer.body.message).toMatch(/^(\[0\]: )?The record is closed and cannot be changed$/);
    expect(await stateOf(order_id)).toEqual(before);
  });

  test.each(ofLines)("takes for its details no %s", async (_, send) => {
    const order_id = await office.order(status);
    const before = await stateOf(order_id);
    check(await send(order_id), closed);
    expect(await stateOf(order_id)).toEqual(before);
  });
});

describe("a record that is not closed", () => {
  test.each([...ofRecord, ...ofLines].filter(([name]) => !name.includes("status")))(
    "takes %s",
    async (_, send) => {
      const answer = await send(await office.order("ready"));
      // Its lines or notes are in the way of a delete, as ever.
      if (answer.body.error !== "Foreign key constraint")
        expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
    },
  );
});

describe("what is closed", () => {
  test("opens again where a transition leads out of it", async () => {
    const order_id = await office.order("posted");
    check(await post("orders", "change-status", { order_id, status: "draft" }), { status: 200 });
    check(await post("orders", "update", { order_id, note: "again" }), { status: 200 });
    check(await post("lines", "update", { line_id: order_id, amount: 3 }), { status: 200 });
  });

  test.each([
    ["where the transitions end", "orders", "cancelled"],
    ["through an endpoint without transitions", "orders-plain", "posted"],
  ])("stays closed %s", async (_, endpoint, status) => {
    const order_id = await office.order(status);
    const body = { order_id, status: "draft" };
    check(await post(endpoint, "change-status", body), {
      status: 422,
      error: "Transition not allowed",
    });
    const next = await post(endpoint, "next-statuses", { order_id });
    expect(next.body.data).toEqual({ status, allowed: [] });
  });

  test("may be a status that only another endpoint's file closes", async () => {
    const order_id = await office.order("held");
    check(await post("orders", "update", { order_id, note: "x" }), closed);
    check(await post("lines", "update", { line_id: order_id, code: "x" }), closed);
  });

  test("is written as it is: another case is another status", async () => {
    const order_id = await office.order("POSTED");
    check(await post("orders", "update", { order_id, note: "x" }), { status: 200 });
  });

  test("is read as ever", async () => {
    const order_id = await office.order("posted");
    const where = { key: "order_id", value: order_id };
    check(await post("orders", "first", { where }), { status: 200, data: { status: "posted" } });
    check(await post("orders", "next-statuses", { order_id }), {
      status: 200,
      data: { status: "posted", allowed: ["draft"] },
    });
  });

  test("does not concern rows of relations that the database keeps without it", async () => {
    const order_id = await office.order("posted");
    check(await post("visits", "create", { visit_id: order_id, order_id }), { status: 201 });
    check(await post("visits", "update", { visit_id: order_id, note: "x" }), { status: 200 });
  });

  test("does not concern rows of a relation with details: false", async () => {
    const order_id = await office.order("posted");
    check(await post("remarks", "create", { remark_id: order_id, order_id }), { status: 201 });
  });

  test("says so, and names no column", async () => {
    const order_id = await office.order("posted");
    const own = await post("orders", "update", { order_id, note: "x" });
    check(own, { ...closed, message: "The record is closed and cannot be changed" });
    expect(own.body).not.toHaveProperty("errors");
    const line = await post("lines", "update", { line_id: order_id, amount: 2 });
    check(line, {
      ...closed,
      message: "The record belongs to a closed record and cannot be changed",
    });
  });

  test("is no answer about records of others", async () => {
    const order_id = await office.order("posted", { tenant: "a" });
    const guest = office.as("guest");
    check(await guest("orders", "update", { order_id, note: "x" }), {
      status: 404,
      error: "Not found",
    });
    const refused = { status: 400, error: "Foreign key constraint" };
    const line_id = randomUUID();
    check(await guest("lines", "create", { line_id, order_id, amount: 1 }), refused);
    const own = await office.order("draft", { tenant: "g" });
    check(await guest("lines", "update", { line_id: own, order_id }), refused);
  });

  test("is refused for a missing record and a faulty one as ever", async () => {
    const order_id = randomUUID();
    check(await post("orders", "update", { order_id, note: "x" }), {
      status: 404,
      error: "Not found",
    });
    const closedId = await office.order("posted");
    check(await post("orders", "update", { order_id: closedId, qty: "many" }), {
      status: 400,
      error: "Validation failed",
    });
  });
});

describe("many records at once", () => {
  test("tell the index of the closed one, and store nothing", async () => {
    const [open, shut] = [await office.order(), await office.order("posted")];
    const data = [open, shut].map((order_id) => ({ order_id, note: "x" }));
    const answer = await post("orders", "bulk-update", { data });
    check(answer, { ...closed, errors: ["[1]"] });
    expect(answer.body.message).toContain("[1]");
    expect((await office.rows("orders", "order_id", open))[0]!["note"]).toBeNull();
  });

  test.each<[string, (open: string, shut: string) => Promise<Answer>, number]>([
    [
      "bulk-update",
      (open, shut) =>
        post("orders", "bulk-update", {
          data: [shut, open].map((order_id) => ({ order_id, note: "x" })),
          mode: "each",
        }),
      0,
    ],
    [
      "upsert",
      (open, shut) =>
        post("orders", "upsert", {
          data: [open, shut].map((order_id) => ({ order_id, note: "x" })),
          mode: "each",
        }),
      1,
    ],
    // The closed order has another total than its lines: a refused line must not give it a new one.
    ...["bulk-update", "upsert"].map(
      (action): [string, (open: string, shut: string) => Promise<Answer>, number] => [
        `${action} of lines`,
        async (open, shut) => {
          await office.fixture.sql(`update orders set total = 7 where order_id = '${shut}'`);
          const data = [shut, open].map((line_id) => ({ line_id, amount: 5 }));
          return post("lines", action, { data, mode: "each" });
        },
        0,
      ],
    ),
    [
      "bulk-create of lines",
      (open, shut) =>
        post("lines", "bulk-create", {
          data: [open, shut].map((order_id) => ({ line_id: randomUUID(), order_id })),
          mode: "each",
        }),
      1,
    ],
    [
      "bulk-delete of lines",
      (open, shut) => post("lines", "bulk-delete", { keys: [open, shut], mode: "each" }),
      1,
    ],
  ])("%s in mode each stores the others", async (_, send, at) => {
    const answer = await send(await office.order(), await office.order("posted"));
    expect(answer.status, JSON.stringify(answer.body)).toBe(207);
    expect(answer.body.summary).toEqual({ succeeded: 1, failed: 1 });
    expect(answer.body.results[at]).toMatchObject({ success: false, error: "Record closed" });
  });

  test("a batch that closes a record refuses its later steps", async () => {
    const order_id = await office.order();
    const answer = await post("", "_batch", {
      steps: [
        { endpoint: "lines", action: "update", body: { line_id: order_id, code: "x" } },
        { endpoint: "orders", action: "change-status", body: { order_id, status: "posted" } },
        { endpoint: "lines", action: "update", body: { line_id: order_id, code: "y" } },
      ],
    });
    check(answer, closed);
    expect(answer.body.failed_step).toEqual({ index: 2, id: null });
    expect((await office.rows("orders", "order_id", order_id))[0]!["status"]).toBe("draft");
  });

  test.each([
    [
      "an order",
      "orders",
      (order_id: string) => [
        ["code", "note"],
        [code(order_id), "x"],
      ],
    ],
    [
      "an order of the endpoint without rules",
      "orders-plain",
      (order_id: string) => [
        ["code", "note"],
        [code(order_id), "x"],
      ],
    ],
    [
      "a line",
      "lines",
      (order_id: string) => [
        ["line_id", "code"],
        [order_id, "x"],
      ],
    ],
    [
      "a new line",
      "lines",
      (order_id: string) => [
        ["line_id", "order_id"],
        [randomUUID(), order_id],
      ],
    ],
  ])("an import says of %s before it is stored", async (_, endpoint, rows) => {
    const order_id = await office.order("posted");
    const answer = await office.imported(endpoint, rows(order_id));
    expect(answer.body.status, JSON.stringify(answer.body)).toBe("preview_error");
    expect(JSON.stringify(answer.body)).toContain("closed record");
    expect((await office.rows("orders", "order_id", order_id))[0]!["note"]).toBeNull();
  });

  test("an import that was approved before stores nothing", async () => {
    const [open, shut] = [await office.order(), await office.order()];
    const rows = [["code", "note"], ...[open, shut].map((order_id) => [code(order_id), "x"])];
    const commit = await office.approved("orders", rows);
    check(await post("orders", "change-status", { order_id: shut, status: "posted" }), {
      status: 200,
    });
    const { body } = await commit();
    expect(body.status, JSON.stringify(body)).toBe("failed");
    expect(JSON.stringify(body)).toContain("The record is closed and cannot be changed");
    expect((await office.rows("orders", "order_id", open))[0]!["note"]).toBeNull();
  });

  test("an import of open ones is stored", async () => {
    const order_id = await office.order();
    const answer = await office.imported("orders", [
      ["code", "note"],
      [code(order_id), "in"],
    ]);
    expect(answer.body, JSON.stringify(answer.body)).toMatchObject({ status: "completed" });
    expect((await office.rows("orders", "order_id", order_id))[0]!["note"]).toBe("in");
  });
});

describe("writes that come with others", () => {
  test("a delete that the database carries on to a closed record is refused", async () => {
    const group_id = randomUUID();
    check(await post("groups", "create", { group_id }), { status: 201 });
    const order_id = await office.order("draft", { group_id });
    await post("lines", "delete", by("order_id", order_id));
    check(await post("orders", "change-status", { order_id, status: "posted" }), { status: 200 });
    check(await post("groups", "delete", by("group_id", group_id)), closed);
    expect(await office.rows("groups", "group_id", group_id)).toHaveLength(1);
  });

  test("a delete that clears a column of a closed record's line is refused", async () => {
    const product_id = randomUUID();
    check(await post("products", "create", { product_id }), { status: 201 });
    const order_id = await office.order();
    await office.line(order_id, { product_id });
    check(await post("orders", "change-status", { order_id, status: "posted" }), { status: 200 });
    check(await post("products", "delete", by("product_id", product_id)), closed);
    check(await post("products", "update", { product_id, name: "n" }), { status: 200 });
  });

  test("the same deletes go on where nothing is closed", async () => {
    const [product_id, group_id] = [randomUUID(), randomUUID()];
    await post("products", "create", { product_id });
    await post("groups", "create", { group_id });
    const order_id = await office.order();
    const line_id = await office.line(order_id, { product_id });
    check(await post("products", "delete", by("product_id", product_id)), { status: 200 });
    expect((await office.rows("order_lines", "line_id", line_id))[0]!["product_id"]).toBeNull();
    check(await post("groups", "delete", by("group_id", group_id)), { status: 200 });
  });

  describe.each<[string, (spot_id: string, code: string) => Promise<Answer>]>([
    ["update", (spot_id, next) => post("spots", "update", { spot_id, code: next })],
    [
      "bulk-update",
      (spot_id, next) => post("spots", "bulk-update", { data: [{ spot_id, code: next }] }),
    ],
    ["upsert", (spot_id, next) => post("spots", "upsert", { data: { spot_id, code: next } })],
    ["a step of a batch", (spot_id, next) => batch("spots", "update", { spot_id, code: next })],
  ])("%s of what others reference", (_, send) => {
    async function spot(): Promise<{ spot_id: string; old: string; next: string }> {
      const spot_id = randomUUID();
      check(await post("spots", "create", { spot_id, code: code(spot_id) }), { status: 201 });
      return { spot_id, old: code(spot_id), next: `${code(spot_id)}-b` };
    }

    test("is refused where the database would change a closed record", async () => {
      const { spot_id, old, next } = await spot();
      const order_id = await office.order("posted", { spot_code: old });
      check(await send(spot_id, next), closed);
      expect((await office.rows("orders", "order_id", order_id))[0]!["spot_code"]).toBe(old);
    });

    test("is refused where the database would clear a closed record's line", async () => {
      const { spot_id, old, next } = await spot();
      const order_id = await office.order();
      await office.line(order_id, { spot_code: old });
      check(await post("orders", "change-status", { order_id, status: "posted" }), { status: 200 });
      check(await send(spot_id, next), closed);
    });

    test("goes on with the value that it has", async () => {
      const { spot_id, old } = await spot();
      await office.order("posted", { spot_code: old });
      check(await send(spot_id, old), { status: 200 });
    });

    test("goes on where nothing is closed", async () => {
      const { spot_id, old, next } = await spot();
      const order_id = await office.order("draft", { spot_code: old });
      check(await send(spot_id, next), { status: 200 });
      expect((await office.rows("orders", "order_id", order_id))[0]!["spot_code"]).toBe(next);
    });
  });

  test("an import that the database carries on to a closed record is refused", async () => {
    const spot_id = randomUUID();
    await post("spots", "create", { spot_id, code: code(spot_id) });
    const order_id = await office.order("posted", { spot_code: code(spot_id) });
    const answer = await office.imported("spots", [
      ["spot_id", "code"],
      [spot_id, "moved"],
    ]);
    expect(JSON.stringify(answer.body)).toContain("The record is closed");
    expect((await office.rows("orders", "order_id", order_id))[0]!["spot_code"]).toBe(
      code(spot_id),
    );
  });

  test("restore of a closed record is refused", async () => {
    const order_id = await office.order();
    check(await post("lines", "delete", by("order_id", order_id)), { status: 200 });
    check(await post("orders", "delete", by("order_id", order_id)), { status: 200 });
    await office.fixture.sql(`update orders set status = 'posted' where order_id = '${order_id}'`);
    check(await post("orders", "restore", by("order_id", order_id)), closed);
  });

  test("restore of a closed record's line is refused", async () => {
    const order_id = await office.order();
    check(await post("lines", "delete", by("line_id", order_id)), { status: 200 });
    check(await post("orders", "change-status", { order_id, status: "posted" }), { status: 200 });
    check(await post("lines", "restore", by("line_id", order_id)), closed);
  });

  async function changeOf(endpoint: string, key: object, action: string): Promise<string> {
    const answer = await post(endpoint, "history", { ...key, per_page: 50 });
    const found = answer.body.data.find((one: { action: string }) => one.action === action);
    return found.change_id as string;
  }

  test.each<[string, (order_id: string) => Promise<Answer>]>([
    [
      "an update of a closed record",
      async (order_id) =>
        post("orders", "revert", { change_id: await changeOf("orders", { order_id }, "update") }),
    ],
    [
      "an update of a line",
      async (order_id) =>
        post("lines", "revert", {
          change_id: await changeOf("lines", { line_id: order_id }, "update"),
        }),
    ],
    [
      "the step that closed it",
      async (order_id) =>
        post("orders", "revert", {
          change_id: await changeOf("orders", { order_id }, "change-status"),
        }),
    ],
  ])("revert of %s is refused", async (_, send) => {
    const order_id = await office.order();
    await post("orders", "update", { order_id, note: "x" });
    await post("lines", "update", { line_id: order_id, code: "x" });
    check(await post("orders", "change-status", { order_id, status: "posted" }), { status: 200 });
    check(await send(order_id), closed);
  });

  test("totals follow where the record is open, and stand still where it is closed", async () => {
    const order_id = await office.order();
    await office.line(order_id, { amount: 4 });
    const total = async () =>
      Number((await office.rows("orders", "order_id", order_id))[0]!["total"]);
    expect(await total()).toBe(5);
    await post("orders", "change-status", { order_id, status: "posted" });
    check(await post("lines", "update", { line_id: order_id, amount: 100 }), closed);
    expect(await total()).toBe(5);
  });
});
