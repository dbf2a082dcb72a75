/**
 * The service on Bun's own HTTP server: a request costs a third of what it costs over Bun's `node:http`. This file adds
 * what that server lacks: limits for clients that send a body very slowly, and handling of bodies that are not read.
 */
import { setTimeout as pause } from "node:timers/promises";
import { createDeadlines, type Deadlines } from "../../core/values/deadlines.ts";
import { AppError } from "../../core/values/errors.ts";
import { limits } from "../../core/values/limits.ts";
import type { AnswerRequest } from "../http/exchange.ts";
import { type ClientEnv, pathOf, WebIncoming } from "../http/incoming.ts";
import { extended, toResponse } from "../http/reply.ts";
import { listenError, type Listening, listening } from "./listening.ts";
import type { Service } from "./wire.ts";

/** The part of Bun's API that is used. */
interface BunServer {
  readonly port: number;
  /** Resolves when all requests were answered; `true` aborts them. */
  stop(isAbrupt?: boolean): Promise<void>;
  requestIP(request: Request): { readonly address: string } | null;
}
interface Bun {
  serve(options: {
    readonly hostname: string;
    readonly port: number;
    /**
     * Seconds without any traffic before a connection is closed. Request headers have a separate limit of about 10
     * seconds.
     */
    readonly idleTimeout: number;
    readonly maxRequestBodySize: number;
    /** True: errors are shown to the client. */
    readonly development: boolean;
    fetch(request: Request, server: BunServer): Promise<Response>;
  }): BunServer;
}
declare const Bun: Bun;

/** Resolves when the socket listens; rejects when the address is not available. */
export async function listen(service: Service): Promise<Listening> {
  const { app, settings, timeouts } = service;
  const { host, port } = settings;
  // From the first byte of a request to its answer.
  const requestTimeoutMs = timeouts.bodyTimeoutMs + timeouts.uploadReadMs;
  const deadlines = createDeadlines();
  let isStopping = false;

  /** An action, without what the router needs. */
  async function act(call: AnswerRequest, incoming: WebIncoming): Promise<Response> {
    const reply = await call(incoming);
    const closes = isStopping || isUnread(incoming.request, reply.status);
    return toResponse(closes ? extended(reply, { Connection: "close" }) : reply);
  }

  async function visit(request: Request, client: ClientEnv): Promise<Response> {
    const response = await app.fetch(request, client);
    if (isStopping || isUnread(request, response.status))
      response.headers.set("Connection", "close");
    return response;
  }

  function answer(sent: Request, client: ClientEnv): Promise<Response> {
    const { url } = sent;
    // HTTP/1.0 without Host: some load balancers check health this way.
    if (url.startsWith("/")) return visit(new Request(`http://localhost${url}`, sent), client);
    const path = pathOf(url);
    const call = app.actionAt(path);
    return call === null ? visit(sent, client) : act(call, new WebIncoming(sent, path, client));
  }

  const late = () =>
    service.refuse(new AppError("requestTimeout", "The request took too long to process"));
  const server = serve({
    hostname: host,
    port,
    idleTimeout: Math.ceil(requestTimeoutMs / 1000),
    // The service has its own limits for each kind of body.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    development: false,
    fetch(request, own) {
      const answering = answer(request, new BunClient(own, request));
      return request.method === "GET"
        ? answering
        : inTime(answering, { deadlines, timeoutMs: requestTimeoutMs, late });
    },
  });
  return listening(service, {
    port: server.port,
    async drain() {
      isStopping = true;
      // `stop` resets idle connections, so connections in use are first asked to close. New ones are still accepted in
      // the meantime.
      await pause(limits.farewellMs);
      await server.stop();
    },
    cut: () => void server.stop(true),
  });
}

/** Bun asks the system for the address, and few requests need it. */
class BunClient implements ClientEnv {
  private readonly server: BunServer;
  private readonly request: Request;

  constructor(server: BunServer, request: Request) {
    this.server = server;
    this.request = request;
  }

  get address(): string | null {
    return this.server.requestIP(this.request)?.address ?? null;
  }
}

function serve(options: Parameters<Bun["serve"]>[0]): BunServer {
  try {
    return Bun.serve(options);
  } catch (error) {
    throw listenError(error, { host: options.hostname, port: options.port });
  }
}

/** Whether the service refused the request without reading the whole body; it does not wait for the rest. */
function isUnread(request: Request, status: number): boolean {
  if (status < 400 || request.method === "GET") return false;
  return status === 408 || status === 413 || !request.bodyUsed;
}

interface InTimeOptions {
  readonly deadlines: Deadlines;
  readonly timeoutMs: number;
  readonly late: () => Response;
}

/** The response, or that of `late` when it takes longer. */
const inTime = (
  answering: Promise<Response>,
  { deadlines, timeoutMs, late }: InTimeOptions,
): Promise<Response> =>
  new Promise((resolve, reject) => {
    const watch = deadlines.watch(performance.now() + timeoutMs, () => resolve(late()));
    answering.then(
      (response) => {
        deadlines.unwatch(watch);
        resolve(response);
      },
      (error: unknown) => {
        deadlines.unwatch(watch);
        reject(error);
      },
    );
  });
