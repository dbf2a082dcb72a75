/**
 * PgBouncer in transaction mode before the PostgreSQL of the run, as Debian's package has it.
 * `test/run.ts` calls `findOrInstallPgBouncer` when the project `pooler` is asked for.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, mkdtempSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { tmpdir } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { inject } from "vitest";
import { findOrInstall } from "./debian-program.ts";
import type { Kept } from "./keeper.ts";
import { accountOf } from "./machine.ts";
import { freePort } from "./start.ts";

/** The path of the program; see `findOrInstall`. */
export const findOrInstallPgBouncer = (say: (line: string) => void): string =>
  findOrInstall(
    {
      title: "PgBouncer",
      command: "pgbouncer",
      debianPackage: "pgbouncer",
      versionArgument: "--version",
      tests: "of poolers",
    },
    say,
  );

export interface Pooler {
  /** The same database through the pooler. */
  through(url: string): string;
  close(): Promise<void>;
}

/** With its usual settings, but for two sessions with the server. `users`: their passwords by name. */
export async function openPooler(users: Readonly<Record<string, string>>): Promise<Pooler> {
  const server = new URL(inject("serverUrls")!.postgres!);
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), "rowgate-test-pgbouncer-"));
  const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;
  const lines = Object.entries(users).map((entry) => entry.map(quoted).join(" "));
  writeFileSync(join(folder, "users.txt"), `${lines.join("\n")}\n`);
  const settings = [
    "[databases]",
    `* = host=${server.hostname} port=${server.port || 5432}`,
    "[pgbouncer]",
    "listen_addr = 127.0.0.1",
    `listen_port = ${port}`,
    "unix_socket_dir =",
    "auth_type = scram-sha-256",
    `auth_file = ${join(folder, "users.txt")}`,
    "pool_mode = transaction",
    "default_pool_size = 2",
  ];
  const file = join(folder, "pgbouncer.ini");
  writeFileSync(file, `${settings.join("\n")}\n`);
  const account = accountOf("postgres");
  if (account) chownSync(folder, account.uid, account.gid);
  const kept: Kept = {
    fill: null,
    serve: [inject("pgbouncer")!, file],
    cleanUp: null,
    account,
    stopSignal: "SIGTERM",
    graceMs: 5000,
    folder,
  };
  const keeper = spawn(
    process.execPath,
    [join(import.meta.dirname, "keeper.ts"), JSON.stringify(kept)],
    { stdio: ["pipe", "ignore", "pipe"], detached: true },
  );
  let lastWords = "";
  keeper.stderr.setEncoding("utf8").on("data", (text: string) => (lastWords += text));
  const exited = once(keeper, "close");
  while (!(await accepts(port))) {
    if (keeper.exitCode !== null) throw new Error(`PgBouncer did not start:\n${lastWords}`);
    await sleep(50);
  }
  return {
    through(text) {
      const url = new URL(text);
      url.host = `127.0.0.1:${port}`;
      return url.href;
    },
    async close() {
      keeper.stdin.destroy();
      await exited;
    },
  };
}

const accepts = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1" });
    const settle = (answer: boolean): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.once("connect", () => settle(true));
    socket.once("error", () => settle(false));
  });

declare module "vitest" {
  interface ProvidedContext {
    /** The program of PgBouncer; absent where no test of the run needs it, and without `test/run.ts`. */
    pgbouncer: string | undefined;
  }
}
