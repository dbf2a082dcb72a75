/** The npm package: a service to mount in somebody's own server, and the types of handlers. */
import { importFrom } from "./component-modules.ts";
import { readConfigFiles } from "./config-files.ts";
import type { Logger } from "./log.ts";
import { openService } from "./wire.ts";

/** What a handler of `components` gets. */
export type { HookContext } from "../../core/plans/hook.ts";

export interface RowgateOptions {
  /** The folder with a folder for each project. */
  readonly configDir: string;
  /** Variables of the configuration and the service; absent: those of the process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** A logger of pino; absent: JSON lines on standard output. */
  readonly log?: Logger;
}

export interface Rowgate {
  /** Answers a request: `/api/{project}/{endpoint}/{action}`, `/health/live` and the others. Never rejects. */
  fetch(request: Request): Promise<Response>;
  /** Lets jobs stop at a safe point and closes all connections. To be called when no request runs any more. */
  close(): Promise<void>;
}

/**
 * Opens the projects of a folder. Databases that do not answer yet are tried again, and their projects answer 503 meanwhile. Rejects with an Error that
 * lists every fault of the configuration.
 */
export async function createRowgate({
  configDir,
  env = process.env,
  log,
}: RowgateOptions): Promise<Rowgate> {
  const service = await openService({
    files: await readConfigFiles(configDir),
    env,
    importComponent: importFrom(configDir),
    ...(log && { log }),
  });
  return {
    fetch: async (request) => service.app.fetch(request),
    async close() {
      await service.stopJobs();
      await service.close();
    },
  };
}
