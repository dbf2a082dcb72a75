/**
 * What contract tests talk to: the whole service over a fresh database of the engine that the Vitest project stands for.
 * Tables are declared once, in `tables.ts`'s words, and mean the same on all three engines; requests go straight into the
 * Hono app, without a socket, unless the project says that another module opens the service (`serviceOpener`). Close the fixture in `afterAll`.
 */
import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inject } from "vitest";
import { createLog, type Logger } from "../../app/start/log.ts";
import type { ServiceOptions } from "../../app/start/wire.ts";
import type { Watcher } from "../../app/observe/watcher.ts";
import type { Callers } from "../../core/callers/callers.ts";
import { freshDatabase } from "../servers/database.ts";
import { openSession, type EngineName } from "../servers/session.ts";
import { createTables, type FixtureTable } from "./tables.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The path of a module whose `openService` takes the place of the one in `app/start/wire.ts`: for services outside of this process. */
    serviceOpener?: string;
  }
}

/** What the tests need of a service. */
interface OpenedService {
  readonly ready: Promise<void>;
  fetch(request: Request): Response | Promise<Response>;
  close(): Promise<void>;
}

export interface FixtureOptions {
  /** In an order in which foreign keys find their tables. */
  readonly tables: readonly FixtureTable[];
  /** Statements to run after the tables are made: views, rows. */
  readonly setUp?: (engine: EngineName) => readonly string[];
  /** The payload configurations, by endpoint. */
  readonly endpoints: Readonly<Record<string, object>>;
  /** What project.json says beside the database's URL. */
  readonly project?: object;
  /** Further configuration files, by path (`test/query/open.sql`). */
  readonly files?: Readonly<Record<string, string>>;
  /** What the components export, by path (`components/code.ts`). */
  readonly components?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** Who may do what; such a service always runs in this process. Default: nobody is asked. */
  readonly callers?: Callers;
  /** Who watches the service; such a service always runs in this process. Default: nobody. */
  readonly watchers?: readonly Watcher[];
  /** Default: none. */
  readonly log?: Logger;
  /** The service's environment; without it nothing but a STORAGE_URL of its own. */
  readonly env?: Readonly<Record<string, string>>;
  /** The address of the database as the service gets it, from the tests' own; after `setUp`. */
  readonly serviceUrl?: (url: string) => string;
  /** Default: the engine of the Vitest project. */
  readonly engine?: EngineName;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed JSON; the text where the answer is none. */
  // oxlint-disable-next-line no-explicit-any -- tests look into answers of every shape
  readonly body: any;
}

export interface Fixture {
  readonly engine: EngineName;
  /** The configuration, as another process of the same installation has it. */
  readonly files: ReadonlyMap<string, string>;
  /** Where uploads and exports are, unless `env` says otherwise. */
  readonly storageUrl: string;
  /** POSTs a JSON body to `/api/test/<path>`; a string is sent as it stands. */
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** Any request; `path` from the root (`/health/live`). */
  request(path: string, init?: RequestInit): Promise<Answer>;
  /** The same, for answers that are no JSON or whose bytes count. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** Runs SQL on the database itself, past the service. */
  sql(text: string): Promise<Record<string, unknown>[]>;
  close(): Promise<void>;
}

export async function openFixture(options: FixtureOptions): Promise<Fixture> {
  const engine = options.engine ?? inject("engine");
  const database = await freshDatabase(engine);
  const session = await openSession(engine, database.url);
  const statements = [...createTables(engine, options.tables), ...(options.setUp?.(engine) ?? [])];
  if (engine === "sqlite") await session.run("BEGIN");
  for (const text of statements) await session.run(text);
  if (engine === "sqlite") await session.run("COMMIT");

  const files = configFiles(options.serviceUrl?.(database.url) ?? database.url, options);
  const ownFolder = join(tmpdir(), `rowgate-test-${randomUUID()}`);
  const service = await openServiceWhere({
    files,
    env: { STORAGE_URL: `file:${ownFolder}`, ...options.env },
    log: options.log ?? createLog("silent"),
    importComponent: async (path) => options.components?.[path.replace("test/", "")] ?? {},
    ...(options.callers && { callers: options.callers }),
    ...(options.watchers && { watchers: options.watchers }),
  });
  await service.ready;

  const send = async (path: string, init?: RequestInit): Promise<Response> =>
    service.fetch(new Request(`http://localhost${path}`, init));
  const request = async (path: string, init?: RequestInit): Promise<Answer> => {
    const response = await send(path, init);
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.includes("json") ?? false;
    return {
      status: response.status,
      headers: response.headers,
      body: isJson ? JSON.parse(text) : text,
    };
  };

  return {
    engine,
    files,
    storageUrl: `file:${ownFolder}`,
    request,
    fetch: send,
    post: (path, body, headers) =>
      request(`/api/test/${path}`, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        ...(body === undefined
          ? {}
          : { body: typeof body === "string" ? body : JSON.stringify(body) }),
      }),
    sql: (text) => session.run(text),
    async close() {
      await service.close();
      await session.close();
      await database.drop();
      await rm(ownFolder, { recursive: true, force: true });
    },
  };
}

async function openServiceWhere(options: ServiceOptions): Promise<OpenedService> {
  const opener = inject("serviceOpener");
  const isHere = options.callers !== undefined || options.watchers !== undefined;
  if (opener !== undefined && !isHere) {
    const module = (await import(opener)) as {
      openService(options: ServiceOptions): Promise<OpenedService>;
    };
    return module.openService(options);
  }
  const { openService } = await import("../../app/start/wire.ts");
  const { app, ready, close } = await openService(options);
  return { ready, fetch: (request) => app.fetch(request), close };
}

function configFiles(
  url: string,
  { project, endpoints, files, components }: FixtureOptions,
): Map<string, string> {
  const { database = {} }: { database?: object } = project ?? {};
  const entities = Object.entries(endpoints).map(
    ([name, endpoint]) => [`test/${name}.json`, JSON.stringify(endpoint)] as const,
  );
  return new Map([
    ["test/project.json", JSON.stringify({ ...project, database: { url, ...database } })],
    ...entities,
    ...Object.keys(components ?? {}).map((path) => [`test/${path}`, ""] as const),
    ...Object.entries(files ?? {}),
  ]);
}
