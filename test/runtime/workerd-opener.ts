/** Replaces `app/start/servers/wire.ts` in `harness.ts` for the projects `workerd-*`: opens services in workerd. */
import { inject } from "vitest";
import type { ServiceOptions } from "../../app/start/servers/wire.ts";
import { openService as openInWorkerd } from "./workerd-service.ts";

/** Locks need Redis here; other runtimes keep them in the process. Components and logs cannot leave this process. */
export function openService({ files, env }: ServiceOptions) {
  return openInWorkerd({ files, env: { REDIS_URL: inject("serverUrls")?.redis, ...env } });
}
