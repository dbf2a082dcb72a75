/**
 * Workers that die or sleep at any moment of a commit, and commits that run several times at once: whatever happens, every row of a completed
 * import is there once, and none of one that is not. ROWGATE_IMPORT_KILLS (10) says how many workers are killed.
 */
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { openJobWorld } from "../../app/job-world.ts";
import { createLog } from "../../app/log.ts";
import type { Job, Run } from "../../core/ports.ts";
import { createRunner } from "../../jobs/run-job.ts";
import { type Fixture, openFixture } from "../contract/harness.ts";
import { type Importer, importerOf, workbookOf } from "../contract/imports.ts";
import type { EngineName } from "../servers/session.ts";
import { startWorkerProcess, type WorkerProcess } from "./worker-process.ts";

const kills = Number(process.env["ROWGATE_IMPORT_KILLS"] ?? 10);
const rows = 20_000;
const log = createLog("silent");

interface Place extends Fixture {
  readonly imports: Importer;
  readonly env: Readonly<Record<string, string>>;
}

async function openPlace(engine: EngineName): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), "rowgate-test-import-deaths-"));
  const env = {
    STORAGE_URL: `file:${folder}`,
    REDIS_URL: inject("serverUrls")!.redis!,
    JOBS_QUEUE: `test-${randomUUID()}`,
  };
  const columns = {
    thing_id: "key",
    run: { type: "text(40)", notNull: true },
    word: { type: "text(40)", notNull: true },
    qty: "integer",
  } as const;
  const fixture = await openFixture({
    engine,
    env,
    tables: [{ name: "things", columns, unique: [["run", "word"]] }],
    endpoints: {
      // Without upsertKeys a row that is stored twice is there twice.
      things: { tableName: "things", action: { import: true } },
      upserts: {
        tableName: "things",
        action: { import: true },
        importConfig: { upsertKeys: ["run", "word"] },
      },
    },
  });
  return {
    ...fixture,
    imports: importerOf(fixture),
    env,
    async close() {
      await fixture.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const fileOf = (run: string, count: number) =>
  workbookOf([
    ["run", "word", "qty"],
    ...Array.from({ length: count }, (_, at) => [run, `word ${at}`, at]),
  ]);

async function storedIn({ sql }: Fixture, run: string): Promise<number[]> {
  const [row] = await sql(
    `select count(*) as n, count(distinct word) as words from things where run = '${run}'`,
  );
  return [Number(row!["n"]), Number(row!["words"])];
}

describe("workers on PostgreSQL", () => {
  let place: Place;
  let worker: WorkerProcess;
  beforeAll(async () => {
    place = await openPlace("postgres");
    worker = await startWorker();
  }, 30_000);
  afterAll(async () => {
    await worker?.stop();
    await place?.close();
  });

  const startWorker = () =>
    startWorkerProcess({
      files: place.files,
      env: place.env,
      program: "test/jobs/hasty-worker.ts",
    });

  async function startCommit(run: string): Promise<string> {
    const preview = await place.imports.previewed("things", await fileOf(run, rows));
    expect(preview.body.summary).toEqual({ valid: rows, invalid: 0, skip: 0 });
    const preview_job_id: string = preview.body.job_id;
    const { body } = await place.post("things/import-commit", { preview_job_id });
    return body.job_id;
  }

  test(
    `commits whose workers are killed ${kills} times store every row once`,
    { timeout: 60_000 + kills * 15_000 },
    async () => {
      const outcomes: Record<string, number> = {};
      for (let killed = 0; killed < kills; killed++) {
        const run = randomUUID();
        const jobId = await startCommit(run);
        // From before the job is taken until after it is done.
        await sleep(Math.random() * 1_500);
        await worker.end("SIGKILL");
        const atKill = await storedIn(place, run);
        expect([0, rows]).toContain(atKill[0]);
        worker = await startWorker();
        const { body } = await place.imports.ended("things", jobId);
        expect(body).toMatchObject({ status: "completed", result: { inserted: rows } });
        expect(await storedIn(place, run)).toEqual([rows, rows]);
        const outcome = atKill[0] === 0 ? "not stored yet" : "stored";
        outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
      }
      console.log(`commits at the kill of their worker: ${JSON.stringify(outcomes)}`);
    },
  );

  test("a commit whose worker sleeps longer than its lock, and wakes up, stores every row once", async () => {
    const run = randomUUID();
    const jobId = await startCommit(run);
    await sleep(500);
    const sleeper = worker;
    sleeper.process.kill("SIGSTOP");
    worker = await startWorker();
    await sleep(4_000);
    sleeper.process.kill("SIGCONT");
    const { body } = await place.imports.ended("things", jobId);
    expect(body).toMatchObject({ status: "completed", result: { inserted: rows } });
    await sleep(1_000);
    expect(await storedIn(place, run)).toEqual([rows, rows]);
    await sleeper.stop();
  });
});

describe.each(["sqlite", "postgres", "mysql"] as const)("a commit on %s", (engine) => {
  let place: Place;
  beforeAll(async () => {
    place = await openPlace(engine);
  }, 30_000);
  afterAll(() => place?.close());

  /** Runs previews and commits without a queue. */
  async function withRunner<T>(
    work: (run: (job: Job, signal?: AbortSignal) => Promise<unknown>) => Promise<T>,
  ): Promise<T> {
    const { world, close } = await openJobWorld({
      files: place.files,
      env: { ...place.env, REDIS_URL: "" },
      log,
      raise: async () => undefined,
    });
    const runJob = createRunner(world);
    try {
      return await work((job, signal = new AbortController().signal) => {
        const run: Run = { job, id: randomUUID(), signal, progress: () => undefined };
        return runJob(run);
      });
    } finally {
      await close();
    }
  }

  async function newJob(run: string, count: number, endpoint = "things"): Promise<Job> {
    const upload = await place.imports.uploaded(endpoint, await fileOf(run, count));
    return {
      id: `commit-${randomUUID()}`,
      kind: "commit",
      project: "test",
      endpoint,
      caller: null,
      request: { upload, totalRows: count },
      createdAtMs: Date.now(),
      keptSeconds: 60,
    };
  }

  test("that is delivered twice at once stores every row once, and both have the result", async () => {
    const run = randomUUID();
    const job = await newJob(run, 2_000);
    const results = await withRunner((first) =>
      withRunner((second) => Promise.all([first(job), second(job)])),
    );
    expect(results[0]).toMatchObject({ counts: { inserted: 2_000 } });
    expect(results[1]).toEqual(results[0]);
    expect(await storedIn(place, run)).toEqual([2_000, 2_000]);
  });

  test("that is delivered again has the result of the first time", async () => {
    const run = randomUUID();
    const job = await newJob(run, 10, "upserts");
    const results = await withRunner(async (runJob) => [await runJob(job), await runJob(job)]);
    expect(results[1]).toEqual(results[0]);
    expect(results[1]).toMatchObject({ counts: { inserted: 10, updated: 0 } });
  });

  test("that is told to end stores nothing, and can run again", async () => {
    const run = randomUUID();
    const job = await newJob(run, 3_000);
    await withRunner(async (runJob) => {
      const end = new AbortController();
      const running = runJob(job, end.signal);
      await sleep(30);
      end.abort("lost");
      await running.catch(() => undefined);
      const [count] = await storedIn(place, run);
      expect([0, 3_000]).toContain(count);
      await runJob(job);
    });
    expect(await storedIn(place, run)).toEqual([3_000, 3_000]);
  });
});
