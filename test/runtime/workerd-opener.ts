/** Opens the services of the contract tests in workerd: what `harness.ts` takes in place of `app/start/wire.ts` in the projects `workerd-*`. */
import { inject } from "vitest";
import type { ServiceOptions } from "../../app/start/wire.ts";
import { openService as openInWorkerd } from "./workerd-service.ts";

/** Locks need a place to be: other runtimes have their process for that. Components and logs cannot leave this process. */
export function openService({ files, env }: ServiceOptions) {
  return openInWorkerd({ files, env: { REDIS_URL: inject("serverUrls")?.redis, ...env } });
}
