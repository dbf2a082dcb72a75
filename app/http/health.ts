/**
 * `/health/live`: the process answers. `/health/ready`: the database of every project answers too, else 503. An
 * instance stays ready without Redis, because the service works without it, and with a full disk, because the service
 * still reads. Callers get the overall state; operators also get each project, its skipped endpoints, Redis, and the
 * configuration.
 */
import type { Projects } from "../../core/dispatch.ts";
import type { Runtime } from "../../core/plans/runtime.ts";
import { withTimeout } from "../../core/values/with-timeout.ts";
import { json } from "./envelope.ts";
import type { Handle } from "./exchange.ts";
import { isOperatorRequest, type OperatorSettings } from "./operators.ts";

/** Which configuration is served. */
export interface ConfigState {
  /** Changes with each configuration that is loaded. */
  readonly version: string;
  /** ISO 8601. */
  readonly loadedAt: string;
  /** Why the last attempt to load a configuration left this one in place; null = it succeeded. */
  readonly lastError: string | null;
}

export interface HealthDeps extends OperatorSettings, Pick<Runtime, "now"> {
  readonly projects: Projects;
  /** Whether Redis answers; null where the service uses none. */
  readonly pingRedis: (() => Promise<boolean>) | null;
  /** Null where a configuration cannot be loaded again. */
  readonly configState: (() => ConfigState) | null;
}

/** A probe should report an unresponsive database sooner than a client's request fails. */
const pingTimeoutMs = 2_000;

export function isLive({ now }: Pick<HealthDeps, "now">): Handle {
  return (_incoming, exchange) =>
    json(exchange, 200, { success: true, status: "live", timestamp: now() });
}

export function isReady(deps: HealthDeps): Handle {
  const { projects, now, pingRedis } = deps;
  return async (incoming, exchange) => {
    const redis = pingRedis && { redis: (await pingRedis()) ? "ok" : "unreachable" };
    const checks = await Promise.all(
      [...projects.values()].map(async (project) => {
        const isUp = project.routes !== null && (await answers(project.db.ping()));
        const leftOut = [...(project.routes?.leftOut ?? [])].toSorted();
        const skipped = leftOut.length > 0 ? { skipped_endpoints: leftOut } : {};
        const database = !isUp ? "unreachable" : project.db.hasRoom() ? "ok" : "full";
        return [project.name, { database, ...redis, ...skipped }] as const;
      }),
    );
    const success = checks.every(([, check]) => check.database !== "unreachable");
    const status = success ? "ready" : "unavailable";
    const shown = (await isOperatorRequest(incoming, deps))
      ? { ...configMember(deps), projects: Object.fromEntries(checks) }
      : {};
    const body = { success, status, ...shown, timestamp: now() };
    return json(exchange, success ? 200 : 503, body);
  };
}

/** Only for operators, because the faults in `last_error` name files and columns. */
function configMember({ configState }: HealthDeps): object {
  if (configState === null) return {};
  const { version, loadedAt, lastError } = configState();
  return { config: { version, loaded_at: loadedAt, last_error: lastError } };
}

function answers(ping: Promise<void>): Promise<boolean> {
  const answered = ping.then(
    () => true,
    () => false,
  );
  return withTimeout(answered, { timeoutMs: pingTimeoutMs, onTimeout: () => false });
}
