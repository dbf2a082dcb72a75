/**
 * A TLS proxy before a test database without TLS: it handles the start of the protocol, switches to TLS with
 * `certificates/`, and forwards the rest. The private key of the authority that signed for `localhost` was discarded.
 */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { TLSSocket } from "node:tls";

const folder = join(import.meta.dirname, "certificates");
/** A runtime has to trust it; otherwise it refuses the certificate. */
export const authority = join(folder, "authority.crt");

export interface Door {
  readonly port: number;
  /** Connections that went on in TLS. */
  secured(): number;
  close(): Promise<void>;
}

/** `url`: of the database behind it. */
export async function openDoor(url: string): Promise<Door> {
  const { hostname, port, protocol } = new URL(url);
  const [key, cert] = ["server.key", "server.crt"].map((name) => readFileSync(join(folder, name)));
  const sockets = new Set<Socket>();
  let secured = 0;

  const secure = (client: Socket): TLSSocket => {
    const tls = new TLSSocket(client, { isServer: true, key, cert });
    tls.once("secure", () => (secured += 1));
    return tls;
  };

  async function enter(client: Socket): Promise<void> {
    const server = connect(Number(port), hostname);
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.on("error", () => [client, server].forEach((one) => one.destroy()));
      socket.on("close", () => [client, server].forEach((one) => one.destroy()));
    }
    const begin = protocol.startsWith("postgres") ? afterRequest : afterGreeting;
    const tls = await begin(client, server, secure);
    tls.on("error", () => client.destroy());
    tls.pipe(server).pipe(tls);
  }

  const door = createServer((client) => void enter(client).catch(() => client.destroy()));
  await once(door.listen(0, "127.0.0.1"), "listening");
  return {
    port: (door.address() as AddressInfo).port,
    secured: () => secured,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => door.close(resolve));
    },
  };
}

type Begin = (
  client: Socket,
  server: Socket,
  secure: (client: Socket) => TLSSocket,
) => Promise<TLSSocket>;

/** PostgreSQL: the client requests TLS, and the server agrees with `S`. */
const afterRequest: Begin = async (client, _server, secure) => {
  await once(client, "data");
  client.write("S");
  return secure(client);
};

/** The flag of TLS among what client and server can. */
const tlsFlag = 0x0800;

/** MySQL: the server greets, the client asks; the answers after that have numbers that count the question. */
const afterGreeting: Begin = async (client, server, secure) => {
  const [greeting] = (await once(server, "data")) as [Buffer];
  const flagsAt = greeting.indexOf(0, 5) + 14;
  greeting.writeUInt16LE(greeting.readUInt16LE(flagsAt) | tlsFlag, flagsAt);
  client.write(greeting);
  const [asked] = (await once(client, "data")) as [Buffer];
  // The same chunk can contain the start of the TLS handshake.
  const rest = asked.subarray(4 + asked.readUIntLE(0, 3));
  client.pause();
  if (rest.length > 0) client.unshift(rest);
  const tls = secure(client);
  for (let isFirst = true; ; isFirst = false) {
    const [sent] = (await once(tls, "data")) as [Buffer];
    if (isFirst) sent.writeUInt32LE(sent.readUInt32LE(4) & ~tlsFlag, 4);
    server.write(renumbered(sent, -1));
    const [answer] = (await once(server, "data")) as [Buffer];
    tls.write(renumbered(answer, 1));
    // Welcome, or not.
    if (answer[4] === 0x00 || answer[4] === 0xff) return tls;
  }
};

function renumbered(packet: Buffer, step: number): Buffer {
  packet[3] = packet[3]! + step;
  return packet;
}
