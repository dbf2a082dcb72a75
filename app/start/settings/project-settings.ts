/**
 * The settings of callers and of the database, for the service and for the thread of jobs. The thread must load nothing
 * of HTTP, so this file must not import it; `job-thread.test.ts` checks that.
 */
import { type Access, openAccess, underPolicies } from "../../../core/callers/access.ts";
import { createRoleAccess } from "../../../core/callers/role-access.ts";
import type { ProjectConfig } from "../../../core/config/reading/read-config.ts";
import { hasAuth } from "../../../core/config/compiling/survey.ts";
import type { Entity } from "../../../core/plans/entity.ts";
import type { OpenOptions } from "../../../db/open-remote.ts";

/** The access rules. `entities`: all endpoints, faulty ones too; `access`: replaces what the configuration says. */
export function accessFor(
  config: ProjectConfig,
  { entities, access }: { entities: ReadonlyMap<string, Entity>; access?: Access | undefined },
): Access {
  const ruling = access ?? (hasAuth(config) ? createRoleAccess(entities) : openAccess);
  return config.database.claimsSetting === undefined ? ruling : underPolicies(ruling);
}

/** Options for opening the project's database, explained at `openDb`. `readFile`: absent where there are no files. */
export function databaseOptions(
  { database, decimals }: ProjectConfig,
  readFile?: (path: string) => string,
): OpenOptions {
  const {
    replicas,
    readFrom,
    pool,
    statementTimeoutMs,
    triggerMessages,
    claimsSetting,
    preparedStatements,
    tls,
  } = database;
  return {
    ...(readFrom === "replica" && { replicas }),
    connectionsMax: pool,
    statementTimeoutMs,
    triggerMessages,
    decimals,
    preparedStatements,
    ...(claimsSetting !== undefined && { claimsSetting }),
    ...(tls && { tls }),
    ...(readFile && { readFile }),
  };
}
