/**
 * The core of the contract tests, in process on Bun and Deno, over all three engines: each action's main file, and what is special to a runtime.
 * `npm run test:runtimes` runs the whole suite.
 */
import { describe, expect, inject, test } from "vitest";
import { contractEngines, runContract } from "./contract-run.ts";

const core = [
  "create",
  "read",
  "first",
  "update",
  "delete",
  "adjust",
  "lookup",
  "aggregate",
  "datatables",
  "composite-create",
  "composite-read",
  "composite-update",
  "change-status",
  "components",
  "cache",
  "locks",
  "http",
  "values",
  "access",
  "access-scopes",
  "access-tokens",
  "hook-users",
  "rate-limits",
  "scope-collations",
  "wrong-credentials",
  "front-page",
  "console-page",
  "docs-page",
].map((name) => `test/contract/${name}.test.ts`);

describe.each(["bun", "deno"] as const)("%s", (runtime) => {
  test("passes the core of the contract tests on every engine", async () => {
    const urls = inject("serverUrls")!;
    const run = await runContract(runtime, {
      engines: contractEngines,
      files: core,
      urls,
      timeoutMs: 600_000,
    });
    expect(run.failed, run.output).toEqual([]);
    for (const engine of contractEngines) {
      const count = run.counts.get(engine);
      expect(count, `${engine}\n${run.output}`).toMatchObject({ failed: 0 });
      expect(count!.passed).toBeGreaterThan(1500);
    }
  }, 620_000);
});
