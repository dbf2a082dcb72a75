/**
 * Statements that stay prepared, past three habits of the driver. It reads the descriptions of the columns anew with
 * every answer, although they are more bytes than a small record; it sends a statement only after the answer to the one
 * before, although the server answers in order; and it copies all its options and makes an object of each parameter for
 * every packet. All go through members of the driver that it does not document; `test/db/mysql-prepared.test.ts` shows
 * whether a newer one still has them.
 */
import type mysql from "mysql2";
import { endOfTurn } from "../../../core/values/end-of-turn.ts";
import { executePacket, type OutgoingPacket } from "./execute-packet.ts";
import { typedParams } from "./parameters.ts";
import { useQuickDates } from "./quick-dates.ts";

/** The driver's callback: an error, or the answer and its columns. */
export type Take = (error: Error | null, answer: unknown, fields: readonly unknown[]) => void;

/** The packet that is being read. The driver has one object for all. */
interface Packet {
  buffer: Buffer;
  /** Where its head begins. */
  start: number;
  /** Where the driver reads on. */
  offset: number;
  end: number;
  isEOF(): boolean;
}

/** What a command does with the next packet; it returns the step for the one after, or null when it has ended. */
type Step = (this: DriverCommand, packet: Packet | undefined, driver: Driver) => Step | null;

interface DriverCommand {
  next: Step | null;
  start: Step;
  readonly row: Step;
  /** Reads the description of a column. */
  readField: Step;
  /** Takes the end of the descriptions. */
  readonly fieldsEOF: Step;
  /** Reads the head of the answer. */
  readonly resultsetHeader: Step;
  readonly onResult: (error: unknown) => void;
  readonly statement: { readonly id: number };
  parameters: readonly unknown[];
  options: unknown;
  _connection: Driver | null;
  readonly _resultIndex: number;
  readonly _fieldCount: number;
  _receivedFieldsCount: number;
  readonly _fields: unknown[][];
  _currentFields: unknown[];
  _rowParser: unknown;
}

interface Driver {
  readonly stream: { cork(): void; uncork(): void };
  readonly config: object;
  readonly _isMariaDB: boolean;
  readonly _command: unknown;
  sequenceId: number;
  _resetSequenceId(): void;
  addCommand(command: DriverCommand): DriverCommand;
  writePacket(packet: OutgoingPacket): void;
  protocolError(message: string): null;
}

/** What an answer's descriptions were, byte for byte, and what the driver made of them. */
interface Shape {
  readonly bytes: Buffer;
  readonly fields: unknown[];
  readonly parser: unknown;
}

/** A prepared statement of the driver. */
export interface Prepared {
  execute(params: readonly unknown[], take: Take): DriverCommand;
}

/** The prepared statements of one connection. */
export class PreparedStatements {
  private readonly driver: mysql.Connection;
  private readonly most: number;
  private isGathering = false;
  /** By text, the longest unused first. */
  private readonly all = new Map<string, Prepared>();

  /** `most`: the driver itself has to keep more. */
  constructor(driver: mysql.Connection, most: number) {
    this.driver = driver;
    this.most = most;
  }

  find(text: string): Prepared | undefined {
    const found = this.all.get(text);
    if (found === undefined || this.all.size <= this.most / 2) return found;
    this.all.delete(text);
    this.all.set(text, found);
    return found;
  }

  /** Keeps a statement that the driver has just prepared. */
  keep(text: string, done: (error: Error | null, result: null) => void): void {
    const { driver, all } = this;
    driver.prepare(text, (error, handle) => {
      if (!error && !all.has(text)) {
        if (all.size >= this.most) this.drop(all.keys().next().value!);
        all.set(text, ownHandle(handle as unknown as Prepared, driver as unknown as Driver));
      }
      done(error, null);
    });
  }

  /** Closes the statement, if there is one. */
  drop(text: string): void {
    this.all.delete(text);
    this.driver.unprepare(text);
  }

  /** What is sent while the requests that have arrived are read goes to the server together, in one system call. */
  gather(): void {
    if (this.isGathering) return;
    this.isGathering = true;
    const { stream } = this.driver as unknown as Driver;
    stream.cork();
    void endOfTurn().statements.then(() => {
      this.isGathering = false;
      stream.uncork();
    });
  }

  /** The session has been reset, and has none any more. */
  clear(): void {
    this.all.clear();
  }
}

/** `isAhead`: all commands before it have been sent, so this one can be sent before they are answered. */
export function execute(
  prepared: Prepared,
  params: readonly unknown[],
  { driver, isAhead, take }: { driver: mysql.Connection; isAhead: boolean; take: Take },
): void {
  const command = prepared.execute(params, take);
  if (isAhead) sendAhead(command, driver);
}

/** A handle whose commands are sent and read by this file. The driver starts a command when it is added, or later. */
function ownHandle(handle: Prepared, driver: Driver): Prepared {
  const readField = createFieldReader();
  const addCommand = (command: DriverCommand): DriverCommand => {
    command.start = startExecution;
    command.readField = readField;
    return driver.addCommand(command);
  };
  return Object.assign(Object.create(handle) as Prepared, { _connection: { addCommand } });
}

/**
 * `start` of an execution. MySQL's differ: the driver follows the types that the server names for parameters, and sends
 * names of them to a server that takes some.
 */
const startExecution: Step = function startExecution(packet, driver) {
  if (!driver._isMariaDB) {
    const { start } = Object.getPrototypeOf(this) as DriverCommand;
    this.parameters = typedParams(this.parameters);
    return start.call(this, packet, driver);
  }
  this._connection = driver;
  this.options = driver.config;
  try {
    driver.writePacket(executePacket(this.statement.id, this.parameters));
  } catch (error) {
    this.onResult(error);
    return null;
  }
  return this.resultsetHeader;
};

/** Sends a command that the driver has put behind another one. All before it must have been sent. */
export function sendAhead(added: unknown, connection: mysql.Connection): void {
  const driver = connection as unknown as Driver;
  if (driver._command === added) return;
  const command = added as DriverCommand;
  // Packets are numbered within each exchange.
  const { sequenceId } = driver;
  driver._resetSequenceId();
  const answer = command.start(undefined, driver);
  const sent = driver.sequenceId;
  driver.sequenceId = sequenceId;
  // What the driver calls instead of `start` when the answers before are complete.
  command.next = (_packet, its) => {
    its.sequenceId = sent;
    return answer;
  };
}

/** Reads the descriptions of a statement's columns: at first as the driver does, then by comparing their bytes. */
function createFieldReader(): Step {
  let shape: Shape | null = null;

  function skip(this: DriverCommand): Step {
    return ++this._receivedFieldsCount < this._fieldCount ? skip : end;
  }
  function end(this: DriverCommand, packet: Packet | undefined, driver: Driver): Step | null {
    if (!packet!.isEOF()) return driver.protocolError("Expected EOF packet") ?? null;
    return this.row;
  }

  /** The driver's objects refer to the bytes that they are made of, so they are made of a copy. */
  function learn(bytes: Buffer, start: number): Step {
    return function read(packet, driver) {
      packet!.end -= start;
      packet!.start -= start;
      packet!.offset -= start;
      packet!.buffer = bytes;
      const { readField } = Object.getPrototypeOf(this) as DriverCommand;
      const next = readField.call(this, packet, driver);
      if (next === readField) return read;
      return function last(eof, its) {
        const after = this.fieldsEOF(eof, its);
        if (after !== null) shape = { bytes, fields: this._currentFields, parser: this._rowParser };
        return after;
      };
    };
  }

  return function first(packet, driver) {
    const { buffer, start } = packet!;
    useQuickDates(packet!);
    const { readField } = Object.getPrototypeOf(this) as DriverCommand;
    if (this._resultIndex > 0) return readField.call(this, packet, driver);
    const isKnown = shape?.fields.length === this._fieldCount && isAt(buffer, start, shape.bytes);
    if (shape !== null && isKnown) {
      this._fields[0] = this._currentFields = shape.fields;
      this._rowParser = shape.parser;
      return skip.call(this);
    }
    const length = lengthOf(buffer, start, this._fieldCount);
    if (length === null) return readField.call(this, packet, driver);
    const bytes = Buffer.from(buffer.subarray(start, start + length));
    return learn(bytes, start).call(this, packet, driver);
  };
}

const isAt = (buffer: Buffer, start: number, bytes: Buffer): boolean =>
  start + bytes.length <= buffer.length &&
  buffer.compare(bytes, 0, bytes.length, start, start + bytes.length) === 0;

/** The bytes of so many packets with their heads; null where they are not all there. */
function lengthOf(buffer: Buffer, start: number, packets: number): number | null {
  let at = start;
  for (let count = 0; count < packets; count++) {
    if (at + 4 > buffer.length) return null;
    at += 4 + buffer.readUIntLE(at, 3);
  }
  return at <= buffer.length ? at - start : null;
}
