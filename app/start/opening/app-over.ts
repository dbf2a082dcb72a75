/** Puts all projects behind one app. */
import type { RateLimitSettings } from "../../../core/config/reading/project-schema.ts";
import type { ProjectConfig } from "../../../core/config/reading/read-config.ts";
import type { Project } from "../../../core/dispatch.ts";
import { signInOriginsOf, traitsOf } from "../../../core/openapi/traits.ts";
import type { Counters } from "../../../core/plans/counters.ts";
import type { Runtime } from "../../../core/plans/runtime.ts";
import { type App, createApp, type Deps } from "../../http/http.ts";
import { createRateLimiter, type RateLimiter } from "../../http/rate-limit.ts";
import type { Settings } from "../settings/env.ts";

/** The version of the service: that of package.json, which only a checkout has beside the sources. */
export const version = "0.1.0";

export interface AppParts extends Pick<
  Deps,
  | "bodyTimeoutMs"
  | "checkHost"
  | "hookDepths"
  | "compression"
  | "pingRedis"
  | "mountBoard"
  | "docs"
  | "console"
  | "configState"
  | "metricsText"
  | "observe"
  | "onAnswered"
  | "onStep"
  | "onToolCall"
  | "openProtocol"
> {
  readonly runtime: Runtime;
  readonly configs: readonly ProjectConfig[];
  readonly settings: Pick<
    Settings,
    "bodyLimitBytes" | "compression" | "metricsToken" | "trustProxy"
  >;
  /** For the rate limits. */
  readonly counters: Counters;
  /** Is called for each request that a rate limit refused; absent: refusals are not reported. */
  readonly onRateLimited?: ((project: string, limit: string) => void) | undefined;
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
