/** Imports that meet records which clients hold with lock/acquire. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createLog } from "../../app/start/observing/log.ts";
import { openJobWorld, type JobWorldOptions } from "../../app/start/opening/open-job-world.ts";
import { createMemoryLocks } from "../../app/stores/memory-locks.ts";
import type { LockStore } from "../../core/locks/lock-store.ts";
import { createRunner } from "../../jobs/run-job.ts";
import { check } from "./cases.ts";
import { type Importer, importerOf, workbookOf } from "./imports.ts";
import { type JobFixture, jobPlaces, openJobFixture } from "./job-places.ts";

const action = { import: true, lock: true };
const goods = { tableName: "goods", action };
const endpoints = {
  goods: { ...goods, importConfig: { upsertKeys: ["code"] } },
  additions: { ...goods, importConfig: { upsertKeys: ["code"], upsertStrategy: "skip_existing" } },
};
const open = (place: (typeof jobPlaces)[number], locking: object): Promise<JobFixture> =>
  openJobFixture(place, {
    tables: [
      {
        name: "goods",
        columns: { good_id: "key", code: { type: "text(20)", unique: true }, word: "text(20)" },
      },
    ],
    endpoints,
    project: { locking },
  });

let fixture: JobFixture;
let imports: Importer;
beforeEach(async () => {
  await fixture.sql("delete from goods");
  await fixture.sql("insert into goods (good_id, code, word) values ('g1', 'C1', 'old')");
  await fixture.sql("insert into goods (good_id, code, word) values ('g2', 'C2', 'old')");
});

const words = async (): Promise<string> => {
  const rows = await fixture.sql("select word from goods order by code");
  return rows.map(({ word }) => word).join(" ");
};
const file = workbookOf([
  ["code", "word"],
  ["C0", "new"],
  ["C2", "new"],
  ["C1", "new"],
]);
const keyOf = (value: string) => ({ key: "good_id", value });
const hold = async (key: object, more: object = {}): Promise<() => Promise<void>> => {
  const lock_keys = [key];
  const body = { lock_keys, ttl: 120, ...more };
  const taken = await fixture.post("additions/lock/acquire", body);
  check(taken, { status: 200 });
  const { lock_token } = taken.body.data;
  return async () => {
    check(await fixture.post("additions/lock/release", { lock_keys, lock_token }), {
      status: 200,
      data: { released_keys: 1 },
    });
  };
};

describe.each(jobPlaces)("with enforceResourceLocks, an import %s", (place) => {
  beforeAll(async () => {
    fixture = await open(place, { enforceResourceLocks: true });
    imports = importerOf(fixture);
  }, 30_000);
  afterAll(() => fixture?.close());

  test("tells in the preview which rows meet held records, and who holds them", async () => {
    const releases = [await hold(keyOf("g2")), await hold(keyOf("g1"), { owner: "Anna" })];
    const { body } = await imports.previewed("goods", await file);
    for (const release of releases) await release();
    expect(body).toMatchObject({
      status: "preview_error",
      summary: { valid: 1, invalid: 2, skip: 0 },
      errors: [
        { rowIndex: 3, messages: ["the record is locked by another client"] },
        { rowIndex: 4, messages: ["the record is locked by another client, Anna"] },
      ],
    });
  });

  test("stores nothing where a record was locked after the preview", async () => {
    const preview = await imports.previewed("goods", await file);
    const release = await hold(keyOf("g1"));
    const { body } = await imports.commit("goods", preview.body.job_id);
    await release();
    expect(body).toMatchObject({
      status: "failed",
      error:
        "Nothing was stored: row 4 is no longer valid (the record is locked by another client)",
    });
    expect(await words()).toBe("old old");
  });

  test("changes a record again when its lock was released", async () => {
    await (
      await hold(keyOf("g1"))
    )();
    expect((await imports.committed("goods", await file)).body).toMatchObject({
      result: { inserted: 1, updated: 2 },
    });
    expect(await words()).toBe("new new new");
  });

  test("needs no lock of records that it leaves alone, makes, or that are held by another column", async () => {
    const releases = [await hold(keyOf("g2")), await hold({ key: "code", value: "C0" })];
    const { body } = await imports.committed("additions", await file);
    for (const release of releases) await release();
    expect(body).toMatchObject({ result: { inserted: 1, updated: 0, skipped: 2 } });
  });
});

describe("in a process that runs jobs, an import", () => {
  beforeAll(async () => {
    fixture = await open("in the service", { enforceResourceLocks: true });
    imports = importerOf(fixture);
  }, 30_000);
  afterAll(() => fixture?.close());

  async function commit(options: Partial<JobWorldOptions>): Promise<unknown> {
    const upload = await imports.uploaded("goods", await file);
    const { world, close } = await openJobWorld({
      files: fixture.files,
      env: { STORAGE_URL: `file:${fixture.filesFolder}` },
      log: createLog("silent"),
      raise: async () => undefined,
      ...options,
    });
    const job = {
      id: `commit-${randomUUID()}`,
      kind: "commit",
      project: "test",
      endpoint: "goods",
      caller: null,
      request: { upload, totalRows: 3 },
      createdAtMs: Date.now(),
      keptSeconds: 60,
    } as const;
    const { signal } = new AbortController();
    const running = createRunner(world)({ job, id: "r", signal, progress: () => undefined });
    return running.finally(close);
  }
  const answering = (status: LockStore["status"]) => () => ({ ...createMemoryLocks(), status });

  test("stores nothing where a record is locked while it runs", async () => {
    let asked = 0;
    const held = { owner: null, remainingMs: 5, isOwn: false };
    const locks = answering(async (names) => names.map(() => (asked++ < 2 ? null : held)));
    await expect(commit({ locks })).rejects.toMatchObject({
      kind: "validationFailed",
      message:
        "Nothing was stored: row 3 is no longer valid (the record is locked by another client)",
    });
    expect(await words()).toBe("old old");
  });

  test("stores nothing while the locks are out of reach", async () => {
    const locks = answering(() => Promise.reject(new Error("away")));
    await expect(commit({ locks })).rejects.toMatchObject({ kind: "unavailable" });
    expect(await words()).toBe("old old");
  });

  test("meets no lock where the process shares none with the service", async () => {
    const release = await hold(keyOf("g1"));
    await commit({});
    await release();
    expect(await words()).toBe("new new new");
  });

  test("asks for no lock without enforceResourceLocks", async () => {
    const files = new Map(
      [...fixture.files].map(([path, text]) => [
        path,
        text.replace('"enforceResourceLocks":true', '"enforceResourceLocks":false'),
      ]),
    );
    await commit({ files, locks: answering(() => Promise.reject(new Error("asked"))) });
    expect(await words()).toBe("new new new");
  });
});
