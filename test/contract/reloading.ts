/** A service whose configuration is reloaded: several projects, each with its own database, in the test's process. */
import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { inject } from "vitest";
import type { ConfigSource } from "../../app/start/reloading/reloads.ts";
import { openService, type Service } from "../../app/start/servers/wire.ts";
import { clientAt } from "../../app/http/client-address.ts";
import { freshDatabase } from "../servers/database.ts";
import { openSession, type PlainSession } from "../servers/session.ts";
import type { Answer } from "./harness.ts";
import { createTables, type FixtureTable } from "./tables.ts";

/** Files of a project: project.json except the database, endpoints (a string is written unchanged), other files. */
export interface ProjectFiles {
  readonly project?: object;
  readonly database?: object;
  readonly endpoints: Readonly<Record<string, object | string>>;
  readonly files?: Readonly<Record<string, string>>;
}

export interface LogLine {
  readonly level: number;
  readonly msg: string;
}

export interface Reloading {
  readonly service: Service;
  readonly sql: PlainSession["run"];
  readonly url: string;
  /** Lines of the log, since `forget`. */
  lines(levelMin?: "warn" | "error"): string[];
  forget(): void;
  /** Rejects when the old configuration stays. */
  reload(projects: Readonly<Record<string, ProjectFiles>>): Promise<void>;
  source(projects: Readonly<Record<string, ProjectFiles>>): ConfigSource;
  /** POSTs JSON to `/api/<path>`. */
  post(path: string, body?: object, headers?: Record<string, string>): Promise<Answer>;
  /** GETs the path, as from this machine unless an address is given. */
  get(path: string, address?: string): Promise<Answer>;
  close(): Promise<void>;
}

export interface ReloadingOptions {
  readonly tables: readonly FixtureTable[];
  readonly setUp?: readonly string[];
  readonly projects: Readonly<Record<string, ProjectFiles>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly importComponent?: ConfigSource["importComponent"];
}

/** All projects use the same database unless `database.url` is set. */
export async function openReloading(options: ReloadingOptions): Promise<Reloading> {
  const engine = inject("engine");
  const database = await freshDatabase(engine);
  const { url } = database;
  const session = await openSession(engine, url);
  for (const text of [...createTables(engine, options.tables), ...(options.setUp ?? [])])
    await session.run(text);
  const folder = join(tmpdir(), `rowgate-test-${randomUUID()}`);
  const env = { STORAGE_URL: `file:${folder}`, ...options.env };
  const { importComponent } = options;
  const source = (projects: Readonly<Record<string, ProjectFiles>>): ConfigSource => ({
    files: filesOf(projects, url),
    env,
    importComponent,
  });
  let lines: LogLine[] = [];
  const write = (line: string) => void lines.push(JSON.parse(line) as LogLine);
  const service = await openService({
    ...source(options.projects),
    log: pino({ level: "info" }, { write }),
  });
  await service.ready;

  async function ask(request: Request, address = "127.0.0.1"): Promise<Answer> {
    const response = await service.app.fetch(request, clientAt(address));
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.includes("json") ?? false;
    return {
      status: response.status,
      headers: response.headers,
      body: isJson ? JSON.parse(text) : text,
    };
  }

  return {
    service,
    url,
    sql: (text) => session.run(text),
    lines: (levelMin = "warn") =>
      lines.filter(({ level }) => level >= { warn: 40, error: 50 }[levelMin]).map(({ msg }) => msg),
    forget: () => void (lines = []),
    source,
    reload: (projects) => service.reload(async () => source(projects)),
    post: (path, body = {}, headers = {}) =>
      ask(
        new Request(`http://localhost/api/${path}`, {
          method: "POST",
          headers: { "content-type": "application/json", ...headers },
          body: JSON.stringify(body),
        }),
      ),
    get: (path, address) => ask(new Request(`http://localhost${path}`), address),
    async close() {
      await service.close();
      await session.close();
      await database.drop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function filesOf(
  projects: Readonly<Record<string, ProjectFiles>>,
  url: string,
): Map<string, string> {
  const print = (value: object | string) =>
    typeof value === "string" ? value : JSON.stringify(value);
  return new Map(
    Object.entries(projects).flatMap(([name, { project, database, endpoints, files = {} }]) => [
      [`${name}/project.json`, print({ ...project, database: { url, ...database } })] as const,
      ...Object.entries(endpoints).map(
        ([endpoint, file]) => [`${name}/${endpoint}.json`, print(file)] as const,
      ),
      ...Object.entries(files).map(([path, text]) => [`${name}/${path}`, text] as const),
    ]),
  );
}
