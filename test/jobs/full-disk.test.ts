/**
 * Jobs and uploads on a full disk: what cannot be stored is refused or waits, no partial file remains, and work
 * continues once there is space.
 */
import { randomUUID } from "node:crypto";
import { readdir } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { checkEnvelope } from "../contract/cases.ts";
import { type Importer, importerOf, workbookOf } from "../contract/imports.ts";
import { openPlace, type Place } from "./places.ts";
import { fill, hasSmallDisks } from "./small-disk.ts";

if (!hasSmallDisks) console.log("Left out: full disks, as this system lets the tests mount none");

const rows = 30_000;

describe.skipIf(!hasSmallDisks)("on a disk that is full,", () => {
  let place: Place;
  let imports: Importer;
  beforeEach(async () => {
    place = await openPlace({
      engine: "sqlite",
      where: "in the service",
      diskBytes: 4 * 1024 ** 2,
      tables: [
        { name: "things", columns: { id: "identity", word: "text(200)", qty: "integer" } },
        { name: "goods", columns: { good_id: "key", run: "text(40)", qty: "integer" } },
      ],
      setUp: [
        `insert into things (word, qty) with recursive n(i) as (select 1 union all select i + 1 from n where i < ${rows})
         select 'thing number ' || i, i from n`,
      ],
      endpoints: {
        things: { tableName: "things", action: { export: true, read: true } },
        goods: { tableName: "goods", action: { import: true } },
      },
    });
    imports = importerOf(place);
  });
  afterEach(() => place?.close());

  /** Every file of the service, half-written ones included. */
  const filesLeft = async (): Promise<string[]> => {
    const entries = await readdir(place.folder, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile() && entry.name !== "filler")
      .map(({ parentPath, name }) => `${parentPath.slice(place.folder.length)}/${name}`)
      .toSorted();
  };

  const exportStatus = async (id: string) =>
    (await place.request(`/api/test/things/export-status?job_id=${id}`)).body;

  const goodsOf = (run: string, count: number) =>
    workbookOf([["run", "qty"], ...Array.from({ length: count }, (_, at) => [run, at])]);

  test("an export is not accepted, and reads go on", async () => {
    const free = fill(place.folder);
    const answer = await place.post("things/export", {});
    checkEnvelope(answer);
    expect([answer.status, answer.body.error]).toEqual([503, "Service unavailable"]);
    expect((await place.post("things/read", { limit: 1 })).status).toBe(200);
    expect(await filesLeft()).toEqual([]);
    free();
    expect((await place.post("things/export", {})).status).toBe(200);
  });

  test("an export whose file finds no room leaves nothing of it, and completes once there is room", async () => {
    const free = fill(place.folder, 400_000);
    const { body } = await place.post("things/export", { format: "jsonl" });
    const id: string = body.job_id;
    const startedMs = performance.now();
    let failures = 0;
    let wasWriting = false;
    while (failures < 2) {
      expect((await exportStatus(id)).status).not.toBe("completed");
      expect(performance.now() - startedMs).toBeLessThan(30_000);
      const isWriting = (await filesLeft()).some((name) => name.startsWith("/.partial/"));
      if (wasWriting && !isWriting) failures += 1;
      wasWriting = isWriting;
      await sleep(5);
    }
    expect((await filesLeft()).filter((name) => name.startsWith("/exports"))).toEqual([]);
    free();
    while ((await exportStatus(id)).status !== "completed") {
      expect(performance.now() - startedMs).toBeLessThan(50_000);
      await sleep(50);
    }
    const response = await place.fetch(`/api/test/things/export-download?job_id=${id}`);
    expect((await response.text()).trimEnd().split("\n")).toHaveLength(rows);
  });

  test("an upload is refused at whichever write there is no room, and nothing of it is left", async () => {
    const file = await goodsOf(randomUUID(), 3);
    // What later ones find there already.
    await imports.uploaded("goods", file);
    const statuses: number[] = [];
    for (let pages = 0; pages < 6; pages++) {
      const free = fill(place.folder, pages * 4_096);
      const before = await filesLeft();
      const answer = await imports.sendFile("goods", file);
      statuses.push(answer.status);
      checkEnvelope(answer);
      if (answer.status !== 200) {
        expect([answer.status, answer.body.error]).toEqual([503, "Service unavailable"]);
        expect(answer.headers.get("retry-after")).toBeTruthy();
        expect(await filesLeft()).toEqual(before);
      }
      free();
    }
    expect([statuses[0], statuses.at(-1)]).toEqual([503, 200]);
  });

  test("a commit stores nothing, and all its rows once there is room", async () => {
    const run = randomUUID();
    const count = 20_000;
    const preview = await imports.previewed("goods", await goodsOf(run, count));
    const preview_job_id: string = preview.body.job_id;
    const { body } = await place.post("goods/import-commit", { preview_job_id });
    const free = fill(place.folder);
    const stored = async () => {
      const [row] = await place.sql(
        `select count(*) as n, count(distinct qty) as different from goods where run = '${run}'`,
      );
      return [row!["n"], row!["different"]];
    };
    const status = async () =>
      (await place.request(`/api/test/goods/import-status?job_id=${body.job_id}`)).body;
    await sleep(3_000);
    expect((await status()).status).toBe("processing");
    expect(await stored()).toEqual([0, 0]);
    free();
    const { body: end } = await imports.ended("goods", body.job_id);
    expect(end).toMatchObject({ status: "completed", result: { inserted: count } });
    expect(await stored()).toEqual([count, count]);
  });

  test("a commit is not accepted, and can be asked for again", async () => {
    const preview = await imports.previewed("goods", await goodsOf(randomUUID(), 3));
    const preview_job_id: string = preview.body.job_id;
    const free = fill(place.folder);
    const refused = await place.post("goods/import-commit", { preview_job_id });
    checkEnvelope(refused);
    expect(refused.status).toBe(503);
    free();
    const { body } = await imports.commit("goods", preview_job_id);
    expect(body).toMatchObject({ status: "completed", result: { inserted: 3 } });
  });
});
