/** `/health/live`: the process answers. `/health/ready`: every project's database answers too, else 503. */
import { Hono } from "hono";
import type { Projects } from "../core/dispatch.ts";
import type { Clock } from "../core/ports.ts";
import { json } from "./envelope.ts";
import type { Variables } from "./variables.ts";

/** A probe should hear of a silent database sooner than a client does. */
const pingTimeoutMs = 2_000;

export function healthRoutes(projects: Projects, now: Clock): Hono<{ Variables: Variables }> {
  const health = new Hono<{ Variables: Variables }>();
  health.get("/live", (c) =>
    json(c, { status: 200, body: { success: true, status: "live", timestamp: now() } }),
  );
  health.get("/ready", async (c) => {
    const checks = await Promise.all(
      [...projects.values()].map(async (project) => {
        const isReady = project.routes !== null && (await answers(project.db.ping()));
        return [project.name, { database: isReady ? "ok" : "unreachable" }] as const;
      }),
    );
    const isReady = checks.every(([, check]) => check.database === "ok");
    const status = isReady ? "ready" : "unavailable";
    const body = {
      success: isReady,
      status,
      projects: Object.fromEntries(checks),
      timestamp: now(),
    };
    return json(c, { status: isReady ? 200 : 503, body });
  });
  return health;
}

async function answers(ping: Promise<void>): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const overdue = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, pingTimeoutMs, false);
  });
  const answered = ping.then(
    () => true,
    () => false,
  );
  return Promise.race([answered, overdue]).finally(() => clearTimeout(timer));
}
