/**
 * Answers to requests whose body was not read to its end, over `node:http`. Closing the connection at once would reset it, and the client
 * would lose the answer while it still sends. So the answer goes out whole, with `Connection: close`, and what still comes is dropped.
 */
import type { IncomingMessage } from "node:http";
import { limits } from "../../core/values/limits.ts";

/** The answer, whose connection ends once the client has stopped to send, or after `limits.unreadBodyMs`. */
export async function withRestDropped(
  response: Response,
  incoming: IncomingMessage,
): Promise<Response> {
  response.headers.set("Connection", "close");
  // A file, or nothing: a GET that came with a body.
  if (!response.headers.get("Content-Type")?.startsWith("application/json")) return response;
  const text = new Uint8Array(await response.arrayBuffer());
  const { status, headers } = response;
  // The client knows from it that it has the whole answer, although the stream below goes on.
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

function dropRest(incoming: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    let bytes = 0;
    const end = () => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(end, limits.unreadBodyMs);
    // Whoever began to read has stopped, and would keep what comes.
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
