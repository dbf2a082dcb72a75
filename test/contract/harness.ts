/**
 * The service as contract tests use it: complete, over a fresh database of the Vitest project's engine. `tables.ts`
 * declares tables once, with the same meaning on all three engines. Requests go straight into the Hono app, without a
 * socket, unless the project sets `serviceOpener`. `openForTests` opens a fixture for the tests of a file.
 */
import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, inject } from "vitest";
import { createLog, type Logger } from "../../app/start/observing/log.ts";
import type { ServiceOptions } from "../../app/start/servers/wire.ts";
import type { Watcher } from "../../app/observe/watcher.ts";
import type { Callers } from "../../core/callers/callers.ts";
import { freshDatabase } from "../servers/database.ts";
import { openSession, type EngineName } from "../servers/session.ts";
import { createTables, type FixtureTable } from "./tables.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Path of a module whose `openService` replaces that of `app/start/servers/wire.ts`, for services elsewhere. */
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
  /** Statements to run after the tables are created: views, rows. */
  readonly setUp?: (engine: EngineName) => readonly string[];
  /** The payload configurations, by endpoint. */
  readonly endpoints: Readonly<Record<string, object>>;
  /** The settings of project.json besides the database's URL. */
  readonly project?: object;
  /** Further configuration files, by path (`test/query/open.sql`). */
  readonly files?: Readonly<Record<string, string>>;
  /** What the components export, by path (`components/code.ts`). */
  readonly components?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** Access rules; such a service always runs in this process. Default: none. */
  readonly callers?: Callers;
  /** Observers of the service; such a service always runs in this process. Default: none. */
  readonly watchers?: readonly Watcher[];
  /** Times of deliveries of webhooks. Default: those of the service. */
  readonly deliveryTimes?: ServiceOptions["deliveryTimes"];
  /** Default: none. */
  readonly log?: Logger;
  /** The service's environment. Default: only its own STORAGE_URL. */
  readonly env?: Readonly<Record<string, string>>;
  /** The address of the database as the service gets it, from the tests' own; after `setUp`. */
  readonly serviceUrl?: (url: string) => string;
  /** Default: the engine of the Vitest project. */
  readonly engine?: EngineName;
  /** As in `freshDatabase`. */
  readonly locale?: string;
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
  /** Folder of uploads and exports, unless `env` sets another. */
  readonly storageUrl: string;
  /** POSTs a JSON body to `/api/test/<path>`; a string is sent unchanged. */
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** Any request; `path` from the root (`/health/live`). */
  request(path: string, init?: RequestInit): Promise<Answer>;
  /** The same, for answers that are no JSON or whose bytes count. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** Runs SQL directly on the database, without the service. */
  sql(text: string): Promise<Record<string, unknown>[]>;
  close(): Promise<void>;
}

export async function openFixture(options: FixtureOptions): Promise<Fixture> {
  const engine = options.engine ?? inject("engine");
  const database = await freshDatabase(engine, options.locale);
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
    ...(options.deliveryTimes && { deliveryTimes: options.deliveryTimes }),
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

/** What ends something that tests opened; its members are missing if it could not be opened. */
interface Ends {
  close?(): unknown;
  stop?(): unknown;
  drop?(): unknown;
}

/**
 * What `open` gives for the arguments, opened before the tests of this file or `describe`, and ended after them. Its
 * members are there once the tests run.
 */
export function openForTests<Args extends unknown[], Opened extends Ends>(
  open: (...args: Args) => Promise<Opened>,
  ...args: NoInfer<Args>
): Opened {
  let opened: Opened | undefined;
  beforeAll(async () => void (opened = await open(...args)));
  afterAll(() => {
    const end = opened?.close ?? opened?.stop ?? opened?.drop;
    return end?.call(opened);
  });
  const its = (): Opened => {
    if (opened === undefined) throw new Error("It is opened in beforeAll");
    return opened;
  };
  // Not a copy: what its members tell may change, and tests may set them.
  return new Proxy({} as Opened, {
    get(_, name) {
      const value: unknown = Reflect.get(its(), name);
      return typeof value === "function" ? value.bind(its()) : value;
    },
    set: (_, name, value) => Reflect.set(its(), name, value),
    has: (_, name) => Reflect.has(its(), name),
    ownKeys: () => Reflect.ownKeys(its()),
    getOwnPropertyDescriptor: (_, name) => ({
      ...Reflect.getOwnPropertyDescriptor(its(), name),
      configurable: true,
    }),
  });
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
  const { openService } = await import("../../app/start/servers/wire.ts");
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
