/**
 * One session with MySQL or MariaDB through mysql2, set up alike whatever the server's settings are. The driver never
 * settles a statement whose socket was destroyed, nor a stream whose connection broke. So this file keeps track of all
 * that are running, and ends them.
 */
import mysql, { type ConnectionOptions } from "mysql2";
import { Bag, type Placed } from "../../../core/values/bag.ts";
import { limits } from "../../../core/values/limits.ts";
import {
  type Command,
  type Connection,
  type EngineOptions,
  type RawResult,
  rowsFor,
  type StreamCommand,
} from "../engine.ts";
import type { RawRow } from "../../statements/dialect.ts";
import type { OpenTlsSocket } from "../../sockets/tls-socket.ts";
import { failure } from "./failure.ts";

/** A column of a result, as the protocol describes it. */
export interface Field {
  readonly name: string;
  readonly columnType: number;
  readonly columnLength: number;
  readonly flags: number;
  readonly decimals: number;
  readonly characterSet: number;
  /** `uuid`, `inet6`, `point` …: only on MariaDB. */
  readonly extendedTypeName?: string;
  /** `json`: only on MariaDB. */
  readonly extendedFormat?: string;
}

export interface MysqlConnection extends Connection {
  /** The columns that a query would give; it does not run. */
  describe(text: string): Promise<readonly Field[]>;
  /** Makes it like a new one. */
  reset(): Promise<void>;
}

/** Per connection; the server limits them for all clients together (16382 by default). */
const preparedMax = 200;

/** Rows and metadata locks: waiting longer than this is a conflict. */
const lockWaitSeconds = 10;

/** A slow reader of a stream may leave the server waiting this long. */
const streamStallSeconds = 600;

/** Where the server is, and how to reach it, in the words of the driver. */
export interface Target extends ConnectionOptions {
  /** Continues in plain text if the server has no TLS. */
  readonly mayBePlain: boolean;
}

type Opening = Pick<EngineOptions, "statementTimeoutMs" | "openTls">;

/** A connection that has its session set up. Rejects within `limits.connectTimeoutMs`. */
export async function openConnection(
  { mayBePlain, ...target }: Target,
  opening: Opening,
): Promise<MysqlConnection> {
  try {
    return await openOnce(target, opening);
  } catch (error) {
    if (!mayBePlain || (error as { code?: unknown }).code !== "HANDSHAKE_NO_SSL_SUPPORT")
      throw error;
    const { ssl: _none, ...plain } = target;
    return openOnce(plain, opening);
  }
}

async function openOnce(
  target: ConnectionOptions,
  { statementTimeoutMs, openTls }: Opening,
): Promise<MysqlConnection> {
  const driver =
    target.ssl && openTls
      ? await createSecure(target, openTls)
      : mysql.createConnection({ ...target, ...driverOptions });
  const connection = new MysqlSession(driver, statementTimeoutMs);
  return new Promise((resolve, reject) => {
    // The driver's own timer ends with the handshake, but the set-up can hang too.
    const timer = setTimeout(() => {
      connection.destroy();
      reject(lostConnection("The database did not answer in time", "ETIMEDOUT"));
    }, limits.connectTimeoutMs);
    const settle = (error: unknown): void => {
      clearTimeout(timer);
      if (!error) return resolve(connection);
      connection.destroy();
      reject(error);
    };
    driver.connect((error) => {
      if (error) return settle(error);
      connection.setUp().then(() => settle(null), settle);
    });
  });
}

/** The driver's own TLS needs features that some runtimes lack. */
async function createSecure(
  target: ConnectionOptions,
  openTls: OpenTlsSocket,
): Promise<mysql.Connection> {
  const { host = "", port = 0 } = target;
  const socket = await openTls({ host, port, isWhole: isPacket });
  const driver = mysql.createConnection({ ...target, ...driverOptions, stream: socket });
  const startTLS = (done: (error?: unknown) => void): void =>
    void socket.upgrade().then(() => done(), done);
  return Object.assign(driver, { startTLS });
}

/** Three bytes of length, and one of sequence number. */
const isPacket = (bytes: Uint8Array): boolean =>
  bytes.length >= 4 && bytes.length >= 4 + bytes[0]! + bytes[1]! * 256 + bytes[2]! * 65_536;

const driverOptions: ConnectionOptions = {
  charset: "utf8mb4",
  timezone: "Z",
  dateStrings: true,
  jsonStrings: true,
  // Numbers up to 2^53, text beyond.
  supportBigNumbers: true,
  bigNumberStrings: false,
  stringifyObjects: true,
  multipleStatements: false,
  // FOUND_ROWS is the driver's default and stays: an UPDATE counts the rows that it matched.
  flags: ["-LOCAL_FILES", "-IGNORE_SPACE"],
  maxPreparedStatements: preparedMax,
  connectTimeout: limits.connectTimeoutMs,
  enableKeepAlive: true,
  keepAliveInitialDelay: 10_000,
  disableEval: !canEval(),
};

/** Edge runtimes forbid `new Function`, with which the driver makes its faster parsers. */
function canEval(): boolean {
  try {
    return new Function("return true")() === true;
  } catch {
    return false;
  }
}

/**
 * The last mode: a key of 0 is stored, and does not request a new key. NO_ZERO_DATE is not among them: it would refuse
 * each row that leaves a column to its default `0000-00-00`, which many older tables have. No request can send that date.
 */
const sqlMode =
  "STRICT_ALL_TABLES,NO_ZERO_IN_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,NO_AUTO_VALUE_ON_ZERO";

/**
 * The statement that makes the settings of a session. MySQL runs the content of `/*!80000 … *\/` and MariaDB that of
 * `/*M! … *\/`: one statement serves both.
 */
export function settingsFor(statementTimeoutMs: number): string {
  const settings = [
    "names utf8mb4",
    "time_zone = '+00:00'",
    // MariaDB cuts fractions of a second by itself; MySQL would round them.
    `sql_mode = /*M! '${sqlMode}' */ /*!80000 '${sqlMode},TIME_TRUNCATE_FRACTIONAL' */`,
    "foreign_key_checks = 1",
    // With it, `id is null` finds the row that was inserted last.
    "sql_auto_is_null = 0",
    "sql_safe_updates = 0",
    `innodb_lock_wait_timeout = ${lockWaitSeconds}`,
    `lock_wait_timeout = ${lockWaitSeconds}`,
    `net_write_timeout = ${streamStallSeconds}`,
  ];
  const timeout =
    statementTimeoutMs > 0
      ? ` /*M! , max_statement_time = ${statementTimeoutMs / 1000} */ /*!80000 , max_execution_time = ${statementTimeoutMs} */`
      : "";
  return `set ${settings.join(", ")}${timeout}`;
}

/** The bytes that the server takes at once. */
async function setUp(connection: Connection, statementTimeoutMs: number): Promise<number> {
  // Within a transaction it could commit, so it is no part of the settings.
  await rowsFor(connection, `${settingsFor(statementTimeoutMs)}, autocommit = 1`);
  // The variable behind it has different names on the two servers; the statement is the same.
  await rowsFor(connection, "set session transaction isolation level read committed");
  const [row] = await rowsFor(connection, "select @@max_allowed_packet as bytes");
  return Number(row!["bytes"]);
}

/** MySQL cannot prepare these. None returns rows, so the text protocol's different value formats do not matter. */
const unpreparable = /^\s*(start|begin|commit|rollback|savepoint|release|set)\b/i;

/** A command or a stream. */
interface UnderWay extends Placed {
  abort(error: Error): void;
}

/** A session over the driver's connection, with all commands and streams that are running on it. */
class MysqlSession implements MysqlConnection {
  alive = true;
  packetBytesMax = Infinity;
  private readonly driver: mysql.Connection;
  private readonly statementTimeoutMs: number;
  private readonly underWay = new Bag<UnderWay>();

  constructor(driver: mysql.Connection, statementTimeoutMs: number) {
    this.driver = driver;
    this.statementTimeoutMs = statementTimeoutMs;
    // An `error` event without a listener would end the process.
    driver.on("error", (error: Error) => this.end(error));
    driver.on("end", () =>
      this.end(lostConnection("The server closed the connection", "PROTOCOL_CONNECTION_LOST")),
    );
  }

  async send({ text, params, reuse }: Command): Promise<RawResult> {
    const { driver } = this;
    // The server would close the connection, and with it the transaction, in which smaller statements can go on.
    if (isAbove(this.packetBytesMax, params)) throw packetTooLarge();
    const result = await this.command<RawResult>((done) => {
      const take: Take = (error, answer, fields) =>
        error ? done(error, nothing) : done(null, rawResult(answer, fields));
      if (unpreparable.test(text)) driver.query(text, take);
      else driver.execute(text, params as never[], take);
    });
    if (!reuse && this.alive) driver.unprepare(text);
    return result;
  }

  async *stream({ text, params, batchRows, onFields }: StreamCommand): AsyncGenerator<RawRow[]> {
    if (!this.alive) throw lostConnection("The connection is closed", "PROTOCOL_CONNECTION_LOST");
    const execution = this.driver.execute(text, params as never[]);
    // The stream stops listening when it ends, but the driver may still report the lost connection.
    execution.on("error", () => undefined);
    if (onFields) execution.on("fields", onFields);
    const rows = execution.stream({ highWaterMark: batchRows });
    const own: UnderWay = { abort: (error) => void rows.destroy(error), place: -1 };
    this.underWay.add(own);
    let isOver = false;
    try {
      let batch: RawRow[] = [];
      for await (const row of rows) {
        if (batch.push(row as RawRow) < batchRows) continue;
        yield batch;
        batch = [];
      }
      if (batch.length > 0) yield batch;
      isOver = true;
    } catch (error) {
      // The server sends nothing more about this statement after its error.
      isOver = typeof (error as { errno?: unknown }).errno === "number";
      throw error;
    } finally {
      this.underWay.delete(own);
      // Otherwise the server would first send all remaining rows.
      if (!isOver)
        this.end(lostConnection("The stream was left early", "PROTOCOL_CONNECTION_LOST"));
      else if (this.alive) this.driver.unprepare(text);
    }
  }

  describe(text: string): Promise<readonly Field[]> {
    return this.command<readonly Field[]>((done) => {
      this.driver.prepare(text, (error, statement) => {
        if (error) return done(error, []);
        this.driver.unprepare(text);
        done(null, (statement as unknown as { columns: Field[] }).columns);
      });
    });
  }

  async setUp(): Promise<void> {
    this.packetBytesMax = await setUp(this, this.statementTimeoutMs);
  }

  async reset(): Promise<void> {
    // The server closes the prepared statements, and the driver forgets them.
    await this.command<null>((done) => this.driver.reset((error) => done(error, null)));
    await this.setUp();
  }

  close(): Promise<void> {
    return new Promise<void>((resolve) => {
      if (!this.alive) return resolve();
      const timer = setTimeout(
        () => this.end(lostConnection("The connection was closed", "ECONNABORTED")),
        900,
      );
      const { stream } = this.driver as unknown as { stream: NodeJS.EventEmitter };
      stream.once("close", () => {
        clearTimeout(timer);
        this.alive = false;
        resolve();
      });
      this.driver.end(() => undefined);
    });
  }

  destroy(): void {
    if (this.alive) this.end(lostConnection("The connection was destroyed", "ECONNABORTED"));
  }

  private end(error: Error): void {
    this.alive = false;
    this.underWay.forEach((one) => {
      this.underWay.delete(one);
      one.abort(error);
    });
    // The driver's own `destroy` sends a goodbye and waits for a server that may never answer.
    this.driver.destroy();
    (this.driver as unknown as { stream: { destroy(): void } }).stream.destroy();
  }

  /** One command of the driver as a promise that also settles when the connection ends. */
  private command<T>(start: (done: (error: Error | null, result: T) => void) => void): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (!this.alive) throw lostConnection("The connection is closed", "PROTOCOL_CONNECTION_LOST");
      const own: UnderWay = { abort: reject, place: -1 };
      this.underWay.add(own);
      const settle = (error: Error | null, result?: T): void => {
        this.underWay.delete(own);
        if (error === null) return resolve(result as T);
        reject(error);
        const isOver =
          failure(error).kind === "connection" || ("fatal" in error && error.fatal === true);
        if (isOver) this.end(error);
      };
      try {
        start(settle);
      } catch (error) {
        // A parameter that the driver cannot send.
        settle(error as Error);
      }
    });
  }
}

type Take = (error: Error | null, answer: unknown, fields: readonly unknown[]) => void;

const nothing: RawResult = { rows: [], matched: 0, insertId: null };

function rawResult(result: unknown, fields: readonly unknown[] = []): RawResult {
  // A procedure answers a list of results, and its status as the last one.
  if (Array.isArray(result) && Array.isArray(result[0]))
    return rawResult(result[0], (fields as readonly (readonly unknown[])[])[0]);
  if (Array.isArray(result))
    return { rows: result as RawRow[], matched: result.length, insertId: null, fields };
  const { affectedRows, insertId } = result as { affectedRows: number; insertId: number | string };
  return { rows: [], matched: affectedRows, insertId: insertId === 0 ? null : BigInt(insertId) };
}

/** Whether the packet of a statement with these parameters has more bytes. They are counted only where that may be. */
function isAbove(bytesMax: number, params: readonly unknown[]): boolean {
  const sizeBy = (bytesOf: (text: string) => number): number =>
    params.reduce<number>((sum, value) => {
      const bytes =
        typeof value === "string"
          ? bytesOf(value)
          : value instanceof Uint8Array
            ? value.byteLength
            : 0;
      return sum + bytes + parameterBytes;
    }, packetBytes);
  return sizeBy((text) => text.length * 3) > bytesMax && sizeBy(Buffer.byteLength) > bytesMax;
}

/** What the protocol adds at most: to a parameter its type, its length or number, and a bit; to all of them a head. */
const parameterBytes = 12;
const packetBytes = 16;

/** The server's own error. */
const packetTooLarge = (): Error =>
  Object.assign(new Error("Got a packet bigger than 'max_allowed_packet' bytes"), { errno: 1153 });

const lostConnection = (message: string, code: string): Error =>
  Object.assign(new Error(message), { code, fatal: true });
