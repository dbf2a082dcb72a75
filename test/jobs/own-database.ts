/**
 * A PostgreSQL or MariaDB for one test, which can crash and restart it; other test files share the run's server. Unlike
 * that server, it writes to disk what it acknowledged.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
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
  /** Ends it without a word to its clients; nothing is lost that was acknowledged. */
  crash(): Promise<void>;
  /** Starts it again, on the same port and folder. Resolves when it answers. */
  start(): Promise<void>;
  /** Ends it and removes its folder. */
  stop(): Promise<void>;
}

/** PostgreSQL crashes by SIGQUIT: after SIGKILL its other processes remain and prevent a restart. */
const crashSignals = { postgres: "SIGQUIT", mysql: "SIGKILL" } as const;

/** The run's servers do not wait for the disk. These options override theirs, because the last one counts. */
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
  let server: ChildProcess;

  async function start(): Promise<void> {
    server = spawn(program, args, { ...account, cwd: folder, stdio: "ignore" });
    const giveUpAtMs = performance.now() + 30_000;
    for (;;) {
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
    if (server.exitCode !== null || server.signalCode !== null) return;
    const exited = new Promise((resolve) => server.once("exit", resolve));
    server.kill(signal);
    await exited;
  }
  const atExit = () => void server.kill(crashSignals[engine]);
  process.once("exit", atExit);

  await start();
  const session = await openSession(engine, serverUrl);
  await session.run("CREATE DATABASE things_of_a_test");
  await session.close();
  const url = new URL(serverUrl);
  url.pathname = "/things_of_a_test";
  return {
    url: url.href,
    crash: () => end(crashSignals[engine]),
    start,
    async stop() {
      await end(crashSignals[engine]);
      process.off("exit", atExit);
      await rm(folder, { recursive: true, force: true });
    },
  };
}
