/** next-statuses over HTTP: the status of a record, and those that can follow it. */
import { beforeAll, describe, expect, test } from "vitest";
import { check, type Case } from "./cases.ts";
import { openShop } from "./shop.ts";

const shop = openShop();

const statuses = ["draft", "posted", "closed", "cancelled", null] as const;
beforeAll(async () => {
  for (const status of statuses)
    await shop.post("orders", "create", { order_id: `n-${status}`, status, stage: 2 });
});

const next = (endpoint: string, body?: unknown) => shop.post(endpoint, "next-statuses", body);

describe("the answer", () => {
  test("next-statuses answers 200 with the status, what may follow and nothing else", async () => {
    const answer = await next("orders", { order_id: "n-draft" });
    check(answer, { status: 200 });
    expect(Object.keys(answer.body)).toEqual(["success", "data", "timestamp"]);
    expect(answer.body.data).toEqual({ status: "draft", allowed: ["posted", "cancelled"] });
  });

  test.each([
    ["posted", ["draft", "closed", "posted"]],
    ["closed", []],
    ["cancelled", []],
    [null, ["draft"]],
  ])("next-statuses after %s are %j", async (status, allowed) => {
    const answer = await next("orders", { id: `n-${status}` });
    expect(answer.body.data).toEqual({ status, allowed });
  });

  test("next-statuses without transitions answers null: any status may follow", async () => {
    const answer = await next("orders-open", { id: "n-draft" });
    expect(answer.body.data).toEqual({ status: "draft", allowed: null });
  });

  test("next-statuses tells a status that is a whole number as text", async () => {
    const answer = await next("order-stages", { id: "n-draft" });
    expect(answer.body.data).toEqual({ status: "2", allowed: ["3", "1"] });
  });

  test("next-statuses takes the primary key's name", async () => {
    check(await next("orders", { order_id: "n-posted" }), {
      status: 200,
      data: { status: "posted" },
    });
  });

  test("next-statuses takes id instead of the primary key's name", async () => {
    check(await next("orders", { id: "n-posted" }), { status: 200, data: { status: "posted" } });
  });

  test("next-statuses agrees with change-status", async () => {
    const allowed = async () => (await next("orders", { id: "n-draft" })).body.data.allowed;
    const [target] = await allowed();
    const changed = await shop.post("orders", "change-status", { id: "n-draft", status: target });
    expect(changed.status).toBe(200);
    expect(await allowed()).toEqual(["draft", "closed", "posted"]);
  });
});

describe("what is refused", () => {
  const cases: Case[] = [
    {
      name: "next-statuses refuses no body",
      body: undefined,
      status: 400,
      error: "Invalid payload",
    },
    { name: "next-statuses refuses {}", body: {}, status: 400, error: "Invalid payload" },
    {
      name: "next-statuses refuses a missing primary key",
      body: { status: "draft" },
      status: 400,
      error: "Invalid payload",
    },
    {
      name: "next-statuses refuses an object as id",
      body: { id: {} },
      status: 400,
      error: "Invalid payload",
    },
    {
      name: "next-statuses answers 404 for a record that is not there",
      body: { id: "none" },
      status: 404,
      error: "Not found",
    },
  ];
  test.each(cases)("$name", async ({ body, ...expected }) => {
    check(await next("orders", body), expected);
  });

  test("next-statuses is on with change-status, unless it is switched off", async () => {
    check(await next("orders-free", { id: "n-draft" }), { status: 404, error: "Not found" });
  });

  test("next-statuses does not exist where neither it nor change-status is switched on", async () => {
    check(await next("items", { id: "i01" }), { status: 404, error: "Not found" });
  });
});
