/**
 * Imports whose process is killed at any moment of the commit: every row of the file is stored exactly once. TEST_KILLS
 * sets the number of kills.
 */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Importer, importerOf, workbookOf } from "../contract/imports.ts";
import { batchSize, type Jobs, killRounds, killsTimeoutMs } from "./kill-rounds.ts";
import { openPlace, type Place, places } from "./places.ts";

const rows = 5_000;

interface Commit {
  readonly id: string;
  /** What tells its rows from those of the others. */
  readonly run: string;
}

describe.each(places)("commits on $engine, run $where", ({ engine, where }) => {
  let place: Place;
  let imports: Importer;
  beforeAll(async () => {
    const columns = {
      thing_id: "key",
      run: { type: "text(40)", notNull: true },
      word: { type: "text(40)", notNull: true },
      qty: "integer",
    } as const;
    place = await openPlace({
      engine,
      where,
      tables: [{ name: "things", columns }],
      // Without upsertKeys a row that is stored twice is there twice.
      endpoints: { things: { tableName: "things", action: { import: true } } },
    });
    imports = importerOf(place);
  }, 30_000);
  afterAll(() => place?.close());

  const fileOf = (run: string) =>
    workbookOf([
      ["run", "word", "qty"],
      ...Array.from({ length: rows }, (_, at) => [run, `word ${at}`, at]),
    ]);

  /** Rows, different rows, and the sum of their numbers. */
  async function stored(run: string): Promise<number[]> {
    const [row] = await place.sql(
      `select count(*) as n, count(distinct word) as words, coalesce(sum(qty), 0) as total from things where run = '${run}'`,
    );
    return [Number(row!["n"]), Number(row!["words"]), Number(row!["total"])];
  }
  const whole = [rows, rows, (rows * (rows - 1)) / 2];

  const statusOf = async ({ id }: Commit) =>
    (await place.request(`/api/test/things/import-status?job_id=${id}`)).body;

  const jobs: Jobs<Commit> = {
    async start() {
      const previews = await Promise.all(
        Array.from({ length: batchSize }, async () => {
          const run = randomUUID();
          const { body } = await imports.previewed("things", await fileOf(run));
          expect(body.summary).toEqual({ valid: rows, invalid: 0, skip: 0 });
          return { run, preview_job_id: String(body.job_id) };
        }),
      );
      return Promise.all(
        previews.map(async ({ run, preview_job_id }) => {
          const { body } = await place.post("things/import-commit", { preview_job_id });
          return { id: String(body.job_id), run };
        }),
      );
    },
    async hasEnded(job) {
      return (await statusOf(job)).status !== "processing";
    },
    async stage(job) {
      const { status, progress } = await statusOf(job);
      if (status !== "processing") return status === "completed" ? "ended" : status;
      return progress.processed_rows > 0 ? "ran" : "waited";
    },
    async afterKill({ run }, before) {
      const now = await stored(run);
      expect([[0, 0, 0], whole]).toContainEqual(now);
      if (before === "ended") return before;
      // The status read just before the kill can be outdated.
      if (now[0] !== 0) return "after COMMIT";
      return before === "ran" ? "before COMMIT" : before;
    },
    async check(job) {
      const { status, result } = await statusOf(job);
      expect([status, result]).toEqual([
        "completed",
        { inserted: rows, updated: 0, skipped: 0, failed: 0 },
      ]);
      expect(await stored(job.run)).toEqual(whole);
    },
  };

  test(
    "that are killed end, and every row of their files is there once",
    { timeout: killsTimeoutMs },
    async () => {
      const counts = await killRounds(place, jobs);
      console.log(`commits on ${engine}, run ${where}, ${counts}`);
    },
  );
});
