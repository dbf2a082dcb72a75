/**
 * START HERE for Workers: the service as a Cloudflare Worker. Configuration and components are bundled
 * (`bundle-config.ts` writes the module that calls `createWorker`). Connections belong to the request that opened them
 * (`request-parts.ts`); only plain data outlives a request (`installation.ts`).
 */
import type { ImportComponent } from "../../../core/config/components-plan.ts";
import type { ConfigFiles } from "../../../core/config/read-config.ts";
import type { Project } from "../../../core/dispatch.ts";
import { limits } from "../../../core/values/limits.ts";
import { type Bindings, environmentOf, type Lasting } from "./bindings.ts";
import { type Installation, readInstallation, Refusal } from "./installation.ts";
import { createConsoleLog } from "./console-log.ts";
import { refusingApp } from "./refusal.ts";
import { digest, openRequestParts } from "./request-parts.ts";
import { clientAt, ownCall } from "../../http/client-address.ts";
import type { ClientEnv } from "../../http/incoming.ts";
import type { Console } from "../../http/show-console.ts";
import { appOver } from "../open-project.ts";
import { bundledConsole } from "./bundled-console.ts";

export interface FetchHandlerOptions {
  /** Path below the configuration folder -> text of the file. */
  readonly files: ConfigFiles;
  /** The exports of the components, by the same paths. */
  readonly components: ReadonlyMap<string, Readonly<Record<string, unknown>>>;
  /** The files of the console, by name; absent: there is no console. */
  readonly consoleFiles?: ReadonlyMap<string, string>;
}

export interface Worker {
  fetch(request: Request, bindings: Bindings, lasting: Lasting): Promise<Response>;
}

export function createWorker({ files, components, consoleFiles }: FetchHandlerOptions): Worker {
  const importComponent: ImportComponent = async (path) => components.get(path) ?? {};
  const console = consoleFiles ? bundledConsole(consoleFiles) : "off";
  let installed: { readonly of: string; readonly installation: Installation | Refusal } | null =
    null;

  /** Read again when the bindings changed, because a database may have another address. */
  function install(bindings: Bindings): Installation | Refusal {
    const environment = environmentOf(bindings);
    const of = JSON.stringify(environment.env);
    if (installed?.of === of) return installed.installation;
    const installation = readInstallation({ files, environment, importComponent });
    if (installation instanceof Refusal) log.error({}, installation.message);
    installed = { of, installation };
    return installation;
  }

  return {
    async fetch(request, bindings, lasting) {
      const installation = install(bindings);
      if (installation instanceof Refusal) return refusingApp(log).fetch(request);
      const { answered, closed } = serve(installation, request, console);
      // Also when the client disconnects, because the cache must be informed of a committed write.
      lasting.waitUntil(closed);
      return answered;
    },
  };
}

/** Used until the configured level is known. */
const log = createConsoleLog("info");

function serve(installation: Installation, request: Request, consoleFiles: Console) {
  const opening = openRequestParts(installation, (own) => answer(own, ownCall));

  async function answer(asked: Request, from: ClientEnv): Promise<Response> {
    try {
      const { projects, counters, pingRedis } = await opening;
      await seeDatabases(projectsFor(asked, projects), installation);
      const { configs, settings, observation, log } = installation;
      const { bodyTimeoutMs } = limits;
      const parts = { configs, settings, bodyTimeoutMs, checkHost: null, counters, pingRedis };
      const docs = settings.docs ? "without files" : "off";
      const app = appOver(projects, {
        ...parts,
        jobsBoard: false,
        docs,
        basePath: "",
        console: settings.console ? consoleFiles : "off",
        digest,
        metricsText: null,
        configState: null,
        log,
        observe: observation.request,
      });
      return withLength(await app.fetch(asked, from));
    } catch (error) {
      if (error instanceof Refusal) installation.log.error({}, error.message);
      else installation.log.error({ err: error }, "The projects could not be opened");
      return refusingApp(installation.log).fetch(asked);
    }
  }

  async function close(): Promise<void> {
    const parts = await opening.catch(() => null);
    await parts?.close();
  }

  const answered = answer(request, clientAt(request.headers.get("CF-Connecting-IP")));
  return { answered, closed: answered.then(close, close) };
}

/** The runtime sends streams chunked, without a length, unless they are of its own type. */
function withLength(response: Response): Response {
  const length = response.headers.get("Content-Length");
  if (length === null || !response.body) return response;
  const { FixedLengthStream } = globalThis as unknown as {
    FixedLengthStream: new (length: number) => ReadableWritablePair<Uint8Array, Uint8Array>;
  };
  return new Response(response.body.pipeThrough(new FixedLengthStream(Number(length))), response);
}

/** The projects that the request needs: one for an action, none for `/health/live` and files of pages; all to find out which one a mistyped name meant. */
function projectsFor({ url }: Request, projects: readonly Project[]): readonly Project[] {
  const { pathname } = new URL(url);
  if (/^\/(?:health\/live$|docs$|console$|console\/|assets\/)/.test(pathname)) return [];
  const name = /^\/api\/([^/]+)\//.exec(pathname)?.[1];
  const named = projects.filter((project) => project.name === name);
  return named.length > 0 ? named : projects;
}

async function seeDatabases(
  projects: readonly Project[],
  { configs, routesOf }: Installation,
): Promise<void> {
  await Promise.all(
    projects.map(async (project) => {
      const config = configs.find(({ name }) => name === project.name)!;
      project.routes ??= await routesOf(config, project.db);
    }),
  );
}
