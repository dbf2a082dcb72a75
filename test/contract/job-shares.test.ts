/** Limit of waiting jobs per caller: above it the caller has to retry later, and others are still served. */
import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { limits } from "../../core/values/limits.ts";
import { type Answer, openFixture, openForTests } from "./harness.ts";

const keys = { eager: "the key of the eager one", modest: "the key of the modest one" };
const sha256 = (key: string): string => createHash("sha256").update(key).digest("hex");

const fixture = openForTests(openFixture, {
  project: {
    auth: {
      apiKeys: Object.entries(keys).map(([id, key]) => ({
        id,
        sha256: sha256(key),
        roles: ["clerk"],
      })),
    },
  },
  tables: [{ name: "items", columns: { item_id: "key", name: "text(40)" } }],
  endpoints: {
    items: {
      tableName: "items",
      action: { export: true, read: true },
      access: { clerk: ["export", "read"] },
    },
  },
});

const startExport = (who: keyof typeof keys): Promise<Answer> =>
  fixture.post("items/export", { format: "csv" }, { "x-api-key": keys[who] });

test("export answers 429 to a caller whose jobs wait in number, and to nobody else", async () => {
  // All of them come before the first is done: its thread has to be started.
  const asked = Array.from({ length: limits.jobsWaitingCallerMax + 50 }, () =>
    startExport("eager"),
  );
  const answers = await Promise.all(asked);
  const refused = answers.filter(({ status }) => status !== 200);
  expect(refused.length).toBeGreaterThan(0);
  expect(answers.length - refused.length).toBeGreaterThanOrEqual(limits.jobsWaitingCallerMax);
  for (const { status, body, headers } of refused) {
    expect([status, body.error]).toEqual([429, "Too many requests"]);
    expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
  }
  expect((await startExport("modest")).status).toBe(200);
});
