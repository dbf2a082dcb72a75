/** Puts all projects behind one app. */
import type { RateLimitSettings } from "../../../core/config/reading/project-schema.ts";
import type { ProjectConfig } from "../../../core/config/reading/read-config.ts";
import type { Project } from "../../../core/dispatch.ts";
import { signInOriginsOf, traitsOf } from "../../../core/openapi/traits.ts";
import type { ObserveRequest } from "../../../core/plans/observer.ts";
import type { Counters } from "../../../core/plans/counters.ts";
import type { Runtime } from "../../../core/plans/runtime.ts";
import type { Compression } from "../../http/compression.ts";
import type { CheckHost } from "../../http/guard.ts";
import type { OnAnswered } from "../../http/exchange.ts";
import type { ConfigState } from "../../http/health.ts";
import { type App, createApp, type Deps } from "../../http/http.ts";
import type { Console } from "../../http/show-console.ts";
import type { Docs } from "../../http/show-docs.ts";
import type { HookDepths } from "../../../core/workflow/hook-depth.ts";
import { createRateLimiter, type RateLimiter } from "../../http/rate-limit.ts";
import type { Settings } from "../settings/env.ts";

/** The version of the service: that of package.json, which only a checkout has beside the sources. */
export const version = "0.1.0";

export interface AppParts {
  readonly runtime: Runtime;
  readonly configs: readonly ProjectConfig[];
  readonly settings: Pick<
    Settings,
    "bodyLimitBytes" | "compression" | "metricsToken" | "trustProxy"
  >;
  readonly bodyTimeoutMs: number;
  /** Null: requests to every name are answered. */
  readonly checkHost: CheckHost | null;
  /** For the rate limits. */
  readonly counters: Counters;
  readonly hookDepths: HookDepths;
  /** Null: the platform compresses answers itself. */
  readonly compression: Compression | null;
  /** Null where there is no Redis. */
  readonly pingRedis: (() => Promise<boolean>) | null;
  readonly mountBoard: Deps["mountBoard"];
  readonly docs: Docs;
  readonly console: Console;
  /** The state of the configuration; null where it cannot be loaded again. */
  readonly configState: (() => ConfigState) | null;
  /** The text of `/metrics`. Null where no state is kept between two requests. */
  readonly metricsText: (() => Promise<string>) | null;
  /** Is called for each request that a rate limit refused; absent: refusals are not reported. */
  readonly onRateLimited?: ((project: string, limit: string) => void) | undefined;
  /** Absent: requests are not watched. */
  readonly observe?: ObserveRequest | undefined;
  /** See `ExchangeDeps`. */
  readonly onAnswered?: OnAnswered | undefined;
  /** The same for each step of a batch. */
  readonly onStep?: OnAnswered | undefined;
  /** The same for each call of a tool by an agent. */
  readonly onToolCall?: OnAnswered | undefined;
  readonly openProtocol: Deps["openProtocol"];
}

/** The limits of the first project that has some. Its refusals are not reported, because any name can occur here. */
function limiterOfNone({
  configs,
  counters,
  runtime,
}: AppParts): ((name: string) => RateLimiter) | null {
  const settings = configs.find(({ rateLimit }) => rateLimit !== undefined)?.rateLimit;
  if (settings === undefined) return null;
  // Names of counters stay short for long project names, too.
  const projectOf = (name: string): string => `none ${runtime.digest(name).slice(0, 32)}`;
  return (name) => createRateLimiter({ ...runtime, project: projectOf(name), settings, counters });
}

/** The app that answers for these projects. */
export function appOver(projects: readonly Project[], parts: AppParts): App {
  const { runtime, configs, settings, counters, onRateLimited, ...given } = parts;
  const { bodyLimitBytes, compression: compressesAnswers, metricsToken, trustProxy } = settings;
  const limiterOf = (project: string, rateLimit: RateLimitSettings) =>
    createRateLimiter({
      ...runtime,
      project,
      settings: rateLimit,
      counters,
      onRefused: onRateLimited && ((limit) => onRateLimited(project, limit)),
    });
  return createApp({
    ...runtime,
    ...given,
    bodyLimitBytes,
    compressesAnswers,
    metricsToken,
    trustProxy,
    extras: {
      version,
      docs: typeof given.docs === "function",
      console: given.console !== "off",
      jobsBoard: given.mountBoard !== null,
    },
    signInOrigins: configs.flatMap(({ auth }) => signInOriginsOf(auth)),
    dashboards: new Map(
      configs.flatMap(({ name, dashboard }) => (dashboard ? [[name, dashboard.dashboard]] : [])),
    ),
    traits: new Map(configs.map((config) => [config.name, traitsOf(config)])),
    limiterOfNone: limiterOfNone(parts),
    projects: new Map(projects.map((project) => [project.name, project])),
    rateLimiters: new Map(
      configs.flatMap(({ name: project, rateLimit }) =>
        rateLimit ? [[project, limiterOf(project, rateLimit)]] : [],
      ),
    ),
    corsOrigins: new Map(
      configs.flatMap(({ name, cors }) => (cors.origins.length > 0 ? [[name, cors.origins]] : [])),
    ),
  });
}
