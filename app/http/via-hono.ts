/** Pages and documents: Hono finds their handlers, which have the same signature as those of actions. */
import type { Context, Hono } from "hono";
import { AppError } from "../../core/values/errors.ts";
import { compressing, type Compression } from "./compression.ts";
import { type AnswerRequest, type ExchangeDeps, type Handle, inExchange } from "./exchange.ts";
import type { Incoming } from "./incoming.ts";
import { type Reply, toResponse } from "./reply.ts";

export interface PageDeps extends ExchangeDeps {
  /** Null: the platform compresses answers itself. */
  readonly compression: Compression | null;
}

/** The whole answer of a page, so that servers can send its length. */
export async function visit(pages: Hono, incoming: Incoming): Promise<Reply> {
  const response = await pages.fetch(incoming.request, incoming);
  const { status, headers } = response;
  const body = response.body && new Uint8Array(await response.arrayBuffer());
  return { status, headers: Object.fromEntries(headers), body };
}

export const viaHono =
  (answer: AnswerRequest) =>
  async ({ env }: Context): Promise<Response> =>
    toResponse(await answer(env as Incoming));

/**
 * Answers GET at each path by its handler, and every other method by `refuse`, with 405. HEAD is answered as GET without
 * the body.
 */
export function getRoutes(
  pages: Hono,
  deps: PageDeps,
  handlers: Readonly<Record<string, Handle>>,
  refuse: Handle = () => {
    throw onlyGet();
  },
): void {
  for (const [path, handle] of Object.entries(handlers)) {
    // Below `/api`, the configuration names the routes.
    const route = path.startsWith("/api/") ? null : path;
    const show = compressing(handle, deps.compression);
    pages.get(path, viaHono(inExchange(deps, show, route)));
    pages.all(path, viaHono(inExchange(deps, refuse, route)));
  }
}

export const onlyGet = (): AppError =>
  new AppError("methodNotAllowed", "Use GET for this path", { allow: ["GET"] });
