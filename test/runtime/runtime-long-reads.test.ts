/** Statements of minutes on a large SQLite file, on Bun and Deno: they end in time, and small reads stay fast. */
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fillLargeFile, largeFiles, worstJoin } from "../faults/large-file.ts";
import { startService } from "../faults/service-process.ts";
import { type FreshDatabase, freshDatabase } from "../servers/database.ts";
import { commandFor } from "./runtimes.ts";
import { openForTests } from "../contract/harness.ts";

let database: FreshDatabase;
beforeAll(async () => {
  database = await freshDatabase("sqlite");
  fillLargeFile(database.url.slice("sqlite:".length), 200_000);
}, 60_000);
afterAll(() => database?.drop());

/** Longest wait for an answer that a free thread gives at once. A busy machine has pauses. */
const soonMs = 1_000;

describe.each(["bun", "deno"] as const)("a read of minutes on %s", (runtime) => {
  const service = openForTests(() =>
    startService(largeFiles(database.url, { database: { statementTimeoutMs: 3_000 } }), {
      program: commandFor(runtime)!,
      env: { DENO_NO_UPDATE_CHECK: "1" },
    }),
  );

  test.each([
    ["a join on columns that are not unique", "facts/aggregate", worstJoin],
    ["a view of the operator's", "slow/read", { limit: 1, sort_columns: [{ column: "note" }] }],
  ])("%s ends at its time limit, and small reads stay quick", async (_, path, body) => {
    const startedMs = performance.now();
    let endedMs = 0;
    const asked = service.post(path, body).finally(() => (endedMs = performance.now()));
    await wait(200);
    let longestMs = 0;
    let reads = 0;
    for (; endedMs === 0; reads++) {
      const readMs = performance.now();
      const { body: first } = await service.post("facts/first", { where: { key: "id", value: 7 } });
      expect(first).toMatchObject({ data: { id: 7, name: "Fact number 7" } });
      expect((await fetch(`${service.origin}/health/live`)).status).toBe(200);
      longestMs = Math.max(longestMs, performance.now() - readMs);
    }
    expect(await asked).toMatchObject({ status: 503, body: { error: "Service unavailable" } });
    expect(reads).toBeGreaterThan(10);
    expect(longestMs).toBeLessThan(soonMs);
    expect(endedMs - startedMs).toBeLessThan(12_000);
  });

  test("is told to end with SIGTERM, like the service", async () => {
    const asked = service.post("facts/aggregate", worstJoin).catch(() => null);
    await wait(500);
    const startedMs = performance.now();
    await service.stop();
    expect(performance.now() - startedMs).toBeLessThan(10_000);
    await asked;
  });
});
