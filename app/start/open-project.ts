/**
 * What every runtime does with a project: assembles its parts, checks its configuration against its database, and puts
 * all projects behind one app. `serve-project.ts` opens the parts once per configuration, `cloudflare.ts` once per request.
 */
import { systemClock } from "../../core/values/clock.ts";
import type { Cache } from "../../core/cache/cache.ts";
import type { Access } from "../../core/callers/access.ts";
import type { Callers } from "../../core/callers/callers.ts";
import { compileProject } from "../../core/config/compile-project.ts";
import type { ImportComponent } from "../../core/config/components-plan.ts";
import type { Fault } from "../../core/config/faults.ts";
import type { RateLimitSettings } from "../../core/config/project-schema.ts";
import type { ProjectConfig } from "../../core/config/read-config.ts";
import type { Risk } from "../../core/config/risks.ts";
import { bindProject, type Project, type Routes, type SchemaWatch } from "../../core/dispatch.ts";
import { AppError } from "../../core/values/errors.ts";
import type { ProjectJobs } from "../../core/jobs/jobs.ts";
import { signInOriginsOf, traitsOf } from "../../core/openapi/traits.ts";
import { createLocks } from "../../core/locks/locks.ts";
import type { Catalog } from "../../core/plans/database-catalog.ts";
import type { CacheObserver, ObserveRequest } from "../../core/plans/observer.ts";
import type { Background, Counters, Db, LockStore, Log, Outbound } from "../../core/plans/ports.ts";
import type { CheckHost } from "../http/guard.ts";
import type { OnAnswered } from "../http/exchange.ts";
import type { ConfigState } from "../http/health.ts";
import { type App, createApp } from "../http/http.ts";
import type { Console } from "../http/show-console.ts";
import type { Docs } from "../http/show-docs.ts";
import { createRateLimiter } from "../http/rate-limit.ts";
import type { Settings } from "./env.ts";
import { accessFor } from "./project-settings.ts";
import { version } from "./version.ts";
import { noted } from "./noted-catalog.ts";

export interface ProjectParts {
  readonly db: Db;
  /**
   * The parameter of the cache's `forProject`: equal for projects on the same database; null when the address does not
   * identify the database.
   */
  readonly database: string | null;
  readonly cache: Cache;
  readonly observeCache?: CacheObserver | undefined;
  readonly lockStore: LockStore;
  readonly outbound: Outbound;
  readonly background: Background;
  readonly jobs: ProjectJobs;
  readonly callers: Callers;
  readonly schema: SchemaWatch;
  /** A cryptographic hash as hexadecimal text. */
  readonly digest: (text: string) => string;
  /** Where the service is mounted, as `/rows`; empty at the root. */
  readonly basePath: string;
}

/** The project without routes; they are added once its database was reached. */
export function assembleProject(config: ProjectConfig, parts: ProjectParts): Project {
  const { db, database, cache, lockStore, outbound, background, jobs, digest, callers, schema } =
    parts;
  const { observeCache: observe, basePath } = parts;
  return {
    name: config.name,
    db,
    cache: cache.forProject({ database, ...config.cache, observe }),
    locks: createLocks({ store: lockStore, settings: config.locking, digest, newId }),
    outbound,
    background,
    jobs,
    digest,
    basePath,
    callers,
    schema,
    routes: null,
  };
}

/** The result of compiling against a database that answers. */
export interface Seen {
  /** Those of the endpoints without a fault; the others are `leftOut`. */
  readonly routes: Routes;
  /** What is wrong with the other endpoints; the faults of their files are not among these. */
  readonly faults: readonly Fault[];
  readonly notices: readonly string[];
  readonly risks: readonly Risk[];
  readonly remarks: readonly string[];
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
}

/** Compiles the project against its database. Rejects only for internal errors. */
export async function lookAt(
  config: ProjectConfig,
  { catalog, access, importComponent }: LookOptions,
): Promise<Look> {
  const { catalog: asked, shape } = noted(catalog);
  try {
    // Without endpoints nothing else would query the database.
    if (config.endpoints.length === 0) await catalog.names();
    const { entities, faulty, ...found } = await compileProject(config, asked, {
      importComponent,
    });
    const all = new Map([...entities, ...faulty]);
    const leftOut = new Set([...faulty.keys(), ...config.leftOut.keys()]);
    const rules = accessFor(config, { entities: all, access });
    return { ...found, routes: bindProject(entities, { access: rules, leftOut }), shape: shape() };
  } catch (error) {
    if (!(error instanceof AppError && error.kind === "unavailable")) throw error;
    return { unreachable: error.cause ?? error };
  }
}

export interface AppParts {
  readonly configs: readonly ProjectConfig[];
  readonly settings: Pick<Settings, "bodyLimitBytes" | "metricsToken" | "trustProxy">;
  readonly bodyTimeoutMs: number;
  /** Null: requests to every name are answered. */
  readonly checkHost: CheckHost | null;
  /** For the rate limits. */
  readonly counters: Counters;
  /** A cryptographic hash as hexadecimal text. */
  readonly digest: (text: string) => string;
  /** Null where there is no Redis. */
  readonly pingRedis: (() => Promise<boolean>) | null;
  /** Whether the board of jobs is mounted beside the app. */
  readonly jobsBoard: boolean;
  /** The page `/docs`. */
  readonly docs: Docs;
  /** Where the service is mounted, as `/rows`; empty at the root. */
  readonly basePath: string;
  /** The page `/console`. */
  readonly console: Console;
  /** The state of the configuration; null where it cannot be loaded again. */
  readonly configState: (() => ConfigState) | null;
  /** The text of `/metrics`. Null where nothing is kept between two requests. */
  readonly metricsText: (() => Promise<string>) | null;
  /** Is told of each request that a rate limit refused; absent: nobody is. */
  readonly onRateLimited?: ((project: string, limit: string) => void) | undefined;
  readonly log: Log;
  /** Absent: nobody watches. */
  readonly observe?: ObserveRequest | undefined;
  /** See `ExchangeDeps`. */
  readonly onAnswered?: OnAnswered | undefined;
}

/** The app that answers for these projects. */
export function appOver(projects: readonly Project[], parts: AppParts): App {
  const { configs, settings, bodyTimeoutMs, checkHost, counters, digest } = parts;
  const { pingRedis, configState, metricsText, onRateLimited, jobsBoard, docs, basePath, log } =
    parts;
  const { console } = parts;
  const limiterOf = (project: string, rateLimit: RateLimitSettings) =>
    createRateLimiter({
      project,
      settings: rateLimit,
      counters,
      digest,
      onRefused: onRateLimited && ((limit) => onRateLimited(project, limit)),
    });
  return createApp({
    extras: { version, docs: typeof docs === "function", console: console !== "off", jobsBoard },
    docs,
    basePath,
    console,
    signInOrigins: configs.flatMap(({ auth }) => signInOriginsOf(auth)),
    traits: new Map(configs.map((config) => [config.name, traitsOf(config)])),
    digest,
    projects: new Map(projects.map((project) => [project.name, project])),
    now: systemClock,
    newId,
    bodyLimitBytes: settings.bodyLimitBytes,
    metricsToken: settings.metricsToken,
    trustProxy: settings.trustProxy,
    rateLimiters: new Map(
      configs.flatMap(({ name: project, rateLimit }) =>
        rateLimit ? [[project, limiterOf(project, rateLimit)]] : [],
      ),
    ),
    bodyTimeoutMs,
    checkHost,
    corsOrigins: new Map(
      configs.flatMap(({ name, cors }) => (cors.origins.length > 0 ? [[name, cors.origins]] : [])),
    ),
    pingRedis,
    configState,
    metricsText,
    log,
    observe: parts.observe,
    onAnswered: parts.onAnswered,
  });
}

const newId = (): string => crypto.randomUUID();
