/**
 * Commits that run several times, at once or in sequence, and commits that are cancelled. For killed processes, see
 * `commit-kills.test.ts`.
 */
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openJobWorld } from "../../app/start/opening/open-job-world.ts";
import { createLog } from "../../app/start/observing/log.ts";
import type { Job, Run } from "../../core/jobs/job.ts";
import { createRunner } from "../../jobs/run-job.ts";
import { type Fixture, openFixture } from "../contract/harness.ts";
import { type Importer, importerOf, workbookOf } from "../contract/imports.ts";
import type { EngineName } from "../servers/session.ts";

const log = createLog("silent");

interface Place extends Fixture {
  readonly imports: Importer;
  readonly env: Readonly<Record<string, string>>;
}

async function openPlace(engine: EngineName): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), "rowgate-test-commit-runs-"));
  const env = { STORAGE_URL: `file:${folder}` };
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
      env: place.env,
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
