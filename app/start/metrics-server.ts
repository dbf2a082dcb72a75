/** `/metrics` of a worker, on METRICS_PORT: a small server beside the jobs, for operators alone. */
import { systemClock } from "../../core/values/clock.ts";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { AppError, notFound } from "../../core/values/errors.ts";
import { limits } from "../../core/values/limits.ts";
import { metricsContentType } from "../http/show-metrics.ts";
import { secureHeaders } from "../http/envelope.ts";
import { isOperator, metricsRefusal } from "../http/operators.ts";
import { createRefuse } from "../http/refuse.ts";
import type { Settings } from "./env.ts";
import { listenError } from "./listening.ts";
import type { Logger } from "./log.ts";

export interface MetricsServerOptions {
  readonly settings: Pick<Settings, "host" | "metricsToken" | "trustProxy">;
  readonly port: number;
  readonly text: () => Promise<string>;
  readonly log: Logger;
}

export interface MetricsServer {
  /** The actual port. */
  readonly port: number;
  close(): void;
}

/** Resolves when the socket listens; rejects with an Error when the address is not available. */
export async function startMetricsServer(options: MetricsServerOptions): Promise<MetricsServer> {
  const { settings, port, log } = options;
  const refuse = createRefuse({
    now: systemClock,
    newId: () => crypto.randomUUID(),
    log,
  });
  const answer = (incoming: IncomingMessage): Promise<Response> =>
    answerFor(incoming, options).catch((error: unknown) =>
      refuse(error instanceof AppError ? error : new AppError("internal", "", { cause: error })),
    );
  const server = createServer(
    { headersTimeout: limits.headersTimeoutMs, requestTimeout: limits.bodyTimeoutMs },
    (incoming, outgoing) => {
      incoming.resume();
      void answer(incoming).then((response) => send(response, outgoing));
    },
  );
  await new Promise<void>((resolve, reject) => {
    server.once("listening", resolve);
    server.once("error", (error) =>
      reject(listenError(error, { host: settings.host, port, variable: "METRICS_PORT" })),
    );
    server.listen(port, settings.host);
  });
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : port,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function answerFor(
  { method, url, headers: sent, socket }: IncomingMessage,
  { settings, text }: MetricsServerOptions,
): Promise<Response> {
  if (method !== "GET" || url !== "/metrics") throw notFound("Only GET /metrics is served here");
  const headers = new Headers();
  for (const [name, value] of Object.entries(sent)) headers.set(name, String(value));
  const origin = `http://${sent.host ?? ""}`;
  const hostname = URL.canParse(origin) ? new URL(origin).hostname : "";
  const asked = { headers, hostname, address: socket.remoteAddress ?? null };
  if (!(await isOperator(asked, settings))) throw metricsRefusal(settings);
  return new Response(await text(), {
    headers: { "Content-Type": metricsContentType, ...secureHeaders },
  });
}

async function send(response: Response, outgoing: ServerResponse): Promise<void> {
  const text = await response.text();
  outgoing.writeHead(response.status, Object.fromEntries(response.headers)).end(text);
}
