/**
 * What the configuration says of callers and of the database, for those who open a project: the service, and the thread of jobs, which loads
 * nothing of HTTP. So nothing of it may be imported here; `job-thread.test.ts` checks that.
 */
import { type Access, openAccess } from "../../core/callers/access.ts";
import { createRoleAccess } from "../../core/callers/role-access.ts";
import { underPolicies } from "../../core/callers/policy-access.ts";
import type { ProjectConfig } from "../../core/config/read-config.ts";
import { hasAuth } from "../../core/config/survey.ts";
import type { Entity } from "../../core/plans/entity.ts";
import type { OpenOptions } from "../../db/open-remote.ts";

/** What callers may do. `entities`: all endpoints of the project, faulty ones too; `access`: in place of what the configuration says. */
export function accessFor(
  config: ProjectConfig,
  { entities, access }: { entities: ReadonlyMap<string, Entity>; access?: Access | undefined },
): Access {
  const ruling = access ?? (hasAuth(config) ? createRoleAccess(entities) : openAccess);
  return config.database.claimsSetting === undefined ? ruling : underPolicies(ruling);
}

/** How the project's database is opened; `openDb` says what each of these means. `readFile`: absent where there are no files. */
export function databaseOptions(
  { database, decimals }: ProjectConfig,
  readFile?: (path: string) => string,
): OpenOptions {
  const { pool, statementTimeoutMs, triggerMessages, claimsSetting, preparedStatements, tls } =
    database;
  return {
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
