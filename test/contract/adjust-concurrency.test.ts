/** adjust under load: no change is lost or counted twice, and the minimum holds in every single answer. */
import { expect, test } from "vitest";
import { openShop } from "./shop.ts";

const shop = openShop();

const clients = 64;
const adjustsPerClient = 40;
const start = 50;

test("adjust by 64 clients at a time loses no change and never goes below the minimum", async () => {
  await shop.post("counters", "create", {
    counter_id: "busy",
    stock: start,
    balance: 0,
    big: 0,
    free: 0,
  });
  const results = await Promise.all(Array.from({ length: clients }, (_, client) => run(client)));

  const accepted = results.reduce((sum, result) => sum + result.accepted, 0);
  const refused = results.reduce((sum, result) => sum + result.refused, 0);
  expect(Math.min(...results.map((result) => result.lowest))).toBeGreaterThanOrEqual(0);
  expect(
    refused,
    "some adjusts must meet the guard for this test to mean anything",
  ).toBeGreaterThan(0);

  const last = await shop.post("counters", "first", {
    where: { key: "counter_id", value: "busy" },
  });
  expect(last.body.data.stock).toBe(start + accepted);
}, 120_000);

/** One client's adjusts, one after the other. `accepted` is the sum of its accepted deltas. */
async function run(client: number) {
  const result = { accepted: 0, refused: 0, lowest: start };
  for (let turn = 0; turn < adjustsPerClient; turn++) {
    // Spread over -9 to 9, and slightly more down than up, so that the guard is met again and again.
    const value = ((client * 31 + turn * 17) % 19) - 9 || -1;
    const answer = await shop.post("counters", "adjust", {
      counter_id: "busy",
      adjustments: [{ field: "stock", value }],
    });
    if (answer.status === 200) {
      result.accepted += value;
      result.lowest = Math.min(result.lowest, answer.body.data.stock);
    } else {
      expect(answer.body, "only the guard may refuse").toMatchObject({
        error: "Constraint violation",
      });
      result.refused++;
    }
  }
  return result;
}
