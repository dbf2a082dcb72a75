/** `/metrics` of a worker, on METRICS_PORT: a small server beside the jobs, only for operators. */
import { createServer, type IncomingMessage } from "node:http";
import { AppError, notFound } from "../../../core/values/errors.ts";
import { limits } from "../../../core/values/limits.ts";
import { metricsContentType } from "../../http/show-metrics.ts";
import { secureHeaders } from "../../http/envelope.ts";
import { isOperatorRequest, metricsRefusal } from "../../http/operators.ts";
import { createRefuse } from "../../http/exchange.ts";
import type { TextReply } from "../../http/reply.ts";
import { createRuntime } from "../settings/create-runtime.ts";
import type { Settings } from "../settings/env.ts";
import { listenAt } from "./listening.ts";
import { readIncoming } from "./node-incoming.ts";
import type { Logger } from "../observing/log.ts";

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
  const refuse = createRefuse(createRuntime(log));
  const answer = (incoming: IncomingMessage): Promise<TextReply> =>
    answerFor(incoming, options).catch((error: unknown) =>
      refuse(error instanceof AppError ? error : new AppError("internal", "", { cause: error })),
    );
  const server = createServer(
    { headersTimeout: limits.headersTimeoutMs, requestTimeout: limits.bodyTimeoutMs },
    (incoming, outgoing) => {
      incoming.resume();
      void answer(incoming).then(({ status, headers, body }) =>
        outgoing.writeHead(status, headers).end(body),
      );
    },
  );
  const { host } = settings;
  return {
    port: await listenAt(server, { host, port, variable: "METRICS_PORT" }),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function answerFor(
  message: IncomingMessage,
  { settings, text }: MetricsServerOptions,
): Promise<TextReply> {
  if (message.method !== "GET" || message.url !== "/metrics")
    throw notFound("Only GET /metrics is served here");
  const incoming = readIncoming(message);
  if (incoming instanceof AppError) throw incoming;
  if (!(await isOperatorRequest(incoming, settings))) throw metricsRefusal(settings);
  const type = { "Content-Type": metricsContentType };
  return { status: 200, headers: { ...type, ...secureHeaders }, body: await text() };
}
