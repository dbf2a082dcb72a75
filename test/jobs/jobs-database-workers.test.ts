/**
 * Workers without Redis, with jobs in PostgreSQL, that die, sleep or are stopped at any moment. ROWGATE_DATABASE_KILLS
 * (default 3): how many are killed during exports, and during commits of imports.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { openFixture } from "../contract/harness.ts";
import { importerOf, workbookOf } from "../contract/imports.ts";
import {
  ask,
  ended,
  type ExportPlace,
  hasty,
  linesOf,
  openExportPlace,
  processing,
  startExport,
} from "./export-place.ts";
import { rows } from "./things.ts";
import { startWorkerProcess } from "./worker-process.ts";

const kills = Number(process.env["ROWGATE_DATABASE_KILLS"] ?? 3);

let place: ExportPlace;
beforeAll(async () => {
  place = await openExportPlace();
}, 30_000);
afterEach(() => place.tidy());
afterAll(() => place?.close());

describe("workers with their jobs in a database", () => {
  test(
    `that are killed ${kills} times leave no export unfinished, and none without its whole file`,
    { timeout: 60_000 + kills * 8_000 },
    async () => {
      const env = place.envOf(place.jobsUrl);
      const service = await place.openOver(env);
      let worker = await place.startWorker(env, hasty);
      const outcomes: string[] = [];
      for (let killed = 0; killed < kills; killed++) {
        const id = await startExport(service);
        // From before the job is taken until after it is done, and in the middle of it.
        if (killed % 2 === 0) await sleep(Math.random() * 800);
        else await processing(service, id);
        await worker.end("SIGKILL");
        const { body } = await ask(service, `export-status?job_id=${id}`);
        worker = await place.startWorker(env, hasty);
        outcomes.push(`${body["status"]}, then ${await ended(service, id)}`);
        expect(await linesOf(service, id)).toBe(rows);
      }
      console.log(`exports at the kill of their worker, and in the end: ${outcomes.join("; ")}`);
      expect(outcomes.every((outcome) => outcome.endsWith("then completed"))).toBe(true);
    },
  );

  test(
    `that are killed during ${kills} commits store every row once`,
    { timeout: 60_000 + kills * 10_000 },
    async () => {
      const env = place.envOf(place.jobsUrl);
      const count = 5_000;
      const columns = { word_id: "key", run: "text(40)", word: "text(40)" } as const;
      const fixture = await openFixture({
        engine: "postgres",
        env,
        tables: [{ name: "words", columns }],
        endpoints: { words: { tableName: "words", action: { import: true } } },
      });
      place.opened.push(() => fixture.close());
      const imports = importerOf(fixture);
      const start = async () => {
        const worker = await startWorkerProcess({ files: fixture.files, env, program: hasty });
        place.opened.push(() => worker.stop());
        return worker;
      };
      let worker = await start();
      const outcomes: string[] = [];
      for (let killed = 0; killed < kills; killed++) {
        const run = randomUUID();
        const lines = Array.from({ length: count }, (_, at) => [run, `word ${at}`]);
        const preview = await imports.previewed(
          "words",
          await workbookOf([["run", "word"], ...lines]),
        );
        const preview_job_id: string = preview.body.job_id;
        const { body } = await fixture.post("words/import-commit", { preview_job_id });
        await sleep(Math.random() * 1_000);
        await worker.end("SIGKILL");
        const stored = async () =>
          (
            await fixture.sql(
              `select count(*) as n, count(distinct word) as words from words where run = '${run}'`,
            )
          ).map(({ n, words }) => [Number(n), Number(words)])[0]!;
        const [atKill = 0] = await stored();
        worker = await start();
        const status = await imports.ended("words", body.job_id);
        expect(status.body).toMatchObject({ status: "completed", result: { inserted: count } });
        expect(await stored()).toEqual([count, count]);
        outcomes.push(atKill === 0 ? "not stored yet" : "stored");
      }
      console.log(`commits at the kill of their worker: ${outcomes.join(", ")}`);
    },
  );

  test("lose their jobs while they sleep, and nothing of them shows when they wake up", async () => {
    const env = place.envOf(place.jobsUrl);
    const service = await place.openOver(env);
    const sleeper = await place.startWorker(env, hasty);
    const id = await startExport(service);
    await processing(service, id);
    sleeper.process.kill("SIGSTOP");
    try {
      const other = await place.startWorker(env, hasty);
      const seen: number[] = [];
      const stoppedMs = performance.now();
      for (;;) {
        const { body } = await ask(service, `export-status?job_id=${id}`);
        if (body["status"] === "completed") break;
        expect(body["status"]).toBe("processing");
        const progress = body["progress"] as { processed_rows: number } | undefined;
        if (progress) seen.push(progress.processed_rows);
        // It wakes up while the other one works.
        if (performance.now() - stoppedMs > 2_500) sleeper.process.kill("SIGCONT");
        expect(performance.now() - stoppedMs).toBeLessThan(25_000);
        await sleep(20);
      }
      sleeper.process.kill("SIGCONT");
      expect(seen).toEqual(seen.toSorted((one, two) => one - two));
      await sleep(1_500);
      expect((await ask(service, `export-status?job_id=${id}`)).body["status"]).toBe("completed");
      expect(await linesOf(service, id)).toBe(rows);
      await other.end("SIGTERM");
      expect(await ended(service, await startExport(service))).toBe("completed");
    } finally {
      sleeper.process.kill("SIGCONT");
    }
  });

  test("hand their jobs back when they are stopped, and end with 0 within 10 seconds", async () => {
    const env = place.envOf(place.jobsUrl);
    const service = await place.openOver(env);
    const worker = await place.startWorker(env);
    const ids = await Promise.all([1, 2, 3, 4].map(() => startExport(service)));
    while ((await ask(service, `export-status?job_id=${ids[0]}`)).body["status"] === "pending")
      await sleep(5);
    const stoppedMs = performance.now();
    expect(await worker.end("SIGTERM")).toBe(0);
    expect(performance.now() - stoppedMs).toBeLessThan(10_000);
    await place.startWorker(env);
    for (const id of ids) {
      expect(await ended(service, id)).toBe("completed");
      expect(await linesOf(service, id)).toBe(rows);
    }
  });
});
