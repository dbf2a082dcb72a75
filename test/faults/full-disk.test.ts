/**
 * A full disk below the database: writes fail with their own message, reads continue, readiness reports it, and the
 * service recovers once there is space. Needs a small in-memory disk, which only root can mount; skipped elsewhere.
 */
import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, inject, test } from "vitest";
import { type FreshDatabase, freshDatabase } from "../servers/database.ts";
import { openSession } from "../servers/session.ts";
import { type ServiceProcess, startService } from "./service-process.ts";

const engine = inject("engine");

let disk: string | null = null;
let database: FreshDatabase | null = null;
let service: ServiceProcess | null = null;

afterEach(async () => {
  await service?.stop();
  await database?.drop();
  database = null;
  if (disk === null) return;
  if (engine === "postgres") await run("drop tablespace if exists rowgate_small").catch(() => {});
  execFileSync("umount", ["--lazy", disk]);
  rmSync(disk, { recursive: true });
});

async function run(text: string): Promise<void> {
  const url = database?.url ?? inject("serverUrls")![engine as "postgres" | "mysql"]!;
  const session = await openSession(engine, url);
  await session.run(text).finally(() => session.close());
}

/** A disk of 4 MB, which the servers of this machine can write to. */
function mountDisk(): string {
  const folder = mkdtempSync(join(tmpdir(), "rowgate-test-disk-"));
  chmodSync(folder, 0o777);
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=4m,mode=777", "tmpfs", folder]);
  disk = folder;
  return folder;
}

const columns = "(id varchar(36) primary key, name";
const filler = (): string => join(disk!, "filler");

/** Creates a table on the small disk; returns functions that fill the space and free it again. */
const small = {
  async sqlite() {
    const path = join(mountDisk(), "shop.db");
    writeFileSync(path, "");
    database = { url: `sqlite:${path}`, drop: async () => {} };
    await run(`create table items ${columns} text)`);
    return fillingDisk;
  },
  async postgres() {
    database = await freshDatabase("postgres");
    execFileSync("chown", ["postgres", mountDisk()]);
    await run(`create tablespace rowgate_small location '${disk!}'`);
    await run(`create table items ${columns} text) tablespace rowgate_small`);
    return fillingDisk;
  },
  /** MariaDB ends itself when a disk is full, so the table itself is small. */
  async mysql() {
    database = await freshDatabase("mysql");
    await run(`create table items ${columns} varchar(10000)) engine = memory max_rows = 10`);
    return { fill: () => {}, free: () => run("delete from items") };
  },
};

const fillingDisk = {
  fill() {
    expect(() => writeFileSync(filler(), Buffer.alloc(8 * 1024 * 1024))).toThrow("ENOSPC");
  },
  free: async () => rmSync(filler()),
};

const create = (name: string) => service!.post("items/create", { name });
const long = "x".repeat(10_000);
const read = async (): Promise<number> => (await service!.post("items/read", { limit: 1 })).status;

async function readiness(): Promise<unknown> {
  const response = await fetch(`${service!.origin}/health/ready`);
  const { projects } = (await response.json()) as { projects: { test: { database: string } } };
  return [response.status, projects.test.database];
}

test("a full disk refuses writes as what it is, until there is room", async (context) => {
  const place = await small[engine]().catch((error: Error) => error);
  if (place instanceof Error) return context.skip(`no small disk: ${place.message}`);
  service = await startService(
    {
      "project.json": { database: { url: database!.url }, cache: { enabled: false } },
      "items.json": { tableName: "items", action: { create: true, read: true } },
    },
    { env: { LOG_LEVEL: "info" } },
  );
  expect((await create("early")).status).toBe(201);
  expect(await readiness()).toEqual([200, "ok"]);
  place.fill();
  let answer = await create(long);
  // The database can have some free space inside.
  for (let times = 0; answer.status === 201 && times < 1_000; times++) answer = await create(long);
  expect([answer.status, answer.body["error"], answer.body["message"]]).toEqual([
    503,
    "Service unavailable",
    "The database has no room left, so nothing was stored; try again later",
  ]);
  expect((await create(long)).status).toBe(503);
  expect(await read()).toBe(200);
  expect(await readiness()).toEqual([200, "full"]);
  await place.free();
  await expect.poll(async () => (await create("late")).status).toBe(201);
  expect(await readiness()).toEqual([200, "ok"]);
  const lines = /"msg":"The database has (no room left|room again)/g;
  await expect.poll(() => service?.said().match(lines)?.length).toBe(2);
});
