/**
 * Answers to requests whose body was not read completely, over `node:http`. Closing the connection at once would reset
 * it, and the client would lose the answer while it is still sending. So the whole answer is sent with `Connection:
 * close`, and the rest of the body is discarded.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { limits } from "../../core/values/limits.ts";
import type { Reply } from "../http/reply.ts";
import { send } from "./node-incoming.ts";

/** The answer. Its connection ends when the client stops sending, or after `limits.unreadBodyMs`. */
export async function withRestDropped(
  response: Response,
  incoming: IncomingMessage,
): Promise<Response> {
  response.headers.set("Connection", "close");
  // A file or an empty answer: a GET with a body.
  if (!response.headers.get("Content-Type")?.startsWith("application/json")) return response;
  const text = new Uint8Array(await response.arrayBuffer());
  const { status, headers } = response;
  // Tells the client that the answer is complete although the stream below stays open.
  headers.set("Content-Length", String(text.byteLength));
  const stream = new ReadableStream<Uint8Array>({
    async start(controller) {
      controller.enqueue(text);
      await dropRest(incoming);
      controller.close();
    },
  });
  return new Response(stream, { status, headers });
}

/** Writes a reply in the same way. */
export async function sendWithRestDropped(
  outgoing: ServerResponse,
  reply: Reply,
  incoming: IncomingMessage,
): Promise<void> {
  const { status, headers, body } = reply;
  if (typeof body !== "string") return send(outgoing, reply, true);
  const length = { "Content-Length": Buffer.byteLength(body), Connection: "close" };
  outgoing.writeHead(status, { ...headers, ...length });
  outgoing.write(body);
  await dropRest(incoming);
  outgoing.end();
}

function dropRest(incoming: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    let bytes = 0;
    const end = () => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(end, limits.unreadBodyMs);
    // Former readers have stopped, but their listeners would buffer the data.
    incoming.removeAllListeners("data");
    incoming.on("data", (piece: Uint8Array) => {
      bytes += piece.byteLength;
      if (bytes > limits.unreadBodyBytesMax) end();
    });
    for (const event of ["end", "close", "error"]) incoming.once(event, end);
    if (incoming.destroyed || incoming.readableEnded) end();
    else incoming.resume();
  });
}
