/**
 * One project of a loaded configuration: opened over its database, routed once the database is reached, and compiled
 * again when its tables have changed.
 */
import { setTimeout as wait } from "node:timers/promises";
import type { Callers } from "../../../core/callers/callers.ts";
import type { ImportComponent } from "../../../core/config/compiling/components-plan.ts";
import type { Fault } from "../../../core/config/reading/faults.ts";
import type { ProjectConfig } from "../../../core/config/reading/read-config.ts";
import type { Project } from "../../../core/dispatch.ts";
import type { Log } from "../../../core/plans/log-port.ts";
import type { DeliveryTimes } from "../../../core/webhooks/webhook-sender.ts";
import { databaseOf } from "../../../db/open.ts";
import { type KnownKeys, noKeysYet } from "../../callers/key-set.ts";
import { createOutbound, type OutboundOptions } from "../../outbound/outbound-client.ts";
import { logLeftOut } from "../settings/read-projects.ts";
import { ConfigError } from "../settings/config-error.ts";
import type { Nudge } from "../../../core/plans/nudge.ts";
import type { KeptDatabase } from "./kept-databases.ts";
import { lookAt, openProject, type ProjectParts, type Seen } from "./open-project.ts";
import type { ProcessParts } from "./process-parts.ts";
import { createSchemaWatch, type Sight } from "../reloading/schema-watch.ts";
import { type Telling, toLog } from "./telling.ts";

/** A project with what its routes are compiled from. */
export interface ServedProject {
  readonly config: ProjectConfig;
  readonly project: Project;
  readonly database: KeptDatabase;
  readonly importComponent: ImportComponent | undefined;
  /** Those of the issuer of its tokens. */
  readonly knownKeys: KnownKeys;
  /** Ends the attempts to reach its database. */
  readonly stop: AbortController;
  /** What its routes were compiled from; null until its database is reached. */
  seen: Seen | null;
}

/** What all projects of a loaded configuration share. */
export interface LoadedParts {
  readonly importComponent: ImportComponent | undefined;
  /** Answers requests of the service's own hooks. */
  readonly own: OutboundOptions["own"];
  /** Absent: as the project's `auth` says. */
  readonly callers: Callers | undefined;
  /** Absent: those of `limits`. */
  readonly deliveryTimes?: DeliveryTimes | undefined;
  /** The project of this name in the configuration that is served until now. */
  readonly before?: ServedProject | undefined;
}

/** Delays between two attempts to reach a database: the first, and the longest after doubling. */
const retryDelayMs = { first: 250, longest: 5_000 };

/** Opens the project without routes; its database may be unreachable. Rejects with an Error for an invalid address. */
export async function openServed(
  config: ProjectConfig,
  { own, callers, before, importComponent, deliveryTimes }: LoadedParts,
  parts: ProcessParts,
): Promise<ServedProject> {
  const { databases, locksOf, jobs, hooks, observation, runtime } = parts;
  const database = await databases.take(config).catch((error: Error) => {
    throw new Error(`${titleOf(config)}: ${error.message}`, { cause: error });
  });
  const { name } = config;
  // Callers of the earlier configuration remember tokens that were checked.
  const known = before && hasSameCallers(before.config, config) ? before.project.callers : null;
  const knownKeys =
    before && issuerOf(before.config) === issuerOf(config) ? before.knownKeys : noKeysYet();
  const ofProject: ProjectParts = {
    db: database.db,
    database: databaseOf(config.database.url),
    lockStore: locksOf(name),
    outboundTo: (allowedHosts) => createOutbound({ allowedHosts, own }),
    backgroundOver: () => hooks.forProject(name),
    jobs: jobs.forProject(config),
    callers: callers ?? known ?? undefined,
    knownKeys,
    nudge: nudgeOf(config, database, parts),
    streams: parts.streamsOf(name),
    deliveryTimes,
    schema: createSchemaWatch({
      lookAgain: () => lookAgain(one, runtime.log),
      pause: (ms) => pause(ms, one.stop.signal),
    }),
  };
  const one: ServedProject = {
    config,
    project: openProject(config, ofProject, parts),
    database,
    importComponent: importComponent && observation.components(importComponent),
    knownKeys,
    stop: new AbortController(),
    seen: null,
  };
  return one;
}

/** Redis reaches all instances; the database's own way those that use no Redis; a parent only the processes under it. */
function nudgeOf(
  { database: { url } }: ProjectConfig,
  { db }: KeptDatabase,
  { nudge, pingRedis }: ProcessParts,
): Nudge | null {
  const given = nudge?.(databaseOf(url)) ?? null;
  return pingRedis === null ? (db.nudge ?? given) : given;
}

/** Whether callers are identified in the same way. */
const hasSameCallers = (one: ProjectConfig, other: ProjectConfig): boolean =>
  JSON.stringify(one.auth) === JSON.stringify(other.auth);

/** Where the keys of the tokens are published. */
const issuerOf = ({ auth }: ProjectConfig): string | undefined => auth?.jwt?.jwksUri;

/** Why the project is not served yet. */
export interface Trouble {
  readonly sentence: string;
  readonly isLasting: boolean;
  readonly cause: unknown;
}

/** The result of an attempt to reach the project's database. */
export interface CompileResult {
  readonly faults: readonly Fault[];
  /** Null: the database was reached. */
  readonly trouble: Trouble | null;
}

/** `shop (shop/project.json)`. */
const titleOf = ({ name, document }: ProjectConfig): string => `${name} (${document.file})`;

/**
 * Compiles the project if its database answers, and puts the routes of the endpoints without a fault in place. The
 * result has all faults, whatever `onFault` says.
 */
export async function compileOnce(
  one: ServedProject,
  tell: Telling,
  catalog = one.project.db.catalog,
): Promise<CompileResult> {
  const { config, project, importComponent } = one;
  const { access } = project.callers;
  const look = await lookAt(config, { catalog, access, importComponent });
  if ("unreachable" in look) {
    const { reason, remedy, isLasting } = project.db.faultOf(look.unreachable);
    const sentence = `${titleOf(config)}: ${reason}; ${remedy}`;
    return { faults: [], trouble: { sentence, isLasting, cause: look.unreachable } };
  }
  for (const notice of look.notices) tell.notice(notice);
  for (const risk of look.risks) tell.risk(risk);
  for (const remark of look.remarks) tell.remark(remark);
  one.seen = look;
  project.routes = look.routes;
  return { faults: look.faults, trouble: null };
}

export interface LateOptions {
  readonly first: Trouble;
  readonly log: Log;
  /** Whether a fault found now rejects; absent or false: its endpoints are left out. */
  readonly endsWithFaults?: boolean;
}

/**
 * Retries until the database is reached. Logs the reason once, and again when it changes. With `endsWithFaults`,
 * rejects with ConfigError for faults.
 */
export async function compileLater(
  one: ServedProject,
  { first, log, endsWithFaults = false }: LateOptions,
): Promise<void> {
  const { name: project } = one.config;
  let trouble = first;
  log.warn({ project }, `${trouble.sentence}; retrying until it answers`);
  for (let delayMs = retryDelayMs.first; ; delayMs = Math.min(delayMs * 2, retryDelayMs.longest)) {
    await pause(delayMs, one.stop.signal);
    if (one.stop.signal.aborted) return;
    const look = await compileOnce(one, toLog(one.config, log));
    if (look.faults.length > 0 && endsWithFaults) throw new ConfigError(look.faults);
    logLeftOut(one.config, look.faults, log);
    if (look.trouble === null) break;
    log.debug({ project, err: look.trouble.cause }, "The database does not answer yet");
    if (look.trouble.sentence !== trouble.sentence)
      log.warn({ project }, `${look.trouble.sentence}; retrying until it answers`);
    trouble = look.trouble;
  }
  log.info({ project }, "The database is reachable; the project is served");
}

/**
 * Compiles the project again and serves it with its tables as they are now; endpoints that no longer fit answer 503.
 * Unchanged tables change nothing.
 */
async function lookAgain(one: ServedProject, log: Log): Promise<Sight> {
  if (one.stop.signal.aborted) return "unreachable";
  const { config, project, importComponent, seen } = one;
  const { access } = project.callers;
  try {
    const look = await lookAt(config, { catalog: project.db.catalog, access, importComponent });
    if ("unreachable" in look) return "unreachable";
    if (look.shape === seen?.shape) return "same";
    one.seen = look;
    project.routes = look.routes;
    const message = "The tables of the database have changed; the project was compiled again";
    log.warn({ project: project.name }, message);
    logLeftOut(config, look.faults, log);
    return "changed";
  } catch (error) {
    log.error({ project: project.name, err: error }, "The tables could not be looked at again");
    return "unreachable";
  }
}

/** Ends early when the signal is aborted. */
const pause = (delayMs: number, signal: AbortSignal): Promise<void> =>
  wait(delayMs, undefined, { signal }).catch(() => undefined);
