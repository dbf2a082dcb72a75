/**
 * The service without Redis, with jobs in PostgreSQL: the database crashes, hangs and recovers, or cannot keep jobs.
 * Also: once an import is reported complete, lists show its rows.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { openJobWorld } from "../../app/start/opening/open-job-world.ts";
import { createLog } from "../../app/start/observing/log.ts";
import { openService } from "../../app/start/servers/wire.ts";
import type { Job } from "../../core/jobs/job.ts";
import { createRunner } from "../../jobs/run-job.ts";
import { openFixture } from "../contract/harness.ts";
import { importerOf, workbookOf } from "../contract/imports.ts";
import { freshDatabase } from "../servers/database.ts";
import {
  ask,
  ended,
  type ExportPlace,
  linesOf,
  openExportPlace,
  processing,
  startExport,
  type Timed,
} from "./export-place.ts";
import { rows } from "./things.ts";
import { type OwnDatabase, startDatabase } from "./own-database.ts";
import { type SilentDoor, startSilentDoor } from "./silent-door.ts";
import { startWorkerProcess } from "./worker-process.ts";

let place: ExportPlace;
beforeAll(async () => {
  place = await openExportPlace();
}, 30_000);
afterEach(() => place.tidy());
afterAll(() => place?.close());

function expectAway({ status, body, lastedMs }: Timed): void {
  expect([status, body["error"]]).toEqual([503, "Service unavailable"]);
  expect(lastedMs).toBeLessThan(1_000);
}

describe("a database of the jobs that is away", () => {
  let own: OwnDatabase;
  let door: SilentDoor;
  beforeAll(async () => {
    own = await startDatabase("postgres");
    door = await startSilentDoor(own.url);
  }, 60_000);
  afterAll(async () => {
    await door?.stop();
    await own?.stop();
  });

  const troubles = {
    crashes: { begin: () => own.crash(), end: () => own.start() },
    "stops answering": { begin: async () => door.silence(), end: async () => door.goOn() },
  };

  test.each(Object.entries(troubles))(
    "as it %s makes jobs unavailable within a second, and they go on when it is back",
    async (_, { begin, end }) => {
      const env = place.envOf(door.url);
      const service = await place.openOver(env);
      await place.startWorker(env);
      const before = await startExport(service);
      expect(await ended(service, before)).toBe("completed");
      const running = await startExport(service);
      await processing(service, running);

      await begin();
      expectAway(await ask(service, "export", {}));
      expectAway(await ask(service, `export-status?job_id=${before}`));
      expectAway(await ask(service, `export-download?job_id=${before}`));
      expectAway(await ask(service, "export-cancel", { job_id: before }));
      expect((await ask(service, "read", { limit: 5 })).status).toBe(200);
      await sleep(1_500);

      await end();
      const backMs = performance.now();
      let after = await ask(service, "export", {});
      while (after.status === 503 && performance.now() - backMs < 10_000) {
        await sleep(100);
        after = await ask(service, "export", {});
      }
      expect(after.status).toBe(200);
      expect(await ended(service, after.body["job_id"] as string)).toBe("completed");
      expect(await ended(service, running)).toBe("completed");
      expect(await linesOf(service, running)).toBe(rows);
      expect((await ask(service, `export-status?job_id=${before}`)).body["status"]).toBe(
        "completed",
      );
    },
  );

  test("is waited for by a service and by a worker that start without it", async () => {
    const env = place.envOf(own.url);
    await own.crash();
    const service = await place.openOver(env);
    const starting = place.startWorker(env);
    expectAway(await ask(service, "export", {}));
    await own.start();
    await starting;
    let answer = await ask(service, "export", {});
    while (answer.status === 503) {
      await sleep(100);
      answer = await ask(service, "export", {});
    }
    expect(await ended(service, answer.body["job_id"] as string)).toBe("completed");
  });
});

describe("a database of the jobs that cannot keep them", () => {
  test.each([
    ["that is not there", (url: URL) => (url.pathname = "/no_such_database"), "does not exist"],
    ["whose user is not there", (url: URL) => (url.username = "nobody_at_all"), "does not exist"],
    [
      "that lets nothing be written",
      (url: URL) => url.searchParams.set("options", "-c default_transaction_read_only=on"),
      "read-only transaction",
    ],
  ])("%s is refused by service and worker", async (_, change, words) => {
    const url = new URL(place.jobsUrl);
    url.password = "secret-word";
    change(url);
    // Where nothing was made yet.
    const fresh = await freshDatabase("postgres");
    if (url.pathname === new URL(place.jobsUrl).pathname)
      url.pathname = new URL(fresh.url).pathname;
    place.opened.push(() => fresh.drop());
    const env = place.envOf(url.href);
    const refusal = place.openOver(env).then(
      () => "taken",
      (error: Error) => error.message,
    );
    expect(await refusal).toMatch(/^The database of JOBS_DATABASE_URL cannot keep jobs: /);
    expect(await refusal).toContain(words);
    expect(await refusal).not.toContain("secret-word");
    await expect(place.startWorker(env)).rejects.toThrow(/ended with 1: The database of JOBS_/);
  });

  test("is no matter to a service without jobs", async () => {
    const plain = new Map(place.files).set(
      "test/things.json",
      '{"tableName":"things","action":{"read":true}}',
    );
    const env = place.envOf("postgres://127.0.0.1:1/none");
    const service = await openService({ files: plain, env, log: createLog("silent") });
    place.opened.push(() => service.close());
    expect((await ask(service, "read", { limit: 1 })).status).toBe(200);
  });
});

describe("lists in the cache of a service whose worker is another process", () => {
  async function open() {
    const env = place.envOf(place.jobsUrl);
    const fixture = await openFixture({
      engine: "postgres",
      env,
      tables: [{ name: "words", columns: { word_id: "key", word: "text(40)" } }],
      endpoints: { words: { tableName: "words", action: { import: true, read: true } } },
      project: { cache: { enabled: true, ttlSeconds: 600 } },
    });
    place.opened.push(() => fixture.close());
    const worker = await startWorkerProcess({ files: fixture.files, env });
    place.opened.push(() => worker.stop());
    const imports = importerOf(fixture);
    const count = async () =>
      (await fixture.post("words/read", { page: 1 })).body.pagination.total_records as number;
    return { env, fixture, worker, imports, count };
  }

  test("show what an import stored, from the moment that it is called completed", async () => {
    const { imports, count } = await open();
    for (let round = 1; round <= 3; round++) {
      expect(await count()).toBe((round - 1) * 2);
      const file = await workbookOf([["word"], [`one ${round}`], [`two ${round}`]]);
      const { body } = await imports.committed("words", file);
      expect(body).toMatchObject({ status: "completed", result: { inserted: 2 } });
      expect(await count()).toBe(round * 2);
    }
  });

  test("show what an import stored that the queue calls failed, and the ledger completed", async () => {
    const { env, fixture, worker, imports, count } = await open();
    const upload = await imports.uploaded("words", await workbookOf([["word"], ["late"]]));
    const { body: preview } = await fixture.post("words/import-preview", { upload_id: upload });
    await imports.ended("words", preview.job_id);
    await worker.stop();
    const { body } = await fixture.post("words/import-commit", { preview_job_id: preview.job_id });
    const id: string = body.job_id;
    expect(await count()).toBe(0);
    await fixture.post("words/import-cancel", { job_id: id });
    expect((await imports.ended("words", id)).body.status).toBe("failed");

    // As a worker that had taken the job before, and hears of its end too late.
    const world = { files: fixture.files, env, log: createLog("silent"), raise: async () => {} };
    const { world: late, close } = await openJobWorld(world);
    place.opened.push(close);
    const common = { project: "test", endpoint: "words", caller: null, keptSeconds: 60 };
    const request = { upload, totalRows: 1 };
    const job: Job = { id, kind: "commit", ...common, request, createdAtMs: Date.now() };
    const { signal } = new AbortController();
    await createRunner(late)({ job, id: randomUUID(), signal, progress: () => undefined });
    expect((await imports.ended("words", id)).body).toMatchObject({ status: "completed" });
    expect(await count()).toBe(1);
  });
});
