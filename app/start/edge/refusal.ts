/**
 * Answers for an invalid configuration: 503 to everything except `/health/live`. The reason is only logged, because it
 * names files and tables.
 */
import { systemClock } from "../../../core/values/clock.ts";
import { Hono } from "hono";
import { unavailable } from "../../../core/values/errors.ts";
import type { Log } from "../../../core/plans/ports.ts";
import { inExchange } from "../../http/exchange.ts";
import { isLive } from "../../http/health.ts";
import { viaHono } from "../../http/via-hono.ts";

export function refusingApp(log: Log): Hono {
  const deps = {
    now: systemClock,
    newId: () => crypto.randomUUID(),
    log,
    checkHost: null,
    projects: new Map(),
    pingRedis: null,
    configState: null,
    metricsToken: null,
    trustProxy: 0,
  };
  const app = new Hono();
  app.get(
    "/health/live",
    viaHono(inExchange(deps, isLive({ ...deps, projects: new Map(), pingRedis: null }))),
  );
  app.all(
    "*",
    viaHono(
      inExchange(deps, () => {
        throw unavailable("The configuration is not valid; see the log");
      }),
    ),
  );
  return app;
}
