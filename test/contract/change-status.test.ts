/** change-status over HTTP: permitted transitions, what is stored and answered, and refusals. */
import { beforeEach, describe, expect, test } from "vitest";
import { check, instant, record, type Case } from "./cases.ts";
import { openShop } from "./shop.ts";

const shop = openShop();

/** Each test has its own order. */
let id = "";
let rows = 0;
beforeEach(async () => {
  id = `o${++rows}`;
  const body = { order_id: id, code: `c-${rows}`, status: "draft", remarks: "kept", total: 12.5 };
  expect((await shop.post("orders", "create", body)).status).toBe(201);
});

const first = async (endpoint = "orders") =>
  (await shop.post(endpoint, "first", { where: { key: "order_id", value: id } })).body.data;
const changeTo = (status: unknown, more: object = {}, headers?: Record<string, string>) =>
  shop.post("orders", "change-status", { order_id: id, status, ...more }, headers);
const put = (values: string) =>
  shop.fixture.sql(`update orders set ${values} where order_id = '${id}'`);

describe("the answer", () => {
  test("change-status answers 200 with the message, the record, the workflow and nothing else", async () => {
    const answer = await changeTo("posted");
    check(answer, { status: 200, message: "orders data successfully updated" });
    expect(Object.keys(answer.body)).toEqual([
      "success",
      "message",
      "data",
      "workflow",
      "timestamp",
    ]);
    expect(record(answer)).toMatchObject({
      order_id: id,
      status: "posted",
      updated_at: expect.stringMatching(instant),
      updated_by: "Update from API",
    });
    expect(answer.body.workflow).toEqual({
      previousStatus: "draft",
      newStatus: "posted",
      hooksExecuted: [],
    });
  });

  test("change-status answers the record that first answers, with its ETag", async () => {
    const answer = await changeTo("posted");
    const read = await shop.post("orders", "first", { where: { key: "order_id", value: id } });
    expect(record(answer)).toEqual(read.body.data);
    expect(answer.headers.get("ETag")).toBe(read.headers.get("ETag"));
  });

  test("change-status changes the status and the audit columns alone", async () => {
    const before = await first();
    await changeTo("posted", { code: "other", total: 99, created_by: "forged" });
    const { updated_at, ...after } = await first();
    expect({ ...after, updated_at: null }).toEqual({
      ...before,
      status: "posted",
      updated_by: "Update from API",
    });
    expect(updated_at).toMatch(instant);
  });

  test("change-status answers the record as the view shows it", async () => {
    const answer = await shop.post("orders-view", "change-status", { id, status: "posted" });
    check(answer, { status: 200, data: { order_id: id, status: "posted" } });
    expect(answer.body.data.loud_code).toBe(`C-${rows}`);
  });

  test("change-status tells the status also where fieldName does not name it", async () => {
    const answer = await shop.post("orders-narrow", "change-status", { id, status: "anything" });
    check(answer, { status: 200, data: { status: "anything" } });
    expect(answer.body.workflow).toMatchObject({ previousStatus: "draft", newStatus: "anything" });
  });

  test("change-status never shows a hidden column", async () => {
    await put("secret = 'hush-o'");
    expect(JSON.stringify((await changeTo("posted")).body)).not.toContain("hush-o");
  });
});

describe("the parameters", () => {
  test("change-status takes id instead of the primary key's name", async () => {
    const answer = await shop.post("orders", "change-status", { id, status: "posted" });
    check(answer, { status: 200, data: { order_id: id, status: "posted" } });
  });

  test("change-status prefers the primary key's name to id", async () => {
    check(await changeTo("posted", { id: "none" }), { status: 200, data: { order_id: id } });
  });

  test("change-status takes the body {data, options}", async () => {
    const data = { order_id: id, status: "posted" };
    const answer = await shop.post("orders", "change-status", { data, options: {} });
    check(answer, { status: 200, data: { status: "posted" } });
  });

  test("change-status takes updated_by from the body", async () => {
    check(await changeTo("posted", { updated_by: "ann" }), {
      status: 200,
      data: { updated_by: "ann" },
    });
  });

  test("change-status stores updated_by in the column that auditColumns names", async () => {
    const body = { id, status: "posted", updated_by: "ann" };
    await shop.post("orders-narrow", "change-status", body);
    expect(await first()).toMatchObject({ remarks: "ann", updated_by: null });
  });

  test("change-status does not store remarks: they are for hooks and handlers", async () => {
    check(await changeTo("posted", { remarks: "by phone" }), {
      status: 200,
      data: { remarks: "kept" },
    });
  });

  test("change-status stores a status as its rule transforms it", async () => {
    const answer = await changeTo("POSTED");
    check(answer, { status: 200, data: { status: "posted" } });
    expect(answer.body.workflow.newStatus).toBe("posted");
  });

  test("change-status may change a read-only status, which update may not", async () => {
    const answer = await shop.post("orders-free", "change-status", { id, status: "anything" });
    check(answer, { status: 200, data: { status: "anything" } });
  });

  test("change-status finds a record by an integer key, as a number and as a text", async () => {
    const made = record(await shop.post("tickets", "create", { state: "new" }));
    for (const [key, state] of [
      [made["id"], "open"],
      [String(made["id"]), "done"],
    ]) {
      const answer = await shop.post("tickets", "change-status", { id: key, status: state });
      check(answer, { status: 200, data: { id: made["id"], state } });
      expect(answer.headers.get("ETag")).toBeTruthy();
    }
  });

  test("change-status takes statuses that are whole numbers", async () => {
    await put("stage = 1");
    const answer = await shop.post("order-stages", "change-status", { id, status: "2" });
    check(answer, { status: 200, data: { stage: 2 } });
    expect(answer.body.workflow).toMatchObject({ previousStatus: "1", newStatus: "2" });
  });
});

describe("the transitions", () => {
  const steps: [from: string | null, to: string, status: number][] = [
    ["draft", "posted", 200],
    ["draft", "cancelled", 200],
    ["posted", "closed", 200],
    ["posted", "draft", 200],
    ["posted", "posted", 200],
    [null, "draft", 200],
    ["", "draft", 200],
    ["draft", "closed", 422],
    ["draft", "draft", 422],
    ["draft", "unheard", 422],
    ["closed", "draft", 422],
    ["closed", "closed", 422],
    ["cancelled", "draft", 422],
    ["unheard", "draft", 422],
    ["toString", "draft", 422],
    ["constructor", "draft", 422],
    ["draft", "constructor", 422],
    ["draft", "__proto__", 422],
    [null, "posted", 422],
  ];
  test.each(steps)("change-status from %s to %s answers %i", async (from, to, status) => {
    await put(`status = ${from === null ? "null" : `'${from}'`}`);
    const answer = await changeTo(to);
    check(answer, { status, ...(status === 422 && { error: "Transition not allowed" }) });
    expect((await first()).status).toBe(status === 200 ? to : from);
    if (status === 200) expect(answer.body.workflow.previousStatus).toBe(from);
  });

  test("change-status says which statuses may follow", async () => {
    expect((await changeTo("closed")).body.message).toBe(
      'The status "draft" cannot change to "closed"; allowed: posted, cancelled',
    );
  });

  test("change-status says that a status is final", async () => {
    await put("status = 'closed'");
    expect((await changeTo("draft")).body.message).toBe(
      'The status "closed" is final and cannot change',
    );
  });

  test("change-status without transitions lets every status follow", async () => {
    await put("status = 'closed'");
    for (const status of ["draft", "draft", "whatever"]) {
      const answer = await shop.post("orders-free", "change-status", { id, status });
      check(answer, { status: 200, data: { status } });
    }
  });

  test("change-status leaves the record as it is when it refuses", async () => {
    const before = await first();
    await changeTo("closed", { updated_by: "ann" });
    expect(await first()).toEqual(before);
  });
});

describe("what is refused", () => {
  const invalid = { status: 400, error: "Invalid payload" };
  const cases: Case[] = [
    { name: "change-status refuses no body", body: undefined, ...invalid },
    { name: "change-status refuses {}", body: {}, ...invalid },
    { name: "change-status refuses a missing primary key", body: { status: "posted" }, ...invalid },
    { name: "change-status refuses an empty id", body: { id: "", status: "posted" }, ...invalid },
    {
      name: "change-status refuses an id of null",
      body: { id: null, status: "posted" },
      ...invalid,
    },
    {
      name: "change-status refuses an object as id",
      body: { id: {}, status: "posted" },
      ...invalid,
    },
    {
      name: "change-status refuses a list as id",
      body: { id: ["o1"], status: "posted" },
      ...invalid,
    },
    { name: "change-status refuses a missing status", body: { id: "o1" }, ...invalid },
    { name: "change-status refuses an empty status", body: { id: "o1", status: "" }, ...invalid },
    {
      name: "change-status refuses a status of null",
      body: { id: "o1", status: null },
      ...invalid,
    },
    { name: "change-status refuses a number as status", body: { id: "o1", status: 1 }, ...invalid },
    {
      name: "change-status refuses a list as status",
      body: { id: "o1", status: ["posted"] },
      ...invalid,
    },
    {
      name: "change-status refuses an object as status",
      body: { id: "o1", status: {} },
      ...invalid,
    },
    {
      name: "change-status refuses remarks that are no text",
      body: { id: "o1", status: "posted", remarks: 5 },
      ...invalid,
    },
    {
      name: "change-status refuses an updated_by that is no text",
      body: { id: "o1", status: "posted", updated_by: {} },
      ...invalid,
    },
    ...(
      [
        ["a member for hooks", { extra: { list: ["ok", "\udc00"] } }, "extra.list[1]"],
        ["a member's name", { extra: { "\ud83d": 1 } }, "A name in extra"],
      ] as const
    ).map(([where, more, place]) => ({
      name: `change-status refuses half of a surrogate pair in ${where}`,
      body: { id: "o1", status: "posted", ...more },
      ...invalid,
      message: `${place} must be well formed Unicode`,
    })),
    {
      name: "change-status refuses half of a surrogate pair in options",
      body: { data: { id: "o1", status: "posted" }, options: { "a b": "\udfff" } },
      ...invalid,
      message: 'options["a b"] must be well formed Unicode',
    },
    ...["remarks", "updated_by"].map((name) => ({
      name: `change-status refuses half of a surrogate pair in ${name}, on its field`,
      body: { id: "o1", status: "posted", [name]: "half \ud83d" },
      status: 400,
      error: "Validation failed",
      errors: { [name]: ["must be well formed Unicode"] },
    })),
    {
      name: "change-status refuses a status that the column cannot hold",
      body: { id: "o1", status: "x".repeat(13) },
      status: 400,
      error: "Validation failed",
      errors: ["status"],
    },
    {
      name: "change-status refuses an updated_by that the column cannot hold",
      body: { id: "o1", status: "posted", updated_by: "x".repeat(61) },
      status: 400,
      error: "Validation failed",
      errors: ["updated_by"],
    },
    {
      name: "change-status answers 404 for a record that is not there",
      body: { id: "none", status: "posted" },
      status: 404,
      error: "Not found",
    },
  ];
  test.each(cases)("$name", async ({ body, ...expected }) => {
    await put("status = 'draft'");
    check(await shop.post("orders", "change-status", body), expected);
  });

  test("change-status refuses a text for a status of whole numbers", async () => {
    const answer = await shop.post("order-stages", "change-status", { id, status: "high" });
    check(answer, { status: 400, error: "Validation failed", errors: ["stage"] });
  });

  test("change-status does not exist where it is not switched on", async () => {
    check(await shop.post("orders-open", "change-status", { id, status: "posted" }), {
      status: 404,
      error: "Not found",
    });
  });

  test("change-status takes POST alone", async () => {
    const answer = await shop.send("/orders/change-status");
    check(answer, { status: 405, error: "Method not allowed" });
    expect(answer.headers.get("Allow")).toBe("POST");
  });
});

describe("If-Match", () => {
  test("change-status with the current ETag changes the status", async () => {
    const read = await shop.post("orders", "first", { where: { key: "order_id", value: id } });
    const headers = { "If-Match": read.headers.get("ETag") ?? "" };
    check(await changeTo("posted", {}, headers), { status: 200 });
  });

  test("change-status with an ETag from before another change answers 412 and changes nothing", async () => {
    const read = await shop.post("orders", "first", { where: { key: "order_id", value: id } });
    await changeTo("posted");
    const headers = { "If-Match": read.headers.get("ETag") ?? "" };
    check(await changeTo("closed", {}, headers), { status: 412, error: "Precondition failed" });
    expect((await first()).status).toBe("posted");
  });
});

describe("of fifty clients at the same time", () => {
  const graph: Record<string, string[]> = {
    draft: ["posted", "cancelled"],
    posted: ["draft", "closed", "posted"],
  };

  test("change-status from one status to two targets lets exactly one of them win", async () => {
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, at) => {
        const body = { id, status: at % 2 === 0 ? "cancelled" : "draft" };
        // draft can change only to cancelled, and cancelled is final.
        return shop.post("orders", "change-status", body);
      }),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    // The transition is no longer there, or the record's lock was not free in time.
    expect(answers.filter(({ status }) => status === 422 || status === 409)).toHaveLength(49);
    expect((await first()).status).toBe("cancelled");
  });

  test("change-status records only steps of the transitions, one after the other", async () => {
    const targets = ["posted", "draft", "posted", "cancelled", "closed"];
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, at) => changeTo(targets[at % targets.length])),
    );
    const steps = answers.filter(({ status }) => status === 200);
    for (const { status, body } of answers)
      expect([200, 409, 422], JSON.stringify(body)).toContain(status);
    // updated_at grows with each change, so it shows their order.
    steps.sort((a, b) => (a.body.data.updated_at < b.body.data.updated_at ? -1 : 1));
    let current = "draft";
    for (const { body } of steps) {
      expect(body.workflow.previousStatus).toBe(current);
      expect(graph[current]).toContain(body.workflow.newStatus);
      current = body.workflow.newStatus;
    }
    expect(steps.length).toBeGreaterThan(0);
    expect((await first()).status).toBe(current);
  });
});
