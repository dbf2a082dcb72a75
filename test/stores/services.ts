/**
 * Several services over a database that the test created, with the lines that they log. Requests go directly to the
 * Hono app.
 */
import { pino } from "pino";
import { openService } from "../../app/start/servers/wire.ts";
import type { Answer } from "../contract/harness.ts";

/** Token that shows the operators' details in `/health/ready`. */
export const metricsToken = "a-token-of-the-metrics";

export interface OpenOptions {
  /** Project name -> properties of its project.json. */
  readonly projects: Readonly<Record<string, object>>;
  /** The payload configurations, by endpoint; each project has them all. */
  readonly endpoints: Readonly<Record<string, object>>;
  readonly redisUrl?: string;
}

export interface RunningService {
  /** POSTs JSON to `/api/<path>`. */
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** GETs a path from the root. */
  get(path: string, headers?: Record<string, string>): Promise<Answer>;
  /** GETs a path from the root, whose answer may have no end. */
  stream(path: string): Promise<Response>;
  /** What it logged so far, one message per line. */
  readonly lines: readonly string[];
  close(): Promise<void>;
}

export async function openOver(options: OpenOptions): Promise<RunningService> {
  const { projects, endpoints, redisUrl } = options;
  const lines: string[] = [];
  const keep = (line: string): void => {
    const { msg, status, err } = JSON.parse(line) as { msg: string; status?: number; err?: object };
    lines.push(msg);
    // No test here expects one, and its answer does not say why.
    if (status === 500) console.error(err);
  };
  const files = Object.entries(projects).flatMap(([project, content]) => [
    [`${project}/project.json`, JSON.stringify(content)] as const,
    ...Object.entries(endpoints).map(
      ([name, endpoint]) => [`${project}/${name}.json`, JSON.stringify(endpoint)] as const,
    ),
  ]);
  const service = await openService({
    files: new Map(files),
    env: { METRICS_TOKEN: metricsToken, ...(redisUrl !== undefined && { REDIS_URL: redisUrl }) },
    log: pino({ level: "info", base: null }, { write: keep }),
  });
  await service.ready;

  const request = async (path: string, init?: RequestInit): Promise<Answer> => {
    const response = await service.app.request(path, init);
    return { status: response.status, headers: response.headers, body: await response.json() };
  };
  return {
    post: (path, body, headers) =>
      request(`/api/${path}`, {
        method: "POST",
        headers: { "Content-Type": "application/json", ...headers },
        body: JSON.stringify(body ?? {}),
      }),
    get: (path, headers) => request(path, headers && { headers }),
    stream: async (path) => service.app.request(path),
    lines,
    close: () => service.close(),
  };
}
