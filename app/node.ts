/** Serves the app over @hono/node-server, which runs on Node, Bun and Deno alike, and drains it when told to stop. */
import type { Server } from "node:http";
import { serve } from "@hono/node-server";
import { limits } from "../core/limits.ts";
import type { Service } from "./wire.ts";

export interface Listening {
  /** `http://127.0.0.1:3000`, with the port that was really taken. */
  readonly url: string;
  /** No new requests, running ones finish (or are cut after `limits.drainTimeoutMs`), then the databases are closed. */
  stop(): Promise<void>;
}

/** Resolves when the socket listens; rejects when the address cannot be had. */
export async function listen(service: Service): Promise<Listening> {
  const { host, port } = service.settings;
  const server = serve({ fetch: service.app.fetch, hostname: host, port }) as Server;
  // A client that sends its request by drips must not hold a socket for ever.
  server.headersTimeout = 10_000;
  server.requestTimeout = 30_000;
  await new Promise<void>((resolve, reject) => {
    server.once("listening", resolve);
    server.once("error", reject);
  });
  const address = server.address();
  const takenPort = typeof address === "object" && address !== null ? address.port : port;
  const shownHost = host.includes(":") ? `[${host}]` : host;
  return {
    url: `http://${shownHost}:${takenPort}`,
    async stop() {
      const untilMs = performance.now() + limits.drainTimeoutMs;
      const jobsStopped = service.stopJobs();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      // A connection that answers its last request now would be kept for the next one.
      const sweep = setInterval(() => server.closeIdleConnections(), 50);
      const cut = setTimeout(() => server.closeAllConnections(), limits.drainTimeoutMs);
      await closed;
      clearInterval(sweep);
      clearTimeout(cut);
      await jobsStopped;
      await service.close(untilMs);
    },
  };
}
