/**
 * `/health/live`: the process answers. `/health/ready`: the database of every project answers too, else 503. Redis is
 * reported as well, but its absence does not make an instance unready, because the service works without it. Only
 * operators see more than the overall state.
 */
import type { Projects } from "../../core/dispatch.ts";
import type { Clock } from "../../core/values/clock.ts";
import { withTimeout } from "../../core/values/with-timeout.ts";
import { json } from "./envelope.ts";
import type { Handle } from "./exchange.ts";
import { isOperatorRequest, type OperatorSettings } from "./operators.ts";

export interface HealthDeps extends OperatorSettings {
  readonly projects: Projects;
  readonly now: Clock;
  /** Whether Redis answers; null where the service uses none. */
  readonly pingRedis: (() => Promise<boolean>) | null;
}

/** A probe should report an unresponsive database sooner than a client's request fails. */
const pingTimeoutMs = 2_000;

export function isLive({ now }: HealthDeps): Handle {
  return (_c, exchange) => json(exchange, 200, { success: true, status: "live", timestamp: now() });
}

export function isReady(deps: HealthDeps): Handle {
  const { projects, now, pingRedis } = deps;
  return async (c, exchange) => {
    const redis = pingRedis && { redis: (await pingRedis()) ? "ok" : "unreachable" };
    const checks = await Promise.all(
      [...projects.values()].map(async (project) => {
        const isUp = project.routes !== null && (await answers(project.db.ping()));
        return [project.name, { database: isUp ? "ok" : "unreachable", ...redis }] as const;
      }),
    );
    const success = checks.every(([, check]) => check.database === "ok");
    const status = success ? "ready" : "unavailable";
    const shown = (await isOperatorRequest(c, deps))
      ? { projects: Object.fromEntries(checks) }
      : {};
    const body = { success, status, ...shown, timestamp: now() };
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
