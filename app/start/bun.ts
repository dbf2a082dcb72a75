/**
 * The service on Bun's own HTTP server: a request costs a third of what it costs over Bun's `node:http`. This file adds
 * what that server lacks: limits for clients that send a body very slowly, and handling of bodies that are not read.
 */
import { setTimeout as pause } from "node:timers/promises";
import { AppError } from "../../core/values/errors.ts";
import { limits } from "../../core/values/limits.ts";
import { withTimeout } from "../../core/values/with-timeout.ts";
import { clientAt } from "../http/client-address.ts";
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
  const { host, port } = service.settings;
  const { bodyTimeoutMs, uploadReadMs } = service.timeouts;
  // From the first byte of a request to its answer.
  const requestTimeoutMs = bodyTimeoutMs + uploadReadMs;
  let isStopping = false;
  const server = serve({
    hostname: host,
    port,
    idleTimeout: Math.ceil(requestTimeoutMs / 1000),
    // The service has its own limits for each kind of body.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    development: false,
    async fetch(request, own) {
      const address = own.requestIP(request)?.address ?? null;
      const response = await answer(service, request, { address, timeoutMs: requestTimeoutMs });
      if (isStopping) response.headers.set("Connection", "close");
      return response;
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

function serve(options: Parameters<Bun["serve"]>[0]): BunServer {
  try {
    return Bun.serve(options);
  } catch (error) {
    throw listenError(error, { host: options.hostname, port: options.port });
  }
}

interface Asking {
  /** The client's address. */
  readonly address: string | null;
  readonly timeoutMs: number;
}

async function answer(
  { app, refuse }: Service,
  asked: Request,
  { address, timeoutMs }: Asking,
): Promise<Response> {
  // HTTP/1.0 without Host: some load balancers check health this way.
  const request = asked.url.startsWith("/")
    ? new Request(`http://localhost${asked.url}`, asked)
    : asked;
  if (request.method === "GET") return app.fetch(request, clientAt(address));
  const response = await withTimeout(Promise.resolve(app.fetch(request, clientAt(address))), {
    timeoutMs,
    onTimeout: () => refuse(new AppError("requestTimeout", "The request took too long to process")),
  });
  // The service does not wait for the rest of a body that it does not read.
  const isUnread = response.status >= 400 && (!request.bodyUsed || response.status === 413);
  if (isUnread || response.status === 408) response.headers.set("Connection", "close");
  return response;
}
