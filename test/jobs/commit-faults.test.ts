/** Import commits whose worker sleeps or whose servers go down midway: every row is stored once, and the job ends. */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type Answer } from "../contract/harness.ts";
import { importerOf, workbookOf } from "../contract/imports.ts";
import { findPrograms } from "../servers/machine.ts";
import { type OwnRedis, startRedis, writtenDown } from "../stores/own-redis.ts";
import { type OwnDatabase, startDatabase } from "./own-database.ts";
import { openPlace, type Place, type PlaceOptions } from "./places.ts";

const rows = 20_000;
const whole = [rows, rows];

let place: Place | undefined;
afterEach(async () => {
  await place?.close();
  place = undefined;
});

async function open(
  options: Pick<PlaceOptions, "engine" | "where" | "databaseUrl" | "redisUrl">,
): Promise<Place> {
  const columns = { thing_id: "key", run: "text(40)", word: "text(40)", qty: "integer" } as const;
  place = await openPlace({
    ...options,
    tables: [{ name: "things", columns }],
    endpoints: { things: { tableName: "things", action: { import: true } } },
  });
  if (options.engine === "sqlite") await place.sql(slowInserts);
  return place;
}

/** SQLite stores all rows before anybody could see that it has begun: some seconds here. */
const slowInserts = `create trigger slow after insert on things begin
  select count(*) from (
    with recursive n(i) as (select 1 union all select i + 1 from n where i < 500) select i from n
  );
end`;

interface Commit {
  readonly id: string;
  readonly run: string;
}

/** Resolves when the first rows of the commit are stored, and their transaction is open. */
async function halfCommitted(): Promise<Commit> {
  const run = randomUUID();
  const file = await workbookOf([
    ["run", "word", "qty"],
    ...Array.from({ length: rows }, (_, at) => [run, `word ${at}`, at]),
  ]);
  const preview = await importerOf(place!).previewed("things", file);
  expect(preview.body.summary).toEqual({ valid: rows, invalid: 0, skip: 0 });
  const preview_job_id: string = preview.body.job_id;
  const { body } = await place!.post("things/import-commit", { preview_job_id });
  const commit = { id: String(body.job_id), run };
  const giveUpAtMs = performance.now() + 10_000;
  for (;;) {
    const answer = await statusOf(commit);
    if (answer.body.progress?.processed_rows > 0) return commit;
    expect(answer.body.status).toBe("processing");
    expect(performance.now()).toBeLessThan(giveUpAtMs);
    await sleep(10);
  }
}

const statusOf = ({ id }: Commit): Promise<Answer> =>
  place!.request(`/api/test/things/import-status?job_id=${id}`);

/** The status once the job has ended or is unknown. Retries while answers are 503. */
async function ended(commit: Commit): Promise<Answer> {
  const giveUpAtMs = performance.now() + 100_000;
  for (;;) {
    const answer = await statusOf(commit);
    expect([200, 404, 503]).toContain(answer.status);
    if (answer.status === 404 || answer.body.status === "completed") return answer;
    if (answer.body.status === "failed" || performance.now() > giveUpAtMs)
      throw new Error(JSON.stringify(answer.body));
    await sleep(50);
  }
}

async function stored({ run }: Commit): Promise<number[]> {
  const [row] = await place!.sql(
    `select count(*) as n, count(distinct word) as words from things where run = '${run}'`,
  );
  return [Number(row!["n"]), Number(row!["words"])];
}

async function expectWhole(commit: Commit): Promise<void> {
  const { body } = await ended(commit);
  const result = { inserted: rows, updated: 0, skipped: 0, failed: 0 };
  expect(body).toMatchObject({ status: "completed", result });
  expect(await stored(commit)).toEqual(whole);
}

test.each(["postgres", "mysql", "sqlite"] as const)(
  "a commit on %s whose worker sleeps longer than its lock, and wakes up, stores every row once",
  async (engine) => {
    const { runner, start } = await open({ engine, where: "in a worker" });
    const commit = await halfCommitted();
    const sleeper = runner();
    sleeper.kill("SIGSTOP");
    try {
      await start();
      await sleep(4_000);
      expect(await stored(commit)).toEqual([0, 0]);
    } finally {
      sleeper.kill("SIGCONT");
    }
    await expectWhole(commit);
    await sleep(1_000);
    expect(await stored(commit)).toEqual(whole);
    const exited = new Promise((resolve) => sleeper.once("exit", resolve));
    sleeper.kill("SIGTERM");
    await exited;
  },
  // On a busy machine, SQLite needs half a minute for one run, and this takes two.
  150_000,
);

describe("a Redis that goes away during a commit", () => {
  let redis: OwnRedis;
  afterEach(() => redis?.stop());

  test("and comes back with what it had, changes nothing for the rows", async () => {
    redis = await startRedis(...writtenDown);
    await open({ engine: "postgres", where: "in a worker", redisUrl: redis.url });
    const commit = await halfCommitted();
    await redis.kill();
    await sleep(1_500);
    await redis.start();
    await expectWhole(commit);
  });

  test("and comes back empty, leaves all rows or none, and a job that is not known", async () => {
    redis = await startRedis();
    await open({ engine: "postgres", where: "in a worker", redisUrl: redis.url });
    const commit = await halfCommitted();
    await redis.kill();
    await redis.start();
    expect((await ended(commit)).status).toBe(404);
    // The worker that ran it can still be writing.
    await sleep(4_000);
    expect([[0, 0], whole]).toContainEqual(await stored(commit));
  });
});

describe.each(["postgres", "mysql"] as const)("%s, which crashes during a commit,", (engine) => {
  const isHere = findPrograms(engine) !== null;
  if (!isHere) console.log(`Left out: crashing ${engine}, whose programs are not installed here`);
  let database: OwnDatabase;
  beforeAll(async () => {
    if (isHere) database = await startDatabase(engine);
  }, 60_000);
  afterAll(() => database?.stop());
  afterEach(async () => {
    // The next place makes the same tables.
    for (const table of ["things", "rowgate_jobs"])
      await place?.sql(`drop table if exists ${table}`);
  });

  test.skipIf(!isHere).each(["in a worker", "in the service"] as const)(
    "keeps nothing of it, and all of its next run, %s",
    async (where) => {
      await open({ engine, where, databaseUrl: database.url });
      const commit = await halfCommitted();
      await database.crash();
      await sleep(1_000);
      await database.start();
      await expectWhole(commit);
    },
  );
});
