/**
 * One session with a PostgreSQL server: a postgres.js client of one connection over a socket that we open ourselves.
 * The client gets that one socket and never another, so a broken session cannot silently become a new one in the middle of
 * a transaction, and a server that stopped answering is cut off by destroying the socket.
 */
import { once } from "node:events";
import net from "node:net";
import postgres from "postgres";
import { limits } from "../../../core/values/limits.ts";
import type { Connection, EngineOptions, RawResult } from "../engine.ts";
import type { RawRow } from "../../statements/dialect.ts";
import type { OpenTlsSocket, TlsSocket } from "../../sockets/tls-socket.ts";
import { unreadableUrl } from "../database-address.ts";
import type { PostgresPlace } from "./connect-fault.ts";
import { failure } from "./failure.ts";

/** A column of a query's result: where it comes from (`table` 0 = an expression) and the oid of its type. */
export interface OutputColumn {
  readonly name: string;
  readonly type: number;
  readonly table: number;
  readonly number: number;
}

export interface PostgresConnection extends Connection {
  /** The columns that a query gives when it stands as a subquery; no row of it is read. */
  outputColumns(text: string): Promise<readonly OutputColumn[]>;
}

export interface Connector {
  connect(): Promise<PostgresConnection>;
  /** The last host of the URL, whose error `connect` rejects with. */
  readonly place: PostgresPlace;
}

/**
 * What opens sessions with the server of a URL: it tries the hosts in turn, resolves once one answered a statement, and
 * rejects with the last host's error, after `limits.connectTimeoutMs` at the latest. Throws at once for a URL that cannot be read.
 */
export function createConnector(
  url: string,
  { statementTimeoutMs, openTls }: Pick<EngineOptions, "statementTimeoutMs" | "openTls">,
): Connector {
  const { host, port, path, ssl, user, database } = readUrl(url);
  const timeoutMs = limits.connectTimeoutMs / host.length;
  const addresses = host.map((name, index): Address => {
    return {
      url,
      host: name,
      port: port[index]!,
      path: path || null,
      statementTimeoutMs,
      timeoutMs,
      openTls: ssl ? (openTls ?? null) : null,
      needsTls: Boolean(ssl) && ssl !== "prefer",
    };
  });
  return {
    place: { host: path || host.at(-1)!, port: port.at(-1)!, user, database },
    async connect() {
      let last: unknown;
      for (const address of addresses) {
        try {
          return await openAt(address);
        } catch (error) {
          last = error;
        }
      }
      throw last;
    },
  };
}

/** The driver's reading of the URL; it connects only when a statement is sent. */
function readUrl(url: string) {
  try {
    return postgres(url, optionsFor(0)).options;
  } catch {
    throw unreadableUrl("PostgreSQL");
  }
}

interface Address {
  readonly url: string;
  readonly host: string;
  readonly port: number;
  /** Of a Unix socket; then host and port do not count. */
  readonly path: string | null;
  readonly statementTimeoutMs: number;
  readonly timeoutMs: number;
  /** Null: the driver sees to TLS, where the URL asks for it. */
  readonly openTls: OpenTlsSocket | null;
  /** Without TLS there is no session. */
  readonly needsTls: boolean;
}

async function openAt(address: Address): Promise<PostgresConnection> {
  const { host, port, path } = address;
  if (address.openTls) return openOver(address, await openSecure(address, address.openTls));
  return openOver(
    address,
    path ? net.connect({ path }) : net.connect({ host, port, noDelay: true }),
  );
}

const tlsRefused = (): Error =>
  lostError("ERR_TLS_REFUSED", "The database has no TLS, and its URL asks for it");

/** Asks the server for TLS and begins it, so that the driver gets a socket that is secure already. */
async function openSecure({ host, port }: Address, openTls: OpenTlsSocket): Promise<TlsSocket> {
  const socket = await openTls({ host, port, isWhole: (answer) => answer.length > 0 });
  const request = Buffer.alloc(8);
  // The length of the message, and the number that asks for TLS.
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
): Promise<PostgresConnection> {
  const opening = Promise.withResolvers<void>();
  // Kept for good: an error between two listeners of the driver must not end the process.
  socket.on("error", opening.reject);
  if (address.openTls) opening.resolve();
  else socket.on("connect", opening.resolve);
  const session = startSession(address, socket);
  // The driver would begin TLS all the same, and tell only that the server then closed the connection.
  if (address.needsTls && !address.openTls)
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
    const { rows } = await session.connection.run(askSettings, [], false);
    refuseForgetful(rows[0]!, session.settings);
    return session.connection;
  } catch (error) {
    session.connection.destroy();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

function startSession(address: Address, socket: net.Socket | TlsSocket) {
  let alive = true;
  let handedOut = false;
  /** Rejects the one run that is under way. */
  let reject: (error: Error) => void = () => {};
  let isRunning = false;
  let backend: Backend | undefined;
  const prepared = new Set<string>();

  const client = postgres(address.url, {
    ...optionsFor(address.statementTimeoutMs),
    ...(address.openTls && { ssl: false }),
    host: address.host,
    port: address.port,
    // The driver calls this at once when a session broke before it was ready: it would try for ever.
    socket: async () => {
      if (handedOut || socket.destroyed) {
        throw lostError("CONNECTION_CLOSED", "The database closed the connection");
      }
      handedOut = true;
      // The name that a certificate is checked against.
      return Object.assign(socket, { host: address.host });
    },
    onclose: () => {
      alive = false;
    },
  } as postgres.Options<Record<string, postgres.PostgresType>>);

  const cut = (error: Error): void => {
    alive = false;
    socket.destroy();
    reject(error);
  };

  /** Runs one statement, never by the simple protocol: that would take several in one text. */
  async function send(text: string, params: readonly unknown[], prepare: boolean): Promise<Result> {
    if (!alive) throw lostError("CONNECTION_CLOSED", "The connection to the database is closed");
    const options = { prepare, simple: false } as postgres.UnsafeQueryOptions;
    const query = client.unsafe(text, params as postgres.ParameterOrJSON<never>[], options);
    isRunning = true;
    try {
      const result = await new Promise<Result>((resolve, rejectRun) => {
        reject = rejectRun;
        query.then(resolve as (result: unknown) => void, rejectRun);
      });
      backend ??= result.state;
      isRunning = false;
      return result;
    } catch (error) {
      isRunning = false;
      if (failure(error).kind === "connection") connection.destroy();
      throw error;
    }
  }

  const connection: PostgresConnection = {
    get alive() {
      return alive;
    },
    async run(text, params, reuse): Promise<RawResult> {
      const result = await send(text, params, reuse && mayPrepare(prepared, text));
      return { rows: rowsOf(result), matched: result.count ?? 0, insertId: null };
    },
    async native(text, params): Promise<RawResult> {
      const result = await send(text, params, mayPrepare(prepared, text));
      const fields = result.columns ?? [];
      return { rows: rowsOf(result), matched: result.count ?? 0, insertId: null, fields };
    },
    /**
     * With a cursor of SQL, not the driver's: that one ends without an error when the server dies between two batches,
     * and then writes to a socket that is gone.
     */
    async *stream(text, params, batchRows, isInTransaction = false): AsyncGenerator<RawRow[]> {
      if (!isInTransaction) await send("begin", [], false);
      try {
        await send(`declare rowgate_stream no scroll cursor for ${text}`, params, false);
        const fetch = `fetch ${batchRows} from rowgate_stream`;
        for (;;) {
          const rows = rowsOf(await send(fetch, [], false));
          if (rows.length > 0) yield rows;
          if (rows.length < batchRows) return;
        }
      } finally {
        // Of a transaction that failed, COMMIT is a rollback.
        const end = isInTransaction ? "close rowgate_stream" : "commit";
        if (alive) await send(end, [], false).catch(() => connection.destroy());
      }
    },
    async outputColumns(text): Promise<readonly OutputColumn[]> {
      const { columns } = await send(`select * from (\n${text}\n) as q limit 0`, [], false);
      return columns ?? [];
    },
    async close(): Promise<void> {
      if (!alive) return;
      alive = false;
      await client.end({ timeout: 0.9 }).catch(() => {});
      connection.destroy();
    },
    destroy(): void {
      // The server looks at its socket only between statements: one that waits for a lock would still be carried out.
      if (isRunning && backend) requestCancel(address, backend);
      isRunning = false;
      cut(lostError("CONNECTION_DESTROYED", "The connection to the database was cut"));
    },
  };
  return { connection, cut, settings: client.options.connection };
}

/** What decides the form in which values come. */
const formSettings = ["TimeZone", "DateStyle", "IntervalStyle", "bytea_output"] as const;
const askSettings = `select ${formSettings
  .map((name) => `current_setting('${name}') as "${name}"`)
  .join(", ")}`;

/** A pooler that gives each transaction another session may forget what this one was opened with. */
function refuseForgetful(found: RawRow, asked: Readonly<Record<string, unknown>>): void {
  const plain = (value: unknown): string => String(value).replaceAll(" ", "").toLowerCase();
  const forgotten = formSettings.filter((name) => plain(found[name]) !== plain(asked[name]));
  if (forgotten.length === 0) return;
  const defaults = forgotten.map((name) => `alter role … set ${name} = '${String(asked[name])}'`);
  throw new Error(
    `The database, or a pooler before it, does not keep settings of the session; make them defaults: ${defaults.join("; ")}`,
  );
}

/** Rows with what the driver tells of them. */
type Result = RawRow[] & {
  readonly count: number | null;
  readonly columns?: readonly OutputColumn[];
  readonly state?: Backend;
};

/** What the server asks of those who want to cancel a session's statement. */
interface Backend {
  readonly pid: number;
  readonly secret: number;
}

/** Asks the server to stop what the session does; it answers nothing. Best effort, on a connection of its own, without TLS. */
function requestCancel({ host, port, path }: Address, { pid, secret }: Backend): void {
  const request = Buffer.alloc(16);
  // The length of the message, and the number that makes it a cancel request.
  for (const [index, word] of [16, 80_877_102, pid, secret].entries()) {
    request.writeUInt32BE(word, index * 4);
  }
  const socket = path ? net.connect({ path }) : net.connect({ host, port });
  socket.on("error", () => {});
  socket.setTimeout(1_000, () => socket.destroy());
  socket.resume().end(request);
}

/**
 * The rows of a result. After a statement that failed when some rows had come, the driver puts as many holes in front of
 * the next result's rows (porsager/postgres#1119).
 */
function rowsOf(result: Result): RawRow[] {
  if (result.count === null) return result.filter((row) => row !== undefined);
  return result.length > result.count ? result.slice(result.length - result.count) : result;
}

/** The driver forgets no prepared statement, and the server keeps each: beyond the limit, texts are parsed every time. */
function mayPrepare(prepared: Set<string>, text: string): boolean {
  if (prepared.has(text)) return true;
  if (prepared.size >= limits.statementShapesMax) return false;
  prepared.add(text);
  return true;
}

/** An error that `failure` reads like the driver's own. */
const lostError = (code: string, message: string): Error =>
  Object.assign(new Error(message), { code });

const asItIs = (text: string): string => text;

/**
 * All values travel as text in the server's ISO forms, in both directions, and no type is guessed from a value: a guess would
 * make another prepared statement for each combination of nulls.
 */
const types: Record<string, postgres.PostgresType> = {
  // date, timestamp, timestamptz, json, jsonb
  text: { to: 25, from: [1082, 1114, 1184, 114, 3802], serialize: asItIs, parse: asItIs },
  boolean: { to: 16, from: [16], serialize: asItIs, parse: (text: string) => text === "t" },
  bytes: { to: 17, from: [17], serialize: asItIs, parse: asItIs },
};

function optionsFor(statementTimeoutMs: number) {
  return {
    max: 1,
    idle_timeout: 0,
    max_lifetime: null,
    connect_timeout: 0,
    fetch_types: false,
    onnotice: () => {},
    types,
    // What a URL says in its query stands above these.
    connection: {
      application_name: "rowgate",
      TimeZone: "UTC",
      DateStyle: "ISO, YMD",
      IntervalStyle: "postgres",
      bytea_output: "hex",
      // As texts: the driver drops a zero, and the server's own limit would hold.
      statement_timeout: String(statementTimeoutMs),
      idle_in_transaction_session_timeout: "60000",
      // Streams read to the end: plan for all rows, not for the first ones.
      cursor_tuple_fraction: "1",
    } as Record<string, string>,
  };
}
