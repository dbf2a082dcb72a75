/**
 * A real HTTP server for tests of hooks: it answers and records calls, or misbehaves in the way that the path names.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";

export interface Heard {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The body's text. */
  readonly body: string;
}

export interface HookServer {
  readonly port: number;
  /** `127.0.0.1:<port>`. */
  readonly host: string;
  /** All requests that it received, in order. */
  readonly heard: Heard[];
  /** Requests with this path. Waits until there are as many as asked for, or rejects. */
  hears(path: string, count?: number): Promise<Heard[]>;
  /** Sockets that are open now. */
  sockets(): number;
  close(): Promise<void>;
}

type Misbehaviour = (response: ServerResponse, request: IncomingMessage) => void;

/** By the first segment of the path; all others answer 200. */
const misbehaviours: Readonly<Record<string, Misbehaviour>> = {
  silent: () => undefined,
  "drip-head": ({ socket }) => dripInto(socket, "HTTP/1.1 200 OK\r\nX-Slow: "),
  "drip-body": (response) => {
    response.writeHead(200);
    dripInto(response, "a");
  },
  huge: (response) => {
    response.writeHead(200, { "Content-Length": 1024 ** 3 });
    const chunk = new Uint8Array(65_536);
    const more = () => {
      while (!response.destroyed && response.write(chunk));
      if (!response.destroyed) response.once("drain", more);
    };
    more();
  },
  "long-head": (response) => void response.writeHead(200, { "X-Long": "a".repeat(100_000) }).end(),
  closes: ({ socket }) => void socket?.destroy(),
  "closes-late": (response) => {
    response.writeHead(200, { "Content-Length": 10 });
    response.write("half", () => response.socket?.destroy());
  },
  garbage: ({ socket }) => void socket?.end("\u0000\u0001 this is no HTTP \r\n\r\n"),
  upgrade: ({ socket }) =>
    void socket?.write(
      "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n",
    ),
  redirect: (response, { url }) => {
    const target = new URL(url ?? "", "http://localhost").searchParams.get("to") ?? "/";
    response.writeHead(302, { Location: target }).end();
  },
  status: (response, { url }) => void response.writeHead(Number(url?.split("/")[2])).end("{}"),
  "kept-open": (response) => void response.writeHead(200, { Connection: "keep-alive" }).end("ok"),
  slow: (response) => void setTimeout(() => response.end("ok"), 1_000),
};

export async function startHookServer(): Promise<HookServer> {
  const heard: Heard[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => (body += text));
    request.on("end", () => {
      const { method = "", url = "", headers } = request;
      heard.push({ method, path: url, headers: headers as Record<string, string>, body });
      const [, name = ""] = url.split(/[/?]/);
      const misbehave = Object.hasOwn(misbehaviours, name) ? misbehaviours[name] : undefined;
      if (misbehave) misbehave(response, request);
      else response.end("ok");
    });
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket)).on("error", () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    host: `127.0.0.1:${port}`,
    heard,
    async hears(path, count = 1) {
      for (let waits = 0; waits < 200; waits++) {
        const found = heard.filter((one) => one.path === path);
        if (found.length >= count) return found;
        await new Promise((resolve) => setTimeout(resolve, 25));
      }
      throw new Error(`${path} was not called ${count} times`);
    },
    sockets: () => sockets.size,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
        for (const socket of sockets) socket.destroy();
      }),
  };
}

/** Sends one byte each second until the client closes the connection. */
function dripInto(
  stream: { write(text: string): unknown; destroyed: boolean } | null,
  begin: string,
) {
  stream?.write(begin);
  const timer = setInterval(() => {
    if (!stream || stream.destroyed) clearInterval(timer);
    else stream.write("a");
  }, 1_000);
}
