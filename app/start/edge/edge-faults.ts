/**
 * Checks a configuration for settings that are impossible on a runtime without long-lived processes: a database in a
 * file, locks in memory, jobs without a queue and a bucket.
 */
import type { Requirement } from "../../../core/calls/requirement.ts";
import { switchedOn } from "../../../core/actions.ts";
import { faultAt } from "../../../core/config/reading/document.ts";
import type { Fault, Path } from "../../../core/config/reading/faults.ts";
import type { EndpointConfig, ProjectConfig } from "../../../core/config/reading/read-config.ts";
import { remoteFault } from "../../../db/open-remote.ts";
import type { Settings } from "../settings/env.ts";
import type { BoundEnvironment } from "./bindings.ts";

/** All faults at once; a project without faults can be served. */
export function edgeFaults(
  config: ProjectConfig,
  { settings, pooled }: { settings: Settings; pooled: BoundEnvironment["pooled"] },
): Fault[] {
  const { document, database, locking, endpoints } = config;
  const faults = endpoints.flatMap((endpoint) => endpointFaults(endpoint, settings));
  const fault = (path: Path, about: { found: string; expected: string }) =>
    faults.unshift(faultAt(document, path, about));
  for (const name of ["enabled", "enforceResourceLocks"] as const) {
    if (!locking[name] || settings.redisUrl !== null) continue;
    fault(["locking", name], { found: "locks without a REDIS_URL", expected: needsRedis });
  }
  const about = remoteFault(database.url, { isPooled: pooled.has(database.url) });
  if (about) fault(["database", "url"], about);
  if (database.tls !== undefined)
    fault(["database", "tls"], {
      found: "certificates of your own, which this runtime cannot be given",
      expected: "a server whose certificate is of a public authority",
    });
  return faults;
}

const needsRedis = "a REDIS_URL, because this runtime has no process that could keep locks";

function endpointFaults({ document, payload }: EndpointConfig, settings: Settings): Fault[] {
  const needing = (requirement: Requirement): Path[] =>
    switchedOn(payload.action, ({ requires }) => requires.has(requirement)).map((name) => [
      "action",
      name,
    ]);
  const noRedis = settings.redisUrl === null;
  const locks = noRedis ? needing("locks") : [];
  const missing = [
    ...(noRedis ? ["a REDIS_URL, so that a worker elsewhere gets the jobs"] : []),
    ...(settings.storage.kind === "folder"
      ? ["a bucket as STORAGE_URL, because this runtime has no files"]
      : []),
  ];
  const jobs = missing.length > 0 ? needing("jobs") : [];
  const files = settings.storage.kind === "folder" ? needing("files") : [];
  return [
    ...locks.map((path) =>
      faultAt(document, path, { found: "locks without a REDIS_URL", expected: needsRedis }),
    ),
    ...files.map((path) =>
      faultAt(document, path, { found: "files without a bucket", expected: missing.at(-1)! }),
    ),
    ...jobs.map((path) =>
      faultAt(document, path, {
        found: "exports or imports without a queue and a bucket",
        expected: missing.join(" and "),
      }),
    ),
  ];
}
