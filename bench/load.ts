/**
 * Sends requests over a fixed number of connections for a fixed time, and counts the answers or times each of them.
 * Uses HTTP on plain sockets, because Node's own client needs more time per request than the servers under test.
 */
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

export interface Load {
  readonly path: string;
  /** Default: POST. */
  readonly method?: "GET" | "POST";
  readonly headers?: Readonly<Record<string, string>>;
  /** Makes the body of the nth request. */
  body(at: number): string;
  readonly expectedStatus: number;
  /** Requests at the same time; default 32. */
  readonly connections?: number;
  /** Of each connection, between an answer and its next request; default: none. */
  readonly pauseMs?: number;
  /** Requests of all connections together, evenly spread; default: as many as are answered. */
  readonly perSecond?: number;
}

/** Answers per second. Rejects when one of them has another status than expected. */
export async function measure(origin: string, load: Load, durationMs: number): Promise<number> {
  const startedMs = performance.now();
  const times = await latencies(origin, load, durationMs);
  return times.length / ((performance.now() - startedMs) / 1000);
}

/** The milliseconds that each answer took. Rejects as `measure`. */
export async function latencies(origin: string, load: Load, durationMs: number): Promise<number[]> {
  const { connections = 32, pauseMs, perSecond, expectedStatus } = load;
  const { hostname, port, host } = new URL(origin);
  const head = headOf(load, host);
  const endMs = performance.now() + durationMs;
  const times: number[] = [];
  let sent = 0;
  const slotMs = perSecond === undefined ? 0 : (connections * 1000) / perSecond;
  const client = async () => {
    const line = new Line(connect(Number(port), hostname));
    let nextMs = performance.now() + Math.random() * slotMs;
    try {
      while (performance.now() < endMs) {
        if (slotMs > 0) {
          await sleep(Math.max(0, nextMs - performance.now()));
          // After a late answer, the client does not catch up.
          nextMs = Math.max(nextMs + slotMs, performance.now());
        }
        const startMs = performance.now();
        const body = load.method === "GET" ? "" : load.body(sent++);
        const { status, text } = await line.send(`${head(body)}${body}`);
        if (status !== expectedStatus)
          throw new Error(`${origin}${load.path} answered ${status}: ${text()}`);
        times.push(performance.now() - startMs);
        if (pauseMs !== undefined) await sleep(pauseMs);
      }
    } finally {
      line.close();
    }
  };
  await Promise.all(Array.from({ length: connections }, client));
  return times;
}

/** Everything before the body. */
function headOf({ method = "POST", path, headers = {} }: Load, host: string) {
  const fixed = Object.entries({ Host: host, ...headers })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("");
  if (method === "GET") return () => `GET ${path} HTTP/1.1\r\n${fixed}\r\n`;
  const start = `POST ${path} HTTP/1.1\r\n${fixed}Content-Type: application/json\r\nContent-Length: `;
  return (body: string) => `${start}${Buffer.byteLength(body)}\r\n\r\n`;
}

interface Received {
  readonly status: number;
  /** The body. */
  text(): string;
}

interface Waiting {
  resolve(received: Received): void;
  reject(error: Error): void;
}

const headEnd = Buffer.from("\r\n\r\n");
const lastChunk = Buffer.from("0\r\n\r\n");

/** A connection that carries one request at a time. */
class Line {
  private readonly socket: Socket;
  private waiting: Waiting | null = null;
  private buffered: Buffer = Buffer.alloc(0);
  /** The bytes of the answer that is arriving; null: not known yet. */
  private length: number | "until the last chunk" | null = null;
  private bodyAt = 0;
  private status = 0;

  constructor(socket: Socket) {
    this.socket = socket;
    socket.setNoDelay(true);
    socket.on("data", (chunk) => this.take(chunk));
    socket.on("error", (error) => this.waiting?.reject(error));
    socket.on("close", () => this.waiting?.reject(new Error("The server closed the connection")));
  }

  send(request: string): Promise<Received> {
    return new Promise((resolve, reject) => {
      this.waiting = { resolve, reject };
      this.socket.write(request);
    });
  }

  close(): void {
    this.waiting = null;
    this.socket.destroy();
  }

  private take(chunk: Buffer): void {
    this.buffered = this.buffered.length === 0 ? chunk : Buffer.concat([this.buffered, chunk]);
    if (this.length === null && !this.readHead()) return;
    const { buffered, length } = this;
    const isWhole =
      typeof length === "number"
        ? buffered.length >= length
        : buffered.subarray(-lastChunk.length).equals(lastChunk);
    if (isWhole) this.finish();
  }

  private readHead(): boolean {
    const end = this.buffered.indexOf(headEnd);
    if (end === -1) return false;
    const head = this.buffered.toString("latin1", 0, end);
    this.status = Number(head.slice(9, 12));
    this.bodyAt = end + headEnd.length;
    const announced = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    this.length =
      announced === undefined ? "until the last chunk" : this.bodyAt + Number(announced);
    return true;
  }

  private finish(): void {
    const { status, buffered, bodyAt, waiting } = this;
    this.buffered = Buffer.alloc(0);
    this.length = null;
    this.waiting = null;
    waiting?.resolve({ status, text: () => buffered.subarray(bodyAt).toString() });
  }
}
