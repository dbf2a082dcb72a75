/** The npm package: a service to mount in another server, and the types of handlers. */
import { clientAt } from "../http/client-address.ts";
import { createComponents } from "./settings/component-modules.ts";
import { readConfigFiles } from "./settings/config-files.ts";
import type { Logger } from "./observing/log.ts";
import type { ConfigSource } from "./reloading/reloads.ts";
import { openService } from "./servers/wire.ts";

/** What a handler of `components` gets. */
export type { HookContext } from "../../core/plans/hook.ts";

export interface RowgateOptions {
  /** The folder with a folder for each project. */
  readonly configDir: string;
  /**
   * The path at which the service is mounted, such as `/rows`: the prefix of request paths, and of addresses in
   * responses. Absent: request paths begin with `/api`.
   */
  readonly basePath?: string;
  /** Variables of the configuration and the service; absent: those of the process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** A logger of pino; absent: JSON lines on standard output. */
  readonly log?: Logger;
}

/** What the request itself does not contain. */
export interface Client {
  /** The IP address of the other end of the connection. Absent: unknown, and all such clients share one rate limit. */
  readonly address?: string | null | undefined;
}

export interface Rowgate {
  /** Answers a request: `/api/{project}/{endpoint}/{action}`, `/health/live` and the others. Never rejects. */
  fetch(request: Request, client?: Client): Promise<Response>;
  /** Reads the files again and serves them, or rejects and goes on with the old ones. `env` stays as it was. */
  reload(): Promise<void>;
  /** Lets jobs stop at a safe point and closes all connections. To be called when no request runs any more. */
  close(): Promise<void>;
}

/**
 * Opens the projects of a folder. A database that is unreachable is retried, and its project answers 503 meanwhile.
 * Rejects with an Error that lists every fault of the configuration.
 */
export async function createRowgate({
  configDir,
  basePath = "",
  env = process.env,
  log,
}: RowgateOptions): Promise<Rowgate> {
  if (!/^(?:\/[\w.~-]+)*$/.test(basePath))
    throw new Error(
      `basePath ${JSON.stringify(basePath)} must be a path such as "/rows": a slash first, none at the end`,
    );
  const componentsOf = createComponents(configDir);
  const read = async (): Promise<ConfigSource> => {
    const files = await readConfigFiles(configDir);
    return { files, env, importComponent: componentsOf(files) };
  };
  const service = await openService({ ...(await read()), basePath, ...(log && { log }) });
  return {
    fetch: async (request, client) => service.app.fetch(request, clientAt(addressIn(client))),
    reload: () => service.reload(read),
    async close() {
      await service.stopJobs();
      await service.close();
    },
  };
}

/** Servers that call `fetch` themselves pass other values as the second argument. */
const addressIn = (client: Client | undefined): string | null =>
  typeof client?.address === "string" ? client.address : null;
