/**
 * How to find each server and how to run one: its programs, arguments, container image, and the credentials that people
 * commonly give it. Servers that the tests start listen on loopback only, keep their data in a folder of the run, and
 * do not wait for the disk.
 */
import { join } from "node:path";
import type { ServerName } from "./choose.ts";

/** Absolute paths of the server's programs, in the order of `ServerKind.programs`. */
export type Paths = readonly string[];
export type CommandLine = readonly [program: string, ...args: string[]];

export interface ServerKind {
  readonly defaultPort: number;
  readonly programs: readonly string[];
  /** The account that its Debian package makes; null when the server does not mind root. */
  readonly account: string | null;
  /** Ends it at once but in order, even with clients connected. */
  readonly stopSignal: NodeJS.Signals;
  /** Fills an empty folder; null when there is nothing to do. */
  fill(paths: Paths, folder: string): CommandLine | null;
  serve(paths: Paths, folder: string, port: number): CommandLine;
  /** The URL of a server that we started. */
  ownUrl(port: number): string;
  /** What people commonly have on the default port, the most telling first. */
  usualUrls(env: NodeJS.ProcessEnv): readonly string[];
  readonly container: {
    readonly image: string;
    readonly env: readonly string[];
    readonly args: readonly string[];
  };
}

const quickPostgres: readonly string[] = [
  "--fsync=off",
  "--full_page_writes=off",
  "--synchronous_commit=off",
  // Compiling a statement pays where it runs longer than any does here.
  "--jit=off",
  "--max_connections=200",
];

const quickMariadb: readonly string[] = [
  "--innodb-flush-log-at-trx-commit=0",
  "--innodb-buffer-pool-size=64M",
  "--max-connections=200",
  "--performance-schema=OFF",
  // Hundreds of databases come and go: one file per table would take twice the work, each written through to disk.
  "--loose-innodb-file-per-table=0",
  "--loose-innodb-flush-method=nosync",
  "--loose-debug-no-sync",
];

const unsavedRedis: readonly string[] = ["--save", "", "--appendonly", "no"];

export const kinds: Record<ServerName, ServerKind> = {
  postgres: {
    defaultPort: 5432,
    programs: ["initdb", "postgres"],
    account: "postgres",
    // "Fast shutdown": the default signal would wait for every client to leave.
    stopSignal: "SIGINT",
    fill: ([initdb = ""], folder) => [
      initdb,
      `--pgdata=${join(folder, "data")}`,
      "--username=postgres",
      "--auth=trust",
      "--encoding=UTF8",
      "--locale=C",
      "--no-sync",
    ],
    serve: ([, postgres = ""], folder, port) => [
      postgres,
      "-D",
      join(folder, "data"),
      `--port=${port}`,
      "--listen_addresses=127.0.0.1",
      "--unix_socket_directories=",
      ...quickPostgres,
    ],
    ownUrl: (port) => `postgres://postgres@127.0.0.1:${port}/postgres`,
    usualUrls(env) {
      const user = encodeURIComponent(env.PGUSER ?? "postgres");
      const database = encodeURIComponent(env.PGDATABASE ?? "postgres");
      return [...new Set([env.PGPASSWORD ?? "", "postgres", ""])].map(
        (password) =>
          `postgres://${user}:${encodeURIComponent(password)}@127.0.0.1:5432/${database}`,
      );
    },
    container: {
      image: "postgres:17",
      env: ["POSTGRES_HOST_AUTH_METHOD=trust"],
      args: quickPostgres,
    },
  },
  mysql: {
    defaultPort: 3306,
    programs: ["mariadb-install-db", "mariadbd"],
    account: "mysql",
    stopSignal: "SIGTERM",
    // --no-defaults counts only as the first argument.
    fill: ([install = ""], folder) => [
      install,
      "--no-defaults",
      `--datadir=${join(folder, "data")}`,
      "--skip-test-db",
      "--auth-root-authentication-method=normal",
    ],
    serve: ([, mariadbd = ""], folder, port) => [
      mariadbd,
      "--no-defaults",
      `--datadir=${join(folder, "data")}`,
      `--port=${port}`,
      "--bind-address=127.0.0.1",
      `--socket=${join(folder, "socket")}`,
      `--pid-file=${join(folder, "pid")}`,
      // A server deletes at start all files in its tmpdir. With a shared one, it would crash the other servers.
      `--tmpdir=${folder}`,
      ...quickMariadb,
    ],
    ownUrl: (port) => `mysql://root@127.0.0.1:${port}/`,
    usualUrls: (env) =>
      [...new Set([env.MYSQL_PWD ?? env.MYSQL_ROOT_PASSWORD ?? "", "root", ""])].map(
        (password) => `mysql://root:${encodeURIComponent(password)}@127.0.0.1:3306/`,
      ),
    container: {
      image: "mariadb:11.8",
      env: ["MARIADB_ALLOW_EMPTY_ROOT_PASSWORD=1"],
      args: quickMariadb,
    },
  },
  redis: {
    defaultPort: 6379,
    programs: ["redis-server"],
    account: null,
    stopSignal: "SIGTERM",
    fill: () => null,
    serve: ([server = ""], folder, port) => [
      server,
      "--port",
      String(port),
      "--bind",
      "127.0.0.1",
      "--dir",
      folder,
      ...unsavedRedis,
    ],
    ownUrl: (port) => `redis://127.0.0.1:${port}`,
    usualUrls: () => ["redis://127.0.0.1:6379"],
    container: { image: "redis:7", env: [], args: unsavedRedis },
  },
};
