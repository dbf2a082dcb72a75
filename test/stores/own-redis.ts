/** A Redis for one test, which can kill, pause and fill it; other test files share the run's server. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import { kinds } from "../servers/kinds.ts";
import { findPrograms } from "../servers/machine.ts";
import { tryServer } from "../servers/session.ts";
import { freePort } from "../servers/start.ts";

export interface OwnRedis {
  readonly url: string;
  /** Past the service. Reconnects after `start`. */
  readonly client: Redis;
  /** SIGKILL. What it wrote down stays in its folder. */
  kill(): Promise<void>;
  /** Starts it again, on the same port and folder. Resolves when it answers. */
  start(): Promise<void>;
  /** SIGSTOP: connections stay open without answers. */
  pause(): void;
  goOn(): void;
  /** Ends it and removes its folder. */
  stop(): Promise<void>;
}

/** `args` come after those of the servers that a run starts (`--maxmemory 1mb`). */
export async function startRedis(...args: string[]): Promise<OwnRedis> {
  const paths = findPrograms("redis");
  if (!paths) throw new Error("These tests end and pause a Redis: install redis-server.");
  const folder = await mkdtemp(join(tmpdir(), "rowgate-test-own-redis-"));
  const port = await freePort();
  const url = kinds.redis.ownUrl(port);
  const [program, ...given] = kinds.redis.serve(paths, folder, port);
  let server: ChildProcess;

  async function start(): Promise<void> {
    server = spawn(program, [...given, ...args], { cwd: folder, stdio: "ignore" });
    const giveUpAtMs = performance.now() + 10_000;
    while (performance.now() < giveUpAtMs) {
      if (
        await tryServer("redis", url).then(
          () => true,
          () => false,
        )
      )
        return;
      await sleep(20);
    }
    throw new Error("Redis did not start");
  }
  async function kill(): Promise<void> {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const exited = new Promise((resolve) => server.once("exit", resolve));
    server.kill("SIGKILL");
    await exited;
  }
  const atExit = () => void server.kill("SIGKILL");
  process.once("exit", atExit);

  await start();
  const client = new Redis(url, { retryStrategy: () => 50 });
  client.on("error", () => {});
  return {
    url,
    client,
    kill,
    start,
    pause: () => void server.kill("SIGSTOP"),
    goOn: () => void server.kill("SIGCONT"),
    async stop() {
      client.disconnect();
      await kill();
      process.off("exit", atExit);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** What a server needs to come back with what it had. */
export const writtenDown = ["--appendonly", "yes", "--appendfsync", "always"];
