/**
 * What every runtime does with a project: puts its parts together, and checks its configuration against its database.
 * `serve-project.ts` does so once for a configuration, the edge once for a request.
 */
import type { Cache } from "../../../core/cache/cache.ts";
import type { Access } from "../../../core/callers/access.ts";
import type { Callers } from "../../../core/callers/callers.ts";
import { type CompiledProject, compileProject } from "../../../core/config/compile-project.ts";
import type { ImportComponent } from "../../../core/config/compiling/components-plan.ts";
import { agentsOf } from "../../../core/config/compiling/compile-agents.ts";
import { dashboardFaults } from "../../../core/config/checking/dashboard-faults.ts";
import type { Fault } from "../../../core/config/reading/faults.ts";
import type { ProjectConfig } from "../../../core/config/reading/read-config.ts";
import { bindProject, type Project, type Routes } from "../../../core/dispatch.ts";
import { isUnavailable } from "../../../core/values/errors.ts";
import type { ProjectJobs } from "../../../core/jobs/jobs.ts";
import { createFeed } from "../../../core/changes/feed.ts";
import { createWebhookSender, type DeliveryTimes } from "../../../core/webhooks/webhook-sender.ts";
import { createRecordFiles } from "../../../core/files/record-files.ts";
import { createLocks } from "../../../core/locks/locks.ts";
import type { Catalog } from "../../../core/plans/database-catalog.ts";
import type { Entity } from "../../../core/plans/entity.ts";
import type { Background } from "../../../core/plans/hook-call.ts";
import type { Nudge } from "../../../core/plans/nudge.ts";
import type { OpenStreams } from "../../../core/plans/open-streams.ts";
import type { Db, SchemaWatch } from "../../../core/plans/db-port.ts";
import type { LockStore } from "../../../core/locks/lock-store.ts";
import type { Outbound } from "../../../core/plans/outbound-port.ts";
import type { Runtime } from "../../../core/plans/runtime.ts";
import type { HookDepths } from "../../../core/workflow/hook-depth.ts";
import { openCallers } from "../../callers/open-callers.ts";
import type { KnownKeys } from "../../callers/key-set.ts";
import type { Observation } from "../../observe/observation.ts";
import { createMemoryLocks } from "../../stores/memory-locks.ts";
import { accessFor } from "../settings/project-settings.ts";
import { noted } from "./noted-catalog.ts";

/** What projects share. */
export interface SharedParts {
  readonly runtime: Runtime;
  readonly cache: Cache;
  readonly hookDepths: HookDepths;
  readonly observation: Observation;
}

export interface ProjectParts {
  readonly db: Db;
  /**
   * The parameter of the cache's `forProject`: equal for projects on the same database; null when the address does not
   * identify the database.
   */
  readonly database: string | null;
  readonly lockStore: LockStore;
  readonly jobs: ProjectJobs;
  readonly schema: SchemaWatch;
  /** Can call public addresses, and these hosts even if their addresses are not public. */
  readonly outboundTo: (allowedHosts: readonly string[]) => Outbound;
  /** Makes the non-blocking calls, through this outbound. */
  readonly backgroundOver: (outbound: Outbound) => Background;
  /** Absent: as the project's `auth` says. */
  readonly callers?: Callers | undefined;
  readonly knownKeys?: KnownKeys | undefined;
  /** Tells other instances of changes; null: they look by themselves. */
  readonly nudge: Nudge | null;
  readonly streams: OpenStreams;
  /** Absent: those of `limits`. */
  readonly deliveryTimes?: DeliveryTimes | undefined;
}

/** The project without routes; they are added once its database was reached. */
export function openProject(
  config: ProjectConfig,
  parts: ProjectParts,
  { runtime, cache, hookDepths, observation }: SharedParts,
): Project {
  const { db, database, lockStore: store, jobs, schema, outboundTo, knownKeys } = parts;
  const { name, locking: settings, auth, hooks, webhooks } = config;
  const observe = observation.cache(name);
  const outbound = hookDepths.signing(observation.outbound(outboundTo(hooks.allowedHosts)));
  const project: Project = {
    name,
    db,
    cache: cache.forProject({ database, ...config.cache, observe }),
    locks: createLocks({ ...runtime, store, ownStore: createMemoryLocks(), db, settings }),
    outbound,
    background: observation.background(parts.backgroundOver(outbound)),
    jobs,
    files: createRecordFiles({
      ...runtime,
      project: name,
      db,
      storage: jobs.files,
      report: observation.files(name),
      hasFiles: () => (entityIn(project.routes)?.files.size ?? 0) > 0,
    }),
    feed: createFeed({ ...runtime, db, nudge: parts.nudge, streams: parts.streams }),
    webhooks: createWebhookSender({
      ...runtime,
      project: name,
      webhooks,
      timeoutMs: hooks.timeoutMs,
      db,
      outbound,
      changes: () => entityIn(project.routes)?.changes ?? null,
      times: parts.deliveryTimes,
    }),
    runtime,
    callers: parts.callers ?? openCallers(auth, { ...runtime, outboundTo, knownKeys }),
    schema,
    routes: null,
  };
  return project;
}

/** Every entity has the rules of tables of the whole project. */
function entityIn(routes: Routes | null): Entity | null {
  for (const actions of routes?.endpoints.values() ?? [])
    for (const { entity } of actions.values()) if (entity) return entity;
  return null;
}

/** The result of compiling against a database that answers. */
export interface Seen extends Pick<CompiledProject, "notices" | "risks" | "remarks"> {
  /** Those of the endpoints without a fault; the others are `leftOut`. */
  readonly routes: Routes;
  /** What is wrong with the other endpoints; the faults of their files are not among these. */
  readonly faults: readonly Fault[];
  /** Equal as long as the tables and queries of the project are the same in the database. */
  readonly shape: string;
}

/** The result of compiling against the database, or why it does not answer. */
export type Look = Seen | { readonly unreachable: unknown };

export interface LookOptions {
  readonly catalog: Catalog;
  /** Absent: what the configuration says. */
  readonly access?: Access | undefined;
  readonly importComponent?: ImportComponent | undefined;
  /** False: a process ends with its request, so no stream of changes can be open. Absent: true. */
  readonly hasStreams?: boolean;
}

/** Compiles the project against its database. Rejects only for internal errors. */
export async function lookAt(
  config: ProjectConfig,
  { catalog, access, importComponent, hasStreams = true }: LookOptions,
): Promise<Look> {
  const { catalog: asked, shape } = noted(catalog);
  try {
    // Without endpoints nothing else would query the database.
    if (config.endpoints.length === 0) await catalog.names();
    const { entities, faulty, ...found } = await compileProject(config, asked, { importComponent });
    const all = new Map([...entities, ...faulty]);
    const leftOut = new Set([...faulty.keys(), ...config.leftOut.keys()]);
    const rules = accessFor(config, { entities: all, access });
    const { enabled, maxSteps: stepsMax } = config.batch;
    const batches = enabled ? { project: config.name, stepsMax } : null;
    const { streams: ofCaller, streamsTotal: inAll } = config.limits;
    const streams = hasStreams ? { ofCaller, inAll } : null;
    const { odata } = config;
    const bound = bindProject(entities, { access: rules, leftOut, batches, streams, odata });
    const { plan, faults: agentFaults } = agentsOf(config, entities);
    const alone = { access: rules, leftOut, batches: null, streams: null, odata: false };
    const agents = plan && { routes: bindProject(plan.entities, alone), writes: plan.writes };
    const routes = { ...bound, agents };
    const faults = [...found.faults, ...agentFaults, ...dashboardFaults(config, routes)];
    return { ...found, faults, routes, shape: shape() };
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    return { unreachable: error.cause ?? error };
  }
}
