/**
 * The service on a socket of Node and Deno, over @hono/node-server. Deno's own server has no time-outs for slow clients
 * (denoland/deno#3515), so each of them would keep a connection forever; its `node:http` has them.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { Server as SocketServer, type Socket } from "node:net";
import { setImmediate as turn, setTimeout as pause } from "node:timers/promises";
import { getRequestListener } from "@hono/node-server";
import { AppError, notFound } from "../../core/values/errors.ts";
import { limits } from "../../core/values/limits.ts";
import { clientAt } from "../http/client-address.ts";
import type { AnswerRequest } from "../http/exchange.ts";
import { listenError, type Listening, listening } from "./listening.ts";
import { answerParserErrors } from "./parser-errors.ts";
import { NodeIncoming, plainPathOf, send } from "./node-incoming.ts";
import { sendWithRestDropped, withRestDropped } from "./unread-body.ts";
import type { Service } from "./wire.ts";

/** How often a stopping server checks for idle connections. */
const sweepMs = 50;
/** The length of the system's queue of waiting connections. */
const turnsMax = 511;

/** The bindings that node-server passes with the request. */
interface Exchanged {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
}

/** Resolves when the socket listens; rejects when the address is not available. */
export async function listen(service: Service): Promise<Listening> {
  const { host, port } = service.settings;
  const { headersTimeoutMs, bodyTimeoutMs } = service.timeouts;
  let isStopping = false;

  function fetch(request: Request, { headers, httpVersion, url = "", socket }: IncomingMessage) {
    if (headers.host === undefined && httpVersion === "1.1") return service.refuse(noHost());
    // Its own check lets some addresses through that cannot be.
    if (!URL.canParse(request.url)) return service.refuse(malformed());
    if (!isAsSent(request.url, url))
      return service.refuse(notFound("No resource exists at this path"));
    return service.app.fetch(request, clientAt(socket.remoteAddress ?? null));
  }

  async function answer(request: Request, { incoming }: Exchanged): Promise<Response> {
    const response = await fetch(request, incoming);
    // A body that arrived together with the headers is read within this turn of the event loop.
    if (!incoming.complete) await turn();
    if (!incoming.complete) return withRestDropped(response, incoming);
    if (isStopping) response.headers.set("Connection", "close");
    return response;
  }

  const serverOptions = {
    headersTimeout: headersTimeoutMs,
    keepAliveTimeout: limits.keepAliveMs,
    // The app answers bodies that do not come; this is for what it does not wait for.
    requestTimeout: headersTimeoutMs + bodyTimeoutMs + limits.unreadBodyMs,
    // How often these two limits are checked; the default is every 30 seconds.
    connectionsCheckingInterval: headersTimeoutMs / 2,
    // Refused below with the envelope.
    requireHostHeader: false,
  };
  const errorHandler = () => service.refuse(malformed());
  const listener = getRequestListener(
    (request, exchanged) => answer(request, exchanged as Exchanged),
    { hostname: host, errorHandler },
  );

  /** An action, without the objects that the listener makes. */
  async function act(call: AnswerRequest, plain: NodeIncoming, { incoming, outgoing }: Exchanged) {
    const reply = await call(plain);
    if (!incoming.complete) await turn();
    if (incoming.complete) return send(outgoing, reply, isStopping);
    await sendWithRestDropped(outgoing, reply, incoming);
  }

  const server = createServer(serverOptions, (incoming, outgoing) => {
    const path = plainPathOf(incoming);
    const call = path === null ? null : service.app.actionAt(path);
    if (call === null) void listener(incoming, outgoing);
    else
      act(call, new NodeIncoming(incoming, path!), { incoming, outgoing }).catch(
        (error: unknown) => {
          service.log.error({ err: error }, "An answer could not be sent");
          outgoing.destroy();
        },
      );
  });
  limitConnections(server, service);
  const sockets = new Set<Socket>();
  let taken = 0;
  server.on("connection", (socket) => {
    taken++;
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  answerParserErrors(server, service.refuse);
  await new Promise<void>((resolve, reject) => {
    server.once("listening", resolve);
    server.once("error", (error) => reject(listenError(error, service.settings)));
    server.listen(port, host);
  });
  const address = server.address();

  /**
   * Accepts the connections that still wait in the system's queue, a few per turn; closing earlier would reset them.
   */
  async function takeOver(): Promise<void> {
    let before = -1;
    for (let turns = 0; taken !== before && turns < turnsMax; turns++) {
      before = taken;
      await turn();
    }
  }

  return listening(service, {
    port: typeof address === "object" && address !== null ? address.port : port,
    async drain() {
      await takeOver();
      const closed = new Promise<void>((resolve) => {
        // The server's own `close` ends idle connections at once and resets requests that are just arriving on them.
        SocketServer.prototype.close.call(server, () => resolve());
      });
      // Not earlier: a client that is asked to close opens a new connection at once, which would be reset.
      isStopping = true;
      await Promise.race([closed, pause(limits.farewellMs)]);
      for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
      server.closeIdleConnections();
      const sweep = setInterval(() => server.closeIdleConnections(), sweepMs);
      await closed;
      clearInterval(sweep);
    },
    cut: () => server.closeAllConnections(),
  });
}

/** Further connections are closed at once, before anything is read. */
function limitConnections(server: Server, { settings: { maxConnections }, log }: Service): void {
  server.maxConnections = maxConnections;
  let saidAtMs = -Infinity;
  server.on("drop", () => {
    if (performance.now() - saidAtMs < limits.refusedLogMs) return;
    saidAtMs = performance.now();
    log.warn({ maxConnections }, "Connections are refused: MAX_CONNECTIONS are open");
  });
}

/** Whether the path is the one that was sent: `/a/../b` has become `/b`, and one thing has one address. `target`: as it was sent. */
function isAsSent(url: string, target: string): boolean {
  if (url.endsWith(target)) return true;
  const [path = ""] = target.replace(/^https?:\/\/[^/?#]*/i, "").split(/[?#]/, 1);
  return new URL(url).pathname === (path === "" ? "/" : path);
}

const noHost = () => new AppError("badRequest", "The request has no Host header");
const malformed = () =>
  new AppError("badRequest", "The URL or the Host header of the request is malformed");
