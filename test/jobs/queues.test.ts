/**
 * What every queue must do: the same cases for the queue inside the process and for BullMQ with a worker, in Redis and
 * in PostgreSQL. The jobs are made up; the contract tests run the service's jobs.
 */
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from "vitest";
import { AppError, notFound, unavailable } from "../../core/values/errors.ts";
import { abandonedError, cancelledError, unknownError } from "../../core/jobs/jobs.ts";
import { limits } from "../../core/values/limits.ts";
import type { Job, Run, RunJob } from "../../core/jobs/job.ts";
import type { JobRecord, Queue } from "../../core/jobs/queue.ts";
import type { Log } from "../../core/plans/log-port.ts";
import { createBullmqQueue } from "../../jobs/queue/bullmq/bullmq-queue.ts";
import { startBullmqWorker } from "../../jobs/queue/bullmq/bullmq-worker.ts";
import { createFolderFiles } from "../../jobs/files/folder-files.ts";
import { openLocalJobs } from "../../jobs/queue/local/local-jobs.ts";
import {
  type QueueServerUrls,
  openBullmqServer,
} from "../../jobs/queue/bullmq/open-bullmq-server.ts";
import { type FreshDatabase, freshDatabase } from "../servers/database.ts";

const log: Log = { debug() {}, info() {}, warn() {}, error() {} };

/** Beyond what the other cases need. */
const waitingMost = { ofCaller: 45, ofProject: 60 };

/** A queue and the process that runs its jobs. It can be opened several times in sequence. */
interface Place {
  open(runJob: RunJob): Promise<Queue>;
  /** As after SIGTERM. */
  stop(): Promise<void>;
}

function localPlace(folder: string): Place {
  let queue: Queue | undefined;
  return {
    async open(runJob) {
      queue = await openLocalJobs({ files: createFolderFiles(folder), runJob, log, waitingMost });
      return queue;
    },
    stop: async () => queue?.close(),
  };
}

function bullmqPlace(urls: QueueServerUrls): Place {
  const queueName = `test-${randomUUID()}`;
  let stops: (() => Promise<void>)[] = [];
  return {
    async open(runJob) {
      const serverOf = async (use: "service" | "worker") =>
        (await openBullmqServer(urls, { use, log }))!;
      const keptSecondsMax = () => 60;
      const queue = createBullmqQueue({
        server: await serverOf("service"),
        queueName,
        keptSecondsMax,
        waitingMost,
      });
      const worker = await startBullmqWorker({
        server: await serverOf("worker"),
        queueName,
        runJob,
        log,
        onStuck: () => undefined,
        lockMs: 1_000,
        lookMs: 500,
      });
      stops = [() => worker.stop(), () => queue.close()];
      return queue;
    },
    async stop() {
      for (const stop of stops.splice(0)) await stop();
    },
  };
}

const newJob = (request: Job["request"] = {}): Job => ({
  id: `export-${randomUUID()}`,
  kind: "export",
  project: "test",
  endpoint: "items",
  caller: null,
  request,
  createdAtMs: Date.now(),
  keptSeconds: 60,
});

const places = ["in the process", "in Redis", "in PostgreSQL"] as const;

describe.each(places)("the queue %s", (name) => {
  let database: FreshDatabase | undefined;
  let folder: string;
  let place: Place;
  beforeAll(async () => {
    if (name === "in PostgreSQL") database = await freshDatabase("postgres");
  });
  afterAll(() => database?.drop());
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "rowgate-test-queue-"));
    const redisUrl = name === "in Redis" ? inject("serverUrls")!.redis! : null;
    const urls = { redisUrl, jobsDatabaseUrl: database?.url ?? null };
    place = name === "in the process" ? localPlace(folder) : bullmqPlace(urls);
  });
  afterEach(async () => {
    await place.stop();
    await rm(folder, { recursive: true, force: true });
  });

  async function ended(queue: Queue, id: string): Promise<JobRecord> {
    for (;;) {
      const job = await queue.find(id);
      if (job?.state === "completed" || job?.state === "failed") return job;
      await sleep(10);
    }
  }
  /** Resolves when the run should end, by rejecting. */
  const untilEnd = ({ signal }: Run): Promise<never> =>
    new Promise((_, reject) =>
      signal.addEventListener("abort", () => reject(new Error("ended")), { once: true }),
    );

  test("completes a job with what its run gave", async () => {
    const queue = await place.open(async ({ job }) => ({ file: "a", asked: job.request["word"]! }));
    const job = newJob({ word: '\u00e9\u{1f600} "quoted"' });
    await queue.add(job);
    expect(await ended(queue, job.id)).toEqual({
      ...job,
      state: "completed",
      progress: null,
      result: { file: "a", asked: job.request["word"] },
      error: null,
      finishedAtMs: expect.any(Number),
    });
  });

  test("keeps texts that no column of a database takes", async () => {
    const words = ["\u0000", "a\u0000b", "\ud800", "\ufffe", String.raw`\u0000`];
    const queue = await place.open(async ({ job }) => job.request["words"]!);
    const job = newJob({ words });
    await queue.add(job);
    expect(await ended(queue, job.id)).toMatchObject({ request: { words }, result: words });
  });

  test("knows no job that nobody added", async () => {
    const queue = await place.open(async () => null);
    expect(await queue.find(newJob().id)).toBeNull();
    await queue.cancel(newJob().id);
  });

  test("runs a job once, however often it is added, and keeps the first", async () => {
    let runs = 0;
    const queue = await place.open(async ({ job }) => ((runs += 1), job.request["word"]!));
    const job = newJob();
    const add = (word: string) => queue.add({ ...job, request: { word } });
    await add("first");
    await Promise.all([add("second"), add("second")]);
    await ended(queue, job.id);
    await add("third");
    await sleep(100);
    expect([runs, (await ended(queue, job.id)).result]).toEqual([1, "first"]);
  });

  test("runs a job once that is added twice at the same time, and keeps one of them", async () => {
    let runs = 0;
    const queue = await place.open(async ({ job }) => ((runs += 1), job.request["word"]!));
    const job = newJob();
    const add = (word: string) => queue.add({ ...job, request: { word } });
    // On two connections, either can come first.
    await Promise.all([add("one"), add("other")]);
    const { result } = await ended(queue, job.id);
    expect(["one", "other"]).toContain(result);
    await add("third");
    await sleep(100);
    expect([runs, (await ended(queue, job.id)).result]).toEqual([1, result]);
  });

  test("fails a job at once when the run refuses, and says why", async () => {
    let runs = 0;
    const queue = await place.open(async () => {
      runs += 1;
      throw notFound("It is gone");
    });
    const job = newJob();
    await queue.add(job);
    expect(await ended(queue, job.id)).toMatchObject({
      state: "failed",
      error: "It is gone",
      result: null,
    });
    expect(runs).toBe(1);
  });

  test.each([
    ["what may pass", () => unavailable("Away")],
    ["what nobody expected", () => new Error("secret: no such file /etc/x")],
  ])("tries again after %s, a little later each time", async (_, error) => {
    const startedMs: number[] = [];
    const queue = await place.open(async () => {
      startedMs.push(performance.now());
      if (startedMs.length < 3) throw error();
      return "done";
    });
    const job = newJob();
    await queue.add(job);
    expect((await ended(queue, job.id)).result).toBe("done");
    const [first = 0, second = 0, third = 0] = startedMs;
    expect(second - first).toBeGreaterThan(400);
    expect(third - second).toBeGreaterThan(900);
  });

  test(
    "gives up a job whose error stays, without a word of the error",
    { timeout: 60_000 },
    async () => {
      const queue = await place.open(async () => {
        throw new AppError("internal", "secret", { cause: new Error("secret") });
      });
      const job = newJob();
      await queue.add(job);
      expect(await ended(queue, job.id)).toMatchObject({
        state: "failed",
        error: expect.not.stringContaining("secret"),
      });
    },
  );

  test(
    "shows progress that never goes back, over all runs of the job",
    { timeout: 30_000 },
    async () => {
      let runs = 0;
      const queue = await place.open(async (run) => {
        runs += 1;
        const steps = runs === 1 ? [0, 60, 80] : [0, 30, 90, 100];
        for (const step of steps) {
          run.progress(step, 100);
          await sleep(400);
        }
        if (runs === 1) throw unavailable("Away");
        return "done";
      });
      const job = newJob();
      await queue.add(job);
      const seen: number[] = [];
      for (;;) {
        const now = (await queue.find(job.id))!;
        if (now.progress) seen.push(now.progress.processed);
        if (now.state === "completed") break;
        if (now.progress) expect(now.state).toBe("active");
        await sleep(20);
      }
      expect(seen).toEqual(seen.toSorted((one, other) => one - other));
      expect(new Set(seen)).toContain(80);
    },
  );

  test("cancels a running job", async () => {
    const queue = await place.open(untilEnd);
    const job = newJob();
    await queue.add(job);
    while ((await queue.find(job.id))?.state === "waiting") await sleep(10);
    await queue.cancel(job.id);
    expect(await ended(queue, job.id)).toMatchObject({ state: "failed", error: cancelledError });
  });

  test("cancels a waiting job at once, and never runs it", async () => {
    const started: string[] = [];
    const queue = await place.open(async (run) => {
      started.push(run.job.id);
      return untilEnd(run);
    });
    const busy = [newJob(), newJob(), newJob()];
    for (const job of busy) await queue.add(job);
    const job = newJob();
    await queue.add(job);
    while (started.length < 2) await sleep(10);
    await queue.cancel(job.id);
    expect(await queue.find(job.id)).toMatchObject({ state: "failed", error: cancelledError });
    for (const { id } of busy) await queue.cancel(id);
    for (const { id } of busy) await ended(queue, id);
    await sleep(100);
    expect(started).not.toContain(job.id);
    expect(await queue.find(job.id)).toMatchObject({ state: "failed", error: cancelledError });
  });

  test("lets only so many jobs of a caller wait, and of a project", async () => {
    const held = Promise.withResolvers<void>();
    let begun = 0;
    const queue = await place.open(async () => {
      begun += 1;
      await held.promise;
      return null;
    });
    const add = async (count: number, more: Partial<Job>): Promise<string[]> => {
      const outcomes: string[] = [];
      for (let at = 0; at < count; at++)
        outcomes.push(
          await queue.add({ ...newJob(), ...more }).then(
            () => "added",
            (error: AppError) => error.kind,
          ),
        );
      return outcomes.filter((outcome) => outcome !== "added");
    };
    const [anna, ben, carl] = ["anna", "ben", "carl"].map((share) => ({ share }));
    await add(2, anna!);
    while (begun < 2) await sleep(10);
    await sleep(limits.jobsWaitingLookMs);
    expect(await add(46, anna!)).toEqual(["tooManyRequests"]);
    expect(await add(16, ben!)).toEqual(["tooManyRequests"]);
    expect(await add(1, carl!)).toEqual(["tooManyRequests"]);
    expect(await add(1, { ...anna, project: "other" })).toEqual([]);
    held.resolve();
    while (begun < 10) await sleep(10);
    await sleep(limits.jobsWaitingLookMs);
    expect(await add(1, anna!)).toEqual([]);
  });

  test("takes turns between projects, and between the callers of each", async () => {
    const begun: string[] = [];
    let held = Promise.withResolvers<void>();
    const queue = await place.open(async ({ job }) => {
      begun.push(`${job.project} ${String(job.request["share"])}`);
      await held.promise;
      return null;
    });
    const add = (project: string, share: string) =>
      queue.add({ ...newJob({ share }), project, share });
    /** Ends the two that run, and gives the next ones. */
    async function next(count: number): Promise<string[]> {
      const ended: string[] = [];
      while (ended.length < count) {
        held.resolve();
        held = Promise.withResolvers();
        while (begun.length < 2) await sleep(10);
        ended.push(...begun.splice(0));
      }
      return ended;
    }
    await Promise.all(Array.from({ length: 40 }, () => add("big", "greedy")));
    while (begun.length < 2) await sleep(10);
    begun.length = 0;
    // Much later than all of those.
    await add("small", "one");
    await add("big", "modest");
    const turns = await next(4);
    expect(turns).toContain("small one");
    expect(turns).toContain("big modest");
    // One caller always has a job waiting, another has had many for long: neither blocks the other.
    for (let round = 0; round < 4; round++) {
      for (let count = 0; count < 3; count++) await add("small", "one");
      expect(new Set(await next(4))).toEqual(new Set(["small one", "big greedy"]));
    }
    held.resolve();
  });

  test("leaves a job alone that is completed when it is cancelled", async () => {
    const queue = await place.open(async () => "done");
    const job = newJob();
    await queue.add(job);
    await ended(queue, job.id);
    await queue.cancel(job.id);
    expect(await queue.find(job.id)).toMatchObject({ state: "completed", result: "done" });
  });

  test("stops within seconds, and the next process goes on", { timeout: 30_000 }, async () => {
    const reasons: unknown[] = [];
    const first = await place.open(async (run) => {
      run.progress(40, 100);
      await untilEnd(run).catch(() => reasons.push(run.signal.reason));
      throw new Error("ended");
    });
    const jobs = [newJob(), newJob(), newJob()];
    for (const job of jobs) await first.add(job);
    while ((await first.find(jobs[0]!.id))?.progress?.processed !== 40) await sleep(10);
    const stoppedMs = performance.now();
    await place.stop();
    expect(performance.now() - stoppedMs).toBeLessThan(8_000);
    expect(reasons).toEqual(["stopping", "stopping"]);

    const second = await place.open(async ({ job }) => job.id);
    for (const { id } of jobs) expect((await ended(second, id)).result).toBe(id);
  });

  test("lets jobs finish that need a moment when it stops", async () => {
    const queue = await place.open(async () => (await sleep(600), "done"));
    const job = newJob();
    await queue.add(job);
    while ((await queue.find(job.id))?.state === "waiting") await sleep(10);
    await place.stop();
    const next = await place.open(async () => "again");
    expect((await ended(next, job.id)).result).toBe("done");
  });

  test("runs many jobs, two at a time", async () => {
    let running = 0;
    let most = 0;
    const queue = await place.open(async ({ job }) => {
      most = Math.max(most, ++running);
      await sleep(5);
      running -= 1;
      return job.id;
    });
    const jobs = Array.from({ length: 40 }, () => newJob());
    await Promise.all(jobs.map((job) => queue.add(job)));
    for (const { id } of jobs) expect((await ended(queue, id)).result).toBe(id);
    expect(most).toBe(2);
  });
});

describe("the queue in the process, on a disk that is full for a while", () => {
  let folder: string;
  let queue: Queue;
  let isFull = false;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "rowgate-test-queue-"));
    const files = createFolderFiles(folder);
    const write: typeof files.write = async (...args) => {
      if (isFull) throw Object.assign(new Error("no space left"), { code: "ENOSPC" });
      return files.write(...args);
    };
    const runJob: RunJob = async () => (await sleep(200), "done");
    queue = await openLocalJobs({ files: { ...files, write }, runJob, log });
  });
  afterEach(async () => {
    isFull = false;
    await queue.close();
    await rm(folder, { recursive: true, force: true });
  });

  test("takes no job that it cannot store", async () => {
    isFull = true;
    const job = newJob();
    await expect(queue.add(job)).rejects.toMatchObject({ kind: "unavailable" });
    expect(await queue.find(job.id)).toBeNull();
    isFull = false;
    await queue.add(job);
  });

  test("completes a job whose end could not be stored, once there is room", async () => {
    const job = newJob();
    await queue.add(job);
    isFull = true;
    await sleep(400);
    expect((await queue.find(job.id))?.state).not.toBe("completed");
    isFull = false;
    const giveUpAtMs = performance.now() + 8_000;
    while ((await queue.find(job.id))?.state !== "completed") {
      expect(performance.now()).toBeLessThan(giveUpAtMs);
      await sleep(50);
    }
  });
});

test("sentences for clients differ from each other", () => {
  expect(new Set([cancelledError, abandonedError, unknownError]).size).toBe(3);
});
