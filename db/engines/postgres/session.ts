/**
 * One session with a PostgreSQL server: a postgres.js client of one connection over a socket that somebody else opened.
 * The client gets that one socket and never another, so a broken session cannot silently become a new one in the middle of
 * a transaction, and a server that stopped answering is cut off by destroying the socket.
 */
import net from "node:net";
import { checkServerIdentity, type PeerCertificate } from "node:tls";
import postgres from "postgres";
import { Bag, type Placed } from "../../../core/values/bag.ts";
import type { Connection, RawResult, Command } from "../engine.ts";
import { connectOptions, type Tls } from "../tls.ts";
import type { RawRow, TakeRow } from "../../statements/dialect.ts";
import type { OpenTlsSocket, TlsSocket } from "../../sockets/tls-socket.ts";
import { failure, isStale, mayBeStale } from "./failure.ts";
import { type Backend, requestCancel } from "./cancel-request.ts";
import { createPreparedTexts, type PreparedText } from "./prepared-texts.ts";

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
  /** What a session is opened with. */
  readonly settings: Readonly<Record<string, string>>;
  /** What a transaction of the service's own begins with; null = nothing. */
  readonly ownSettings: Command | null;
  /** A pooler gives each transaction another session: nothing is prepared in one. */
  readonly isPooled: boolean;
  readonly timeoutMs: number;
  readonly tls: Tls;
  /** Null: the driver sees to TLS, where it is asked for. */
  readonly openTls: OpenTlsSocket | null;
}

type Client = postgres.Sql;

/** The driver's client over this socket and no other. `onClose`: it has no session any more. */
function clientOver(address: Address, socket: net.Socket | TlsSocket, onClose: () => void): Client {
  let handedOut = false;
  return postgres(address.url, {
    ...driverOptions,
    prepare: !address.isPooled,
    ssl: address.openTls ? false : sslOf(address),
    connection: address.settings,
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

/** As the driver takes it: `prefer` is a word of its own, with which it goes on in plain text where the server has no TLS. */
function sslOf({ tls, host }: Address) {
  if (tls.mode === "prefer") return "prefer" as const;
  const options = connectOptions(tls);
  if (options === null) return false;
  return {
    ...options,
    // Left to itself, Node would hold the certificate of a server with an IP address against "localhost".
    checkServerIdentity: (_name: string, certificate: PeerCertificate) =>
      tls.mode === "verify-full" ? checkServerIdentity(host, certificate) : undefined,
  };
}

/** A session with the server over a socket. Statements that are sent while others run are answered after them. */
export class PostgresSession implements PostgresConnection {
  alive = true;
  /** Not through a pooler, which may hand each statement to another session. */
  readonly isShareable: boolean;
  private readonly address: Address;
  private readonly socket: net.Socket | TlsSocket;
  private readonly client: Client;
  private readonly prepared = createPreparedTexts();
  /** The runs that are under way. */
  private readonly running = new Bag<Run>();
  /** It was destroyed; its socket may wait a moment for the answer to a cancel request. */
  private isEnding = false;
  private backend: Backend | undefined;

  constructor(address: Address, socket: net.Socket | TlsSocket) {
    this.address = address;
    this.isShareable = !address.isPooled;
    this.socket = socket;
    this.client = clientOver(address, socket, () => {
      this.alive = false;
    });
  }

  async run(
    text: string,
    params: readonly unknown[],
    reuse: boolean,
    take?: TakeRow,
  ): Promise<RawResult> {
    return resultOf(await this.runOnce({ text, params, reuse, take }));
  }

  async runTogether(statements: readonly Command[]): Promise<readonly RawResult[]> {
    const results = await this.sendAll(statements);
    if (statements.at(-1)?.text === "commit" && results.at(-1)?.command === "ROLLBACK")
      throw undoneError();
    return results.map((result) => ({
      ...resultOf(result),
      fields: result.columns ?? [],
    }));
  }

  async native(text: string, params: readonly unknown[]): Promise<RawResult> {
    const result = await this.runOnce({ text, params, reuse: true });
    return { ...resultOf(result), fields: result.columns ?? [] };
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
    if (!isInTransaction) await this.send("begin");
    try {
      await this.send(`declare rowgate_stream no scroll cursor for ${text}`, params);
      const fetch = `fetch ${batchRows} from rowgate_stream`;
      for (;;) {
        const rows = rowsOf(await this.send(fetch));
        if (rows.length > 0) yield rows;
        if (rows.length < batchRows) return;
      }
    } finally {
      // Of a transaction that failed, COMMIT is a rollback.
      const end = isInTransaction ? "close rowgate_stream" : "commit";
      if (this.alive) await this.send(end).catch(() => this.destroy());
    }
  }

  async outputColumns(text: string): Promise<readonly OutputColumn[]> {
    const query = { text: `select * from (\n${text}\n) as q limit 0`, params: [], reuse: false };
    const { ownSettings } = this.address;
    if (ownSettings === null) return (await this.send(query.text)).columns ?? [];
    const [, , result] = await this.runTogether([
      plain("begin"),
      ownSettings,
      query,
      plain("commit"),
    ]);
    return (result?.fields ?? []) as readonly OutputColumn[];
  }

  async close(): Promise<void> {
    if (!this.alive) return;
    this.alive = false;
    await this.client.end({ timeout: 0.9 }).catch(() => {});
    this.destroy();
  }

  destroy(): void {
    if (this.isEnding) return;
    this.isEnding = true;
    // The server looks at its socket only between statements: one that waits for a lock would still be carried out.
    const cancelled =
      this.running.size > 0 && this.backend ? requestCancel(this.address, this.backend) : null;
    const error = lostError("CONNECTION_DESTROYED", "The connection to the database was cut");
    // A pooler cancels only for clients that are still there.
    if (this.address.isPooled && cancelled) void this.cutAfter(cancelled, error);
    else this.cut(error);
  }

  private async cutAfter(cancelled: Promise<unknown>, error: Error): Promise<void> {
    this.alive = false;
    this.rejectAll(error);
    await cancelled;
    this.socket.destroy();
  }

  /** Ends the session with this error, without asking the server to stop what it does. */
  cut(error: Error): void {
    this.alive = false;
    this.socket.destroy();
    this.rejectAll(error);
  }

  private rejectAll(error: Error): void {
    this.running.forEach((run) => {
      this.running.delete(run);
      run.reject(error);
    });
  }

  /** Runs one statement, never by the simple protocol: that would take several in one text. */
  private send(text: string, params: readonly unknown[] = []): Promise<Result> {
    return this.waitFor(() => this.query({ text, params }, null));
  }

  /** The same for a text that may be prepared: where its plan may be stale, it is run once more without one. */
  private async runOnce(command: Command): Promise<Result> {
    const prepared = this.preparedFor(command);
    try {
      const result = await this.waitFor(() => this.query(command, prepared));
      if (prepared !== null) prepared.hasRun = true;
      return result;
    } catch (error) {
      if (prepared === null || !mayBeStale(error, prepared)) throw error;
      return this.runUnprepared(command, { prepared, error });
    }
  }

  private async runUnprepared(
    command: Command,
    { prepared, error }: { readonly prepared: PreparedText; readonly error: unknown },
  ): Promise<Result> {
    let isPlanStale = isStale(error);
    try {
      const result = await this.waitFor(() => this.query(command, null));
      isPlanStale = true;
      return result;
    } catch (later) {
      // In a transaction nothing runs any more, and what broke it counts.
      throw isAfterFailure(later) ? error : later;
    } finally {
      if (isPlanStale) this.prepared.renew(command.text, prepared);
    }
  }

  private preparedFor({ text, reuse }: Command): PreparedText | null {
    return reuse ? this.prepared.take(text) : null;
  }

  /** The same for several, which the driver sends without waiting for answers as far as it can. Rejects with the first error, once all are answered. */
  private sendAll(statements: readonly Command[]): Promise<readonly Result[]> {
    return this.waitFor(async () => {
      const prepared = statements.map((one) => this.preparedFor(one));
      const answers = await Promise.allSettled(
        statements.map((one, at) => this.query(one, prepared[at]!)),
      );
      for (const [at, one] of prepared.entries()) {
        const answer = answers[at]!;
        if (one === null) continue;
        if (answer.status === "fulfilled") one.hasRun = true;
        else if (isStale(answer.reason)) this.prepared.renew(statements[at]!.text, one);
      }
      const failed = answers.find((answer) => answer.status === "rejected");
      if (failed) throw failed.reason;
      return answers.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value] : []));
    });
  }

  /**
   * The driver sends a prepared statement once more when its plan is stale, but behind what was sent since, and takes the
   * answers of one for the other's. It looks at `prepared` then, so that is taken back once the statement is sent.
   */
  private query(
    { text, params, take }: Pick<Command, "text" | "params" | "take">,
    prepared: PreparedText | null,
  ): Promise<Result> {
    const options = {
      prepare: prepared !== null,
      simple: false,
      onexecute() {
        (query as unknown as { prepared: boolean }).prepared = false;
        return true;
      },
    } as postgres.UnsafeQueryOptions;
    const values = params as postgres.ParameterOrJSON<never>[];
    const query = this.client.unsafe(prepared?.sentAs ?? text, values, options);
    // Both send at once: what is sent together keeps its order.
    const asked = take ? query.raw().forEach(take as never) : query.execute();
    return asked as unknown as Promise<Result>;
  }

  private async waitFor<T extends Result | readonly Result[]>(start: () => Promise<T>): Promise<T> {
    if (!this.alive)
      throw lostError("CONNECTION_CLOSED", "The connection to the database is closed");
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const run: Run = { reject, place: -1 };
    this.running.add(run);
    try {
      start().then(resolve, reject);
      const result = await promise;
      this.backend ??= stateOf(result);
      return result;
    } catch (error) {
      if (failure(error).kind === "connection") this.destroy();
      throw error;
    } finally {
      this.running.delete(run);
    }
  }
}

interface Run extends Placed {
  reject(error: Error): void;
}

const plain = (text: string): Command => ({ text, params: [], reuse: false });

const stateOf = (result: Result | readonly Result[]): Backend | undefined =>
  "count" in result ? result.state : result.at(-1)?.state;

/** Rows with what the driver tells of them. */
type Result = RawRow[] & {
  readonly command?: string;
  readonly count: number | null;
  readonly columns?: readonly OutputColumn[];
  readonly state?: Backend;
};

const resultOf = (result: Result): RawResult => ({
  rows: rowsOf(result),
  matched: result.count ?? 0,
  insertId: null,
});

/**
 * The rows of a result. After a statement that failed when some rows had come, the driver puts as many holes in front of
 * the next result's rows (porsager/postgres#1119).
 */
function rowsOf(result: Result): RawRow[] {
  if (result.count === null) return result.filter((row) => row !== undefined);
  return result.length > result.count ? result.slice(result.length - result.count) : result;
}

/** An error that `failure` reads like the driver's own. */
export const lostError = (code: string, message: string): Error =>
  Object.assign(new Error(message), { code });

/** PostgreSQL refuses every statement in a transaction in which one has failed. */
const isAfterFailure = (error: unknown): boolean => (error as { code?: unknown }).code === "25P02";

/** Somewhere before the COMMIT a statement failed, although each was answered well in the end. */
const undoneError = (): Error =>
  Object.assign(new Error("The transaction was undone"), { code: "40001", severity: "ERROR" });

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

/** What every client is opened with, besides what its address says. */
const driverOptions = {
  max: 1,
  idle_timeout: 0,
  max_lifetime: null,
  connect_timeout: 0,
  fetch_types: false,
  onnotice: () => {},
  types,
};
