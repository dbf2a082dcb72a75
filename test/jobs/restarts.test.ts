/** The service without Redis, killed and started again: no job is forgotten, and the API answers while exports run. */
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ServiceProcess, startService } from "../faults/service-process.ts";
import type { FreshDatabase } from "../servers/database.ts";
import { openThings, rows } from "./things.ts";

let database: FreshDatabase;
let folder: string;

beforeAll(async () => {
  database = await openThings();
  folder = await mkdtemp(join(tmpdir(), "rowgate-test-restarts-"));
});
afterAll(async () => {
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

const start = () =>
  startService(
    {
      "project.json": { database: { url: database.url } },
      "things.json": { tableName: "things", action: { export: true, read: true } },
    },
    { env: { STORAGE_URL: `file:${folder}` } },
  );

const statusOf = async ({ origin }: ServiceProcess, id: string) =>
  (await (await fetch(`${origin}/api/test/things/export-status?job_id=${id}`)).json()) as {
    status: string;
  };

async function linesOf({ origin }: ServiceProcess, id: string): Promise<number> {
  const response = await fetch(`${origin}/api/test/things/export-download?job_id=${id}`);
  const text = await response.text();
  expect(response.status).toBe(200);
  expect(Buffer.byteLength(text)).toBe(Number(response.headers.get("content-length")));
  return text.trimEnd().split("\n").length;
}

async function startExport(service: ServiceProcess): Promise<string> {
  const { body } = await service.post("things/export", { format: "jsonl" });
  return body["job_id"] as string;
}

async function ended(service: ServiceProcess, id: string): Promise<string> {
  const giveUpAtMs = performance.now() + 20_000;
  for (;;) {
    const { status } = await statusOf(service, id);
    if (status === "completed" || status === "failed") return status;
    if (performance.now() > giveUpAtMs) throw new Error(`Still ${status}`);
    await sleep(30);
  }
}

async function kill({ process }: ServiceProcess): Promise<void> {
  const exited = new Promise((resolve) => process.once("exit", resolve));
  process.kill("SIGKILL");
  await exited;
}

test("jobs go on after the service was killed at any moment", { timeout: 120_000 }, async () => {
  let service = await start();
  const states: string[] = [];
  for (let kills = 0; kills < 3; kills++) {
    const ids = await Promise.all([1, 2, 3].map(() => startExport(service)));
    await sleep(Math.random() * 1_000);
    const { status } = await statusOf(service, ids[0]!);
    states.push(status);
    await kill(service);
    service = await start();
    for (const id of ids) {
      expect(await ended(service, id)).toBe("completed");
      expect(await linesOf(service, id)).toBe(rows);
    }
  }
  await service.stop();
  console.log(`exports at the kill of their service: ${states.join(", ")}`);
});

test(
  "a service that is stopped ends within 10 seconds, and the next goes on",
  { timeout: 60_000 },
  async () => {
    const first = await start();
    const ids = await Promise.all([1, 2, 3, 4].map(() => startExport(first)));
    const stoppedMs = performance.now();
    await first.stop();
    expect(first.process.exitCode).toBe(0);
    expect(performance.now() - stoppedMs).toBeLessThan(10_000);
    const second = await start();
    for (const id of ids) expect(await ended(second, id)).toBe("completed");
    await second.stop();
  },
);

test("reads are answered at once while exports run", { timeout: 60_000 }, async () => {
  const service = await start();
  const ids = await Promise.all([1, 2].map(() => startExport(service)));
  const beganMs = performance.now();
  let slowestMs = 0;
  let reads = 0;
  while ((await statusOf(service, ids[1]!)).status !== "completed") {
    const startedMs = performance.now();
    const { status } = await service.post("things/read", { page: 1 + (reads % 5) });
    expect(status).toBe(200);
    slowestMs = Math.max(slowestMs, performance.now() - startedMs);
    reads += 1;
  }
  const exportsMs = performance.now() - beganMs;
  await service.stop();
  console.log(`slowest of ${reads} reads while two exports ran: ${Math.round(slowestMs)} ms`);
  // A read that waited for an export would take about as long.
  expect(slowestMs).toBeLessThan(exportsMs / 2);
});

test("nothing is left half written", async () => {
  for (const name of await readdir(join(folder, ".partial")).catch(() => [])) {
    // Only what a killed process was writing; the next start removes it after an hour.
    expect(name).toMatch(/^[0-9a-f-]{36}$/);
  }
  const names = await readdir(join(folder, "exports", "test"));
  expect(names.every((name) => name.endsWith(".jsonl"))).toBe(true);
});
