/**
 * A service in workerd with its own database and rows, bindings that the test chooses, and the same configuration on
 * Node.
 */
import { inject } from "vitest";
import { createLog } from "../../app/start/observing/log.ts";
import { openService as openOnNode, type Service } from "../../app/start/servers/wire.ts";
import type { Answer } from "../contract/harness.ts";
import { createTables, type FixtureTable } from "../contract/tables.ts";
import { freshDatabase } from "../servers/database.ts";
import { type EngineName, openSession } from "../servers/session.ts";
import { openService } from "./workerd-service.ts";

export interface EdgeOptions {
  readonly engine: EngineName;
  readonly tables: readonly FixtureTable[];
  readonly endpoints: Readonly<Record<string, object>>;
  /** Properties of project.json other than `database`. */
  readonly project?: object;
  /** As the Worker gets them; `SHOP` is the database's address unless it is here. */
  readonly bindings?: Readonly<Record<string, unknown>>;
}

type Fetch = (path: string, init?: RequestInit) => Promise<Response>;

export interface EdgePlace {
  readonly url: string;
  readonly files: ReadonlyMap<string, string>;
  /** From the root. */
  readonly fetch: Fetch;
  readonly request: (path: string, init?: RequestInit) => Promise<Answer>;
  /** POSTs JSON to `/api/test/<path>`. */
  readonly post: (path: string, body?: object, headers?: Record<string, string>) => Promise<Answer>;
  /** Runs SQL past the service. */
  sql(text: string): Promise<Record<string, unknown>[]>;
  /** The same configuration on Node, to be closed by the caller. */
  onNode(
    env?: Record<string, string>,
  ): Promise<Pick<EdgePlace, "post" | "request"> & { close(): Promise<void> }>;
  close(): Promise<void>;
}

export async function openEdge(options: EdgeOptions): Promise<EdgePlace> {
  const { engine, tables, endpoints, project, bindings } = options;
  const database = await freshDatabase(engine);
  const session = await openSession(engine, database.url);
  for (const text of createTables(engine, tables)) await session.run(text);
  const files = new Map([
    ["test/project.json", JSON.stringify({ database: { url: "${SHOP}" }, ...project })],
    ...Object.entries(endpoints).map(
      ([name, endpoint]) => [`test/${name}.json`, JSON.stringify(endpoint)] as const,
    ),
  ]);
  const service = await openService({ files, env: { SHOP: database.url, ...bindings } as never });
  return {
    url: database.url,
    files,
    ...asking((path, init) => service.fetch(new Request(`http://edge${path}`, init))),
    sql: (text) => session.run(text),
    async onNode(env = {}) {
      const shown: Service = await openOnNode({
        files,
        env: { SHOP: database.url, ...env },
        log: createLog("silent"),
      });
      await shown.ready;
      return {
        ...asking(async (path, init) => shown.app.request(path, init)),
        close: () => shown.close(),
      };
    },
    async close() {
      await session.close();
      await database.drop();
    },
  };
}

export const redisUrl = (): string => inject("serverUrls")!.redis!;

function asking(fetchIt: Fetch): Pick<EdgePlace, "fetch" | "request" | "post"> {
  const request = async (path: string, init?: RequestInit): Promise<Answer> => {
    const response = await fetchIt(path, init);
    return { status: response.status, headers: response.headers, body: await response.json() };
  };
  return {
    fetch: fetchIt,
    request,
    post: (path, body = {}, headers = {}) =>
      request(`/api/test/${path}`, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify(body),
      }),
  };
}
