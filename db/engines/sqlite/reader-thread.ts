/** The thread of a reader process (`reader-process.ts`) that runs the statements. */
import type { Buffer } from "node:buffer";
import { writeSync } from "node:fs";
import { constants, setPriority } from "node:os";
import { parentPort } from "node:worker_threads";
import Database from "better-sqlite3";
import { createConnection } from "./connection.ts";
import { FormulaFault } from "./formulas.ts";
import { registerFunctions } from "./functions.ts";
import {
  frameOf,
  type FromReader,
  messageOf,
  type SentError,
  type ToReader,
} from "./reader-messages.ts";
import { createStoredForms } from "./forms/stored-forms.ts";
import type { TableWatch } from "./table-watch.ts";
import type { Connection } from "../engine.ts";
import type { RawRow } from "../../statements/dialect.ts";

/** Rows of one message: the service does other things between two of them. */
const messageRows = 1_000;
/** Another process may be using the file at that moment. */
const openTimeoutMs = 2_000;
/** Pause before a full pipe is tried again. */
const fullPipeMs = 1;

serveStatements();

/** Requests that the service answers itself come before statements. On Linux, this is about the calling thread. */
function lowerPriority(): void {
  try {
    setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // A runtime or a sandbox does not allow it.
  }
}

function serveStatements(): void {
  let connection: Connection | null = null;
  let stream: AsyncIterator<RawRow[]> | null = null;

  async function answer(message: ToReader): Promise<FromReader> {
    if (message.type === "open") {
      connection = openReader(message.path);
      lowerPriority();
      return done(0);
    }
    if (connection === null) throw new Error("The database connection is not open");
    switch (message.type) {
      case "send": {
        const { rows, matched, fields } = await connection.send(message);
        sendRows(rows);
        return done(matched, fields);
      }
      case "stream":
        stream = connection.stream({ ...message, reuse: false })[Symbol.asyncIterator]();
        return nextBatch();
      case "next":
        return nextBatch();
      case "stop":
        await stream?.return?.();
        return done(0);
    }
  }

  async function nextBatch(): Promise<FromReader> {
    const next = await stream?.next();
    return next === undefined || next.done === true ? done(0) : { type: "batch", rows: next.value };
  }

  parentPort!.on("message", (body: Uint8Array) => {
    answer(messageOf(body) as ToReader).then(send, (error: unknown) =>
      send({ type: "failed", error: sentError(error) }),
    );
  });
}

function openReader(path: string): Connection {
  const database = new Database(path, { timeout: openTimeoutMs, fileMustExist: true });
  // A file that is not a database is only noticed when it is read.
  database.pragma("schema_version");
  database.pragma("query_only = on");
  // Only statements that write ask for the forms of stored values.
  const forms = createStoredForms(() => null);
  registerFunctions(database, forms);
  // The service watches the tables itself.
  const tables: TableWatch = { begin: () => {}, isDue: () => false, hasChanged: () => false };
  return createConnection(database, { release: () => database.close(), forms, tables });
}

const done = (matched: number, fields?: readonly unknown[]): FromReader => ({
  type: "done",
  matched,
  fields,
});

function sendRows(rows: RawRow[]): void {
  for (let at = 0; at < rows.length; at += messageRows)
    send({ type: "rows", rows: rows.slice(at, at + messageRows) });
}

function sentError(error: unknown): SentError {
  const { message, code } = error as { message?: unknown; code?: unknown };
  return {
    message: String(message),
    code: typeof code === "string" ? code : null,
    formula: error instanceof FormulaFault ? error.kind : null,
  };
}

/** Waits while the service does not read: no more is read of the database than it takes. */
function send(message: FromReader): void {
  const frame: Buffer = frameOf(message);
  for (let at = 0; at < frame.length;) {
    try {
      at += writeSync(1, frame, at);
    } catch (error) {
      if ((error as { code?: unknown }).code !== "EAGAIN") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, fullPipeMs);
    }
  }
}
