/** What answers tell browsers about pages of other origins: `cors.origins` of a project.json. */
import type { MiddlewareHandler } from "hono";
import { cors } from "hono/cors";
import type { Projects } from "../../core/dispatch.ts";
import type { Runtime } from "../../core/plans/runtime.ts";
import { headersOf } from "./envelope.ts";
import type { Incoming } from "./incoming.ts";
import { extended, type Reply } from "./reply.ts";

export interface CorsDeps extends Pick<Runtime, "newId"> {
  /** The origins whose pages may call each project; a project without an entry allows none. */
  readonly corsOrigins: ReadonlyMap<string, readonly string[]>;
  readonly projects: Projects;
}

const exposeHeaders = [
  "ETag",
  "X-Request-Id",
  "Retry-After",
  "Idempotency-Replayed",
  "Preference-Applied",
  "Content-Disposition",
  "Content-Range",
  "X-Next-Cursor",
  "RateLimit",
  "RateLimit-Policy",
  "Server-Timing",
];

/** The headers that a page may send. */
const sentHeaders = [
  "Content-Type",
  "If-Match",
  "If-None-Match",
  "If-Range",
  "Range",
  "Last-Event-ID",
  "X-Request-Id",
  "X-Request-Mode",
  "Idempotency-Key",
  "Prefer",
  "X-Lock-Token",
  "Authorization",
  "X-Api-Key",
  "traceparent",
  "tracestate",
];

/** What the paths of a protocol have more, by their first part. */
const protocols: Readonly<Record<string, { readonly sent: string[]; readonly exposed: string[] }>> =
  {
    api: { sent: [], exposed: [] },
    mcp: { sent: ["Mcp-Protocol-Version", "Mcp-Method", "Mcp-Name"], exposed: [] },
    odata: { sent: ["OData-Version", "OData-MaxVersion"], exposed: ["OData-Version"] },
  };

const protocolOf = (path: string): string => /^\/(mcp|odata)\//.exec(path)?.[1] ?? "api";

/** What a page may read of an answer, by protocol. */
const exposed = new Map(
  Object.entries(protocols).map(([name, more]) => [
    name,
    [...exposeHeaders, ...more.exposed].join(","),
  ]),
);

export function createCors({ corsOrigins, projects, newId }: CorsDeps) {
  /** The projects that a path is about; null: a path that no other origin needs. */
  function projectsAt(path: string): readonly string[] | null {
    if (path === "/openapi.json") return [...projects.keys()];
    const [, name] = /^\/(?:api|mcp|odata)\/([^/]+)/.exec(path) ?? [];
    return name === undefined ? null : [name];
  }

  /** A page may read the answer if all the projects allow its origin. */
  function allowedOrigin(names: readonly string[], origin: string): string | null {
    const lists = names.map((name) => corsOrigins.get(name) ?? []);
    if (lists.every((allowed) => allowed.includes("*"))) return "*";
    const isAllowed = lists.every((list) => list.includes("*") || list.includes(origin));
    return isAllowed ? origin : null;
  }

  const answering = (protocol: string): MiddlewareHandler =>
    cors({
      origin: (origin, { req }) => allowedOrigin(projectsAt(req.path) ?? [], origin),
      allowMethods: ["GET", "POST"],
      allowHeaders: [...sentHeaders, ...protocols[protocol]!.sent],
      exposeHeaders: [...exposeHeaders, ...protocols[protocol]!.exposed],
      maxAge: 600,
    });
  const answers = new Map(Object.keys(protocols).map((name) => [name, answering(name)]));

  const preflight: MiddlewareHandler = async (c, next) => {
    const response = await answers.get(protocolOf(c.req.path))!(c, next);
    if (!response) return;
    const more = headersOf({ requestId: newId(), answerHeaders: {} });
    for (const [name, value] of Object.entries(more)) response.headers.set(name, value);
    return response;
  };

  return {
    /** For OPTIONS. */
    preflight,
    /** The answer to every other request. */
    allowing({ path, headers }: Incoming, reply: Reply): Reply {
      const names = projectsAt(path);
      if (names === null) return reply;
      const origin = allowedOrigin(names, headers.get("origin") ?? "");
      return extended(reply, {
        ...(origin && { "Access-Control-Allow-Origin": origin }),
        "Access-Control-Expose-Headers": exposed.get(protocolOf(path))!,
        // Spelled as in the answers of pages, some of which have one already.
        vary: "Origin",
      });
    },
  };
}
