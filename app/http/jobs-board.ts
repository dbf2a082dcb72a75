/**
 * `/jobs-board`: shows operators jobs and hook calls, protected by JOBS_BOARD_TOKEN. The one change it allows is
 * sending failed hook calls again, whatever else the board supports. The board (`start/open-board.ts`) is loaded on
 * first use.
 */
import { zValidator } from "@hono/zod-validator";
import type { Hono } from "hono";
import { auth } from "hono/utils/basic-auth";
import { timingSafeEqual } from "hono/utils/buffer";
import { z } from "zod";
import { AppError, unavailable } from "../../core/values/errors.ts";
import { limits } from "../../core/values/limits.ts";
import { openedOnce } from "../../core/values/opened-once.ts";
import type { Runtime } from "../../core/plans/runtime.ts";
import type { Clock } from "../../core/values/clock.ts";
import { withTimeout } from "../../core/values/with-timeout.ts";
import { json, secureHeaders } from "./envelope.ts";
import { checkOrigin } from "./guard.ts";
import { inExchange, type ExchangeDeps, type Handle } from "./exchange.ts";
import { viaHono } from "./via-hono.ts";

/** Answers 500 and above, or rejects, when the job server is unreachable. */
export type ShowBoard = (request: Request) => Promise<Response>;

export interface JobsBoard {
  readonly token: string;
  /** Resolves even if the server is unreachable. `basePath`: where browsers find the board. */
  open(basePath: string): Promise<ShowBoard>;
}

const boardPath = "/jobs-board";
const user = "operator";

/** The page comes from the library and loads its files from here. Files from elsewhere, such as fonts, are blocked. */
const pageHeaders: Readonly<Record<string, string>> = {
  ...secureHeaders,
  "Content-Security-Policy":
    "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; base-uri 'self'; frame-ancestors 'none'",
};

export function mountJobsBoard(pages: Hono, board: JobsBoard, deps: BoardDeps): void {
  const route = `${boardPath}/*`;
  const refuse = viaHono(inExchange(deps, unauthorized(deps.now), route));
  const enter = zValidator("header", operatorHeaders(board.token), ({ success }, c) =>
    success ? undefined : refuse(c),
  );
  pages.all(route, enter, viaHono(inExchange(deps, showBoard(board, deps.basePath), route)));
}

export interface BoardDeps extends ExchangeDeps, Pick<Runtime, "basePath"> {}

/**
 * The headers that an operator sends. Only this endpoint uses a validator of Hono: the input of actions depends on the
 * configuration, and their bodies are read with limits and without losing digits.
 */
const operatorHeaders = (token: string) =>
  z.object({ authorization: z.string().refine((sent) => isOperator(sent, token)) });

function unauthorized(now: Clock): Handle {
  const message = `Log in as user ${user} with the token of JOBS_BOARD_TOKEN as password, or send the token as Bearer`;
  return (_incoming, exchange) =>
    json(
      exchange,
      401,
      { success: false, error: "Unauthorized", message, timestamp: now() },
      { "WWW-Authenticate": 'Basic realm="Jobs", charset="UTF-8"' },
    );
}

function showBoard({ open }: JobsBoard, basePath: string): Handle {
  const opened = openedOnce(() => open(`${basePath}${boardPath}`));
  return async ({ request, path }, exchange) => {
    checkMethod(request, path);
    const show = await opened();
    const { status, headers: ofBoard, body } = await inTime(show(request));
    const headers = new Headers(ofBoard);
    for (const [name, value] of Object.entries(pageHeaders)) headers.set(name, value);
    headers.set("X-Request-Id", exchange.requestId);
    return { status, headers: Object.fromEntries(headers), body };
  };
}

/** A failed hook call, or all of them, can be sent again. The board itself refuses this for jobs. */
const retryPath = /^\/jobs-board\/api\/queues\/[^/]+\/(?:retry\/failed|[^/]+\/retry)$/;

/** Throws for everything except viewing, and sending hook calls again from a page of this origin. */
function checkMethod(request: Request, path: string): void {
  const { method } = request;
  if (method === "GET" || method === "HEAD") return;
  const isRetry = retryPath.test(path);
  if (method === "PUT" && isRetry) return checkOrigin(request, []);
  throw new AppError(
    "methodNotAllowed",
    "The jobs board shows jobs and hook calls, and can only send failed hook calls again",
    { allow: isRetry ? ["GET", "PUT"] : ["GET"] },
  );
}

async function isOperator(authorization: string, token: string): Promise<boolean> {
  const bearer = /^Bearer +(\S+)$/i.exec(authorization)?.[1];
  if (bearer !== undefined) return timingSafeEqual(bearer, token);
  const basic = auth(new Request("http://localhost/", { headers: { authorization } }));
  return timingSafeEqual(`${basic?.username}:${basic?.password}`, `${user}:${token}`);
}

/** Rejects with `unavailable` when the board fails or does not answer within a second. */
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
    throw unavailable("The job queue is not reachable", error);
  }
}
