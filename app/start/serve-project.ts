/**
 * One project of a loaded configuration: opened over its database, its routes put in place once the database was
 * reached, and compiled anew when its tables have changed.
 */
import type { Callers } from "../../core/callers/callers.ts";
import type { ImportComponent } from "../../core/config/components-plan.ts";
import type { Fault } from "../../core/config/faults.ts";
import type { ProjectConfig } from "../../core/config/read-config.ts";
import type { Project } from "../../core/dispatch.ts";
import type { Log, Outbound } from "../../core/plans/ports.ts";
import { databaseOf } from "../../db/open.ts";
import { openCallers } from "../callers/open-callers.ts";
import { createOutbound, type OutboundOptions } from "../outbound/outbound-client.ts";
import { ConfigError } from "./config-error.ts";
import type { KeptDatabase } from "./kept-databases.ts";
import { logLeftOut } from "./left-out.ts";
import { assembleProject, lookAt, type Seen } from "./open-project.ts";
import { type ProcessParts, sha256 } from "./process-parts.ts";
import { createSchemaWatch, type Sight } from "./schema-watch.ts";
import { type Telling, toLog } from "./telling.ts";

/** A project with what its routes are compiled from. */
export interface OpenProject {
  readonly config: ProjectConfig;
  readonly project: Project;
  readonly outbound: Outbound;
  readonly database: KeptDatabase;
  readonly importComponent: ImportComponent | undefined;
  /** Ends the attempts to reach its database. */
  readonly stop: AbortController;
  /** What its routes were compiled from; null until its database was reached. */
  seen: Seen | null;
}

/** What all projects of a loaded configuration share. */
export interface LoadedParts {
  readonly importComponent: ImportComponent | undefined;
  readonly own: OutboundOptions["own"];
  /** Absent: as the project's `auth` says. */
  readonly callers: Callers | undefined;
  /** The project of this name that is served until now. */
  readonly before?: OpenProject | undefined;
}

/** Delays between two attempts to reach a database: the first, and the longest after doubling. */
const retryDelayMs = { first: 250, longest: 5_000 };

/** The project without routes. Its database may be unreachable. Rejects with an Error for an address that cannot be read. */
export async function openProject(
  config: ProjectConfig,
  { own, callers, before, ...components }: LoadedParts,
  { databases, cache, locksOf, jobs, hooks, observation, basePath, log }: ProcessParts,
): Promise<OpenProject> {
  const database = await databases.take(config).catch((error: Error) => {
    throw new Error(`${titleOf(config)}: ${error.message}`, { cause: error });
  });
  const { name } = config;
  const { importComponent } = components;
  const unobserved = createOutbound({ allowedHosts: config.hooks.allowedHosts, own });
  const outbound = observation.outbound(unobserved);
  const known = before && hasSameCallers(before.config, config) ? before.project.callers : null;
  const one: OpenProject = {
    config,
    project: assembleProject(config, {
      db: database.db,
      database: databaseOf(config.database.url),
      cache,
      observeCache: observation.cache(name),
      lockStore: locksOf(name),
      outbound,
      background: observation.background(hooks.forProject(name)),
      jobs: jobs.forProject(config),
      // Those of before have the keys of their issuer already.
      callers: callers ?? known ?? openCallers(config.auth, { digest: sha256, outbound, log }),
      schema: createSchemaWatch({ lookAgain: () => lookAgain(one, log) }),
      digest: sha256,
      basePath,
    }),
    outbound,
    database,
    importComponent: importComponent && observation.components(importComponent),
    stop: new AbortController(),
    seen: null,
  };
  return one;
}

/** Whether callers are identified in the same way; the keys of their issuer are fetched over `hooks.allowedHosts`. */
const hasSameCallers = (one: ProjectConfig, other: ProjectConfig): boolean => {
  const facts = ({ auth, hooks }: ProjectConfig) => JSON.stringify([auth, hooks.allowedHosts]);
  return facts(one) === facts(other);
};

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
 * Compiles the project if its database answers, and puts its routes in place: those of the endpoints without a fault. The
 * faults are all of them, whatever `onFault` says.
 */
export async function compileOnce(one: OpenProject, tell: Telling): Promise<CompileResult> {
  const { config, project, importComponent } = one;
  const { access } = project.callers;
  const look = await lookAt(config, { catalog: project.db.catalog, access, importComponent });
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
  /** Whether a fault that only shows now is the end: absent or false = its endpoints are left out. */
  readonly endsWithFaults?: boolean;
}

/**
 * Retries until the database is reached. Logs the reason once, and again when it changes. Rejects with ConfigError where
 * faults are the end.
 */
export async function compileLater(
  one: OpenProject,
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
 * Compiles the project again and serves it as its tables are now; endpoints that no longer fit answer 503. Without a
 * change everything stays as it is.
 */
async function lookAgain(one: OpenProject, log: Log): Promise<Sight> {
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

/** Ends early when the signal says so; keeps no process alive. */
function pause(delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, delayMs);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
