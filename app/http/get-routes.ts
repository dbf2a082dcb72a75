/** The pages and documents beside the actions: each takes GET alone (and HEAD, which Hono answers as GET without a body). */
import type { Hono } from "hono";
import { AppError } from "../../core/values/errors.ts";
import { type ExchangeDeps, type Handle, inExchange } from "./exchange.ts";
import { viaHono } from "./via-hono.ts";

/** Answers GET at each path by its handler, and every other method with 405. */
export function getRoutes(
  app: Hono,
  deps: ExchangeDeps,
  handlers: Readonly<Record<string, Handle>>,
): void {
  for (const [path, handle] of Object.entries(handlers)) {
    app.get(path, viaHono(inExchange(deps, handle)));
    app.all(path, viaHono(inExchange(deps, refuseMethod)));
  }
}

const refuseMethod: Handle = () => {
  throw new AppError("methodNotAllowed", "Use GET for this path", { allow: ["GET"] });
};
