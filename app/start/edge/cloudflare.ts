/**
 * START HERE for Workers: the service as a Cloudflare Worker. Configuration and components are bundled
 * (`bundle-config.ts` writes the module that calls `createWorker`). Connections belong to the request that opened them
 * (`request-parts.ts`); only plain data outlives a request (`installation.ts`).
 */
import { hash } from "node:crypto";
import type { ImportComponent } from "../../../core/config/compiling/components-plan.ts";
import type { Log } from "../../../core/plans/log-port.ts";
import type { ConfigFiles } from "../../../core/config/reading/read-config.ts";
import type { Project } from "../../../core/dispatch.ts";
import { unavailable } from "../../../core/values/errors.ts";
import { limits } from "../../../core/values/limits.ts";
import { type Bindings, environmentOf, type Lasting } from "./bindings.ts";
import { type Installation, readInstallation, Refusal } from "./installation.ts";
import { createConsoleLog } from "./console-log.ts";
import { openRequestParts } from "./request-parts.ts";
import { clientAt, ownCall } from "../../http/client-address.ts";
import type { AgentDeps } from "../../http/serve-agents.ts";
import { inExchange } from "../../http/exchange.ts";
import { isLive } from "../../http/health.ts";
import { type ClientEnv, pathOf, WebIncoming } from "../../http/incoming.ts";
import { toResponse } from "../../http/reply.ts";
import { consoleFolder, type Console } from "../../http/show-console.ts";
import { mediaKindOf, pathsOf } from "../../console/client-files.ts";
import { mediaTypes } from "../../http/send-files.ts";
import { appOver } from "../opening/app-over.ts";
import { createRuntime } from "../settings/create-runtime.ts";

export interface FetchHandlerOptions {
  /** Path below the configuration folder -> text of the file. */
  readonly files: ConfigFiles;
  /** The exports of the components, by the same paths. */
  readonly components: ReadonlyMap<string, Readonly<Record<string, unknown>>>;
  /** The files of the console, by name; absent: there is no console. */
  readonly consoleFiles?: ReadonlyMap<string, string>;
  /** For projects with `mcp`; absent: the bundle has none, and is smaller without the protocol. */
  readonly openProtocol?: NonNullable<AgentDeps["openProtocol"]>;
}

export interface Worker {
  fetch(request: Request, bindings: Bindings, lasting: Lasting): Promise<Response>;
}

export function createWorker(options: FetchHandlerOptions): Worker {
  const { files, components, consoleFiles, openProtocol = null } = options;
  const importComponent: ImportComponent = async (path) => components.get(path) ?? {};
  const console = consoleFiles ? bundledConsole(consoleFiles) : "off";
  let installed: { readonly of: string; readonly installation: Installation | Refusal } | null =
    null;

  /** Read again when the bindings changed, because the address of a database can be among them. */
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
      if (installation instanceof Refusal) return refuse(request, log);
      const { answered, closed } = serve(installation, request, { console, openProtocol });
      // Also when the client disconnects, because the cache must be informed of a committed write.
      lasting.waitUntil(closed);
      return answered;
    },
  };
}

/** Used until the configured level is known. */
const log = createConsoleLog("info");

/** What the bundle holds beside the configuration. */
interface Bundled {
  readonly console: Console;
  readonly openProtocol: AgentDeps["openProtocol"];
}

function serve(installation: Installation, request: Request, bundled: Bundled) {
  const opening = openRequestParts(installation, (own) => answer(own, ownCall));

  async function answer(asked: Request, from: ClientEnv): Promise<Response> {
    try {
      const { projects, counters, hookDepths, pingRedis } = await opening;
      await seeDatabases(projectsFor(asked, projects), installation);
      const { configs, settings, observation, runtime } = installation;
      const app = appOver(projects, {
        runtime,
        configs,
        settings,
        bodyTimeoutMs: limits.bodyTimeoutMs,
        checkHost: null,
        counters,
        pingRedis,
        hookDepths,
        mountBoard: null,
        docs: settings.docs ? "without files" : "off",
        console: settings.console ? bundled.console : "off",
        openProtocol: bundled.openProtocol,
        compression: null,
        metricsText: null,
        configState: null,
        observe: observation.request,
      });
      return withLength(await app.fetch(asked, from));
    } catch (error) {
      if (error instanceof Refusal) installation.runtime.log.error({}, error.message);
      else installation.runtime.log.error({ err: error }, "The projects could not be opened");
      return refuse(asked, installation.runtime.log);
    }
  }

  async function close(): Promise<void> {
    const parts = await opening.catch(() => null);
    await parts?.close();
  }

  const answered = answer(request, clientAt(request.headers.get("CF-Connecting-IP")));
  return { answered, closed: answered.then(close, close) };
}

/** The runtime sends streams chunked, without a length, except streams of its own type. */
function withLength(response: Response): Response {
  const length = response.headers.get("Content-Length");
  if (length === null || !response.body) return response;
  const { FixedLengthStream } = globalThis as unknown as {
    FixedLengthStream: new (length: number) => ReadableWritablePair<Uint8Array, Uint8Array>;
  };
  return new Response(response.body.pipeThrough(new FixedLengthStream(Number(length))), response);
}

/** The projects that the request needs: its own, none for `/health/live` and pages, all for an unknown name. */
function projectsFor({ url }: Request, projects: readonly Project[]): readonly Project[] {
  const { pathname } = new URL(url);
  if (/^\/(?:health\/live$|docs$|console$|console\/|assets\/)/.test(pathname)) return [];
  const name = /^\/(?:api|mcp)\/([^/]+)(?:\/|$)/.exec(pathname)?.[1];
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

/**
 * The answer where the configuration is not valid: 503 to everything except `/health/live`. The reason is only logged,
 * because it names files and tables.
 */
async function refuse(request: Request, log: Log): Promise<Response> {
  const deps = { ...createRuntime(log), checkHost: null };
  const answer = inExchange(deps, (incoming, exchange) => {
    const { method, path } = incoming;
    if (path === "/health/live" && (method === "GET" || method === "HEAD"))
      return isLive(deps)(incoming, exchange);
    throw unavailable("The configuration is not valid; see the log");
  });
  return toResponse(await answer(new WebIncoming(request, pathOf(request.url), {})));
}

/** The files of the console from the bundled code, because a Worker has no files. Its platform compresses answers. */
const bundledConsole =
  (files: ReadonlyMap<string, string>): Console =>
  async () => {
    const version = hash("sha256", [...files].flat().join("\n")).slice(0, 12);
    const folder = `${consoleFolder}${version}/`;
    return {
      paths: pathsOf(folder, [...files.keys()]),
      async read(path) {
        const content = path.startsWith(folder) ? files.get(path.slice(folder.length)) : undefined;
        if (content === undefined) return null;
        return { mediaType: mediaTypes[mediaKindOf(path)], content, isGzipped: false };
      },
    };
  };
