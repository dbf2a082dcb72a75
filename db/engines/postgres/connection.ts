/**
 * Opens sessions (`session.ts`) with a PostgreSQL server: reads the URL, tries its hosts in turn, opens the socket,
 * begins TLS if the runtime needs that, and refuses a server that forgets the settings of a session.
 */
import { once } from "node:events";
import net from "node:net";
import { limits } from "../../../core/values/limits.ts";
import { type Command, rowsFor } from "../engine.ts";
import type { RawRow } from "../../statements/dialect.ts";
import type { OpenTlsSocket, TlsSocket } from "../../sockets/tls-socket.ts";
import type { ServerPlace } from "../network-fault.ts";
import { type Address, lostError } from "./client.ts";
import { type PostgresConnection, PostgresSession } from "./session.ts";
import type { Role, Target } from "./url.ts";

interface ConnectorOptions {
  readonly openTls?: OpenTlsSocket | null | undefined;
  /** The first statement of the service's own transactions; null = none. */
  readonly ownSettings: Command | null;
}

export interface Connector {
  connect(): Promise<PostgresConnection>;
  /** The last host of the URL, whose error `connect` rejects with. */
  readonly place: ServerPlace;
}

/**
 * Opens sessions with the server of a URL: it tries the hosts in turn, resolves once one answered a statement, and
 * rejects with the last host's error, after `limits.connectTimeoutMs` at the latest.
 */
export function createConnector(
  { url, hosts, ports, path, role, tls, isPooled, startSettings: settings, user, database }: Target,
  { openTls = null, ownSettings }: ConnectorOptions,
): Connector {
  const timeoutMs = limits.connectTimeoutMs / hosts.length;
  const shared = { url, path, settings, ownSettings, isPooled, timeoutMs, tls };
  const addresses = hosts.map((host, index): Address => {
    return {
      ...shared,
      host,
      port: ports[index]!,
      openTls: tls.mode === "disable" ? null : openTls,
    };
  });
  return {
    place: { host: path ?? hosts.at(-1)!, port: ports.at(-1)!, user, database },
    async connect() {
      let last: unknown;
      // Without a standby, any server will do.
      const wanted: Role[] = role === "prefer-standby" ? ["standby", "any"] : [role];
      for (const one of wanted)
        for (const address of addresses) {
          try {
            return await openAt(address, one);
          } catch (error) {
            last = error;
          }
        }
      throw last;
    },
  };
}

async function openAt(address: Address, role: Role): Promise<PostgresConnection> {
  const { host, port, path } = address;
  const socket = address.openTls
    ? await openSecure(address, address.openTls)
    : path
      ? net.connect({ path })
      : net.connect({ host, port, noDelay: true });
  return openOver(address, socket, role);
}

const tlsRefused = (): Error =>
  lostError("ERR_TLS_REFUSED", "The database has no TLS, and its URL asks for it");

/** Asks the server for TLS and begins it, so that the driver gets a secure socket. */
async function openSecure({ host, port }: Address, openTls: OpenTlsSocket): Promise<TlsSocket> {
  const socket = await openTls({ host, port, isWhole: (answer) => answer.length > 0 });
  const request = Buffer.alloc(8);
  // The length of the message, and the code that requests TLS.
  request.writeUInt32BE(8, 0);
  request.writeUInt32BE(80_877_103, 4);
  socket.write(request);
  const [answer] = (await once(socket, "data")) as [Buffer];
  if (String(answer) !== "S") {
    socket.destroy();
    throw tlsRefused();
  }
  await socket.upgrade();
  return socket;
}

async function openOver(
  address: Address,
  socket: net.Socket | TlsSocket,
  role: Role,
): Promise<PostgresConnection> {
  const opening = Promise.withResolvers<void>();
  // Never removed: an error between two listeners of the driver must not end the process.
  socket.on("error", opening.reject);
  if (address.openTls) opening.resolve();
  else socket.on("connect", opening.resolve);
  const session = new PostgresSession(address, socket);
  // The driver would begin TLS anyway, and report only that the server then closed the connection.
  if (!["disable", "prefer"].includes(address.tls.mode) && !address.openTls)
    socket.once("data", (first: Buffer) => {
      if (String(first) === "N") session.cut(tlsRefused());
    });
  const timer = setTimeout(() => {
    const error = lostError(
      "CONNECT_TIMEOUT",
      `No answer from the database within ${address.timeoutMs} ms`,
    );
    opening.reject(error);
    session.cut(error);
  }, address.timeoutMs);
  try {
    await opening.promise;
    const [settings] = await rowsFor(session, askSettings);
    if (!address.isPooled) refuseForgetful(settings!, address.settings);
    if (role !== "any") refuseOthers((await rowsFor(session, askRole))[0]!, role);
    return session;
  } catch (error) {
    session.destroy();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** Settings that decide the form in which values come. */
export const formSettings = ["TimeZone", "DateStyle", "IntervalStyle", "bytea_output"] as const;
const askSettings = `select ${formSettings
  .map((name) => `current_setting('${name}') as "${name}"`)
  .join(", ")}`;

const askRole =
  "select pg_is_in_recovery() as standby, current_setting('transaction_read_only') = 'on' as reads";

/** Asked, as servers before 14 do not tell by themselves, and the driver mistakes a standby for one that can be written to. */
function refuseOthers({ standby, reads }: RawRow, role: Role): void {
  const fits =
    role === "primary" ? !standby : role === "standby" ? standby : reads === (role === "read-only");
  if (!fits)
    throw lostError(
      "CONNECTION_UNFIT",
      `The server is ${standby ? "a standby" : reads ? "read-only" : "no standby"}, and target_session_attrs asks for ${role}`,
    );
}

/** A pooler that gives each transaction another session may lose this session's settings. */
function refuseForgetful(found: RawRow, asked: Readonly<Record<string, unknown>>): void {
  const plain = (value: unknown): string => String(value).replaceAll(" ", "").toLowerCase();
  const forgotten = formSettings.filter((name) => plain(found[name]) !== plain(asked[name]));
  if (forgotten.length === 0) return;
  const defaults = forgotten.map((name) => `alter role … set ${name} = '${String(asked[name])}'`);
  throw new Error(
    `The database, or a pooler in front of it, does not keep session settings; set them as defaults: ${defaults.join("; ")}; or set "preparedStatements": false under "database", so that each transaction sets them`,
  );
}
