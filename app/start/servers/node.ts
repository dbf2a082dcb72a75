/**
 * The service on a socket of Node and Deno. Deno's own server has no timeouts for slow clients (denoland/deno#3515), so
 * each of them would keep a connection forever; its `node:http` has timeouts.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { Server as SocketServer, type Socket } from "node:net";
import { setImmediate as turn, setTimeout as pause } from "node:timers/promises";
import { AppError } from "../../../core/values/errors.ts";
import { limits } from "../../../core/values/limits.ts";
import { listenAt, type Listening, listening } from "./listening.ts";
import { readIncoming } from "./node-incoming.ts";
import { send } from "./node-reply.ts";
import { answerParserErrors } from "./parser-errors.ts";
import type { Service } from "./wire.ts";

/** How often a stopping server checks for idle connections. */
const sweepMs = 50;
/**
 * No connection waits in the system's queue if the server was given none for so long. Clients that get their answers at
 * the same time take some time until all have opened the next one.
 */
const quietMs = 20;
/** How often a stopping server waits for that. */
const roundsMax = 50;
/** Requests of one connection that may wait for those before them. More close it. */
const waitingMax = 1_000;

/** Resolves when the socket listens; rejects when the address is not available. */
export async function listen(service: Service): Promise<Listening> {
  const { headersTimeoutMs, bodyTimeoutMs } = service.timeouts;
  let isStopping = false;
  /** While waiting connections are accepted; settles afterwards. */
  let takingOver: Promise<void> | null = null;

  const serverOptions = {
    headersTimeout: headersTimeoutMs,
    keepAliveTimeout: limits.keepAliveMs,
    // The app's own limits apply to bodies that it reads; this is the limit for all others.
    requestTimeout: headersTimeoutMs + bodyTimeoutMs + limits.unreadBodyMs,
    // How often these two limits are checked; the default is every 30 seconds.
    connectionsCheckingInterval: headersTimeoutMs / 2,
    // Refused below with the envelope.
    requireHostHeader: false,
  };

  const turnOf = createTurns();

  async function answer(message: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const isNext = turnOf(message, outgoing);
    if (isNext !== true && !(await isNext)) return;
    if (takingOver !== null) await takingOver;
    const incoming = readIncoming(message);
    const isFault = incoming instanceof AppError;
    const reply = isFault ? service.refuse(incoming) : await service.app.answer(incoming);
    const arriving = isFault ? message : incoming;
    // A body that arrived together with the headers is read within this turn of the event loop.
    if (!arriving.complete) await turn();
    await send(reply, message, { outgoing, isUnread: !arriving.complete, isLast: isStopping });
  }

  const server = createServer(serverOptions, (incoming, outgoing) => {
    answer(incoming, outgoing).catch((error: unknown) => {
      service.log.error({ err: error }, "An answer could not be sent");
      outgoing.destroy();
    });
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
  const port = await listenAt(server, service.settings);

  /**
   * Accepts the connections that still wait in the system's queue; closing earlier would reset them. Nothing is answered
   * meanwhile, because clients that got an answer would open the next connection.
   */
  async function takeOver(): Promise<void> {
    let before = -1;
    for (let rounds = 0; taken !== before && rounds < roundsMax; rounds++) {
      before = taken;
      await pause(quietMs);
      // Ends behind the part of the turn that accepts connections.
      await turn();
    }
  }

  return listening(service, {
    port,
    async drain() {
      takingOver = takeOver();
      await takingOver;
      takingOver = null;
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

/**
 * Makes the requests of one connection wait for each other. If a client sends many and reads no answer, the answers
 * would otherwise all be made at once and kept in memory. False: the connection has ended meanwhile.
 */
function createTurns() {
  const latest = new WeakMap<Socket, ServerResponse>();
  const waiting = new WeakMap<Socket, number>();

  async function closed(before: ServerResponse, socket: Socket): Promise<boolean> {
    const count = waiting.get(socket) ?? 0;
    if (count >= waitingMax) socket.destroy();
    if (socket.destroyed) return false;
    waiting.set(socket, count + 1);
    await new Promise((resolve) => before.once("close", resolve));
    waiting.set(socket, waiting.get(socket)! - 1);
    return !socket.destroyed;
  }

  return ({ socket }: IncomingMessage, outgoing: ServerResponse): true | Promise<boolean> => {
    const before = latest.get(socket);
    latest.set(socket, outgoing);
    return !before || before.writableFinished || before.destroyed || closed(before, socket);
  };
}

/** Further connections are closed at once, before anything is read. */
function limitConnections(server: Server, { settings: { maxConnections }, log }: Service): void {
  server.maxConnections = maxConnections;
  // Otherwise a parent of several processes would offer the connection to each of them, again and again.
  Object.assign(server, { dropMaxConnection: true });
  let saidAtMs = -Infinity;
  server.on("drop", () => {
    if (performance.now() - saidAtMs < limits.refusedLogMs) return;
    saidAtMs = performance.now();
    log.warn({ maxConnections }, "Connections are refused: MAX_CONNECTIONS are open");
  });
}
