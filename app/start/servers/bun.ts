/**
 * The service on Bun's own HTTP server: a request costs a third of what it costs over Bun's `node:http`. This file adds
 * what that server lacks: limits for clients that send a body very slowly, and handling of bodies that are not read.
 */
import { setTimeout as pause } from "node:timers/promises";
import { createDeadlines } from "../../../core/values/deadlines.ts";
import { AppError } from "../../../core/values/errors.ts";
import { limits } from "../../../core/values/limits.ts";
import type { ClientEnv } from "../../http/incoming.ts";
import { toResponse } from "../../http/reply.ts";
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
  const { within } = createDeadlines();
  let isStopping = false;

  async function answer(sent: Request, client: ClientEnv): Promise<Response> {
    // HTTP/1.0 without Host: some load balancers check health this way.
    const isWhole = !sent.url.startsWith("/");
    const request = isWhole ? sent : new Request(`http://localhost${sent.url}`, sent);
    const response = await app.fetch(request, client);
    if (isStopping || isUnread(request, response.status))
      response.headers.set("Connection", "close");
    return response;
  }

  const late = () =>
    toResponse(
      service.refuse(new AppError("requestTimeout", "The request took too long to process")),
    );
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
        : within(answering, performance.now() + requestTimeoutMs, late);
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
