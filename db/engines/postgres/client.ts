/**
 * How the driver, postgres.js, is used: a client with one connection over a given socket, its options and types, and
 * the request that stops a statement, which needs a connection of its own.
 */
import net from "node:net";
import { checkServerIdentity, type PeerCertificate } from "node:tls";
import postgres from "postgres";
import type { Command } from "../engine.ts";
import { connectOptions, type Tls } from "../tls.ts";
import type { OpenTlsSocket, TlsSocket } from "../../sockets/tls-socket.ts";

/** Where a server is, and how to reach it. */
export interface Address {
  readonly url: string;
  readonly host: string;
  readonly port: number;
  /** Path of a Unix socket; host and port are then ignored. */
  readonly path: string | null;
  /** The settings of a new session. */
  readonly settings: Readonly<Record<string, string>>;
  /** The first statement of the service's own transactions; null = none. */
  readonly ownSettings: Command | null;
  /** A pooler gives each transaction another session: no statements are prepared. */
  readonly isPooled: boolean;
  readonly timeoutMs: number;
  readonly tls: Tls;
  /** Null: the driver sees to TLS, where it is asked for. */
  readonly openTls: OpenTlsSocket | null;
}

export type Client = postgres.Sql;

type ClientOptions = postgres.Options<Record<string, postgres.PostgresType>>;

interface ClientEvents {
  /** The session is gone. */
  onClose(): void;
  /** A NOTIFY of a channel on which the session listens. */
  onMessage(text: string): void;
}

/** The driver's client over this socket and no other. */
export function clientOver(
  address: Address,
  socket: net.Socket | TlsSocket,
  { onClose, onMessage }: ClientEvents,
): Client {
  let handedOut = false;
  const { options } = postgres(address.url, {
    ...driverOptions,
    ...withoutRole,
    prepare: !address.isPooled,
    ssl: address.openTls ? false : sslOf(address),
    connection: address.settings,
    host: address.host,
    port: address.port,
    // The driver calls this at once when a session broke before it was ready, and would retry forever.
    socket: async () => {
      if (handedOut || socket.destroyed) {
        throw lostError("CONNECTION_CLOSED", "The database closed the connection");
      }
      handedOut = true;
      // The name that a certificate is checked against.
      return Object.assign(socket, { host: address.host });
    },
    onclose: onClose,
    onnotify: (_channel: string, text: string) => onMessage(text),
  } as ClientOptions);
  // Options that the driver has read once are taken as they are.
  return postgres({ ...options, target_session_attrs: undefined } as unknown as ClientOptions);
}

/** A word of the driver's own list, so that it does not read PGTARGETSESSIONATTRS. `connection.ts` asks for the role. */
export const withoutRole = { target_session_attrs: "primary" } as const;

/** The driver's `ssl` option. Only with `prefer` does it continue in plain text if the server has no TLS. */
function sslOf({ tls, host }: Address) {
  if (tls.mode === "prefer") return "prefer" as const;
  const options = connectOptions(tls);
  if (options === null) return false;
  return {
    ...options,
    // By default, Node would check the certificate of a server with an IP address against "localhost".
    checkServerIdentity: (_name: string, certificate: PeerCertificate) =>
      tls.mode === "verify-full" ? checkServerIdentity(host, certificate) : undefined,
  };
}

/** An error that `failure` reads like an error of the driver. */
export const lostError = (code: string, message: string): Error =>
  Object.assign(new Error(message), { code });

/** What a cancel request must contain to identify the session. */
export interface Backend {
  readonly pid: number;
  readonly secret: number;
}

/**
 * Asks the server to stop the session's current statement. Resolves when the server has closed the request's
 * connection, which has no TLS. Best effort, never rejects.
 */
export function requestCancel(
  { host, port, path, isPooled }: Pick<Address, "host" | "port" | "path" | "isPooled">,
  { pid, secret }: Backend,
): Promise<unknown> {
  const request = Buffer.alloc(16);
  // The length of the message, and the code of a cancel request.
  for (const [index, word] of [16, 80_877_102, pid, secret].entries()) {
    request.writeUInt32BE(word, index * 4);
  }
  const socket = path ? net.connect({ path }) : net.connect({ host, port });
  socket.on("error", () => {});
  socket.setTimeout(1_000, () => socket.destroy());
  socket.resume();
  // A pooler drops the requests of clients that have disconnected.
  if (isPooled) socket.write(request);
  else socket.end(request);
  return new Promise((resolve) => socket.once("close", resolve));
}

const asItIs = (text: string): string => text;

/**
 * All values travel as text in the server's ISO forms, in both directions. No type is guessed from a value: a guess
 * would make another prepared statement for each combination of nulls.
 */
const types: Record<string, postgres.PostgresType> = {
  // date, timestamp, timestamptz, json, jsonb
  text: { to: 25, from: [1082, 1114, 1184, 114, 3802], serialize: asItIs, parse: asItIs },
  boolean: { to: 16, from: [16], serialize: asItIs, parse: (text: string) => text === "t" },
  bytes: { to: 17, from: [17], serialize: asItIs, parse: asItIs },
};

/** Options of every client, besides those of its address. */
const driverOptions = {
  max: 1,
  idle_timeout: 0,
  max_lifetime: null,
  connect_timeout: 0,
  fetch_types: false,
  onnotice: () => {},
  types,
};
