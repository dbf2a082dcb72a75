/**
 * Which tests run where. One project per engine, so that the same files run on each and `--project sqlite` picks one;
 * `test/run.ts` starts the servers that the projects need. A file under test/db or test/faults whose name begins
 * with an engine's name runs on that engine alone.
 */
import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config";
import type { EngineName } from "./test/servers/session.ts";

const engines: readonly EngineName[] = ["sqlite", "postgres", "mysql"];
const parity = ["test/parity/**/*.test.ts", "test/contract/parity.test.ts"];
const elsewhere = ["test/{browser,contract,db,faults,jobs,parity,runtime,stores}/**"];

/** Every case on this engine, and what belongs to it alone. */
function engineProject(engine: EngineName): TestProjectInlineConfiguration {
  const others = engines.filter((name) => name !== engine).join(",");
  return {
    extends: true,
    test: {
      name: engine,
      provide: { engine },
      include: ["test/{contract,db,faults}/**/*.test.ts"],
      exclude: [...parity, `test/{db,faults}/{${others}}*`, `test/{db,faults}/{${others}}*/**`],
    },
  };
}

export default defineConfig({
  test: {
    // Titles are read whole: docs/actions name tests by them.
    taskTitleValueFormatTruncate: 0,
    testTimeout: 15_000,
    hookTimeout: 30_000,
    projects: [
      {
        extends: true,
        test: { name: "unit", include: ["test/**/*.test.ts"], exclude: elsewhere },
      },
      ...engines.map(engineProject),
      { extends: true, test: { name: "parity", include: parity } },
      { extends: true, test: { name: "stores", include: ["test/stores/*.test.ts"] } },
      {
        extends: true,
        test: { name: "jobs", include: ["test/jobs/*.test.ts"], testTimeout: 60_000 },
      },
      {
        extends: true,
        test: {
          name: "runtime",
          include: ["test/runtime/*.test.ts"],
          globalSetup: "test/runtime/install.ts",
          testTimeout: 60_000,
        },
      },
      {
        extends: true,
        test: {
          name: "browser",
          include: ["test/browser/*.test.ts"],
          globalSetup: "test/browser/install.ts",
          testTimeout: 30_000,
          expect: { poll: { timeout: 5000 } },
          // They wait more than they work.
          maxWorkers: 2,
        },
      },
    ],
  },
});
