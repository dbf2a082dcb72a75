/**
 * A connection whose statements run in a separate process: SQLite cannot stop a statement, but a process can be killed,
 * and in WAL mode it only reads. Statements run in it as in `connection.ts`.
 */
import { type ChildProcess, spawn } from "node:child_process";
import type { Buffer } from "node:buffer";
import type { Socket } from "node:net";
import { fileURLToPath } from "node:url";
import type { Command, Connection, RawResult, StreamCommand } from "../engine.ts";
import type { RawRow } from "../../statements/dialect.ts";
import { FormulaFault } from "./formulas.ts";
import {
  createFrames,
  frameOf,
  type FromReader,
  messageOf,
  type SentError,
  type ToReader,
} from "./reader-messages.ts";

const program = fileURLToPath(
  new URL(
    import.meta.url.endsWith(".js") ? "./reader-process.js" : "./reader-process.ts",
    import.meta.url,
  ),
);

/** What the process needs where a runtime asks for permissions; it opens no sockets and starts no programs. */
const denoGrants = ["read", "write", "env", "ffi", "sys"].map((name) => `--allow-${name}`);

type Answer = Exclude<FromReader, { type: "rows" }>;

interface Waiting {
  readonly rows: RawRow[];
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
}

/**
 * `hasChanged`: whether tables were changed, asked after each statement. Rejects with the driver's error if the file
 * cannot be opened, and if the process cannot be started.
 */
export async function connectReader(
  path: string,
  hasChanged: () => boolean = () => false,
): Promise<Connection> {
  let child: ChildProcess;
  try {
    child = startProcess();
  } catch (cause) {
    throw new UnstartedReader(cause);
  }
  const reader = new Reader(child, hasChanged);
  try {
    await reader.open(path);
    return reader;
  } catch (error) {
    reader.destroy();
    throw error;
  }
}

/** The file is not at fault: Deno was not allowed to start the process, or the system had no room for it. */
export class UnstartedReader extends Error {
  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

/** Options for Node.js itself, such as the port of a debugger, are only for the service. */
function startProcess(): ChildProcess {
  const args = "Deno" in globalThis ? ["run", "--no-prompt", ...denoGrants] : [];
  const { NODE_OPTIONS: _, ...env } = process.env;
  return spawn(process.execPath, [...args, program], {
    stdio: ["pipe", "pipe", "inherit"],
    env,
    windowsHide: true,
  });
}

class Reader implements Connection {
  alive = true;
  private readonly child: ChildProcess;
  private readonly hasChanged: () => boolean;
  private waiting: Waiting | null = null;

  constructor(child: ChildProcess, hasChanged: () => boolean) {
    this.child = child;
    this.hasChanged = hasChanged;
    const { stdin, stdout } = child;
    stdout!.on(
      "data",
      createFrames((body: Buffer) => this.receive(messageOf(body) as FromReader)),
    );
    // What went wrong is told by the end of the process.
    for (const pipe of [stdin!, stdout!]) pipe.on("error", () => {});
    child.once("error", (error) => this.end(new UnstartedReader(error)));
    child.once("exit", () => this.end(new Error("The database connection is not open")));
    // Of a process that did not start, Deno has nothing to let go.
    if (child.pid !== undefined) child.unref();
    this.keepProcess(false);
  }

  async open(path: string): Promise<void> {
    await this.ask({ type: "open", path });
  }

  async send({ text, params, reuse, isNative = false }: Command): Promise<RawResult> {
    const { rows, answer } = await this.ask({ type: "send", text, params, reuse, isNative });
    if (answer.type !== "done") throw new Error(`A reader answered ${answer.type}`);
    const { matched, fields } = answer;
    const result = { rows, matched, insertId: null, ...(fields && { fields }) };
    return this.hasChanged() ? { ...result, isPreparedAnew: true } : result;
  }

  async *stream({ text, params, batchRows }: StreamCommand): AsyncGenerator<RawRow[]> {
    let { answer } = await this.ask({ type: "stream", text, params, batchRows });
    let isOpen = true;
    try {
      while (answer.type === "batch") {
        yield answer.rows;
        ({ answer } = await this.ask({ type: "next" }));
      }
      isOpen = false;
    } finally {
      if (isOpen && this.alive) await this.ask({ type: "stop" });
    }
  }

  async close(): Promise<void> {
    this.destroy();
  }

  /** Nothing has to be saved: it only reads. */
  destroy(): void {
    if (!this.alive) return;
    this.child.kill("SIGKILL");
    this.end(new Error("The database connection is not open"));
  }

  private async ask(message: ToReader): Promise<{ rows: RawRow[]; answer: Answer }> {
    if (!this.alive) throw new Error("The database connection is not open");
    const rows: RawRow[] = [];
    this.keepProcess(true);
    try {
      const answer = await new Promise<Answer>((resolve, reject) => {
        this.waiting = { rows, resolve, reject };
        this.child.stdin!.write(frameOf(message));
      });
      if (answer.type === "failed") throw errorOf(answer.error);
      return { rows, answer };
    } finally {
      this.waiting = null;
      this.keepProcess(false);
    }
  }

  private receive(message: FromReader): void {
    if (message.type !== "rows") this.waiting?.resolve(message);
    else for (const row of message.rows) this.waiting?.rows.push(row);
  }

  private end(error: Error): void {
    this.alive = false;
    this.waiting?.reject(error);
  }

  /** Whether the service may not end while the reader lives. */
  private keepProcess(isNeeded: boolean): void {
    for (const pipe of [this.child.stdin, this.child.stdout] as unknown as Partial<Socket>[]) {
      if (isNeeded) pipe.ref?.();
      else pipe.unref?.();
    }
  }
}

function errorOf({ message, code, formula }: SentError): Error {
  if (formula !== null) return new FormulaFault(formula);
  return code === null ? new Error(message) : Object.assign(new Error(message), { code });
}
