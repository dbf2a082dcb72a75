/**
 * The core of the contract tests, in process on Bun and Deno: writes and values on all three engines, and once what
 * needs nothing else of a driver. `npm run test:runtimes` runs the whole suite.
 */
import { describe, expect, inject, test } from "vitest";
import { type ContractEngine, contractEngines, runContract } from "./contract-run.ts";

interface Core {
  readonly engines: readonly ContractEngine[];
  readonly files: readonly string[];
  /** Fewer mean that files were not found. */
  readonly passedMin: number;
}

const cores: Readonly<Record<string, Core>> = {
  "writes and values on every engine": {
    engines: contractEngines,
    files: ["create", "read", "composite-create", "values"],
    passedMin: 380,
  },
  // They depend on the runtime and need nothing else of a driver, so one engine is enough.
  "other actions, credentials and pages on SQLite": {
    engines: ["sqlite"],
    files: [
      "aggregate",
      "datatables",
      "composite-update",
      "scope-collations",
      "bulk",
      "numbers",
      "http",
      "wrong-credentials",
      "docs-page",
    ],
    passedMin: 900,
  },
  // These depend on the runtime's cryptography, modules and Redis, and on no driver.
  "the contract tests of callers, components and Redis": {
    engines: ["postgres"],
    files: ["components", "cache", "locks", "access-tokens", "hook-users", "rate-limits"],
    passedMin: 380,
  },
};

describe.each(["bun", "deno"] as const)("%s", (runtime) => {
  test.each(Object.keys(cores))(
    "passes %s",
    async (name) => {
      const { engines, files, passedMin } = cores[name]!;
      const run = await runContract(runtime, {
        engines,
        files: files.map((file) => `test/contract/${file}.test.ts`),
        urls: inject("serverUrls")!,
        timeoutMs: 600_000,
      });
      expect(run.failed, run.output).toEqual([]);
      for (const engine of engines) {
        const count = run.counts.get(engine);
        expect(count, `${engine}\n${run.output}`).toMatchObject({ failed: 0 });
        expect(count!.passed).toBeGreaterThan(passedMin);
      }
    },
    620_000,
  );
});
