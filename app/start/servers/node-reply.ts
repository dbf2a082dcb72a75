/**
 * Replies over Node's HTTP server. Closing a connection on which a body still arrives would reset it, and the client
 * would lose the answer. So the whole answer is sent with `Connection: close`, and the rest of the body is discarded.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { limits } from "../../../core/values/limits.ts";
import { endOfTurn } from "../../../core/values/end-of-turn.ts";
import type { Reply } from "../../http/reply.ts";

/** For larger ones the time of the wake-up does not count. */
const togetherBytesMax = 16 * 1024;

interface SendOptions {
  readonly outgoing: ServerResponse;
  /** The service takes no further request on the connection. */
  readonly isLast: boolean;
  /** Some of the request's body has not arrived. Absent: as the parser knows it. */
  readonly isUnread?: boolean;
}

/** Writes the reply to the request `incoming`. A client that has left gets nothing. */
export async function send(
  { status, headers, body: sent }: Reply,
  incoming: IncomingMessage,
  { outgoing, isLast, isUnread = !incoming.complete }: SendOptions,
): Promise<void> {
  const ending = (isUnread || isLast) && { Connection: "close" };
  if (sent instanceof ReadableStream) {
    outgoing.writeHead(status, { ...headers, ...ending });
    await pipeline(Readable.fromWeb(sent as never), outgoing).catch(() => undefined);
    return;
  }
  if (sent === null) {
    outgoing.writeHead(status, { ...headers, ...ending }).end();
    return;
  }
  // To make bytes of a long text at once takes less than to count them first.
  const isLong = typeof sent === "string" && sent.length >= togetherBytesMax;
  const body = isLong ? Buffer.from(sent) : sent;
  const length = Buffer.byteLength(body);
  outgoing.writeHead(status, { ...headers, "Content-Length": length, ...ending });
  // ASCII text needs no encoding.
  const encoding = length === body.length ? "latin1" : "utf8";
  if (isUnread) {
    outgoing.write(body, encoding);
    await rest(incoming);
    outgoing.end();
    return;
  }
  // Small answers of a turn together, because each write wakes a client that sleeps.
  if (length < togetherBytesMax) await endOfTurn().answers;
  outgoing.end(body, encoding);
}

/** Resolves when the client has stopped sending, or after `limits.unreadBodyMs`. */
function rest(incoming: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    let bytes = 0;
    const end = () => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(end, limits.unreadBodyMs);
    // Former readers have stopped, but their listeners would buffer the data.
    for (const event of ["data", "readable"]) incoming.removeAllListeners(event);
    incoming.on("data", (piece: Uint8Array) => {
      bytes += piece.byteLength;
      if (bytes > limits.unreadBodyBytesMax) end();
    });
    for (const event of ["end", "close", "error"]) incoming.once(event, end);
    if (incoming.destroyed || incoming.readableEnded) end();
    else incoming.resume();
  });
}
