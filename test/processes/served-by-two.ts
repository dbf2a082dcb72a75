/** `rowgate serve --processes 2` over a SQLite file of its own, and what its log says of the processes. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import Database from "better-sqlite3";
import { vi } from "vitest";
import { serveProcess } from "../running/serve-process.ts";

export const metricsToken = "a-token-of-the-metrics";

export interface Answered {
  readonly status: number;
  // oxlint-disable-next-line no-explicit-any -- tests look into answers of every shape
  readonly body: any;
  /** The number of the process that answered. */
  process(): Promise<number>;
}

export interface LogLine {
  readonly msg: string;
  readonly process: number;
  readonly requestId?: string;
  /** Of the process that a line of the parent is about. */
  readonly number?: number;
  readonly pid?: number;
  readonly waitMs?: number;
}

export interface ServedByTwo {
  readonly folder: string;
  readonly origin: string;
  readonly parent: { readonly pid?: number | undefined; kill(signal: NodeJS.Signals): void };
  /** On a connection of its own. POSTs when there is a body. */
  ask(path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Answered>;
  /** The lines of its log so far. */
  log(): LogLine[];
  said(): string;
  /** The process ids of the two, by number from 1, as they are now. */
  pids(): [number, number];
  /** Resolves with the exit code of the parent. */
  readonly ended: Promise<number | null>;
  close(): Promise<void>;
}

export interface Place {
  readonly folder: string;
  readonly database: string;
  /** Writes files of the configuration; an object as JSON. */
  save(files: Readonly<Record<string, object | string>>): Promise<void>;
  remove(): Promise<void>;
}

/** A folder with a database of the table `things` (id, name) and a configuration. */
export async function makePlace(files: Readonly<Record<string, object | string>>): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), "rowgate-test-two-"));
  const database = new Database(join(folder, "shop.db"));
  database.exec("create table things (id text primary key, name text)");
  database.exec("insert into things values ('a', 'Anvil')");
  database.close();
  const place: Place = {
    folder,
    database: join(folder, "shop.db"),
    async save(saved) {
      for (const [name, content] of Object.entries(saved)) {
        const path = join(folder, "configs", name);
        await mkdir(dirname(path), { recursive: true });
        await writeFile(path, typeof content === "string" ? content : JSON.stringify(content));
      }
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
  await place.save(files);
  return place;
}

export async function serveByTwo(
  { folder }: Place,
  args: readonly string[] = [],
  nodeArgs: readonly string[] = [],
): Promise<ServedByTwo> {
  const { child, origin, said, stop } = await serveProcess({
    cwd: folder,
    args: ["--processes", "2", ...args],
    nodeArgs,
    env: { LOG_LEVEL: "info", LOG_FORMAT: "json", METRICS_TOKEN: metricsToken },
  });
  const log = (): LogLine[] =>
    said()
      .split("\n")
      .filter((line) => line.startsWith("{") && line.endsWith("}"))
      .map((line) => JSON.parse(line) as LogLine);
  const pidOf = (number: number) =>
    log().findLast((line) => line.number === number && line.msg === "A process listens")?.pid;
  // The log comes a little later than the line that says where it listens.
  await vi.waitUntil(() => pidOf(1) && pidOf(2), { timeout: 10_000 });
  const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
  return {
    folder,
    origin,
    parent: { pid: child.pid, kill: (signal) => void child.kill(signal) },
    log,
    said,
    ended,
    async ask(path, body, headers = {}) {
      const response = await fetch(`${origin}/${path}`, {
        method: body === undefined ? "GET" : "POST",
        headers: { "Content-Type": "application/json", Connection: "close", ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      const isJson = response.headers.get("content-type")?.includes("json") ?? false;
      const id = response.headers.get("x-request-id");
      return {
        status: response.status,
        body: isJson ? JSON.parse(text) : text,
        async process() {
          const line = () =>
            log().find(({ requestId, msg }) => requestId === id && msg === "request");
          return (await vi.waitUntil(line, { timeout: 10_000 })).process;
        },
      };
    },
    pids: () => [pidOf(1)!, pidOf(2)!],
    close: stop,
  };
}

export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
