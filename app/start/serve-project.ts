/** Opens one project, and puts its routes in place once its database was reached. */
import { hash } from "node:crypto";
import type { Cache } from "../../core/cache/cache.ts";
import type { Callers } from "../../core/callers/callers.ts";
import type { ImportComponent } from "../../core/config/components-plan.ts";
import type { Fault } from "../../core/config/faults.ts";
import type { ProjectConfig } from "../../core/config/read-config.ts";
import type { Project } from "../../core/dispatch.ts";
import type { Log } from "../../core/plans/ports.ts";
import { databaseOf, openDb } from "../../db/open.ts";
import { openCallers } from "../callers/open-callers.ts";
import type { Observation } from "../observe/observation.ts";
import { createOutbound, type OutboundOptions } from "../outbound/outbound-client.ts";
import type { Stores } from "../stores/stores.ts";
import { readText } from "./config-files.ts";
import { ConfigError } from "./config-error.ts";
import type { Hooks } from "./open-hooks.ts";
import type { Jobs } from "./open-jobs.ts";
import { assembleProject, databaseOptions, lookAt } from "./open-project.ts";
import { type Telling, toLog } from "./telling.ts";

/** A project with what its routes are compiled from. */
export interface OpenProject {
  readonly config: ProjectConfig;
  readonly project: Project;
  readonly importComponent: ImportComponent | undefined;
  /** Ends the attempts to reach its database. */
  readonly stop: AbortController;
}

/** What all projects of a process share. */
export interface SharedParts {
  readonly cache: Cache;
  readonly locks: Stores["locks"];
  readonly jobs: Jobs;
  readonly hooks: Hooks;
  readonly importComponent: ImportComponent | undefined;
  readonly own: OutboundOptions["own"];
  /** Absent: as the project's `auth` says. */
  readonly callers: Callers | undefined;
  readonly log: Log;
  readonly observation: Observation;
  /** See `OpenOptions`. */
  readonly isOnlyLookedAt?: boolean;
}

/** Delays between two attempts to reach a database: the first, and the longest after doubling. */
const retryDelayMs = { first: 250, longest: 5_000 };

/** Creates SHA-256 as hexadecimal text. */
export const sha256 = (text: string): string => hash("sha256", text);

/** The project without routes. Its database may be unreachable. Rejects with an Error for an address that cannot be read. */
export async function openProject(
  config: ProjectConfig,
  { cache, locks: openStore, jobs, hooks, own, callers, observation, ...more }: SharedParts,
): Promise<OpenProject> {
  const { name, database } = config;
  const { url } = database;
  const importComponent = more.importComponent && observation.components(more.importComponent);
  const observer = observation.db(name);
  const options = { ...databaseOptions(config, readText), ...more, ...(observer && { observer }) };
  const db = await openDb(url, options).catch((error: Error) => {
    throw new Error(`${titleOf(config)}: ${error.message}`, { cause: error });
  });
  const unobserved = createOutbound({ allowedHosts: config.hooks.allowedHosts, own });
  const outbound = observation.outbound(unobserved);
  const project = assembleProject(config, {
    db,
    database: databaseOf(url),
    cache,
    observeCache: observation.cache(name),
    lockStore: openStore(name),
    outbound,
    background: observation.background(hooks.forProject(name, outbound)),
    jobs: jobs.forProject(config),
    callers: callers ?? openCallers(config.auth, { digest: sha256, outbound, log: more.log }),
    digest: sha256,
  });
  return { config, project, importComponent, stop: new AbortController() };
}

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

/** Compiles the project if its database answers, and puts its routes in place if there is no fault. */
export async function compileOnce(
  { config, project, importComponent }: OpenProject,
  tell: Telling,
): Promise<CompileResult> {
  const { access } = project.callers;
  const look = await lookAt(config, { catalog: project.db.catalog, access, importComponent });
  if ("faults" in look) return { faults: look.faults, trouble: null };
  if ("unreachable" in look) {
    const { reason, remedy, isLasting } = project.db.faultOf(look.unreachable);
    const sentence = `${titleOf(config)}: ${reason}; ${remedy}`;
    return { faults: [], trouble: { sentence, isLasting, cause: look.unreachable } };
  }
  for (const notice of look.notices) tell.notice(notice);
  for (const risk of look.risks) tell.risk(risk);
  for (const remark of look.remarks) tell.remark(remark);
  project.routes = look.routes;
  return { faults: [], trouble: null };
}

/** Retries until the database is reached. Logs the reason once, and again when it changes. */
export async function compileLater(one: OpenProject, first: Trouble, log: Log): Promise<void> {
  const { name: project } = one.config;
  let trouble = first;
  log.warn({ project }, `${trouble.sentence}; retrying until it answers`);
  for (let delayMs = retryDelayMs.first; ; delayMs = Math.min(delayMs * 2, retryDelayMs.longest)) {
    await pause(delayMs, one.stop.signal);
    if (one.stop.signal.aborted) return;
    const look = await compileOnce(one, toLog(one.config, log));
    if (look.faults.length > 0) throw new ConfigError(look.faults);
    if (look.trouble === null) break;
    log.debug({ project, err: look.trouble.cause }, "The database does not answer yet");
    if (look.trouble.sentence !== trouble.sentence)
      log.warn({ project }, `${look.trouble.sentence}; retrying until it answers`);
    trouble = look.trouble;
  }
  log.info({ project }, "The database is reachable; the project is served");
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
