/** `_batch`: the steps of one transaction, their references, rights of way and failures. */
import { beforeEach, describe, expect, test } from "vitest";
import { openBatched, type Step } from "./batched.ts";
import { check } from "./cases.ts";
import type { Answer } from "./harness.ts";

const shop = openBatched();
const { batch, on, post } = shop;
const data = (answer: Answer, at: number) => answer.body.data[at].body.data;

beforeEach(() => shop.empty());

const customer = (customer_id: string, name = customer_id): Step => ({
  id: customer_id,
  endpoint: "customers",
  action: "create",
  body: { customer_id, name },
});
const account = (account_id: string, balance = 10): Step => ({
  endpoint: "accounts",
  action: "create",
  body: { account_id, balance },
});
const adjust = (account_id: string, value: number): Step => ({
  endpoint: "accounts",
  action: "adjust",
  body: { account_id, adjustments: [{ field: "balance", value }] },
});
const ref = (path: string) => ({ $ref: path });

describe("a batch", () => {
  test("runs every kind of step, and answers what each answers by itself", async () => {
    const steps: Step[] = [
      customer("c1", "Ada"),
      {
        endpoint: "customers",
        action: "first",
        body: { where: { key: "customer_id", value: "c1" } },
      },
      { endpoint: "customers", action: "read", body: { page: 1, per_page: 5 } },
      { endpoint: "customers", action: "lookup", body: { limit: 5 } },
      {
        endpoint: "customers",
        action: "aggregate",
        body: { operations: [{ function: "count", field: "*", alias: "n" }] },
      },
      { endpoint: "customers", action: "update", body: { customer_id: "c1", name: "Eve" } },
      {
        endpoint: "customers",
        action: "delete",
        body: { where: [{ key: "customer_id", value: "c1" }] },
      },
      {
        endpoint: "customers",
        action: "restore",
        body: { where: [{ key: "customer_id", value: "c1" }] },
      },
      account("a1"),
      adjust("a1", 5),
      {
        id: "order",
        endpoint: "orders",
        action: "create-composite",
        body: { orders: { customer_id: "c1", order_lines: [{ amount: 2.5 }, { amount: 4 }] } },
      },
      {
        endpoint: "orders",
        action: "update-composite",
        body: {
          orders: {
            order_id: ref("order.data.order_id"),
            note: "n",
            order_lines: { insert: [{ amount: 1 }] },
          },
        },
      },
      {
        endpoint: "orders",
        action: "read-composite",
        body: { where: [{ key: "order_id", value: ref("order.data.order_id") }] },
      },
      { endpoint: "tickets", action: "create", body: { ticket_id: "t1", status: "new" } },
      { endpoint: "tickets", action: "change-status", body: { id: "t1", status: "open" } },
    ];
    const answer = await batch(steps);
    check(answer, { status: 200 });
    expect(Object.keys(answer.body)).toEqual(["success", "data", "timestamp"]);
    const statuses = answer.body.data.map(({ status }: Answer) => status);
    expect(statuses).toEqual([
      201, 200, 200, 200, 200, 200, 200, 200, 201, 200, 201, 200, 200, 201, 200,
    ]);
    expect(answer.body.data.map(({ id }: Step) => id)).toEqual(steps.map(({ id = null }) => id));
    for (const { body } of answer.body.data) expect(body).toMatchObject({ success: true });
    expect(data(answer, 0)).toMatchObject({ customer_id: "c1", name: "Ada" });
    expect(data(answer, 1)).toMatchObject({ name: "Ada" });
    expect(answer.body.data[2].body).toMatchObject({
      data: [{ name: "Ada" }],
      pagination: { total_records: 1 },
    });
    expect(answer.body.data[3].body).toMatchObject({ data: [{ id: "c1", text: "Ada" }] });
    expect(data(answer, 4)).toEqual({ n: 1 });
    expect(data(answer, 5)).toMatchObject({ name: "Eve" });
    expect(data(answer, 6)).toMatchObject({ deleted_count: 1 });
    expect(data(answer, 7)).toMatchObject({ restored_count: 1 });
    expect(data(answer, 9)).toMatchObject({ balance: 15 });
    expect(data(answer, 10)).toMatchObject({
      total: 6.5,
      order_lines: [{ amount: 2.5 }, { amount: 4 }],
    });
    expect(data(answer, 11)).toMatchObject({ total: 7.5, note: "n" });
    expect(data(answer, 12).order_lines).toHaveLength(3);
    expect(answer.body.data[14].body.workflow).toMatchObject({ newStatus: "open" });
    expect(await shop.rows("order_lines")).toHaveLength(3);
  });

  test("stands for members of earlier answers, of lists and of objects", async () => {
    const extra = { a: [1, { b: 2 }], "0": "zero" };
    const answer = await batch([
      { ...customer("c1"), body: { customer_id: "c1", name: "Ada", extra } },
      customer("c2", "Bob"),
      {
        id: "list",
        endpoint: "customers",
        action: "read",
        body: { page: 1, sort_columns: [{ column: "name", direction: "ASC" }] },
      },
      {
        id: "o",
        endpoint: "orders",
        action: "create",
        body: { customer_id: ref("list.data.1.customer_id") },
      },
      {
        endpoint: "customers",
        action: "update",
        body: {
          customer_id: "c2",
          extra: [ref("c1.data.extra.a.1"), ref("c1.data.extra.0"), ref("o.success")],
        },
      },
      {
        endpoint: "customers",
        action: "read",
        body: { page: ref("list.pagination.current_page") },
      },
    ]);
    check(answer, { status: 200 });
    expect(data(answer, 3)).toMatchObject({ customer_id: "c2" });
    expect(data(answer, 4).extra).toEqual([{ b: 2 }, "zero", true]);
  });

  test("takes a whole body from an earlier answer", async () => {
    const answer = await batch([
      {
        ...customer("c1"),
        body: { customer_id: "c1", name: "c1", extra: { copy: { name: "x" } } },
      },
      { endpoint: "customers", action: "create", body: ref("c1.data.extra.copy") },
      {
        endpoint: "customers",
        action: "update",
        body: {
          customer_id: "c1",
          extra: { copy: ref("c1.data.extra"), list: [ref("c1.data.name")] },
        },
      },
    ]);
    check(answer, { status: 200 });
    expect(data(answer, 1)).toMatchObject({ name: "x" });
    expect(data(answer, 2).extra).toEqual({ copy: { copy: { name: "x" } }, list: ["c1"] });
  });

  test("keeps numbers of many digits", async () => {
    const steps = `{"steps":[
      {"id":"a","endpoint":"accounts","action":"create","body":{"account_id":"a","big":9223372036854775807}},
      {"id":"b","endpoint":"accounts","action":"create","body":{"account_id":"b","big":{"$ref":"a.data.big"}}}]}`;
    check(await post("_batch", steps), { status: 200 });
    const stored = await shop.sql(
      "select count(*) as n from accounts where big = 9223372036854775807",
    );
    expect(Number(stored[0]!["n"])).toBe(2);
  });

  test("leaves objects with members beside $ref as they are, and stores what $literal holds", async () => {
    const extra = { plain: { $ref: "c1.data.name", more: 1 }, other: { $literal: 1, more: 2 } };
    const literal = { $ref: "c1.data.name", deep: [{ $ref: "nobody" }, { $literal: 1 }] };
    const answer = await batch([
      { ...customer("c1"), body: { customer_id: "c1", name: "c1", extra } },
      {
        ...customer("c2"),
        body: { customer_id: "c2", name: "c2", extra: { $literal: { $ref: "c1.data.name" } } },
      },
      { ...customer("c3"), body: { customer_id: "c3", name: "c3", extra: { $literal: literal } } },
      {
        ...customer("c4"),
        body: { customer_id: "c4", name: "c4", extra: { $literal: { $literal: 7 } } },
      },
    ]);
    check(answer, { status: 200 });
    expect([0, 1, 2, 3].map((at) => data(answer, at).extra)).toEqual([
      extra,
      { $ref: "c1.data.name" },
      literal,
      { $literal: 7 },
    ]);
  });

  test("lets each step see what earlier steps wrote, and nobody else before the end", async () => {
    const counts: number[] = [];
    on.onBeforeUpdate = async () => {
      const rows = await post("accounts/read", { page: 1, per_page: 5 });
      counts.push(rows.body.count);
    };
    const answer = await batch([
      account("a1", 3),
      adjust("a1", 4),
      { endpoint: "handled", action: "update", body: { account_id: "a1", balance: 20 } },
      adjust("a1", -20),
      { endpoint: "accounts", action: "read", body: { page: 1, per_page: 5 } },
    ]);
    check(answer, { status: 200 });
    expect(data(answer, 4)).toMatchObject([{ account_id: "a1", balance: 0 }]);
    // SQLite in a file lets readers see the last commit.
    expect(counts).toEqual([0]);
  });

  test.each<[string, Step, number, string]>([
    [
      "a rule",
      { endpoint: "accounts", action: "create", body: { account_id: "x", balance: "many" } },
      400,
      "Validation failed",
    ],
    ["a duplicate", account("a1"), 409, "Duplicate entry"],
    ["a missing record", adjust("nobody", 1), 404, "Not found"],
    ["a minimum", adjust("a1", -100), 409, "Constraint violation"],
    [
      "a foreign key",
      { endpoint: "orders", action: "create", body: { customer_id: "nobody" } },
      400,
      "Foreign key constraint",
    ],
    [
      "a version",
      {
        endpoint: "accounts",
        action: "update",
        body: { account_id: "a1", balance: 1 },
        if_match: '"old"',
      },
      412,
      "Precondition failed",
    ],
    [
      "an unknown column",
      { endpoint: "accounts", action: "read", body: { page: 1, select: ["nope"] } },
      400,
      "Invalid field",
    ],
    [
      "a refused line",
      {
        endpoint: "orders",
        action: "create-composite",
        body: { orders: { order_lines: [{ amount: 1 }, { amount: -1 }] } },
      },
      400,
      "Validation failed",
    ],
    [
      "no restored record",
      {
        endpoint: "customers",
        action: "restore",
        body: { where: [{ key: "customer_id", value: "x" }] },
      },
      404,
      "Data not found",
    ],
    [
      "a hook",
      { endpoint: "tickets", action: "change-status", body: { id: "t1", status: "refused" } },
      502,
      "Hook execution failed",
    ],
  ])("is undone by %s, and answers that error", async (_name, step, status, error) => {
    await post("tickets/create", { ticket_id: "t1", status: "new" });
    const answer = await batch([
      account("a1"),
      customer("c1"),
      { ...step, id: "last" },
      customer("c2"),
    ]);
    check(answer, { status, error });
    expect(answer.body.failed_step).toEqual({ index: 2, id: "last" });
    expect(await shop.rows("accounts")).toEqual([]);
    expect(await shop.rows("customers")).toEqual([]);
    const alone = async () => {
      await post("accounts/create", account("a1").body);
      const { headers, body } = await post(
        `${step.endpoint}/${step.action}`,
        step.body,
        step.if_match ? { "If-Match": String(step.if_match) } : {},
      );
      return { error: body.error, errors: body.errors, message: body.message, headers };
    };
    const { errors, message } = await alone();
    expect(answer.body.message).toBe(message);
    expect(answer.body.errors).toEqual(errors);
  });

  test("goes on after a composite whose lines were stored one by one", async () => {
    const answer = await batch([
      customer("c1"),
      {
        endpoint: "orders",
        action: "create-composite",
        body: { orders: { customer_id: "c1", order_lines: [{ amount: 1 }, { amount: 2 }] } },
      },
      account("a1"),
    ]);
    check(answer, { status: 200 });
    expect(await shop.rows("order_lines")).toHaveLength(2);
  });

  test("runs handlers as single actions do, and undoes what they write", async () => {
    const events: string[] = [];
    const note = async ({
      event,
      dryRun,
      query,
      record,
    }: Parameters<NonNullable<typeof on.onAfterInsert>>[0]) => {
      events.push(`${event} ${record?.["account_id"] ?? "-"} ${dryRun}`);
      await query("insert into journal (note) values (?)", [event]);
    };
    on.onBeforeInsert = note;
    on.onAfterInsert = note;
    on.onAfterUpdate = note;
    const steps: Step[] = [
      { ...account("a1"), endpoint: "handled" },
      { endpoint: "handled", action: "update", body: { account_id: "a1", balance: 1 } },
    ];
    check(await batch(steps), { status: 200 });
    expect(events.splice(0)).toEqual([
      "onBeforeInsert - false",
      "onAfterInsert a1 false",
      "onAfterUpdate a1 false",
    ]);
    expect(await shop.rows("journal")).toHaveLength(3);
    on.onAfterUpdate = ({ reject }) => reject("No", { balance: "never" });
    const refused = await batch(
      steps.map((step, at) => (at === 0 ? { ...account("a2"), endpoint: "handled" } : step)),
    );
    check(refused, {
      status: 422,
      error: "Rejected by hook",
      message: "No",
      errors: { balance: ["never"] },
    });
    expect(refused.body.failed_step).toEqual({ index: 1, id: null });
    expect(await shop.rows("journal")).toHaveLength(3);
    expect(await shop.rows("accounts")).toHaveLength(1);
  });

  test("takes if_match and lock tokens for each step", async () => {
    const made = await post("customers/create", { customer_id: "c1", name: "c1" });
    const update: Step = {
      endpoint: "customers",
      action: "update",
      body: { customer_id: "c1", name: "x" },
    };
    check(await batch([{ ...update, if_match: '"wrong"' }]), {
      status: 412,
      error: "Precondition failed",
    });
    check(await batch([{ ...update, if_match: made.headers.get("etag")! }]), { status: 200 });
    expect(await shop.rows("customers")).toMatchObject([{ name: "x" }]);
  });

  test("calls blocking hooks during the batch, and others after it or never", async () => {
    await post("tickets/create", { ticket_id: "t2", status: "new" });
    const told: Step = {
      endpoint: "tickets",
      action: "change-status",
      body: { id: "t2", status: "told" },
    };
    const heard = () =>
      shop.server.heard
        .filter(({ path }) => path.includes("/t2"))
        .map(({ path }) => path.split("/")[1]);
    const failing = await batch([told, adjust("nobody", 1)]);
    check(failing, { status: 404, error: "Not found" });
    expect(failing.body.failed_step).toEqual({ index: 1, id: null });
    await new Promise((resolve) => setTimeout(resolve, 100));
    // Those that were waited for are not taken back.
    expect(heard()).toEqual(["before", "after"]);
    const answer = await batch([told]);
    check(answer, { status: 200 });
    expect(answer.body.data[0].body.workflow.hooksExecuted).toEqual([
      "onBefore:before",
      "onAfter:after",
      "onAfter:later",
    ]);
    await shop.server.hears("/later/t2");
    expect(heard()).toEqual(["before", "after", "before", "after", "later"]);
  });

  test("stores nothing in a dry run, and says what it would have answered", async () => {
    const before = shop.server.heard.length;
    await post("tickets/create", { ticket_id: "t3", status: "new" });
    const steps: Step[] = [
      customer("c1"),
      { endpoint: "tickets", action: "change-status", body: { id: "t3", status: "refused" } },
      { endpoint: "orders", action: "create", body: { customer_id: ref("c1.data.customer_id") } },
    ];
    const headers = { "Idempotency-Key": "dry-batch" };
    for (const _ of [1, 2]) {
      const answer = await batch(steps, { dry_run: true }, headers);
      check(answer, { status: 200 });
      expect(answer.body.dry_run).toBe(true);
      expect(answer.headers.has("Idempotency-Replayed")).toBe(false);
      expect(data(answer, 2)).toMatchObject({ customer_id: "c1" });
    }
    expect(await shop.rows("customers")).toEqual([]);
    expect(await shop.rows("orders")).toEqual([]);
    expect(shop.server.heard).toHaveLength(before);
    const faulty = await batch([...steps, adjust("nobody", 1)], { dry_run: true });
    check(faulty, { status: 404, error: "Not found" });
    expect(faulty.body).toMatchObject({ dry_run: true, failed_step: { index: 3 } });
  });

  test("is done once under its Idempotency-Key", async () => {
    await post("accounts/create", account("a1").body);
    const steps = [
      customer("c1"),
      adjust("a1", 1),
      { endpoint: "customers", action: "read", body: { page: 1 } },
    ];
    const headers = { "Idempotency-Key": "once" };
    const first = await batch(steps, {}, headers);
    check(first, { status: 200 });
    const second = await batch(steps, {}, headers);
    expect(second.body).toEqual(first.body);
    expect(second.headers.get("Idempotency-Replayed")).toBe("true");
    expect(await shop.rows("accounts")).toMatchObject([{ balance: 11 }]);
    check(await batch(steps.slice(1), {}, headers), {
      status: 422,
      error: "Idempotency key reuse",
    });
    const failing = [...steps, adjust("nobody", 1)];
    const other = { "Idempotency-Key": "again" };
    for (const _ of [1, 2])
      check(await batch(failing, {}, other), { status: 409, error: "Duplicate entry" });
  });

  test("invalidates cached lists of all of its tables, once it has committed", async () => {
    const lists = () =>
      Promise.all(
        ["customers", "accounts"].map(
          async (name) => (await post(`${name}/read`, { page: 1 })).body.count,
        ),
      );
    expect(await lists()).toEqual([0, 0]);
    check(await batch([customer("c1"), account("a1"), adjust("nobody", 1)]), {
      status: 404,
      error: "Not found",
    });
    expect(await lists()).toEqual([0, 0]);
    check(await batch([customer("c1"), account("a1")]), { status: 200 });
    expect(await lists()).toEqual([1, 1]);
    // Reads within the batch neither use nor fill the cache.
    const read: Step = { endpoint: "customers", action: "read", body: { page: 1 } };
    const undone = await batch([read, customer("c2"), read, adjust("nobody", 1)]);
    check(undone, { status: 404, error: "Not found" });
    expect(await lists()).toEqual([1, 1]);
    const answer = await batch([read, customer("c2"), read]);
    expect([0, 2].map((at) => answer.body.data[at].body.count)).toEqual([1, 2]);
  });

  test("of reads alone sees one moment, and writes nothing", async () => {
    const read: Step = { endpoint: "customers", action: "read", body: { page: 1 } };
    const answer = await batch([{ ...read, id: "r" }, read]);
    check(answer, { status: 200 });
    expect(answer.body.data.map(({ status }: Answer) => status)).toEqual([200, 200]);
  });
});

describe("an independent batch", () => {
  const independent = { independent: true };
  test("answers each read with its own status", async () => {
    await post("customers/create", { customer_id: "c1", name: "Ada" });
    const answer = await batch(
      [
        { id: "a", endpoint: "customers", action: "read", body: { page: 1 } },
        { endpoint: "customers", action: "first", body: { where: { key: "nope", value: 1 } } },
        { endpoint: "customers", action: "lookup", body: {} },
        { endpoint: "accounts", action: "read", body: { page: 0 } },
      ],
      independent,
    );
    check(answer, { status: 200 });
    expect(answer.body.data).toMatchObject([
      { id: "a", status: 200, body: { success: true, count: 1 } },
      {
        id: null,
        status: 400,
        body: { success: false, error: "Invalid field", message: expect.any(String) },
      },
      { id: null, status: 200, body: { success: true, data: [{ id: "c1", text: "Ada" }] } },
      { id: null, status: 400, body: { success: false, error: "Invalid parameter" } },
    ]);
  });

  test.each<[string, Step[], number]>([
    ["a write", [{ endpoint: "customers", action: "read", body: { page: 1 } }, customer("c1")], 1],
    [
      "a reference",
      [
        { id: "a", endpoint: "customers", action: "read", body: { page: 1 } },
        { endpoint: "customers", action: "read", body: { page: ref("a.count") } },
      ],
      1,
    ],
  ])("refuses %s", async (_name, steps, index) => {
    const answer = await batch(steps, independent);
    check(answer, { status: 400, error: "Invalid payload" });
    expect(answer.body.failed_step).toEqual({ index, id: steps[index]!.id ?? null });
  });
});
