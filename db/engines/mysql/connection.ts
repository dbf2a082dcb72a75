/**
 * One session with MySQL or MariaDB through mysql2, set up alike whatever the server's settings are. The driver never
 * settles a statement whose socket was destroyed, nor a stream whose connection broke. So this file keeps track of all
 * that are running, and ends them.
 */
import mysql, { type ConnectionOptions } from "mysql2";
import { Bag, type Placed } from "../../../core/values/bag.ts";
import { limits } from "../../../core/values/limits.ts";
import {
  BehindError,
  type Carries,
  type Command,
  type Connection,
  type EngineOptions,
  type RawResult,
  type StreamCommand,
} from "../engine.ts";
import type { RawRow } from "../../statements/dialect.ts";
import type { OpenTlsSocket } from "../../sockets/tls-socket.ts";
import { failure } from "./failure.ts";
import { typedParams } from "./parameters.ts";
import { conditional, lockWaits, lockWaitSeconds, setUp } from "./session-settings.ts";
import { execute, PreparedStatements, sendAhead, type Take } from "./prepared.ts";

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

/** Where the server is, and how to reach it, in the words of the driver. */
export interface Target extends ConnectionOptions {
  /** Continues in plain text if the server has no TLS. */
  readonly mayBePlain: boolean;
  /** Statements may be sent before those before them are answered, if the server says that it is MariaDB. */
  readonly mayPipeline: boolean;
}

type Opening = Pick<EngineOptions, "statementTimeoutMs" | "openTls">;

/** A connection that has its session set up. Rejects within `limits.connectTimeoutMs`. */
export async function openConnection(
  { mayBePlain, mayPipeline, ...target }: Target,
  opening: Opening,
): Promise<MysqlConnection> {
  const making = { ...opening, mayPipeline };
  try {
    return await openOnce(target, making);
  } catch (error) {
    if (!mayBePlain || (error as { code?: unknown }).code !== "HANDSHAKE_NO_SSL_SUPPORT")
      throw error;
    const { ssl: _none, ...plain } = target;
    return openOnce(plain, making);
  }
}

async function openOnce(
  target: ConnectionOptions,
  { statementTimeoutMs, openTls, mayPipeline }: Opening & Pick<Target, "mayPipeline">,
): Promise<MysqlConnection> {
  const driver =
    target.ssl && openTls
      ? await createSecure(target, openTls)
      : mysql.createConnection({ ...target, ...driverOptions });
  const connection = new MysqlSession(driver, { statementTimeoutMs, mayPipeline });
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
  // `PreparedStatements` closes them before.
  maxPreparedStatements: preparedMax * 2,
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

/** MySQL cannot prepare these. None returns rows, so the text protocol's different value formats do not matter. */
const unpreparable = /^\s*(start|begin|commit|rollback|savepoint|release|set|if)\b/i;

/** A command or a stream. */
interface UnderWay extends Placed {
  abort(error: Error): void;
}

type SessionOptions = Pick<EngineOptions, "statementTimeoutMs"> & Pick<Target, "mayPipeline">;

/** A session over the driver's connection, with all commands and streams that are running on it. */
class MysqlSession implements MysqlConnection {
  alive = true;
  carries: Carries = {};
  conditional: Connection["conditional"];
  private waitsBriefly = false;
  private packetBytesMax = Infinity;
  private readonly driver: mysql.Connection;
  private readonly options: SessionOptions;
  private readonly underWay = new Bag<UnderWay>();
  private readonly prepared: PreparedStatements;
  /** Statements are sent before those before them are answered. MySQL does not promise to take them. */
  private pipelines = false;
  /** Commands under way that the driver sends when it comes to them, or whose exchange has several parts. */
  private unsent = 0;

  constructor(driver: mysql.Connection, options: SessionOptions) {
    this.driver = driver;
    this.options = options;
    // A new one is prepared before the oldest is closed.
    this.prepared = new PreparedStatements(driver, preparedMax - 1);
    // An `error` event without a listener would end the process.
    driver.on("error", (error: Error) => this.end(error));
    driver.on("end", () =>
      this.end(lostConnection("The server closed the connection", "PROTOCOL_CONNECTION_LOST")),
    );
  }

  async send(whole: Command): Promise<RawResult> {
    const { before = [], behind = [], waitsBriefly = false, ...command } = whole;
    const isBrief = waitsBriefly && this.carries.writes !== undefined;
    if (isBrief !== this.waitsBriefly) this.waitForLocks(isBrief);
    if (before.length + behind.length === 0) return this.sendOne(command);
    // A lock can end the transaction by a conflict. What is behind it would then run without one.
    if (!before.every(({ text }) => unpreparable.test(text))) {
      for (const one of before) await this.sendOne(one);
      return this.send({ ...whole, before: [] });
    }
    if (this.pipelines) this.prepared.gather();
    const sent = [...before, command, ...behind].map((one) => this.sendOne(one));
    // Whatever fails, the connection has to be free afterwards.
    const settled = await Promise.allSettled(sent);
    const failed = settled.findIndex(({ status }) => status === "rejected");
    if (failed <= before.length) return sent[failed < 0 ? before.length : failed]!;
    throw new BehindError((settled[failed] as PromiseRejectedResult).reason);
  }

  /** Sent with the statement for which it counts. */
  private waitForLocks(briefly: boolean): void {
    this.waitsBriefly = briefly;
    // Nothing lies between not waiting and a second, and others wait for the one that waits.
    const text = `set ${lockWaits(briefly ? 0 : lockWaitSeconds)}`;
    this.sendOne({ text, params: [], reuse: false }).catch(() => {});
  }

  private async sendOne({ text, params, reuse }: Command): Promise<RawResult> {
    const { driver } = this;
    // The server would close the connection, and with it the transaction, in which smaller statements can go on.
    if (isAbove(this.packetBytesMax, params)) throw packetTooLarge();
    const prepared = reuse ? this.prepared.find(text) : undefined;
    const isPlain = prepared === undefined && unpreparable.test(text);
    const isKnown = isPlain || prepared !== undefined;
    const isAhead = isKnown && this.pipelines && this.unsent === 0;
    const result = await this.command<RawResult>((done) => {
      const take: Take = (error, answer, fields) =>
        error ? done(error, nothing) : done(null, rawResult(answer, fields));
      // A statement that is alone has nothing to wait for.
      if (isAhead && this.underWay.size > 1) this.prepared.gather();
      if (prepared) execute(prepared, params, { driver, isAhead, take });
      else if (!isPlain) driver.execute(text, typedParams(params) as never[], take);
      else {
        const query = driver.query(text, take);
        if (isAhead) sendAhead(query, driver);
      }
    }, isAhead);
    if (!this.alive || isKnown) return result;
    if (!reuse) this.prepared.drop(text);
    // Nobody waits for it: a failure ends the connection, and the next statement tells.
    else this.command<null>((done) => this.prepared.keep(text, done)).catch(() => undefined);
    return result;
  }

  async *stream({ text, params, batchRows, onFields }: StreamCommand): AsyncGenerator<RawRow[]> {
    if (!this.alive) throw lostConnection("The connection is closed", "PROTOCOL_CONNECTION_LOST");
    const execution = this.driver.execute(text, typedParams(params) as never[]);
    // The stream stops listening when it ends, but the driver may still report the lost connection.
    execution.on("error", () => undefined);
    if (onFields) execution.on("fields", onFields);
    const rows = execution.stream({ highWaterMark: batchRows });
    const own: UnderWay = { abort: (error) => void rows.destroy(error), place: -1 };
    this.underWay.add(own);
    this.unsent++;
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
      this.unsent--;
      // Otherwise the server would first send all remaining rows.
      if (!isOver)
        this.end(lostConnection("The stream was left early", "PROTOCOL_CONNECTION_LOST"));
      else if (this.alive) this.prepared.drop(text);
    }
  }

  describe(text: string): Promise<readonly Field[]> {
    return this.command<readonly Field[]>((done) => {
      this.driver.prepare(text, (error, statement) => {
        if (error) return done(error, []);
        this.prepared.drop(text);
        done(null, (statement as unknown as { columns: Field[] }).columns);
      });
    });
  }

  async setUp(): Promise<void> {
    const { statementTimeoutMs, mayPipeline } = this.options;
    const { packetBytesMax, isMariadb } = await setUp(this, statementTimeoutMs);
    this.packetBytesMax = packetBytesMax;
    this.pipelines = isMariadb && mayPipeline;
    const most = limits.sharedStatementsMax;
    this.carries = this.pipelines ? { reads: most, writes: most } : {};
    this.conditional = this.pipelines ? conditional : undefined;
    this.waitsBriefly = false;
  }

  async reset(): Promise<void> {
    // The server closes the prepared statements, and the driver forgets them.
    await this.command<null>((done) => this.driver.reset((error) => done(error, null)));
    this.prepared.clear();
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

  /** One command of the driver as a promise that also settles when the connection ends. `isSent`: see `unsent`. */
  private command<T>(
    start: (done: (error: Error | null, result: T) => void) => void,
    isSent = false,
  ): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (!this.alive) throw lostConnection("The connection is closed", "PROTOCOL_CONNECTION_LOST");
      const own: UnderWay = { abort: reject, place: -1 };
      this.underWay.add(own);
      if (!isSent) this.unsent++;
      const settle = (error: Error | null, result?: T): void => {
        this.underWay.delete(own);
        if (!isSent) this.unsent--;
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
