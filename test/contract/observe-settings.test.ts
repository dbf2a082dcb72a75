/** The setting `observe` of project.json: Server-Timing and slow statements; and statements at LOG_LEVEL=debug. */
import { pino } from "pino";
import { describe, expect, test } from "vitest";
import { openJobWorld } from "../../app/start/opening/open-job-world.ts";
import type { HookContext } from "../../core/plans/hook.ts";
import type { Job } from "../../core/jobs/job.ts";
import { createRunner } from "../../jobs/run-job.ts";
import { type Fixture, type FixtureOptions, openFixture, openForTests } from "./harness.ts";

const secret = "A value of nobody else";
const origin = "https://shop.example";

/** Joins a hundred rows with themselves, which takes more than a millisecond on every database. */
const slowSql = `select count(*) as n from goods a, goods b, goods c where a.mark <> '${secret}'`;

const lines: string[] = [];
const log = pino({ level: "debug" }, { write: (line: string) => void lines.push(line) });
const logged = (message: string, about: object) =>
  lines
    .map((line) => JSON.parse(line))
    .filter(({ msg }) => msg === message)
    .filter((line) => Object.entries(about).every(([name, value]) => line[name] === value));

const common: FixtureOptions = {
  tables: [{ name: "goods", columns: { id: "key", mark: "text(40)" } }],
  setUp: () => {
    const rows = Array.from({ length: 100 }, (_, at) => `('${at}', 'A')`);
    return [
      `insert into goods values ${rows.join(", ")}`,
      "create view crowd as select a.id, count(*) as n from goods a, goods b, goods c group by a.id",
    ];
  },
  endpoints: {
    goods: {
      tableName: "goods",
      action: { first: true, update: true },
      components: { onBeforeUpdate: ["components/code.ts#look"] },
    },
    crowd: { tableName: "crowd", action: { export: true } },
  },
  components: {
    "components/code.ts": {
      look: ({ query }: HookContext) => query(slowSql).then(() => undefined),
    },
  },
  log,
};

/** Opens the fixture around the tests. */
function opened(options: Partial<FixtureOptions>): () => Fixture {
  const place = openForTests(openFixture, { ...common, ...options });
  return () => place;
}

const first = (place: Fixture, headers: Record<string, string>) =>
  place.post("goods/first", { where: { key: "mark", value: secret } }, headers);
const update = (place: Fixture, id: string) =>
  place.post("goods/update", { id: "1", mark: "B" }, { "X-Request-Id": id });

describe("serverTiming", () => {
  const place = opened({
    project: { observe: { serverTiming: true }, cors: { origins: [origin] } },
  });

  test("says how long the database, the cache and all of the request took", async () => {
    // One statement: those that run at the same time are added up.
    const { headers } = await first(place(), {});
    const times = /^db;dur=(\d+\.\d), cache;dur=(\d+\.\d), total;dur=(\d+\.\d)$/.exec(
      headers.get("Server-Timing") ?? "",
    );
    const [db = 0, cache, total] = times!.slice(1).map(Number);
    expect(db).toBeGreaterThan(0);
    expect(cache).toBe(0);
    expect(total).toBeGreaterThanOrEqual(db);
  });

  test("says so of requests that fail, and of none that are about no project", async () => {
    const { status, headers } = await place().post("goods/made-up", {});
    expect(status).toBe(404);
    expect(headers.get("Server-Timing")).toMatch(/^db;dur=0\.0, cache;dur=0\.0, total;dur=/);
    const health = await place().request("/health/live");
    expect(health.headers.has("Server-Timing")).toBe(false);
  });

  test("is shown to the pages that may call the project, and to no others", async () => {
    const answer = await first(place(), { Origin: origin });
    expect(answer.headers.get("Timing-Allow-Origin")).toBe(origin);
    expect(answer.headers.get("Access-Control-Expose-Headers")).toContain("Server-Timing");
    const other = await first(place(), { Origin: "https://other.example" });
    expect(other.headers.has("Timing-Allow-Origin")).toBe(false);
  });
});

describe("slowStatementMs", () => {
  const place = opened({ project: { observe: { slowStatementMs: 1 } } });
  const message = "A statement was slow";

  test("logs a slow statement with its request, and without values", async () => {
    const { status, headers } = await update(place(), "slow");
    expect(status).toBe(200);
    expect(headers.has("Server-Timing")).toBe(false);
    const sql = slowSql.replace(`'${secret}'`, "?");
    const [line] = logged(message, { requestId: "slow", sql });
    // What is sent together is not slow together.
    if (place().engine === "postgres")
      expect(logged(message, { requestId: "slow" }).map((one) => one.sql)).not.toContainEqual(
        expect.stringMatching(/^begin/),
      );
    expect(line).toMatchObject({ level: 40, project: "test", rows: 1 });
    expect(line.durationMs).toBeGreaterThanOrEqual(1);
  });

  test("logs the slow statements of jobs, with the id of the job", async () => {
    const { files, storageUrl } = place();
    const env = { STORAGE_URL: storageUrl };
    const raise = async () => undefined;
    const { world, observation, close } = await openJobWorld({ files, env, log, raise });
    const job: Job = {
      id: "export-00000000-0000-4000-8000-000000000000",
      kind: "export",
      project: "test",
      endpoint: "crowd",
      caller: null,
      request: { format: "csv" },
      createdAtMs: 0,
      keptSeconds: 60,
    };
    const run = observation.runJobInThread(createRunner(world));
    const { signal } = new AbortController();
    await run({ job, id: "run", signal, progress: () => undefined });
    await close();
    const found = logged(message, { job: job.id }).filter(({ sql }) => /crowd/.test(sql));
    expect(found[0]).toMatchObject({ level: 40, project: "test" });
  });
});

describe("a slowStatementMs of 0", () => {
  const place = opened({ project: { observe: { slowStatementMs: 0 } } });

  test("logs every statement", async () => {
    await first(place(), { "X-Request-Id": "every" });
    expect(logged("A statement was slow", { requestId: "every" })).toHaveLength(1);
  });
});

describe("a longer slowStatementMs", () => {
  const place = opened({ project: { observe: { slowStatementMs: 60_000 } } });

  test("logs no statement", async () => {
    await update(place(), "quick");
    expect(logged("A statement was slow", { requestId: "quick" })).toEqual([]);
  });
});

describe("LOG_LEVEL=debug", () => {
  const place = opened({ env: { LOG_LEVEL: "debug" } });

  test("shows each statement with its request, time and rows, and no value", async () => {
    await first(place(), { "X-Request-Id": "debug" });
    const found = logged("statement", { requestId: "debug" });
    expect(found).toHaveLength(1);
    expect(found[0]).toMatchObject({ level: 20, project: "test", rows: 0 });
    expect(found[0].sql).toMatch(/^select .*goods/is);
    expect(lines.join("")).not.toContain(secret);
  });
});

describe("without observe", () => {
  const place = opened({});

  test("no statement is logged, and no time is sent", async () => {
    const { headers } = await update(place(), "silent");
    expect(headers.has("Server-Timing")).toBe(false);
    expect(lines.filter((line) => line.includes('"silent"'))).toHaveLength(1);
  });
});
