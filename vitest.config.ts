/**
 * Which tests run where. One project per engine, so that the same files run on each and `--project sqlite` picks one;
 * `test/run.ts` starts the servers that the projects need. A file under test/db or test/faults whose name begins
 * with an engine's name runs on that engine alone.
 */
import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config";
import type { EngineName } from "./test/servers/session.ts";

const engines: readonly EngineName[] = ["sqlite", "postgres", "mysql"];
const parity = ["test/parity/**/*.test.ts", "test/contract/parity.test.ts"];
const withServers = ["test/{contract,db,faults,parity,runtime}/**"];

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
        test: { name: "unit", include: ["test/**/*.test.ts"], exclude: withServers },
      },
      ...engines.map(engineProject),
      { extends: true, test: { name: "parity", include: parity } },
      {
        extends: true,
        test: {
          name: "runtime",
          include: ["test/runtime/*.test.ts"],
          globalSetup: "test/runtime/install.ts",
          testTimeout: 60_000,
        },
      },
    ],
  },
});
