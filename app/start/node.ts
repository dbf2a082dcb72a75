/**
 * The service on a socket of Node and Deno, over @hono/node-server. Deno's own server knows no time-outs for slow clients
 * (denoland/deno#3515), so that each of them would hold a connection for ever; its `node:http` has them.
 */
import type { Server } from "node:http";
import { type HttpBindings, serve } from "@hono/node-server";
import { clientAt } from "../http/client-address.ts";
import { limits } from "../../core/values/limits.ts";
import { listenError, type Listening, listening, type Timeouts } from "./listening.ts";
import type { Service } from "./wire.ts";

/** How often a server that stops looks for connections that became idle. */
const sweepMs = 50;

/** Resolves when the socket listens; rejects when the address cannot be had. */
export async function listen(service: Service, timeouts: Timeouts = limits): Promise<Listening> {
  const { host, port } = service.settings;
  const serverOptions = {
    headersTimeout: timeouts.headersTimeoutMs,
    requestTimeout: timeouts.bodyTimeoutMs,
    // How often these two are looked at; without it every 30 seconds.
    connectionsCheckingInterval: timeouts.headersTimeoutMs / 2,
  };
  const server = serve({
    fetch: (request, env) => service.app.fetch(request, clientAt(addressAt(env))),
    hostname: host,
    port,
    serverOptions,
  }) as Server;
  await new Promise<void>((resolve, reject) => {
    server.once("listening", resolve);
    server.once("error", (error) => reject(listenError(error, service.settings)));
  });
  const address = server.address();
  return listening(service, {
    port: typeof address === "object" && address !== null ? address.port : port,
    async drain() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      // A connection that answers its last request now would be kept for the next one.
      const sweep = setInterval(() => server.closeIdleConnections(), sweepMs);
      await closed;
      clearInterval(sweep);
    },
    cut: () => server.closeAllConnections(),
  });
}

/** Of the other end of the connection. */
const addressAt = (env: unknown): string | null =>
  (env as Partial<HttpBindings>).incoming?.socket.remoteAddress ?? null;
