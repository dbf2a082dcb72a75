/** A proxy before a server that can go silent: it keeps connections and accepts new ones, but passes no data. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface SilentDoor {
  /** The server's URL, with the port of the door. */
  readonly url: string;
  silence(): void;
  /** Forwards the data that was held back. */
  goOn(): void;
  /** Of clients, and to the server. */
  openSockets(): number;
  /** Ends all connections; further ones are refused. */
  shut(): Promise<void>;
  /** After `shut`, on the same port. */
  reopen(): Promise<void>;
  stop(): Promise<void>;
}

export async function startSilentDoor(serverUrl: string): Promise<SilentDoor> {
  const { hostname, port } = new URL(serverUrl);
  const sockets = new Set<Socket>();
  let isSilent = false;

  const server = createServer((client) => {
    const behind = connect(Number(port), hostname);
    const pass = (from: Socket, to: Socket) => {
      sockets.add(from);
      from.on("data", (chunk) => to.write(chunk));
      from.on("error", () => to.destroy());
      from.on("close", () => (sockets.delete(from), to.destroy()));
      if (isSilent) from.pause();
    };
    pass(client, behind);
    pass(behind, client);
  });
  async function shut(): Promise<void> {
    if (!server.listening) return;
    const closed = once(server, "close");
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  }

  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = new URL(serverUrl);
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    silence() {
      isSilent = true;
      for (const socket of sockets) socket.pause();
    },
    goOn() {
      isSilent = false;
      for (const socket of sockets) socket.resume();
    },
    openSockets: () => sockets.size,
    shut,
    async reopen() {
      server.listen(Number(url.port), "127.0.0.1");
      await once(server, "listening");
    },
    stop: shut,
  };
}
