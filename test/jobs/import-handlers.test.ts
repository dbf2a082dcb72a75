/**
 * Commits whose rows have handlers, without a queue: the handlers' writes are stored once however often the job runs,
 * and a handler that never ends blocks nothing forever.
 */
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openJobWorld } from "../../app/start/opening/open-job-world.ts";
import { createLog } from "../../app/start/observing/log.ts";
import type { HookContext } from "../../core/plans/hook.ts";
import { limits } from "../../core/values/limits.ts";
import type { Job } from "../../core/jobs/job.ts";
import { createRunner } from "../../jobs/run-job.ts";
import { type Fixture, openFixture } from "../contract/harness.ts";
import { importerOf, workbookOf } from "../contract/imports.ts";

const handlers = {
  async note({ data, query }: HookContext) {
    await query("insert into notes (word) values (?)", [data["word"]]);
    if (data["word"] === "hang") await new Promise(() => undefined);
  },
};
const importComponent = async () => handlers;

// At the same time: most of it is the wait for a handler that hangs.
describe.concurrent.each(["sqlite", "postgres", "mysql"] as const)(
  "a commit with handlers on %s",
  (engine) => {
    let folder: string;
    let fixture: Fixture;
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), "rowgate-test-import-handlers-"));
      fixture = await openFixture({
        engine,
        env: { STORAGE_URL: `file:${folder}` },
        tables: [
          {
            name: "things",
            columns: { thing_id: "identity", word: { type: "text(40)", notNull: true } },
          },
          { name: "notes", columns: { note_id: "identity", word: "text(40)" } },
        ],
        endpoints: {
          things: {
            tableName: "things",
            action: { import: true },
            importConfig: { runHooks: true },
            components: { onAfterInsert: ["components/things.ts#note"] },
          },
        },
        components: { "components/things.ts": handlers },
      });
    }, 30_000);
    afterAll(async () => {
      await fixture?.close();
      await rm(folder, { recursive: true, force: true });
    });

    async function newJob(words: readonly string[]): Promise<Job> {
      const file = await workbookOf([["word"], ...words.map((word) => [word])]);
      const upload = await importerOf(fixture).uploaded("things", file);
      return {
        id: `commit-${randomUUID()}`,
        kind: "commit",
        project: "test",
        endpoint: "things",
        caller: null,
        request: { upload, totalRows: words.length },
        createdAtMs: Date.now(),
        keptSeconds: 60,
      };
    }

    /** A process that runs jobs. */
    async function openRunner() {
      const { world, close } = await openJobWorld({
        files: fixture.files,
        env: { STORAGE_URL: `file:${folder}` },
        log: createLog("silent"),
        importComponent,
        raise: async () => undefined,
      });
      const run = (job: Job, signal = new AbortController().signal) =>
        createRunner(world)({ job, id: randomUUID(), signal, progress: () => undefined });
      return { run, close };
    }

    const countOf = async (table: string, start: string) => {
      const rows = await fixture.sql(`select word from ${table}`);
      return rows.filter(({ word }) => String(word).startsWith(start)).length;
    };
    const wordsOf = (start: string) => Array.from({ length: 300 }, (_, at) => `${start}${at}`);

    test("that runs in two places at once has their effects once", async () => {
      const job = await newJob(wordsOf("both"));
      const runners = await Promise.all([openRunner(), openRunner()]);
      const results = await Promise.all(runners.map(({ run }) => run(job)));
      await Promise.all(runners.map(({ close }) => close()));
      expect(results[0]).toMatchObject({ counts: { inserted: 300, failed: 0 } });
      expect(results[1]).toEqual(results[0]);
      expect([await countOf("things", "both"), await countOf("notes", "both")]).toEqual([300, 300]);
    });

    test("that runs again after it was done, or was ended in the middle, has their effects once", async () => {
      const job = await newJob(wordsOf("again"));
      const { run, close } = await openRunner();
      const end = new AbortController();
      const ended = run(job, end.signal).catch(() => "ended");
      await sleep(30);
      end.abort("lost");
      await ended;
      const results = [await run(job), await run(job)];
      await close();
      expect(results[1]).toEqual(results[0]);
      expect([await countOf("things", "again"), await countOf("notes", "again")]).toEqual([
        300, 300,
      ]);
    });

    test("ends when it is told to while a handler hangs, and leaves nothing", async () => {
      const job = await newJob(["told", "hang"]);
      const { run, close } = await openRunner();
      const end = new AbortController();
      const running = run(job, end.signal);
      const outcome = expect(running).rejects.toBe("cancelled");
      await sleep(300);
      end.abort("cancelled");
      await outcome;
      await close();
      expect([await countOf("things", "told"), await countOf("notes", "told")]).toEqual([0, 0]);
    });

    test(
      "is given up when a handler takes too long, and leaves nothing",
      { timeout: 30_000 },
      async () => {
        const job = await newJob(["late", "hang"]);
        const { run, close } = await openRunner();
        const beganMs = performance.now();
        await expect(run(job)).rejects.toMatchObject({
          kind: "unavailable",
          message: "Nothing was stored: the component handlers took too long for row 3",
        });
        expect(performance.now() - beganMs).toBeGreaterThan(limits.importHandlersMs - 100);
        await close();
        expect([await countOf("things", "late"), await countOf("notes", "late")]).toEqual([0, 0]);
      },
    );
  },
);

test("a commit fails, and stores nothing, where its handlers cannot be loaded", async () => {
  const folder = await mkdtemp(join(tmpdir(), "rowgate-test-import-handlers-"));
  const env = { STORAGE_URL: `file:${folder}` };
  const fixture = await openFixture({
    engine: "sqlite",
    env,
    tables: [{ name: "things", columns: { thing_id: "identity", word: "text(40)" } }],
    endpoints: {
      things: {
        tableName: "things",
        action: { import: true },
        importConfig: { runHooks: true },
        components: { onAfterInsert: ["components/things.ts#note"] },
      },
    },
    components: { "components/things.ts": handlers },
  });
  const upload = await importerOf(fixture).uploaded("things", await workbookOf([["word"], ["a"]]));
  const { world, close } = await openJobWorld({
    files: fixture.files,
    env,
    log: createLog("silent"),
    importComponent: async () => ({}),
    raise: async () => undefined,
  });
  const job = {
    id: `commit-${randomUUID()}`,
    kind: "commit",
    project: "test",
    endpoint: "things",
    caller: null,
    request: { upload, totalRows: 1 },
    createdAtMs: Date.now(),
    keptSeconds: 60,
  } as const;
  const { signal } = new AbortController();
  const running = createRunner(world)({ job, id: "r", signal, progress: () => undefined });
  await expect(running).rejects.toThrow(/components\.onAfterInsert\[0\]/);
  expect(await fixture.sql("select * from things")).toEqual([]);
  await close();
  await fixture.close();
  await rm(folder, { recursive: true, force: true });
});
