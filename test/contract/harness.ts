/**
 * What contract tests talk to: the whole service over a fresh database of the engine that the Vitest project stands for.
 * Tables are declared once, in `tables.ts`'s words, and mean the same on all three engines; requests go straight into the
 * Hono app, without a socket. Close the fixture in `afterAll`.
 */
import { inject } from "vitest";
import type { Hono } from "hono";
import { createLog, type Logger } from "../../app/log.ts";
import { openService } from "../../app/wire.ts";
import { freshDatabase } from "../servers/database.ts";
import { openSession, type EngineName } from "../servers/session.ts";
import { createTables, type FixtureTable } from "./tables.ts";

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
  /** Default: none. */
  readonly log?: Logger;
  /** The service's environment; empty without it. */
  readonly env?: Readonly<Record<string, string>>;
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
  readonly app: Hono;
  /** The configuration, as another process of the same installation has it. */
  readonly files: ReadonlyMap<string, string>;
  /** POSTs a JSON body to `/api/test/<path>`; a string is sent as it stands. */
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** Any request; `path` from the root (`/health/live`). */
  request(path: string, init?: RequestInit): Promise<Answer>;
  /** Runs SQL on the database itself, past the service. */
  sql(text: string): Promise<Record<string, unknown>[]>;
  close(): Promise<void>;
}

export async function openFixture(options: FixtureOptions): Promise<Fixture> {
  const engine = options.engine ?? inject("engine");
  const database = await freshDatabase(engine);
  const session = await openSession(engine, database.url);
  const statements = [...createTables(engine, options.tables), ...(options.setUp?.(engine) ?? [])];
  for (const text of statements) await session.run(text);

  const files = configFiles(database.url, options);
  const service = await openService({
    files,
    env: options.env ?? {},
    log: options.log ?? createLog("silent"),
    importComponent: async (path) => options.components?.[path.replace("test/", "")] ?? {},
  });
  await service.ready;

  const request = async (path: string, init?: RequestInit): Promise<Answer> => {
    const response = await service.app.request(path, init);
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
    app: service.app,
    files,
    request,
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
    },
  };
}

function configFiles(
  url: string,
  { project, endpoints, files, components }: FixtureOptions,
): Map<string, string> {
  const entities = Object.entries(endpoints).map(
    ([name, endpoint]) => [`test/${name}.json`, JSON.stringify(endpoint)] as const,
  );
  return new Map([
    ["test/project.json", JSON.stringify({ database: { url }, ...project })],
    ...entities,
    ...Object.keys(components ?? {}).map((path) => [`test/${path}`, ""] as const),
    ...Object.entries(files ?? {}),
  ]);
}
