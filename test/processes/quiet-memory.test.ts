/** 100,000 requests leave the process as it was before them, once it is quiet. */
import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import Database from "better-sqlite3";
import { afterAll, beforeAll, expect, test } from "vitest";
import { measure } from "../../bench/load.ts";
import { serveProcess } from "../running/serve-process.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "rowgate-test-quiet-"));
  const database = new Database(join(folder, "shop.db"));
  database.exec("create table things (id integer primary key, name varchar(40))");
  for (let at = 1; at <= 1000; at++)
    database.prepare("insert into things values (?, ?)").run(at, `Name ${at}`);
  database.close();
  await mkdir(join(folder, "configs/shop"), { recursive: true });
  const files = {
    "project.json": {
      database: { url: `sqlite:${join(folder, "shop.db")}` },
      cache: { enabled: false },
    },
    "things.json": { tableName: "things", action: { first: true, read: true } },
  };
  for (const [name, content] of Object.entries(files))
    await writeFile(join(folder, "configs/shop", name), JSON.stringify(content));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const requests = 100_000;
const turnMs = 1_000;
const quietMs = 7_000;
const loads = [
  {
    path: "/api/shop/things/first",
    body: (at: number) => JSON.stringify({ where: { key: "id", value: (at % 1000) + 1 } }),
    expectedStatus: 200,
  },
  {
    path: "/api/shop/things/read",
    body: (at: number) => JSON.stringify({ page: (at % 50) + 1, per_page: 20 }),
    expectedStatus: 200,
    connections: 64,
  },
];
const memoryMb = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]) / 1024;

test.runIf(existsSync("/proc/self/status"))(
  "100,000 requests leave a process that takes at most 1.3 times its memory before them",
  { timeout: 150_000 },
  async () => {
    const { child, origin, stop } = await serveProcess({
      cwd: folder,
      // V8 sometimes does the same by itself.
      nodeArgs: ["--no-memory-reducer"],
      env: { CONFIG_DIR: join(folder, "configs") },
    });
    try {
      await expect.poll(async () => (await fetch(`${origin}/health/ready`)).status).toBe(200);
      // Within its first quiet seconds, it returns what the start has used.
      await sleep(quietMs);
      const beforeMb = memoryMb(child.pid!);
      let sent = 0;
      for (let turn = 0; sent < requests; turn++)
        sent += (await measure(origin, loads[turn % 2]!, turnMs)) * (turnMs / 1000);
      expect(memoryMb(child.pid!)).toBeGreaterThan(1.3 * beforeMb);
      await expect
        .poll(() => memoryMb(child.pid!) / beforeMb, { timeout: 30_000, interval: 1_000 })
        .toBeLessThan(1.3);
    } finally {
      await stop();
    }
  },
);
