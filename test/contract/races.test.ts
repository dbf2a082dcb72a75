/** Concurrent requests for the same thing: one succeeds, and the others get an error that says why they did not. */
import { describe, expect, test } from "vitest";
import { record, tally } from "./cases.ts";
import { openShop } from "./shop.ts";

const shop = openShop();

const many = 20;
const times = <T>(work: (index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: many }, (_, index) => work(index)));

describe("of twenty requests at the same time", () => {
  test("create stores a unique value once", async () => {
    const answers = await times(() => shop.post("items", "create", { code: "RACE", name: "race" }));
    expect(tally(answers)).toEqual({ 201: 1, 409: many - 1 });
  });

  test("create numbers identity keys without a double", async () => {
    const answers = await times((amount) =>
      shop.post("lines", "create", { item_id: "i02", amount }),
    );
    expect(tally(answers)).toEqual({ 201: many });
    expect(new Set(answers.map((answer) => answer.body.data.line_id)).size).toBe(many);
  });

  test("update with the same ETag changes the record once", async () => {
    const created = await shop.post("items", "create", { code: "TAG", name: "tag" });
    const { item_id } = record(created);
    const headers = { "If-Match": created.headers.get("ETag") ?? "" };
    const answers = await times((qty) => shop.post("items", "update", { item_id, qty }, headers));
    expect(tally(answers)).toEqual({ 200: 1, 412: many - 1 });
    const first = await shop.post("items", "first", { where: { key: "item_id", value: item_id } });
    expect(first.body.data).toEqual(answers.find((answer) => answer.status === 200)?.body.data);
  });

  test("update gives each change an updated_at and an ETag of its own", async () => {
    const { item_id } = record(await shop.post("items", "create", { code: "TIME", name: "time" }));
    const answers = await times((qty) => shop.post("items", "update", { item_id, qty }));
    expect(tally(answers)).toEqual({ 200: many });
    expect(new Set(answers.map((answer) => answer.body.data.updated_at)).size).toBe(many);
    expect(new Set(answers.map((answer) => answer.headers.get("ETag"))).size).toBe(many);
  });

  test("delete removes a record once", async () => {
    const { item_id } = record(await shop.post("items", "create", { code: "GONE", name: "gone" }));
    const answers = await times(() =>
      shop.post("items", "delete", { where: [{ key: "item_id", value: item_id }] }),
    );
    expect(tally(answers)).toEqual({ 200: 1, 404: many - 1 });
  });

  test("delete with cascadeDelete and new details leave no detail without its header", async () => {
    const { item_id } = record(await shop.post("items", "create", { code: "HEAD", name: "head" }));
    const answers = await times((amount) =>
      amount === many / 2
        ? shop.post("cascade", "delete", { where: [{ key: "item_id", value: item_id }] })
        : shop.post("lines", "create", { item_id, amount }),
    );
    for (const { status, body } of answers)
      expect([200, 201, 400, 409], JSON.stringify(body)).toContain(status);
    const orphans = await shop.fixture.sql(
      "select line_id from item_lines where item_id not in (select item_id from items)",
    );
    expect(orphans).toEqual([]);
  });
});
