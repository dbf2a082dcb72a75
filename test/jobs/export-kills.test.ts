/** Exports whose process is killed at any moment: a completed one has its whole file. TEST_KILLS: number of kills. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { TableFormat } from "../../core/plans/table-formats.ts";
import type { EngineName } from "../servers/session.ts";
import { fileOf, rowsOf } from "../workbook/files.ts";
import { batchSize, type Jobs, killRounds, killsTimeoutMs } from "./kill-rounds.ts";
import { openPlace, type Place, places } from "./places.ts";

const rows = 10_000;
const formats: readonly TableFormat[] = ["xlsx", "csv", "jsonl"];

/** 1 to `rows`, on every engine. */
const digits =
  "(select 0 d union all select 1 union all select 2 union all select 3 union all select 4 union all select 5 union all select 6 union all select 7 union all select 8 union all select 9)";
const numbered = (engine: EngineName): string => {
  const places = ["a", "b", "c", "d", "e"];
  const number = places.map((name, at) => `${name}.d * ${10 ** at}`).join(" + ");
  const word = engine === "mysql" ? "concat('thing number ', n)" : "'thing number ' || n";
  const from = places.map((name) => `${digits} ${name}`).join(", ");
  return `insert into things (id, word, qty) select n + 1, ${word}, n from (select ${number} as n from ${from}) numbers where n < ${rows}`;
};

interface Export {
  readonly id: string;
  readonly format: TableFormat;
}

describe.each(places)("exports on $engine, run $where", ({ engine, where }) => {
  let place: Place;
  beforeAll(async () => {
    place = await openPlace({
      engine,
      where,
      tables: [{ name: "things", columns: { id: "identity", word: "text(200)", qty: "integer" } }],
      setUp: [numbered(engine)],
      endpoints: { things: { tableName: "things", action: { export: true } } },
    });
  }, 30_000);
  afterAll(() => place?.close());

  const statusOf = async ({ id }: Export) =>
    (await place.request(`/api/test/things/export-status?job_id=${id}`)).body;

  async function idsIn({ id, format }: Export): Promise<number[]> {
    const response = await place.fetch(`/api/test/things/export-download?job_id=${id}`);
    const bytes = Buffer.from(await response.arrayBuffer());
    expect(response.status).toBe(200);
    expect(bytes.length).toBe(Number(response.headers.get("content-length")));
    if (format === "xlsx") {
      const sheet = await rowsOf(await fileOf(bytes));
      return sheet.rows.map((row) => Number(row[1]));
    }
    const lines = bytes.toString().trimEnd().split("\n");
    if (format === "jsonl") return lines.map((line) => (JSON.parse(line) as { id: number }).id);
    return lines.slice(1).map((line) => Number(line.split(",")[0]));
  }

  const jobs: Jobs<Export> = {
    start: () =>
      Promise.all(
        Array.from({ length: batchSize }, async (_, at) => {
          const format = formats[at % formats.length]!;
          const { body } = await place.post("things/export", { format });
          return { id: String(body.job_id), format };
        }),
      ),
    async hasEnded(job) {
      return ["completed", "failed"].includes((await statusOf(job)).status);
    },
    async stage(job) {
      const { status } = await statusOf(job);
      return { pending: "waited", processing: "ran", completed: "ended" }[String(status)] ?? status;
    },
    async check(job) {
      expect(await statusOf(job)).toMatchObject({ success: true, status: "completed" });
      const ids = await idsIn(job);
      expect([ids.length, new Set(ids).size]).toEqual([rows, rows]);
    },
  };

  test(
    "that are killed end, and every completed one has its whole file",
    { timeout: killsTimeoutMs },
    async () => {
      const counts = await killRounds(place, jobs);
      console.log(`exports on ${engine}, run ${where}, ${counts}`);
    },
  );

  test("leave no half-written file where downloads look", async () => {
    const names = await readdir(join(place.folder, "exports", "test"));
    expect(names.length).toBeGreaterThan(0);
    expect(names.every((name) => /^export-[\w-]+\.[\w-]+\.(?:xlsx|csv|jsonl)$/.test(name))).toBe(
      true,
    );
  });
});
