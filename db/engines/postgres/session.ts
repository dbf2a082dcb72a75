/**
 * One session with a PostgreSQL server: a postgres.js client with one connection over a given socket. The client never
 * gets another socket, so a broken session cannot silently become a new one in the middle of a transaction, and
 * destroying the socket cuts off a server that stopped answering.
 */
import type net from "node:net";
import type postgres from "postgres";
import { Bag, type Placed } from "../../../core/values/bag.ts";
import { limits } from "../../../core/values/limits.ts";
import {
  BehindError,
  type Carries,
  type Command,
  type Connection,
  type Hearing,
  type RawResult,
  type StreamCommand,
} from "../engine.ts";
import { engineDefaults } from "../engine-defaults.ts";
import type { RawRow } from "../../statements/dialect.ts";
import type { TlsSocket } from "../../sockets/tls-socket.ts";
import { failure, isStale, mayBeStale } from "./failure.ts";
import {
  type Address,
  type Backend,
  type Client,
  clientOver,
  lostError,
  requestCancel,
} from "./client.ts";
import { createPreparedTexts, type PreparedText } from "./prepared-texts.ts";

/** A column of a query's result: where it comes from (`table` 0 = an expression) and the oid of its type. */
export interface OutputColumn {
  readonly name: string;
  readonly type: number;
  readonly table: number;
  readonly number: number;
}

export interface PostgresConnection extends Connection {
  /** The columns of a query that is used as a subquery; no row is read. */
  outputColumns(text: string): Promise<readonly OutputColumn[]>;
  /** `channel`: an identifier. */
  listen(channel: string, hearing: Hearing): Promise<void>;
  /** Makes it like a new one, except that its statements stay prepared. */
  reset(): Promise<void>;
}

/** The parts of DISCARD ALL but one. RESET leads back to the settings with which the session began. */
const resetText =
  "close all; set session authorization default; reset role; reset all; unlisten *; select pg_catalog.pg_advisory_unlock_all(); discard temp; discard sequences";

/** A session with the server over a socket. Statements that are sent while others run are answered after them. */
export class PostgresSession implements PostgresConnection {
  alive = true;
  readonly carries: Carries;
  private readonly address: Address;
  private readonly socket: net.Socket | TlsSocket;
  private readonly client: Client;
  private readonly prepared = createPreparedTexts();
  private waitsBriefly = false;
  /** The statements that are running. */
  private readonly running = new Bag<Run>();
  /** It was destroyed; its socket may wait a moment for the answer to a cancel request. */
  private isEnding = false;
  private backend: Backend | undefined;
  private hearing: Hearing | undefined;

  constructor(address: Address, socket: net.Socket | TlsSocket) {
    this.address = address;
    this.socket = socket;
    // A pooler may hand each statement to another session.
    const most = limits.sharedStatementsMax;
    this.carries = address.isPooled ? {} : { reads: most, writes: most };
    this.client = clientOver(address, socket, {
      onClose: () => {
        this.alive = false;
        this.hearing?.onEnd();
      },
      onMessage: (text) => this.hearing?.hear(text),
    });
  }

  async send(command: Command): Promise<RawResult> {
    const { before = [], behind = [], waitsBriefly = false } = command;
    if (waitsBriefly !== this.waitsBriefly) this.waitForLocks(waitsBriefly);
    if (before.length === 0 && behind.length === 0) return this.runOnce(command);
    return this.sendAll([...before, command, ...behind], before.length);
  }

  /**
   * Uses an SQL cursor. The driver's own cursor ends without an error when the server dies between two batches, and
   * then writes to a closed socket.
   */
  async *stream(command: StreamCommand): AsyncGenerator<RawRow[]> {
    const { text, params, batchRows, isInTransaction = false, onFields } = command;
    if (!isInTransaction) await this.send(plain("begin"));
    try {
      await this.runPlain(`declare rowgate_stream no scroll cursor for ${text}`, params);
      const fetch = `fetch ${batchRows} from rowgate_stream`;
      for (;;) {
        const result = await this.runPlain(fetch);
        onFields?.(columnsOf(result));
        const rows = rowsOf(result);
        if (rows.length > 0) yield rows;
        if (rows.length < batchRows) return;
      }
    } finally {
      // In a failed transaction, COMMIT is a rollback.
      const end = isInTransaction ? "close rowgate_stream" : "commit";
      if (this.alive) await this.runPlain(end).catch(() => this.destroy());
    }
  }

  /** Sent with the statement for which it counts. Where the server does not know it, it is as if nobody had asked. */
  private waitForLocks(briefly: boolean): void {
    this.waitsBriefly = briefly;
    const text = briefly ? `set lock_timeout to ${limits.sharedLockMs}` : "reset lock_timeout";
    this.runPlain(text).catch(() => {});
  }

  async outputColumns(text: string): Promise<readonly OutputColumn[]> {
    const query = { text: `select * from (\n${text}\n) as q limit 0`, params: [], reuse: false };
    const { ownSettings } = this.address;
    const around = ownSettings && {
      before: [plain("begin"), ownSettings],
      behind: [plain("commit")],
    };
    const { fields = [] } = await this.send({ ...query, ...around });
    return fields as readonly OutputColumn[];
  }

  async listen(channel: string, hearing: Hearing): Promise<void> {
    await this.runPlain(`listen ${channel}`);
    this.hearing = hearing;
  }

  async reset(): Promise<void> {
    const options = { simple: true } as postgres.UnsafeQueryOptions;
    await this.waitFor(
      () => this.client.unsafe(resetText, [], options) as unknown as Promise<Result[]>,
    );
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
    // The server checks its socket only between statements: a statement that waits for a lock would still be executed.
    const cancelled =
      this.running.size > 0 && this.backend ? requestCancel(this.address, this.backend) : null;
    const error = lostError("CONNECTION_DESTROYED", "The connection to the database was cut");
    // A pooler cancels only for clients that are still connected.
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

  /** Runs one statement, never by the simple protocol: that would take several in one text, as only `reset` wants. */
  private runPlain(text: string, params: readonly unknown[] = []): Promise<Result> {
    return this.waitFor(() => this.query({ text, params }, null));
  }

  /** The same for a text that may be prepared: if its plan may be stale, it runs once more, unprepared. */
  private async runOnce(command: Command): Promise<RawResult> {
    const prepared = this.preparedFor(command);
    try {
      const result = await this.waitFor(() => this.query(command, prepared));
      if (prepared !== null) prepared.hasRun = true;
      refuseUndone(command, result);
      return resultOf(result);
    } catch (error) {
      if (prepared === null || !mayBeStale(error, prepared)) throw error;
      return this.runUnprepared(command, { prepared, error });
    }
  }

  private async runUnprepared(
    command: Command,
    { prepared, error }: { readonly prepared: PreparedText; readonly error: unknown },
  ): Promise<RawResult> {
    let isPlanStale = isStale(error);
    try {
      const result = await this.waitFor(() => this.query(command, null));
      isPlanStale = true;
      return { ...resultOf(result), isPreparedAnew: true };
    } catch (later) {
      // After a failure in a transaction every statement fails, so the first error counts.
      throw isAfterFailure(later) ? error : later;
    } finally {
      if (isPlanStale) this.prepared.renew(command.text, prepared);
    }
  }

  private preparedFor({ text, reuse }: Command): PreparedText | null {
    return reuse ? this.prepared.take(text) : null;
  }

  /**
   * The same for several statements, pipelined if possible, of which the result at this place counts. Rejects with the
   * first error, after all answers came.
   */
  private async sendAll(statements: readonly Command[], place: number): Promise<RawResult> {
    let failed = -1;
    const sent = this.waitFor(async () => {
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
      failed = answers.findIndex(({ status }) => status === "rejected");
      if (failed >= 0) throw (answers[failed] as PromiseRejectedResult).reason;
      const results = answers.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
      for (const [at, one] of statements.entries()) refuseUndone(one, results[at]!);
      return results;
    });
    const results = await sent.catch((error: unknown) => {
      throw failed > place ? new BehindError(error) : error;
    });
    return resultOf(results[place]!);
  }

  /**
   * The driver resends a prepared statement whose plan is stale, but after the statements sent since, and then mixes up
   * their answers. It checks the query's `prepared` for that, so `prepared` is reset once the statement is sent.
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
    // Both send at once: statements that are sent together keep their order.
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

/** Rows with the driver's description of them. */
type Result = RawRow[] & {
  readonly command?: string;
  readonly count: number | null;
  readonly columns?: readonly OutputColumn[];
  readonly statement?: { readonly columns?: readonly OutputColumn[] };
  readonly state?: Backend;
};

/** The driver puts them in one place or the other, depending on what it requested from the server. */
const columnsOf = ({ columns, statement }: Result): readonly OutputColumn[] =>
  columns ?? statement?.columns ?? [];

const resultOf = (result: Result): RawResult => ({
  rows: rowsOf(result),
  matched: result.count ?? 0,
  insertId: null,
  fields: columnsOf(result),
});

/**
 * The rows of a result. If a statement failed after some rows had arrived, the driver puts that number of holes before
 * the next result's rows (porsager/postgres#1119).
 */
function rowsOf(result: Result): RawRow[] {
  if (result.count === null) return result.filter((row) => row !== undefined);
  return result.length > result.count ? result.slice(result.length - result.count) : result;
}

/** PostgreSQL refuses every statement in a transaction in which one has failed. */
const isAfterFailure = (error: unknown): boolean => (error as { code?: unknown }).code === "25P02";

/** Throws if a statement before the COMMIT failed, even if each was answered without an error in the end. */
function refuseUndone({ text }: Command, { command }: Result): void {
  if (command !== "ROLLBACK" || text !== engineDefaults.commit) return;
  const error = new Error("The transaction was undone");
  throw Object.assign(error, { code: "40001", severity: "ERROR" });
}
