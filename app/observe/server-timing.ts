/**
 * The header Server-Timing: how long an answer took in all, and how much of it was the database and the cache. The
 * developer tools of browsers show it.
 */
import type { Task } from "./current-task.ts";
import type { Origin, Watcher } from "./watcher.ts";

interface Spent {
  dbMs: number;
  cacheMs: number;
}

/**
 * `origins`: by project, the origins whose pages may call it; browsers show the times only to those that
 * Timing-Allow-Origin names. Projects that are not in it send no times.
 */
export function watchTimes(origins: ReadonlyMap<string, readonly string[]>): Watcher {
  const spent = new WeakMap<Task, Spent>();

  function spentBy({ task }: Origin): Spent {
    // Only work that belongs to a request is shown.
    const found = (task && spent.get(task)) ?? { dbMs: 0, cacheMs: 0 };
    if (task) spent.set(task, found);
    return found;
  }

  return {
    projects: new Set(origins.keys()),
    statement: ({ durationMs }, origin) => void (spentBy(origin).dbMs += durationMs),
    waited: ({ durationMs }, origin) => void (spentBy(origin).dbMs += durationMs),
    cache: ({ durationMs }, origin) => void (spentBy(origin).cacheMs += durationMs),
    requestEnded(task, { durationMs }) {
      const allowed = origins.get(task.exchange.place.project ?? "");
      if (allowed === undefined) return undefined;
      const { dbMs, cacheMs } = spentBy({ project: "", task });
      const times = { db: dbMs, cache: cacheMs, total: durationMs };
      return {
        "Server-Timing": Object.entries(times)
          .map(([name, ms]) => `${name};dur=${ms.toFixed(1)}`)
          .join(", "),
        ...timingOrigin(task.request.headers.get("origin"), allowed),
      };
    },
  };
}

function timingOrigin(
  origin: string | null,
  allowed: readonly string[],
): Readonly<Record<string, string>> {
  if (allowed.includes("*")) return { "Timing-Allow-Origin": "*" };
  return origin !== null && allowed.includes(origin) ? { "Timing-Allow-Origin": origin } : {};
}
