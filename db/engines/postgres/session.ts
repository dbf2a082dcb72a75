/**
 * One session with a PostgreSQL server: a postgres.js client of one connection over a socket that somebody else opened.
 * The client gets that one socket and never another, so a broken session cannot silently become a new one in the middle of
 * a transaction, and a server that stopped answering is cut off by destroying the socket.
 */
import net from "node:net";
import postgres from "postgres";
import { limits } from "../../../core/values/limits.ts";
import type { Connection, RawResult } from "../engine.ts";
import type { RawRow } from "../../statements/dialect.ts";
import type { OpenTlsSocket, TlsSocket } from "../../sockets/tls-socket.ts";
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

/** Where a server is, and how to reach it. */
export interface Address {
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

type Client = postgres.Sql;

/** The driver's client over this socket and no other. `onClose`: it has no session any more. */
function clientOver(address: Address, socket: net.Socket | TlsSocket, onClose: () => void): Client {
  let handedOut = false;
  return postgres(address.url, {
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
    onclose: onClose,
  } as postgres.Options<Record<string, postgres.PostgresType>>);
}

/** A session with the server over a socket. It runs one statement at a time. */
export class PostgresSession implements PostgresConnection {
  alive = true;
  /** Of the session, as the driver asks for them. */
  readonly settings: Readonly<Record<string, unknown>>;
  private readonly address: Address;
  private readonly socket: net.Socket | TlsSocket;
  private readonly client: Client;
  private readonly prepared = new Set<string>();
  /** Rejects the one run that is under way. */
  private reject: (error: Error) => void = () => {};
  private isRunning = false;
  private backend: Backend | undefined;

  constructor(address: Address, socket: net.Socket | TlsSocket) {
    this.address = address;
    this.socket = socket;
    this.client = clientOver(address, socket, () => {
      this.alive = false;
    });
    this.settings = this.client.options.connection;
  }

  async run(text: string, params: readonly unknown[], reuse: boolean): Promise<RawResult> {
    const result = await this.send(text, params, reuse && mayPrepare(this.prepared, text));
    return { rows: rowsOf(result), matched: result.count ?? 0, insertId: null };
  }

  async native(text: string, params: readonly unknown[]): Promise<RawResult> {
    const result = await this.send(text, params, mayPrepare(this.prepared, text));
    const fields = result.columns ?? [];
    return { rows: rowsOf(result), matched: result.count ?? 0, insertId: null, fields };
  }

  /**
   * With a cursor of SQL, not the driver's: that one ends without an error when the server dies between two batches,
   * and then writes to a socket that is gone.
   */
  async *stream(
    text: string,
    params: readonly unknown[],
    batchRows: number,
    isInTransaction = false,
  ): AsyncGenerator<RawRow[]> {
    if (!isInTransaction) await this.send("begin", [], false);
    try {
      await this.send(`declare rowgate_stream no scroll cursor for ${text}`, params, false);
      const fetch = `fetch ${batchRows} from rowgate_stream`;
      for (;;) {
        const rows = rowsOf(await this.send(fetch, [], false));
        if (rows.length > 0) yield rows;
        if (rows.length < batchRows) return;
      }
    } finally {
      // Of a transaction that failed, COMMIT is a rollback.
      const end = isInTransaction ? "close rowgate_stream" : "commit";
      if (this.alive) await this.send(end, [], false).catch(() => this.destroy());
    }
  }

  async outputColumns(text: string): Promise<readonly OutputColumn[]> {
    const { columns } = await this.send(`select * from (\n${text}\n) as q limit 0`, [], false);
    return columns ?? [];
  }

  async close(): Promise<void> {
    if (!this.alive) return;
    this.alive = false;
    await this.client.end({ timeout: 0.9 }).catch(() => {});
    this.destroy();
  }

  destroy(): void {
    // The server looks at its socket only between statements: one that waits for a lock would still be carried out.
    if (this.isRunning && this.backend) requestCancel(this.address, this.backend);
    this.isRunning = false;
    this.cut(lostError("CONNECTION_DESTROYED", "The connection to the database was cut"));
  }

  /** Ends the session with this error, without asking the server to stop what it does. */
  cut(error: Error): void {
    this.alive = false;
    this.socket.destroy();
    this.reject(error);
  }

  /** Runs one statement, never by the simple protocol: that would take several in one text. */
  private async send(text: string, params: readonly unknown[], prepare: boolean): Promise<Result> {
    if (!this.alive)
      throw lostError("CONNECTION_CLOSED", "The connection to the database is closed");
    const options = { prepare, simple: false } as postgres.UnsafeQueryOptions;
    const query = this.client.unsafe(text, params as postgres.ParameterOrJSON<never>[], options);
    this.isRunning = true;
    try {
      const result = await new Promise<Result>((resolve, rejectRun) => {
        this.reject = rejectRun;
        query.then(resolve as (result: unknown) => void, rejectRun);
      });
      this.backend ??= result.state;
      this.isRunning = false;
      return result;
    } catch (error) {
      this.isRunning = false;
      if (failure(error).kind === "connection") this.destroy();
      throw error;
    }
  }
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
export const lostError = (code: string, message: string): Error =>
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

/** What every client is opened with. */
export function optionsFor(statementTimeoutMs: number) {
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
