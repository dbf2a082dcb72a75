/** 300 tables that `rowgate init` wrote files for: the service that serves them stays small. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { runAside } from "../running/run-aside.ts";

const cli = join(import.meta.dirname, "../../app/start/cli.ts");
let folder: string;
let serving: ChildProcess | null = null;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "rowgate-test-many-"));
  const database = new Database(join(folder, "shop.db"));
  const columns = Array.from({ length: 12 }, (_, at) => `field_${at} varchar(80) not null`);
  database.exec("begin");
  for (let at = 0; at < 300; at++) {
    const reference = at > 0 ? `, parent_id integer references part_${at - 1} (id)` : "";
    database.exec(
      `create table part_${at} (id integer primary key, name varchar(80) unique, ${columns.join(", ")}, made timestamp${reference})`,
    );
  }
  database.exec("commit");
  database.close();
});
afterEach(async () => {
  serving?.kill("SIGKILL");
  await rm(folder, { recursive: true, force: true });
});

const memoryMb = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]) / 1024;

test.runIf(existsSync("/proc/self/status"))("300 endpoints take less than 200 MB", async () => {
  const env = {
    ...process.env,
    CONFIG_DIR: join(folder, "configs"),
    PORT: "0",
    LOG_LEVEL: "fatal",
  };
  const database = ["--database", `sqlite:${join(folder, "shop.db")}`];
  const { stdout } = await runAside(process.execPath, [cli, "init", ...database], env);
  expect(stdout).toContain("301 files written");
  const child = spawn(process.execPath, [cli, "serve"], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  serving = child;
  let shown = "";
  child.stdout.on("data", (chunk) => (shown += chunk));
  const url = await vi.waitFor(() => /listens on (\S+)/.exec(shown)![1]!, { timeout: 20_000 });
  await vi.waitFor(async () => expect((await fetch(`${url}/health/ready`)).status).toBe(200), {
    timeout: 20_000,
  });
  await vi.waitFor(() => expect(memoryMb(child.pid!)).toBeLessThan(200), { timeout: 15_000 });
});
