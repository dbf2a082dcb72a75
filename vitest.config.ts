/**
 * Which tests run where. One project per engine, so that the same files run on each and `--project sqlite` picks one;
 * `test/projects.ts` says which command runs a project, and what it needs. A file under test/db or test/faults whose name
 * begins with an engine's name runs on that engine alone.
 */
import { join } from "node:path";
import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config";
import type { EngineName } from "./test/servers/session.ts";

const engines: readonly EngineName[] = ["sqlite", "postgres", "mysql"];
const elsewhere = [
  "test/{browser,contract,db,faults,jobs,office,package,parity,pooler,processes,runtime,stores,tls}/**",
];

/** One file after the other: they watch the time, or share what they work on. */
const alone = { fileParallelism: false };

/**
 * Files share processes and what these have loaded: a third less work. So each closes what it opens. With more room for young objects, a
 * process collects garbage less often: a sixth less work.
 */
const shared = { isolate: false, execArgv: ["--max-semi-space-size=64"] };

/** They hold answers against the clock, which a busy machine may miss: each has a second try. */
const timed = { retry: 1 };

/** Every case on this engine, and what belongs to it alone. */
function engineProject(engine: EngineName): TestProjectInlineConfiguration {
  return {
    extends: true,
    test: {
      name: engine,
      provide: { engine },
      setupFiles: "test/runtime/expect-runtime.ts",
      include: ["test/{contract,db}/**/*.test.ts"],
      exclude: [...filesOfOthers("db", engine), ...(engine === "mysql" ? [extraction] : [])],
      ...shared,
    },
  };
}

/** What answers tell of rows that are hidden follows from the statements' conditions: two engines show it at each run, the third in the deep one. */
const extraction = "test/contract/extraction*.test.ts";
const extractionProject: TestProjectInlineConfiguration = {
  extends: true,
  test: {
    name: "extraction-mysql",
    provide: { engine: "mysql" },
    setupFiles: "test/runtime/expect-runtime.ts",
    include: [extraction],
    ...shared,
  },
};

/** Long tests of exports and imports once more: in a worker over Redis, and with their files in a bucket. */
function placesProject(engine: EngineName, tests: string): TestProjectInlineConfiguration {
  return {
    extends: true,
    test: {
      name: `places-${engine}`,
      provide: { engine, isInOtherPlaces: true },
      setupFiles: "test/runtime/expect-runtime.ts",
      globalSetup: "test/storage/install.ts",
      include: [`test/contract/{${tests}}.test.ts`],
      ...timed,
    },
  };
}

/** Many requests that are made from the service's own OpenAPI document; `FUZZ_REQUESTS=20000` for a long run. */
function fuzzProject(engine: EngineName): TestProjectInlineConfiguration {
  return {
    extends: true,
    test: {
      name: `fuzz-${engine}`,
      provide: { engine, fuzzRequests: Number(process.env["FUZZ_REQUESTS"] ?? 2_000) },
      include: ["test/contract/openapi-fuzz.test.ts"],
    },
  };
}

const redisFaults = "test/faults/redis-*.test.ts";

/** What happens to the service on this engine when sessions, answers and processes are lost under load. */
function faultsProject(engine: EngineName): TestProjectInlineConfiguration {
  return {
    extends: true,
    test: {
      name: `faults-${engine}`,
      provide: { engine },
      include: ["test/faults/*.test.ts"],
      exclude: [...filesOfOthers("faults", engine), redisFaults],
    },
  };
}

function filesOfOthers(folder: string, engine: EngineName): string[] {
  const others = engines.filter((name) => name !== engine).join(",");
  return [`test/${folder}/{${others}}*`, `test/${folder}/{${others}}*/**`];
}

/** The core of the contract in workerd, over its HTTP server: no components, no files. Each request opens its connections, so it takes its time. */
const core =
  "adjust,aggregate,change-status,composite-create,composite-read,composite-update,create,datatables-settings,delete,first,lookup,rate-limits,read,read-where,update,wrong-credentials";

function workerdProject(engine: EngineName): TestProjectInlineConfiguration {
  // The longest file of all on one of the two servers: what it asks of the runtime is the same.
  const left = engine === "mysql" ? ["test/contract/composite-update.test.ts"] : [];
  return {
    extends: true,
    test: {
      name: `workerd-${engine}`,
      provide: {
        engine,
        serviceOpener: join(import.meta.dirname, "test/runtime/workerd-opener.ts"),
      },
      globalSetup: "test/runtime/workerd-install.ts",
      include: [`test/contract/{${core}}.test.ts`],
      exclude: left,
      testTimeout: 60_000,
      ...timed,
    },
  };
}

/** One grid and one drop-down, the own pages of the service, and what of the pages needs no browser. */
const quickBrowserTests = ["test/browser/{docs,smoke}.test.ts"];

function browserProject(
  name: string,
  files: { include: string[]; exclude?: string[] },
): TestProjectInlineConfiguration {
  return {
    extends: true,
    test: {
      name,
      ...files,
      globalSetup: "test/browser/install.ts",
      testTimeout: 30_000,
      expect: { poll: { timeout: 5000 } },
      ...timed,
    },
  };
}

export default defineConfig({
  test: {
    // Titles are read whole: docs/actions name tests by them.
    taskTitleValueFormatTruncate: 0,
    // A busy machine takes several times what a test needs.
    testTimeout: 30_000,
    hookTimeout: 30_000,
    projects: [
      {
        extends: true,
        test: { name: "unit", include: ["test/**/*.test.ts"], exclude: elsewhere, ...shared },
      },
      ...engines.map(engineProject),
      placesProject("sqlite", "export,import"),
      placesProject("postgres", "export,import,import-handlers,import-large"),
      extractionProject,
      // What is the same on PostgreSQL is left out.
      placesProject("mysql", "import-handlers,import-large"),
      ...engines.map(faultsProject),
      ...engines.map(fuzzProject),
      {
        extends: true,
        test: { name: "faults-redis", include: [redisFaults], ...alone, ...timed },
      },
      { extends: true, test: { name: "parity", include: ["test/parity/*.test.ts"] } },
      {
        extends: true,
        test: { name: "stores", include: ["test/stores/*.test.ts"], ...shared, ...timed },
      },
      {
        extends: true,
        test: {
          name: "tls",
          include: ["test/tls/*.test.ts"],
          globalSetup: "test/runtime/install.ts",
          testTimeout: 60_000,
          hookTimeout: 120_000,
          ...timed,
        },
      },
      { extends: true, test: { name: "pooler", include: ["test/pooler/*.test.ts"], ...timed } },
      {
        extends: true,
        test: {
          name: "package",
          include: ["test/package/*.test.ts"],
          globalSetup: ["test/runtime/install.ts", "test/package/unpack.ts"],
          ...timed,
        },
      },
      {
        extends: true,
        test: { name: "processes", include: ["test/processes/*.test.ts"], ...timed },
      },
      {
        extends: true,
        test: {
          name: "office",
          include: ["test/office/*.test.ts"],
          testTimeout: 120_000,
          ...alone,
        },
      },
      {
        extends: true,
        test: {
          name: "jobs",
          ...timed,
          include: ["test/jobs/*.test.ts"],
          globalSetup: "test/storage/install.ts",
          testTimeout: 60_000,
        },
      },
      {
        extends: true,
        test: {
          name: "runtime",
          ...timed,
          include: ["test/runtime/*.test.ts"],
          exclude: ["test/runtime/workerd*"],
          globalSetup: ["test/runtime/install.ts", "test/storage/install.ts"],
          testTimeout: 60_000,
        },
      },
      {
        extends: true,
        test: {
          name: "workerd",
          ...timed,
          include: ["test/runtime/workerd*.test.ts"],
          globalSetup: ["test/runtime/workerd-install.ts", "test/storage/install.ts"],
          testTimeout: 60_000,
        },
      },
      workerdProject("postgres"),
      workerdProject("mysql"),
      browserProject("smoke", { include: quickBrowserTests }),
      browserProject("browser", {
        include: ["test/browser/*.test.ts"],
        exclude: quickBrowserTests,
      }),
    ],
  },
});
