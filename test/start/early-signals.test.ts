/** Signals that come while a command still opens what it needs end it with 0, as later ones do. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

const cli = join(import.meta.dirname, "../../app/start/cli.ts");
const folder = mkdtempSync(join(tmpdir(), "rowgate-signals-"));
/** A Redis that never answers, so that nothing comes after the connection. */
const silent = createServer();
let redisUrl = "";

beforeAll(async () => {
  mkdirSync(join(folder, "configs/shop"), { recursive: true });
  const settings = { database: { url: "postgres://shop@127.0.0.1:1/shop" } };
  writeFileSync(join(folder, "configs/shop/project.json"), JSON.stringify(settings));
  silent.listen(0, "127.0.0.1");
  await once(silent, "listening");
  redisUrl = `redis://127.0.0.1:${(silent.address() as { port: number }).port}`;
});
afterAll(() => {
  silent.close();
  rmSync(folder, { recursive: true, force: true });
});

test.each([
  ["worker", "SIGTERM"],
  ["worker", "SIGINT"],
  ["serve", "SIGTERM"],
] as const)("a %s that waits for Redis ends with 0 on %s", async (command, signal) => {
  const env = {
    ...process.env,
    CONFIG_DIR: join(folder, "configs"),
    STORAGE_URL: `file:${join(folder, "files")}`,
    REDIS_URL: redisUrl,
    PORT: "0",
  };
  const child = spawn(process.execPath, [cli, command], { env, stdio: "ignore" });
  const exited = once(child, "exit");
  await Promise.race([once(silent, "connection"), exited]);
  child.kill(signal);
  expect(await exited).toEqual([0, null]);
});

test.each(["worker", "serve"])(
  "a %s whose sources are not loaded yet ends with 0",
  async (command) => {
    const preload = join(folder, "preload.mjs");
    writeFileSync(
      preload,
      `import { registerHooks } from "node:module";
    registerHooks({
      load(url, context, next) {
        if (url.endsWith("/commands.ts")) process.kill(process.pid, "SIGTERM");
        return next(url, context);
      },
    });`,
    );
    const env = { ...process.env, CONFIG_DIR: join(folder, "configs"), PORT: "0" };
    const child = spawn(process.execPath, ["--import", preload, cli, command], {
      env,
      stdio: "ignore",
    });
    expect(await once(child, "exit")).toEqual([0, null]);
  },
);
