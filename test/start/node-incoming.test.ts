/** How a body is read from Node's HTTP server. */
import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { expect, test } from "vitest";
import { AppError } from "../../core/values/errors.ts";
import { readIncoming } from "../../app/start/servers/node-incoming.ts";

const head = "POST /a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\n";

test.each([
  ["together with its head, without the stream's events", [`${head}hello`], 0],
  ["after its head", [head, "hello"], 1],
  ["in parts", [`${head}he`, "llo"], 1],
  ["in front of the next request", [`${head}hello${head}`], 0],
])("a body that comes %s", async (_, parts, listeners) => {
  const begun = Promise.withResolvers<void>();
  const read = Promise.withResolvers<object>();
  const server = createServer((message, outgoing) => {
    begun.resolve();
    const incoming = readIncoming(message);
    if (incoming instanceof AppError) return read.reject(incoming);
    incoming.bytes(10).then((bytes) => {
      const text = new TextDecoder().decode(bytes);
      read.resolve({ text, isAll: incoming.complete, listeners: message.listenerCount("data") });
      outgoing.end();
    }, read.reject);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1").setNoDelay(true);
  for (const part of parts) {
    socket.write(part);
    await begun.promise;
  }
  expect(await read.promise).toEqual({ text: "hello", isAll: true, listeners });
  socket.destroy();
  server.close();
});
