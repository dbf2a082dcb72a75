/**
 * What `node.ts` and `bun.ts` have in common: listening on a socket, the address, and stopping.
 */
import type { AddressInfo, Server } from "node:net";
import { limits } from "../../../core/values/limits.ts";

export interface Listening {
  /** `http://127.0.0.1:3000`, with the actual port. */
  readonly url: string;
  /**
   * Stops accepting requests, lets running ones finish (or cuts them after `limits.drainTimeoutMs`), then closes the
   * databases.
   */
  stop(): Promise<void>;
}

/** Limits for slow clients. */
export interface Timeouts {
  readonly headersTimeoutMs: number;
  readonly bodyTimeoutMs: number;
  /** Maximum time for the work of a request after its body has arrived. */
  readonly uploadReadMs: number;
}

/** What stopping a service requires. */
interface Served {
  readonly settings: { readonly host: string };
  stopJobs(): Promise<void>;
  endStreams(): void;
  close(hooksUntilMs: number): Promise<void>;
}

export interface Socket {
  /** The actual port. */
  readonly port: number;
  /** Accepts no new requests; resolves when the last request was answered. */
  drain(): Promise<void>;
  /** Closes all connections at once. */
  cut(): void;
}

export function listening(service: Served, { port, drain, cut }: Socket): Listening {
  const { host } = service.settings;
  const shownHost = host.includes(":") ? `[${host}]` : host;
  return {
    url: `http://${shownHost}:${port}`,
    async stop() {
      const untilMs = performance.now() + limits.drainTimeoutMs;
      const jobsStopped = service.stopJobs();
      service.endStreams();
      const cutting = setTimeout(cut, limits.drainTimeoutMs);
      await drain();
      clearTimeout(cutting);
      await jobsStopped;
      await service.close(untilMs);
    },
  };
}

/** Where a server was to listen. */
interface ListenAddress {
  readonly host: string;
  readonly port: number;
  /** The variable that has the port; default: PORT. */
  readonly variable?: string;
}

/** The actual port on which the server now listens. Rejects with what `listenError` makes of an error. */
export async function listenAt(server: Server, address: ListenAddress): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once("listening", resolve);
    server.once("error", (error) => reject(listenError(error, address)));
    server.listen(address.port, address.host);
  });
  return (server.address() as AddressInfo).port;
}

/** Explains to the operator why an address is not available; other errors are returned unchanged. */
export function listenError(
  error: unknown,
  { host, port, variable = "PORT" }: ListenAddress,
): unknown {
  const code = (error as { code?: unknown } | null)?.code;
  switch (code) {
    case "EADDRINUSE":
      return new Error(
        `Port ${port} of ${host} is taken by another program; end it, or set ${variable} to another port`,
      );
    case "EACCES":
      return new Error(
        `This user may not listen on port ${port}; set ${variable} to one above 1023`,
      );
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return new Error(`${host} is no address of this machine; set HOST to one that is`);
    default:
      return error;
  }
}
