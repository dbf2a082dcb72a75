/** `workflow.roles` and `workflow.closed`: who may take which step, and that only change-status changes the status. */
import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { check } from "./cases.ts";
import { openOffice } from "./closed.ts";
import type { Answer } from "./harness.ts";

const office = openOffice();
const { post, as } = office;

const forbidden = { status: 403, error: "Forbidden" };
const refused = { status: 400, error: "Validation failed", errors: ["status"] };
const statusOf = async (order_id: string) =>
  (await office.rows("orders", "order_id", order_id))[0]!["status"];
const code = (order_id: string) => order_id.slice(0, 8);

describe("a step that needs a role", () => {
  test.each([
    ["manager", "orders", "approved", 200],
    ["clerk", "orders", "approved", 403],
    ["admin", "orders", "approved", 403],
    ["admin", "orders-plain", "approved", 403],
    ["admin", "orders-held", "approved", 403],
    ["manager", "orders", "checked", 200],
    ["checker", "orders-held", "checked", 200],
    ["clerk", "orders", "checked", 403],
    ["clerk", "orders", "cancelled", 200],
  ])("taken by %s through %s into %s answers %i", async (role, endpoint, status, expected) => {
    const order_id = await office.order();
    const answer = await as(role)(endpoint, "change-status", { order_id, status });
    check(answer, expected === 403 ? forbidden : { status: expected });
    expect(await statusOf(order_id)).toBe(expected === 403 ? "draft" : status);
  });

  test.each([
    ["manager", "orders", ["checked", "approved", "cancelled", "posted"]],
    ["clerk", "orders", ["cancelled", "posted"]],
    ["admin", "orders", ["cancelled", "posted"]],
  ])("is told to %s by next-statuses of %s as %j", async (role, endpoint, allowed) => {
    const order_id = await office.order();
    const answer = await as(role)(endpoint, "next-statuses", { order_id });
    expect(answer.body.data).toEqual({ status: "draft", allowed });
  });

  test.each([
    ["manager", "checked, approved, cancelled, posted"],
    ["clerk", "cancelled, posted"],
  ])("is told to %s by a refused change-status as well", async (role, allowed) => {
    const order_id = await office.order();
    check(await as(role)("orders", "change-status", { order_id, status: "no such status" }), {
      status: 422,
      error: "Transition not allowed",
      message: `The status "draft" cannot change to "no such status"; allowed: ${allowed}`,
    });
  });

  test("next-statuses without transitions still tells null", async () => {
    const order_id = await office.order();
    const answer = await as("checker")("orders-held", "next-statuses", { order_id });
    expect(answer.body.data).toEqual({ status: "draft", allowed: null });
  });

  test("is refused in a batch, which undoes the steps before it", async () => {
    const order_id = await office.order();
    const answer = await as("clerk")("", "_batch", {
      steps: [
        { endpoint: "orders", action: "update", body: { order_id, note: "x" } },
        { endpoint: "orders", action: "change-status", body: { order_id, status: "approved" } },
      ],
    });
    check(answer, forbidden);
    expect((await office.rows("orders", "order_id", order_id))[0]).toMatchObject({
      note: null,
      status: "draft",
    });
  });

  test("is refused to those who lack the role before the transitions are looked at", async () => {
    const order_id = await office.order("cancelled");
    const answer = await as("clerk")("orders", "change-status", { order_id, status: "approved" });
    check(answer, forbidden);
    check(await as("manager")("orders", "change-status", { order_id, status: "approved" }), {
      status: 422,
      error: "Transition not allowed",
    });
  });
});

const reserved = ["approved", "checked", "posted", "cancelled", "held"];

type Make = (order_id: string, status: string) => Promise<Answer>;

const makes: readonly (readonly [string, Make])[] = [
  ["create", (order_id, status) => post("orders", "create", { order_id, status })],
  [
    "create of the endpoint without rules",
    (order_id, status) => post("orders-plain", "create", { order_id, status }),
  ],
  [
    "create by somebody with the role",
    (order_id, status) => as("manager")("orders", "create", { order_id, status }),
  ],
  [
    "create-composite",
    (order_id, status) =>
      post("orders", "create-composite", {
        orders: { order_id, status, order_lines: [{ line_id: randomUUID() }] },
      }),
  ],
];

describe("a new record", () => {
  describe.each(makes)("of %s", (_, make) => {
    test.each(reserved)("is not made %s", async (status) => {
      const order_id = randomUUID();
      check(await make(order_id, status), refused);
      expect(await office.rows("orders", "order_id", order_id)).toEqual([]);
      expect(await office.rows("order_lines", "order_id", order_id)).toEqual([]);
    });

    test.each(["draft", "ready"])("may be made %s", async (status) => {
      const order_id = randomUUID();
      check(await make(order_id, status), { status: 201 });
      expect(await statusOf(order_id)).toBe(status);
    });
  });

  test("may be made without a status, or with none", async () => {
    const [one, other] = [randomUUID(), randomUUID()];
    check(await post("orders", "create", { order_id: one }), { status: 201 });
    check(await post("orders", "create", { order_id: other, status: null }), { status: 201 });
    expect(await statusOf(one)).toBe("draft");
    expect(await statusOf(other)).toBeNull();
  });

  test.each(["bulk-create", "upsert"])(
    "of %s tells the index of each faulty one, beside other faults",
    async (action) => {
      const ids = Array.from({ length: 4 }, () => randomUUID());
      const statuses = ["posted", "draft", "approved", ["draft"]];
      const data = ids.map((order_id, at) => ({ order_id, status: statuses[at] }));
      const answer = await post("orders", action, { data });
      check(answer, { ...refused, errors: ["[0].status", "[2].status", "[3].status"] });
      expect(await office.rows("orders", "order_id", ids[1]!)).toEqual([]);
    },
  );

  test("of an import is refused by its preview", async () => {
    const answer = await office.imported("orders", [
      ["code", "status"],
      [randomUUID().slice(0, 8), "posted"],
    ]);
    expect(answer.body.status, JSON.stringify(answer.body)).toBe("preview_error");
    expect(answer.body.errors[0].messages).toEqual(["status: is changed by change-status only"]);
  });
});

type Change = (order_id: string, status: string | null) => Promise<Answer>;

const changes: readonly (readonly [string, Change])[] = [
  ["update", (order_id, status) => post("orders", "update", { order_id, status })],
  [
    "update of the endpoint without rules",
    (order_id, status) => post("orders-plain", "update", { order_id, status }),
  ],
  [
    "update-composite",
    (order_id, status) => post("orders", "update-composite", { orders: { order_id, status } }),
  ],
  [
    "bulk-update by where",
    (order_id, status) =>
      post("orders", "bulk-update", {
        where: { conditions: [{ key: "order_id", operator: "=", value: order_id }] },
        set: { status },
        expect: 1,
      }),
  ],
];

describe("a status", () => {
  describe.each(changes)("in %s", (_, change) => {
    test.each(["posted", "approved", "ready", null])("is not changed to %s", async (status) => {
      const order_id = await office.order();
      check(await change(order_id, status), refused);
      expect(await statusOf(order_id)).toBe("draft");
    });

    test("may be sent as it is", async () => {
      const order_id = await office.order();
      check(await change(order_id, "draft"), { status: 200 });
    });

    test("may be sent as none where there is none", async () => {
      const order_id = randomUUID();
      check(await post("orders", "create", { order_id, status: null }), { status: 201 });
      check(await change(order_id, null), { status: 200 });
      check(await change(order_id, "draft"), refused);
    });
  });

  test.each([
    ["bulk-update", (data: object[]) => post("orders", "bulk-update", { data })],
    ["upsert", (data: object[]) => post("orders", "upsert", { data })],
  ])("that %s changes is told with the index of each such record", async (_, send) => {
    const ids = [await office.order(), await office.order("ready"), await office.order()];
    const statuses = ["draft", "draft", "ready"];
    const answer = await send(ids.map((order_id, at) => ({ order_id, status: statuses[at] })));
    check(answer, { ...refused, errors: ["[1].status", "[2].status"] });
    const same = ["draft", "ready", "draft"];
    check(await send(ids.map((order_id, at) => ({ order_id, status: same[at] }))), { status: 200 });
    const without = [randomUUID(), randomUUID()];
    const made = without.map((order_id) => ({ order_id, status: null }));
    check(await post("orders", "bulk-create", { data: made }), { status: 201 });
    const [none, word] = without;
    const mixed = [
      { order_id: none, status: null },
      { order_id: word, status: "null" },
    ];
    check(await send(mixed), { ...refused, errors: ["[1].status"] });
  });

  test("that revert would change back is refused", async () => {
    const order_id = await office.order("ready");
    const { body } = await post("orders", "history", { order_id });
    const [{ change_id }] = body.data;
    check(await post("orders", "revert", { change_id }), refused);
  });

  test("that an import changes is refused by its preview", async () => {
    const order_id = await office.order();
    const answer = await office.imported("orders", [
      ["code", "status"],
      [code(order_id), "ready"],
    ]);
    expect(answer.body.status, JSON.stringify(answer.body)).toBe("preview_error");
    const same = await office.imported("orders", [
      ["code", "status", "note"],
      [code(order_id), "draft", "in"],
    ]);
    expect(same.body.status, JSON.stringify(same.body)).toBe("completed");
  });
});

describe("the OpenAPI document", () => {
  const document = async () =>
    (
      await office.fixture.request("/api/test/openapi.json", {
        headers: { "x-api-key": "key of admin" },
      })
    ).body;
  const examplesOf = async (path: string) => {
    const { paths, components } = await document();
    const { $ref } = paths[`/api/test/${path}`].post.responses["409"];
    const { content } = components.responses[$ref.split("/").at(-1)];
    return Object.keys(content["application/json"].examples);
  };

  test("names the closed statuses of a table at each of its endpoints", async () => {
    const { tags } = await document();
    for (const name of ["orders", "orders-plain"]) {
      const { status } = tags.find((tag: { name: string }) => tag.name === name)["x-rowgate"];
      expect(status).toMatchObject({ field: "status", closed: ["held", "posted", "cancelled"] });
    }
  });

  test.each([
    "orders/update",
    "orders-plain/delete",
    "lines/create",
    "notes/update",
    "groups/delete",
  ])("says that %s may meet a closed record", async (path) =>
    expect(await examplesOf(path)).toContain("recordClosed"),
  );

  test("does not say it where nothing can be closed", async () => {
    expect(await examplesOf("visits/update")).not.toContain("recordClosed");
    expect(await examplesOf("tags/update")).not.toContain("recordClosed");
  });
});
