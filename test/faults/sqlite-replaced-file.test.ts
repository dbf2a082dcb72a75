/** A SQLite database whose file is replaced while the service runs, as when a backup is restored without a stop. */
import {
  copyFileSync,
  linkSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import Database from "better-sqlite3";
import { afterEach, describe, expect, test } from "vitest";
import { type ServiceProcess, startService } from "./service-process.ts";

let folder: string;
let service: ServiceProcess;

afterEach(async () => {
  await service.stop();
  rmSync(folder, { recursive: true });
});

const places = () => {
  const path = join(folder, "shop.db");
  return { path, wal: `${path}-wal`, shm: `${path}-shm`, backup: join(folder, "backup.db") };
};

/** A database with `early` in the file and the backup, and `late`, acknowledged, only in the write-ahead log. */
async function serveRestorable() {
  folder = mkdtempSync(join(tmpdir(), "rowgate-test-replaced-"));
  const { path, backup, wal } = places();
  const first = new Database(path);
  first.exec("create table items (id text primary key, name text)");
  first.close();
  service = await startService(
    {
      "project.json": { database: { url: `sqlite:${path}` }, cache: { enabled: false } },
      "items.json": { tableName: "items", action: { create: true, read: true, export: true } },
    },
    { env: { LOG_LEVEL: "info" } },
  );
  expect((await create("early")).status).toBe(201);
  const copying = new Database(path, { readonly: true });
  await copying.backup(backup);
  copying.close();
  // As of a backup of yesterday.
  utimesSync(backup, new Date(0), new Date(0));
  expect((await create("late")).status).toBe(201);
  expect(statSync(wal).size).toBeGreaterThan(0);
}

const create = (name: string) => service.post("items/create", { name });

async function names(): Promise<string[] | number> {
  const { status, body } = await service.post("items/read", {
    limit: 100,
    sort_columns: [{ column: "name", direction: "ASC" }],
  });
  if (status !== 200) return status;
  return (body["data"] as { name: string }[]).map(({ name }) => name);
}

const readiness = async () => (await fetch(`${service.origin}/health/ready`)).status;

/** Sends writes until one is stored again; the statuses of the others. */
async function writesUntilStored(name: string): Promise<number[]> {
  const statuses: number[] = [];
  const untilMs = performance.now() + 20_000;
  while (performance.now() < untilMs) {
    const { status } = await create(name);
    if (status === 201) return statuses;
    statuses.push(status);
    await pause(100);
  }
  throw new Error(`never stored: ${statuses.join()}; ${service.said()}`);
}

const namesIn = (path: string): string[] => {
  const database = new Database(path);
  const rows = database.prepare("select name from items order by name").pluck().all();
  expect(database.pragma("integrity_check", { simple: true })).toBe("ok");
  database.close();
  return rows as string[];
};

const wentAway = () =>
  service
    .said()
    .split("\n")
    .filter((line) => line.includes("The database went away"));

const ways: [string, (at: ReturnType<typeof places>) => void, string[], RegExp][] = [
  [
    "replaced by a backup with mv",
    ({ path, backup }) => renameSync(backup, path),
    ["early", "next"],
    /shop\.db was replaced by another/,
  ],
  [
    "removed and then copied",
    ({ path, backup }) => {
      rmSync(path);
      copyFileSync(backup, path);
    },
    ["early", "next"],
    /shop\.db was replaced by another/,
  ],
  [
    "left without its log",
    ({ wal }) => rmSync(wal),
    ["early", "late", "next"],
    /the log of \S+shop\.db was removed/,
  ],
  [
    "left without its log and its index",
    ({ wal, shm }) => [wal, shm].forEach((one) => rmSync(one)),
    ["early", "late", "next"],
    /the log of \S+shop\.db was removed/,
  ],
];

describe("a database that is", () => {
  /** In a folder that has not changed for long, the service looks at the folder only. */
  const quietMs = 2_500;
  test.each(
    ways.flatMap((way) => [
      [`${way[0]} at once`, 0, ...way.slice(1)],
      [`${way[0]} in a quiet folder`, quietMs, ...way.slice(1)],
    ]) as [string, number, (typeof ways)[0][1], string[], RegExp][],
  )("%s is served again without a restart", async (_, waitMs, takeAway, then, line) => {
    await serveRestorable();
    const at = places();
    linkSync(at.path, join(folder, "aside.db"));
    await pause(waitMs);
    expect(await readiness()).toBe(200);
    expect(await readiness()).toBe(200);
    takeAway(at);
    expect(await readiness()).toBe(503);
    const refused = await writesUntilStored("next");
    expect(new Set(refused)).toEqual(new Set(refused.length > 0 ? [503] : []));
    expect(await names()).toEqual(then);
    expect(await readiness()).toBe(200);
    await expect.poll(wentAway).toEqual([expect.stringMatching(line)]);
    // What was acknowledged is in the file that it was written to.
    expect(namesIn(join(folder, "aside.db"))).toContain("late");
    await service.stop();
    expect(namesIn(at.path)).toEqual(then);
  });

  test("overwritten is not served until it is copied again", async () => {
    await serveRestorable();
    const { path, backup } = places();
    await pause(300);
    expect(await readiness()).toBe(200);
    copyFileSync(backup, path);
    await expect.poll(readiness, { timeout: 20_000 }).toBe(503);
    expect([(await create("lost")).status, await names(), await readiness()]).toEqual([
      503, 503, 503,
    ]);
    expect((await create("lost")).status).toBe(503);
    copyFileSync(backup, path);
    await writesUntilStored("next");
    expect(await names()).toEqual(["early", "next"]);
    expect(wentAway()).toEqual([expect.stringMatching(/was overwritten while it was open/)]);
    await service.stop();
    expect(namesIn(path)).toEqual(["early", "next"]);
  });

  test("removed is served again when it is back", async () => {
    await serveRestorable();
    const { path, backup } = places();
    rmSync(path);
    expect([(await create("lost")).status, await readiness()]).toEqual([503, 503]);
    copyFileSync(backup, path);
    await writesUntilStored("next");
    expect(await names()).toEqual(["early", "next"]);
  });

  test("replaced is left by reads alone, also of several statements at one moment", async () => {
    await serveRestorable();
    const { path, backup } = places();
    /** With a page so far behind that it is counted and read in a snapshot. */
    const total = async () => {
      const { body } = await service.post("items/read", { limit: 10, page: 10_000 });
      return (body["pagination"] as { total_records: number } | undefined)?.total_records;
    };
    expect(await total()).toBe(2);
    renameSync(backup, path);
    await expect.poll(total, { timeout: 10_000 }).toBe(1);
  });

  test("replaced is left by an export too", async () => {
    await serveRestorable();
    const { path, backup } = places();
    const exported = async () => {
      const started = await service.post("items/export", { format: "csv" });
      const at = `${service.origin}/api/test/items`;
      const id = String(started.body["job_id"]);
      await expect
        .poll(
          async () =>
            ((await (await fetch(`${at}/export-status?job_id=${id}`)).json()) as { status: string })
              .status,
          { timeout: 20_000 },
        )
        .toBe("completed");
      return (await fetch(`${at}/export-download?job_id=${id}`)).text();
    };
    expect(await exported()).toContain("late");
    renameSync(backup, path);
    expect(await exported()).not.toContain("late");
  });
});

test("programs that write the database through SQLite keep the service from nothing", async () => {
  await serveRestorable();
  const { path } = places();
  const other = new Database(path);
  for (let round = 0; round < 30; round++) {
    other.prepare("insert into items values (?, ?)").run(`other-${round}`, "x".repeat(5_000));
    if (round % 3 === 0) other.pragma("wal_checkpoint(PASSIVE)");
    if (round % 7 === 0) other.pragma("wal_checkpoint(TRUNCATE)");
    if (round === 20) other.exec("vacuum");
    expect((await create(`own-${round}`)).status).toBe(201);
    expect(await readiness()).toBe(200);
  }
  other.close();
  expect(wentAway()).toEqual([]);
});
