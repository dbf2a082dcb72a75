/** 64 writers of the same counters at once, a third of which are undone: no number twice, and none left out. */
import { expect, test } from "vitest";
import type { Json } from "../../core/values/json.ts";
import { records } from "./cases.ts";
import { type Answer, openFixture, openForTests } from "./harness.ts";

const fixture = openForTests(openFixture, {
  tables: [
    {
      name: "receipts",
      columns: {
        receipt_id: "key",
        receipt_no: { type: "text(20)", unique: true },
        shop: "text(10)",
        state: "text(10)",
        state_no: { type: "text(20)", unique: true },
      },
    },
  ],
  endpoints: {
    receipts: {
      tableName: "receipts",
      action: {
        create: true,
        read: true,
        update: true,
        "bulk-create": true,
        "change-status": true,
      },
      workflow: { statusField: "state" },
      numbers: {
        receipt_no: { format: "{shop}-{seq:6}" },
        state_no: { format: "P{shop}-{seq:6}", onStatus: "posted" },
      },
    },
  },
  project: { batch: { enabled: true } },
});

/** Sent again while the service is too busy: then nothing was stored. */
async function post(path: string, body: object, headers?: Record<string, string>): Promise<Answer> {
  for (;;) {
    const answer = await fixture.post(path, body, headers);
    if (answer.status !== 503) return answer;
  }
}

const writers = Array.from({ length: 64 }, (_, at) => at);

/** The numbers of a column, which must be all from 1. */
async function wholeCounter(shop: string, column = "receipt_no"): Promise<number> {
  const rows = await fixture.sql(
    `select ${column} as number from receipts where shop = '${shop}' and ${column} is not null`,
  );
  const seqs = rows.map(({ number }) => Number(String(number).split("-")[1]));
  expect(seqs.toSorted((a, b) => a - b)).toEqual(rows.map((_, at) => at + 1));
  return rows.length;
}

const failing = { endpoint: "receipts", action: "update", body: { receipt_id: "none", shop: "x" } };

test("single records, of which every third is undone", async () => {
  const results = await Promise.all(
    writers.map(async (at): Promise<Answer[]> => {
      const create = { endpoint: "receipts", action: "create", body: { shop: "one" } };
      return at % 3 === 0
        ? [await post("_batch", { steps: [create, failing] })]
        : [
            await post("receipts/create", { shop: "one" }),
            await post("receipts/create", { shop: "one" }),
          ];
    }),
  );
  const stored = results.flat().filter(({ status }) => status === 201);
  expect(await wholeCounter("one")).toBe(stored.length);
  expect(stored).toHaveLength(writers.filter((at) => at % 3 > 0).length * 2);
});

test("lists over several counters in different orders", async () => {
  const shops = ["a", "b", "c"];
  const results = await Promise.all(
    writers.map((at) => {
      const own = at % 2 === 0 ? shops : shops.toReversed();
      const data = [...own, ...own].map((shop) => ({ shop }));
      const headers = at % 3 === 0 ? { prefer: "tx=rollback" } : undefined;
      return post("receipts/bulk-create", { data }, headers);
    }),
  );
  const stored = results.filter(({ body }) => body.success && body.dry_run === undefined);
  expect(stored, JSON.stringify(results.find(({ body }) => !body.success)?.body)).toHaveLength(
    writers.filter((at) => at % 3 > 0).length,
  );
  for (const answer of stored) expect(records(answer)).toHaveLength(6);
  for (const shop of shops) expect(await wholeCounter(shop)).toBe(stored.length * 2);
});

test("changes of the status", async () => {
  const made = await post("receipts/bulk-create", {
    data: writers.map(() => ({ shop: "moved", state: "draft" })),
  });
  const ids: Json[] = records(made).map((row) => row["receipt_id"]!);
  const results = await Promise.all(
    ids.map((receipt_id, at) => {
      const body = { receipt_id, status: "posted" };
      const step = { endpoint: "receipts", action: "change-status", body };
      return at % 3 === 0
        ? post("_batch", { steps: [step, failing] })
        : post("receipts/change-status", body);
    }),
  );
  const moved = results.filter(({ status }) => status === 200);
  expect(moved).toHaveLength(writers.filter((at) => at % 3 > 0).length);
  expect(await wholeCounter("moved", "state_no")).toBe(moved.length);
});

test("a number that is sent while others are given is passed over", async () => {
  const results = await Promise.all(
    writers.map((at) =>
      post("receipts/create", {
        shop: "sent",
        ...(at % 4 === 0 && { receipt_no: `sent-${String(at + 1).padStart(6, "0")}` }),
      }),
    ),
  );
  const given = results.filter((_, at) => at % 4 > 0);
  expect(given.map(({ status }) => status)).toEqual(given.map(() => 201));
  // One that is sent late may find its number given.
  for (const { status } of results) expect([201, 409]).toContain(status);
});
