/**
 * `/health/live`: the process answers. `/health/ready`: every project's database answers too, else 503. Redis is named beside them;
 * without it the service goes on reading and writing, so its absence takes no instance out of service.
 */
import type { Projects } from "../../core/dispatch.ts";
import type { Clock } from "../../core/values/clock.ts";
import { withTimeout } from "../../core/values/with-timeout.ts";
import { json } from "./envelope.ts";
import type { Handle } from "./exchange.ts";

export interface HealthDeps {
  readonly projects: Projects;
  readonly now: Clock;
  /** Whether Redis answers; null where the service uses none. */
  readonly pingRedis: (() => Promise<boolean>) | null;
}

/** A probe should hear of a silent database sooner than a client does. */
const pingTimeoutMs = 2_000;

export function isLive({ now }: HealthDeps): Handle {
  return (_c, exchange) => json(exchange, 200, { success: true, status: "live", timestamp: now() });
}

export function isReady({ projects, now, pingRedis }: HealthDeps): Handle {
  return async (_c, exchange) => {
    const redis = pingRedis && { redis: (await pingRedis()) ? "ok" : "unreachable" };
    const checks = await Promise.all(
      [...projects.values()].map(async (project) => {
        const isUp = project.routes !== null && (await answers(project.db.ping()));
        return [project.name, { database: isUp ? "ok" : "unreachable", ...redis }] as const;
      }),
    );
    const success = checks.every(([, check]) => check.database === "ok");
    const status = success ? "ready" : "unavailable";
    const body = { success, status, projects: Object.fromEntries(checks), timestamp: now() };
    return json(exchange, success ? 200 : 503, body);
  };
}

function answers(ping: Promise<void>): Promise<boolean> {
  const answered = ping.then(
    () => true,
    () => false,
  );
  return withTimeout(answered, { timeoutMs: pingTimeoutMs, onTimeout: () => false });
}
