/**
 * A PostgreSQL or MariaDB for one test, which can crash and restart it; other test files share the run's server. Unlike
 * that server, it hands every commit to the operating system before it acknowledges it. What is killed is the process
 * and not the machine, so nothing has to reach the disk.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chownSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { kinds } from "../servers/kinds.ts";
import { accountOf, findPrograms } from "../servers/machine.ts";
import { openSession, tryServer } from "../servers/session.ts";
import { freePort } from "../servers/start.ts";

type Engine = "postgres" | "mysql";

export interface OwnDatabase {
  /** As project.json takes it. */
  readonly url: string;
  /** SIGKILL; nothing is lost that was acknowledged. */
  crash(): Promise<void>;
  /** Starts it again, on the same port and folder. Resolves when it answers. */
  start(): Promise<void>;
  /** Ends it and removes its folder. */
  stop(): Promise<void>;
}

/** At the end of a test. PostgreSQL would leave shared memory behind after SIGKILL; it ends at once after SIGQUIT too. */
const endSignals = { postgres: "SIGQUIT", mysql: "SIGKILL" } as const;

/** Of the options of the run's servers, these are overridden, because the last one counts. */
const careful = {
  postgres: ["--synchronous_commit=on"],
  mysql: ["--innodb-flush-log-at-trx-commit=1"],
} as const;

/** Throws where the server's programs are not installed. */
export async function startDatabase(engine: Engine): Promise<OwnDatabase> {
  const paths = findPrograms(engine);
  if (!paths)
    throw new Error(`These tests crash a database: the programs of ${engine} are missing.`);
  const kind = kinds[engine];
  const account = accountOf(engine);
  const folder = await mkdtemp(join(tmpdir(), `rowgate-test-own-${engine}-`));
  if (account) chownSync(folder, account.uid, account.gid);
  const port = await freePort();
  const serverUrl = kind.ownUrl(port);
  const [fill = "", ...fillArgs] = kind.fill(paths, folder)!;
  const filled = spawnSync(fill, fillArgs, { ...account, cwd: folder, encoding: "utf8" });
  if (filled.status !== 0) throw new Error(filled.stderr);
  const [program = "", ...args] = [...kind.serve(paths, folder, port), ...careful[engine]];
  let server: ChildProcess | undefined;

  async function start(): Promise<void> {
    const giveUpAtMs = performance.now() + 30_000;
    for (;;) {
      // PostgreSQL refuses to start until the sessions of the one that was killed have noticed and ended.
      if (!server || hasEnded(server))
        server = spawn(program, args, { ...account, cwd: folder, stdio: "ignore" });
      const refusal = await tryServer(engine, serverUrl).then(
        () => null,
        (error: unknown) => error,
      );
      if (refusal === null) return;
      if (performance.now() > giveUpAtMs) throw refusal;
      await sleep(50);
    }
  }
  async function end(signal: NodeJS.Signals): Promise<void> {
    if (!server || hasEnded(server)) return;
    const exited = once(server, "exit");
    server.kill(signal);
    await exited;
  }
  const atExit = () => void server?.kill(endSignals[engine]);
  process.once("exit", atExit);

  await start();
  const session = await openSession(engine, serverUrl);
  await session.run("CREATE DATABASE things_of_a_test");
  await session.close();
  const url = new URL(serverUrl);
  url.pathname = "/things_of_a_test";
  return {
    url: url.href,
    crash: () => end("SIGKILL"),
    start,
    async stop() {
      await end(endSignals[engine]);
      process.off("exit", atExit);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean =>
  exitCode !== null || signalCode !== null;
