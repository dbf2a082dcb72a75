/**
 * What `node.ts` and `bun.ts` have in common: the service on a socket, its address, and its end. `cli.ts` takes the one that
 * belongs to the runtime it runs on.
 */
import { limits } from "../../core/values/limits.ts";

export interface Listening {
  /** `http://127.0.0.1:3000`, with the port that was really taken. */
  readonly url: string;
  /** No new requests, running ones finish (or are cut after `limits.drainTimeoutMs`), then the databases are closed. */
  stop(): Promise<void>;
}

/** For clients that take their time with a request. */
export interface Timeouts {
  readonly headersTimeoutMs: number;
  readonly bodyTimeoutMs: number;
  /** The longest that the work of a request takes once its body is there. */
  readonly uploadReadMs: number;
}

/** What the end of a service needs of it. */
interface Served {
  readonly settings: { readonly host: string };
  stopJobs(): Promise<void>;
  close(hooksUntilMs: number): Promise<void>;
}

export interface Socket {
  /** The port that was taken. */
  readonly port: number;
  /** Takes nothing new; resolves when the last request was answered. */
  drain(): Promise<void>;
  /** Ends all connections, whatever they are doing. */
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
      const cutting = setTimeout(cut, limits.drainTimeoutMs);
      await drain();
      clearTimeout(cutting);
      await jobsStopped;
      await service.close(untilMs);
    },
  };
}

/** What an address that cannot be had means to the operator; other errors stay as they are. */
export function listenError(
  error: unknown,
  { host, port }: { readonly host: string; readonly port: number },
): unknown {
  const code = (error as { code?: unknown } | null)?.code;
  switch (code) {
    case "EADDRINUSE":
      return new Error(
        `Port ${port} of ${host} is taken by another program; end it, or set PORT to another port`,
      );
    case "EACCES":
      return new Error(`This user may not listen on port ${port}; set PORT to one above 1023`);
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return new Error(`${host} is no address of this machine; set HOST to one that is`);
    default:
      return error;
  }
}
