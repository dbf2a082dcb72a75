/**
 * `/jobs-board`: what an operator sees of the jobs in a browser, with the token of JOBS_BOARD_TOKEN. Nothing can be changed there, so only GET
 * passes, whatever else the board knows. The board itself (`start/open-board.ts`) is loaded by the first who may see it. Mounted by `wire.ts`.
 */
import type { Context, Hono } from "hono";
import { auth } from "hono/utils/basic-auth";
import { timingSafeEqual } from "hono/utils/buffer";
import { AppError, unavailable } from "../../core/values/errors.ts";
import { limits } from "../../core/values/limits.ts";
import type { Clock } from "../../core/values/clock.ts";
import { withTimeout } from "../../core/values/with-timeout.ts";
import { json } from "./envelope.ts";
import { inExchange, type ExchangeDeps, type Handle } from "./exchange.ts";

/** Answers 500 and above, or rejects, when the server of the jobs is out of reach. */
export type ShowBoard = (request: Request) => Promise<Response>;

export interface JobsBoard {
  readonly token: string;
  /** Needs no server to resolve. `basePath`: where the board is mounted. */
  open(basePath: string): Promise<ShowBoard>;
}

const basePath = "/jobs-board";
const user = "operator";

/** The page is the library's own; what it would load from elsewhere, such as fonts, it does without. */
const pageHeaders: Readonly<Record<string, string>> = {
  "Content-Security-Policy":
    "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; base-uri 'self'; frame-ancestors 'none'",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
  "Cache-Control": "no-store",
};

export function mountJobsBoard(app: Hono, { board, ...deps }: MountOptions): void {
  const handle = inExchange(deps, showTo(board, deps.now));
  app.all(basePath, handle);
  app.all(`${basePath}/*`, handle);
}

interface MountOptions extends ExchangeDeps {
  readonly board: JobsBoard;
}

function showTo({ token, open }: JobsBoard, now: Clock): Handle {
  let opening: Promise<ShowBoard> | null = null;
  return async (c, exchange) => {
    if (!(await isOperator(c, token))) {
      const message = `Give the user ${user} and the token of JOBS_BOARD_TOKEN as password, or the token as Bearer`;
      const body = { success: false, error: "Unauthorized", message, timestamp: now() };
      return json(exchange, 401, body, {
        "WWW-Authenticate": 'Basic realm="Jobs", charset="UTF-8"',
      });
    }
    if (c.req.method !== "GET" && c.req.method !== "HEAD")
      throw new AppError("methodNotAllowed", "Jobs can be looked at here, and not changed", {
        allow: ["GET"],
      });
    const show = await (opening ??= open(basePath));
    const response = await inTime(show(c.req.raw));
    const headers = new Headers(response.headers);
    for (const [name, value] of Object.entries(pageHeaders)) headers.set(name, value);
    headers.set("X-Request-Id", exchange.requestId);
    return new Response(response.body, { status: response.status, headers });
  };
}

async function isOperator({ req }: Context, token: string): Promise<boolean> {
  const bearer = /^Bearer +(\S+)$/i.exec(req.header("Authorization") ?? "")?.[1];
  if (bearer !== undefined) return timingSafeEqual(bearer, token);
  const basic = auth(req.raw);
  return timingSafeEqual(`${basic?.username}:${basic?.password}`, `${user}:${token}`);
}

/** Rejects with `unavailable` for whatever the board could not show, within a second. */
async function inTime(showing: Promise<Response>): Promise<Response> {
  try {
    const response = await withTimeout(showing, {
      timeoutMs: limits.jobTimeoutMs,
      onTimeout: () => {
        throw new Error("No answer in time");
      },
    });
    if (response.status >= 500) throw new Error(await response.text());
    return response;
  } catch (error) {
    throw unavailable("The jobs are out of reach", error);
  }
}
