/**
 * Answers requests that the parser of `node:http` refuses with the envelope, after the answers to those before them,
 * unless their own answer is being sent: malformed headers and chunks, headers that are too large or arrive too slowly,
 * and expectations.
 */
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { AppError } from "../../../core/values/errors.ts";
import type { Refuse } from "../../http/exchange.ts";
import type { TextReply } from "../../http/reply.ts";
import { send } from "./node-reply.ts";

/** How long a client that does not close its connection may read the refusal. */
const readMs = 500;

export function answerParserErrors(server: Server, refuse: Refuse): void {
  /** The last request on each connection, and its answer. */
  const latest = new WeakMap<Socket, { incoming: IncomingMessage; outgoing: ServerResponse }>();
  const refused = new WeakSet<Socket>();

  server.on("request", (incoming: IncomingMessage, outgoing: ServerResponse) => {
    latest.set(incoming.socket, { incoming, outgoing });
  });

  server.on("clientError", (error: NodeJS.ErrnoException, duplex) => {
    const socket = duplex as Socket;
    // Everything after a refusal is refused too.
    if (refused.has(socket)) return;
    refused.add(socket);
    if (error.code === "ECONNRESET" || !socket.writable) return socket.destroy();
    const end = (): void => {
      if (socket.writable) socket.end(wireTextOf(refuse(faultOf(error))));
      setTimeout(() => socket.destroy(), readMs).unref();
    };
    const { incoming, outgoing } = latest.get(socket) ?? {};
    if (!outgoing || outgoing.writableFinished) return end();
    // A whole request came before: answers have the order of their requests.
    if (incoming?.complete) return outgoing.once("close", end);
    if (outgoing.headersSent) return socket.destroy();
    end();
  });

  server.on("checkExpectation", (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const fault = new AppError(
      "expectationFailed",
      'The service knows no "Expect" but 100-continue',
    );
    void send(refuse(fault), incoming, { outgoing, isLast: true });
  });
}

function faultOf({ code }: NodeJS.ErrnoException): AppError {
  if (code === "ERR_HTTP_REQUEST_TIMEOUT")
    return new AppError("requestTimeout", "The request did not arrive in time; send it again");
  if (code === "HPE_HEADER_OVERFLOW")
    return new AppError("headersTooLarge", "The headers of the request are too large");
  return new AppError("badRequest", "The request is not valid HTTP");
}

/** The answer as HTTP/1.1 text. */
function wireTextOf({ status, headers, body }: TextReply): string {
  const length = `Content-Length: ${Buffer.byteLength(body)}`;
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, length, "", body].join("\r\n");
}
