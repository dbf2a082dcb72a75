/**
 * Which tests run where. One project per engine, so that the same files run on each and `--project sqlite` picks one.
 * `test/running/projects.ts` lists each project's command and needs. A file in test/db or test/faults whose name begins
 * with an engine's name runs only on that engine.
 */
import { join } from "node:path";
import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config";
import type { EngineName } from "./test/servers/session.ts";

const engines: readonly EngineName[] = ["sqlite", "postgres", "mysql"];
/** Tests that need servers, programs or processes. Subfolders of these folders have tests that do not. */
const elsewhere = [
  "test/{adapters,browser,contract,db,faults,jobs,office,package,parity,pooler,processes,proxy,replicas,runtime,stores,tls}/*.test.ts",
  "**/node_modules/**",
];

/** These tests have time limits that a busy machine can miss, so each gets a second try. */
const timed = { retry: 1 };

/** Every case on this engine that is not left to the deep tests, and its own tests. */
function engineProject(engine: EngineName): TestProjectInlineConfiguration {
  return {
    extends: true,
    test: {
      name: engine,
      provide: { engine },
      setupFiles: "test/runtime/expect-runtime.ts",
      include: ["test/{contract,db}/*.test.ts"],
      exclude: [
        ...filesOfOthers("db", engine),
        related,
        long,
        longAlike,
        ...(engine === "sqlite" ? [] : [alike, fuzz]),
      ],
    },
  };
}

/** Many clients, many records, many columns or long waits: only the deep tests have them, on each engine. */
const long =
  "test/contract/{*-races,adjust-concurrency,bulk-fifty,caller-connections,estimates,fuzz,history-replay,import-large,last-pages,read-cursor-walks,schema-changes,wide-keys,wide-scopes,wide-tables}.test.ts";

/** The same, but alike on each engine: the deep tests have them on one. */
const longAlike =
  "test/contract/{definitions,extraction,extraction-generated,files-kept,wide-imports}.test.ts";

/**
 * What is decided before a statement is made, or by its conditions alone, is alike on each engine. One engine tests it
 * in each run, the others before a release.
 */
const alike =
  "test/contract/{access-claims,access-matrix,access-scopes,agents-*,batch-openapi,change-status-hooks,closed-statuses,compression,config-start,console-page,dashboard,datatables-hostile,datatables-settings,docs-page,extraction-changes,files-deadline,front-page,hostile-lists,http,idempotency,import-files,import-handlers,import-locks,import-preview,import-rules,import-samples,import-upload,max-offset,messages,metrics,next-statuses,not-found,odata-service,openapi,openapi-answers,openapi-notes,refine,reload,secrets-in-logs,secure-headers,strict,surfaces,traces-jobs,webhooks,wrong-credentials}.test.ts";

/** Tests of the contract that `engineProject` leaves to another command. */
function restProject(
  name: string,
  { engine, tests }: { engine: EngineName; tests: string[] },
): TestProjectInlineConfiguration {
  return {
    extends: true,
    test: { name, provide: { engine }, include: tests, testTimeout: 60_000 },
  };
}

/** The deep tests send many more of these requests, on each engine. */
const fuzz = "test/contract/openapi-fuzz.test.ts";

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

/** Many requests generated from the service's OpenAPI document; `FUZZ_REQUESTS=20000` for a long run. */
function fuzzProject(engine: EngineName): TestProjectInlineConfiguration {
  return {
    extends: true,
    test: {
      name: `fuzz-${engine}`,
      provide: { engine, fuzzRequests: Number(process.env["FUZZ_REQUESTS"] ?? 600) },
      include: [fuzz],
    },
  };
}

const related = "test/contract/{known-databases,relations-lists,time-zones}.test.ts";

/** Many random requests about related records, many records that move while they are read, and many instants. */
function relationsProject(engine: EngineName): TestProjectInlineConfiguration {
  return {
    extends: true,
    test: {
      name: `relations-${engine}`,
      provide: { engine, relationRequests: 30, movedLines: 1_000, zoneInstants: 500 },
      include: [related],
      testTimeout: 300_000,
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

/** The contract of the core in workerd, over HTTP: no components, no files. Slow: each request opens connections. */
const core = "adjust,batch-edge,create,read";
/** These use the runtime in the same way on both engines, or need no database at all. */
const coreOnce =
  "agents-protocol,aggregate,bulk,change-status,composite-create,composite-update,odata-values,rate-limits,upsert,wrong-credentials";

function workerdProject(engine: EngineName): TestProjectInlineConfiguration {
  const files = engine === "postgres" ? `${core},${coreOnce}` : core;
  return {
    extends: true,
    test: {
      name: `workerd-${engine}`,
      provide: {
        engine,
        serviceOpener: join(import.meta.dirname, "test/runtime/workerd-opener.ts"),
      },
      globalSetup: "test/runtime/workerd-install.ts",
      include: [`test/contract/{${files}}.test.ts`],
      testTimeout: 60_000,
      ...timed,
    },
  };
}

/** One grid and one drop-down, the service's own pages, and tests of pages that need no browser. */
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
      testTimeout: 60_000,
      // The first page of a cold browser can take more than five seconds beside other tests.
      expect: { poll: { timeout: 14_000 } },
      ...timed,
    },
  };
}

export default defineConfig({
  test: {
    // No truncated titles: docs/actions refer to tests by title.
    taskTitleValueFormatTruncate: 0,
    // A busy machine takes several times what a test needs.
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // Files share processes and loaded modules (a third less work), so each file closes what it opens.
    isolate: false,
    // More room for young objects means fewer garbage collections (a sixth less work).
    execArgv: ["--max-semi-space-size=64"],
    projects: [
      { extends: true, test: { name: "unit", include: ["test/**/*.test.ts"], exclude: elsewhere } },
      ...engines.map(engineProject),
      placesProject("sqlite", "export,files-kept,import,import-files,import-large"),
      placesProject("postgres", "export,import,import-handlers"),
      restProject("long-sqlite", { engine: "sqlite", tests: [long, longAlike] }),
      restProject("long-postgres", { engine: "postgres", tests: [long] }),
      restProject("long-mysql", { engine: "mysql", tests: [long] }),
      restProject("alike-postgres", { engine: "postgres", tests: [alike, longAlike] }),
      restProject("alike-mysql", { engine: "mysql", tests: [alike, longAlike] }),
      // What is the same on the others is left out.
      placesProject("mysql", "import-handlers,import-large"),
      ...engines.map(faultsProject),
      ...engines.map(fuzzProject),
      ...engines.map(relationsProject),
      {
        extends: true,
        // After all others, alone: milliseconds decide whether a read comes before a write.
        test: {
          name: "faults-redis",
          include: [redisFaults],
          fileParallelism: false,
          sequence: { groupOrder: 1 },
          ...timed,
        },
      },
      { extends: true, test: { name: "parity", include: ["test/parity/*.test.ts"] } },
      { extends: true, test: { name: "stores", include: ["test/stores/*.test.ts"], ...timed } },
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
          name: "replicas",
          include: ["test/replicas/*.test.ts"],
          hookTimeout: 120_000,
          ...timed,
        },
      },
      { extends: true, test: { name: "proxy", include: ["test/proxy/*.test.ts"], ...timed } },
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
          // What processes without Redis share, over HTTP, where each request may reach another process.
          name: "processes-contract",
          provide: {
            engine: "sqlite",
            serviceOpener: join(import.meta.dirname, "test/processes/two-processes.ts"),
          },
          include: ["test/contract/{cache,live}.test.ts"],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          ...timed,
        },
      },
      {
        extends: true,
        test: { name: "office", include: ["test/office/*.test.ts"], testTimeout: 120_000 },
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
      {
        extends: true,
        test: {
          name: "adapters",
          include: ["test/adapters/*.test.ts"],
          globalSetup: ["test/browser/install.ts", "test/adapters/install.ts"],
          testTimeout: 60_000,
          hookTimeout: 120_000,
          expect: { poll: { timeout: 14_000 } },
          ...timed,
        },
      },
      browserProject("smoke", { include: quickBrowserTests }),
      browserProject("browser", {
        include: ["test/browser/*.test.ts"],
        exclude: quickBrowserTests,
      }),
    ],
  },
});
