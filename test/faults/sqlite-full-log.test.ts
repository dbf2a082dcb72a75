/** A service whose log cannot be written keeps answering, stops on request and reports how many lines were lost. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { createTables } from "../contract/tables.ts";
import { fill, hasSmallDisks, onSmallDisk, seenBy } from "../jobs/small-disk.ts";
import { freshDatabase } from "../servers/database.ts";
import { openSession } from "../servers/session.ts";
import { type ServiceProcess, startService } from "./service-process.ts";
import { openForTests } from "../contract/harness.ts";

let service: ServiceProcess;
const database = openForTests(freshDatabase, "sqlite");
beforeAll(async () => {
  const session = await openSession("sqlite", database.url);
  const columns = { id: "key", name: "text(100)" } as const;
  for (const text of createTables("sqlite", [{ name: "items", columns }])) await session.run(text);
  await session.close();
});
afterEach(() => service?.stop());

const serve = async (within: readonly string[] = []): Promise<void> => {
  const files = {
    "project.json": { database: { url: database.url } },
    "items.json": { tableName: "items", action: { create: true, read: true } },
  };
  service = await startService(files, { env: { LOG_LEVEL: "info" }, within });
};

/** Sends requests that write a line each; how many there were. */
async function ask(rounds: number): Promise<number> {
  for (let round = 0; round < rounds; round++) {
    const { status } = await service.post("items/read", { page: 1, per_page: 5 });
    expect(status).toBe(200);
    expect((await fetch(`${service.origin}/health/live`)).status).toBe(200);
  }
  return rounds;
}

async function endsInTime(): Promise<void> {
  const exited = new Promise((resolve) => service.process.once("exit", (...how) => resolve(how)));
  const startedMs = performance.now();
  service.process.kill("SIGTERM");
  expect(await exited).toEqual([0, null]);
  expect(performance.now() - startedMs).toBeLessThan(10_000);
}

describe.skipIf(!hasSmallDisks)("a log on a disk that is full", () => {
  const folder = mkdtempSync(join(tmpdir(), "rowgate-test-log-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  /** The service writes into a file, from which its output is read. */
  const intoFile = ': > "$0/log"; tail --pid=$$ -n +1 -f "$0/log" & exec "$@" > "$0/log" 2>&1';
  const disk = (): string => seenBy(service.process.pid!, folder);
  const lines = (): Record<string, unknown>[] =>
    readFileSync(join(disk(), "log"), "utf8")
      .split("\n")
      .filter((line) => line.startsWith("{") && line.endsWith("}"))
      .map((line) => JSON.parse(line) as Record<string, unknown>);

  test("stops no answer, and one line tells what was lost once there is room", async () => {
    await serve([...onSmallDisk(folder, 1024 ** 2), "sh", "-c", intoFile, folder]);
    await ask(10);
    const free = fill(disk());
    await ask(300);
    const before = lines().length;
    free();
    await ask(5);
    await expect.poll(() => lines().length, { timeout: 10_000 }).toBeGreaterThan(before + 2);
    const lost = lines().filter((line) => "lost" in line);
    expect(lost).toMatchObject([{ level: 40, lost: expect.any(Number) }]);
    expect(lost[0]!["lost"]).toBeGreaterThan(100);
    fill(disk());
    await ask(50);
    await endsInTime();
  });
});

test("a pipe that nobody reads stops no answer, and SIGTERM ends the service", async () => {
  await serve();
  service.process.stdout!.pause();
  // Far more than a pipe holds.
  await ask(1_500);
  await endsInTime();
});
