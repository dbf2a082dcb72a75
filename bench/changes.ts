/**
 * `npm run bench:changes [-- sqlite postgres mysql]`: the price of history for single and bulk updates, with and without
 * it in one service; the time from the answer of a write to its event at a stream, on the same process, over Redis, and
 * where two processes share only the database; and a thousand streams while others write. `BENCH_STREAMS` changes how
 * many, `BENCH_STREAM_SECONDS` for how long.
 */
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { openSession } from "../test/servers/session.ts";
import {
  type Bench,
  bench,
  contest,
  type Contender,
  type EngineName,
  printHead,
} from "./contest.ts";
import { latencies, type Load } from "./load.ts";
import { median, peakMiB } from "./turn.ts";

const rows = 1_000;
const writes = 40;
const streams = Number(process.env["BENCH_STREAMS"] ?? 1_000);
const streamSeconds = Number(process.env["BENCH_STREAM_SECONDS"] ?? 20);
const writesPerSecond = 100;

const action = { read: true, update: true, "bulk-update": true };
const plain = { tableName: "items", action, auditColumns: false };
const others = {
  kept: { tableName: "kept", action, auditColumns: false, history: true },
  live: { tableName: "live", action, auditColumns: false, live: true },
};

let changed = 0;
const change = () => ({ id: `r${changed % rows}`, amount: ++changed });
const update = (endpoint: string, connections = 16): Load => ({
  path: `/api/bench/${endpoint}/update`,
  body: () => JSON.stringify(change()),
  expectedStatus: 200,
  connections,
});
const bulk = (endpoint: string): Load => ({
  path: `/api/bench/${endpoint}/bulk-update`,
  body: () => JSON.stringify({ data: Array.from({ length: rows }, change) }),
  expectedStatus: 200,
  connections: 1,
});

/** A database with the same rows in a table without changes, one with history and one that is live. */
async function filled(engine: EngineName, database: Bench["database"]): Promise<string> {
  const url = await database(engine);
  const session = await openSession(engine, engine === "sqlite" ? `sqlite:${url}` : url);
  const values = Array.from({ length: rows }, (_, at) => `('r${at}', 'A name of usual length', 0)`);
  for (const table of ["items", ...Object.keys(others)]) {
    await session.run(
      `create table ${table} (id varchar(36) primary key, name varchar(60), amount integer)`,
    );
    await session.run(`insert into ${table} (id, name, amount) values ${values.join(", ")}`);
  }
  await session.close();
  return url;
}

/** An open event stream. */
class Stream {
  /** When its last event came (clock of `performance.now()`). */
  lastMs = 0;
  events = 0;
  private readonly socket: Socket;
  private head = "";
  /** The line that is still to come whole. */
  private rest = "";

  constructor({ origin }: Contender) {
    const { hostname, port, host } = new URL(origin);
    this.socket = connect(Number(port), hostname);
    this.socket.write(
      `GET /api/bench/changes?endpoints=live HTTP/1.1\r\nHost: ${host}\r\nAccept: text/event-stream\r\n\r\n`,
    );
    this.socket.on("data", (chunk) => this.take(chunk.toString("latin1")));
    this.socket.on("error", () => {});
  }

  async opened(): Promise<void> {
    while (!this.head.includes(": changes")) {
      if (this.head !== "" && !this.head.startsWith("HTTP/1.1 200")) throw new Error(this.head);
      await sleep(5);
    }
  }

  /** Resolves once there are so many events; rejects after 20 seconds. */
  async reach(events: number): Promise<void> {
    const endMs = performance.now() + 20_000;
    while (this.events < events) {
      if (performance.now() > endMs) throw new Error("An event did not come");
      await sleep(1);
    }
  }

  close(): void {
    this.socket.destroy();
  }

  private take(chunk: string): void {
    if (!this.head.includes(": changes")) this.head += chunk;
    const lines = `${this.rest}${chunk}`.split("\n");
    this.rest = lines.pop()!;
    const found = lines.filter((line) => line.startsWith("event: change")).length;
    if (found === 0) return;
    this.events += found;
    this.lastMs = performance.now();
  }
}

/** Milliseconds from the answer of a write at one process to its event at the other, in the median. */
async function delayMs(writer: Contender, reader: Contender): Promise<number> {
  const stream = new Stream(reader);
  await stream.opened();
  const delays: number[] = [];
  for (let write = 1; write <= writes; write++) {
    const response = await fetch(`${writer.origin}${update("live").path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(change()),
    });
    const answeredMs = performance.now();
    if (response.status !== 200) throw new Error(await response.text());
    await stream.reach(write);
    delays.push(Math.max(0, stream.lastMs - answeredMs));
    await sleep(50 + Math.random() * 100);
  }
  stream.close();
  return median(delays);
}

/** Many streams, and writes at an even pace. Prints memory, the price of a write, and who fell behind. */
async function crowd(engine: EngineName, service: Contender): Promise<void> {
  const load = { ...update("live", 8), perSecond: writesPerSecond };
  const alone = median(await latencies(service.origin, load, 5_000));
  const emptyMiB = peakMiB(service.pid);
  const open = Array.from({ length: streams }, () => new Stream(service));
  await Promise.all(open.map((stream) => stream.opened()));
  const openMiB = peakMiB(service.pid);
  const times = await latencies(service.origin, load, streamSeconds * 1_000);
  const endMs = performance.now();
  await Promise.all(open.map((stream) => stream.reach(times.length)));
  const behindMs = Math.max(...open.map(({ lastMs }) => lastMs - endMs));
  for (const stream of open) stream.close();
  console.log(
    `${engine} | ${streams} | ${emptyMiB.toFixed(0)} | ${openMiB.toFixed(0)} | ${peakMiB(service.pid).toFixed(0)} | ${alone.toFixed(1)} | ${median(times).toFixed(1)} | ${times.length} | ${behindMs.toFixed(0)}`,
  );
}

await bench(
  async ({ engines, database, serve, redisUrl }) => {
    const urls = new Map<EngineName, string>();
    for (const engine of engines) urls.set(engine, await filled(engine, database));
    const started = (engine: EngineName, env: Record<string, string> = {}) =>
      serve(engine, {
        database: urls.get(engine)!,
        endpoint: plain,
        others,
        project: { limits: { streams, streamsTotal: streams } },
        env,
      });

    printHead("without history", "with history");
    for (const engine of engines) {
      const { origin, pid, stop } = await started(engine);
      const side = (load: Load) => ({ origin, pid, load });
      await contest(`${engine} | update`, side(update("items")), side(update("kept")));
      await contest(`${engine} | bulk of 1,000`, side(bulk("items")), side(bulk("kept")));
      stop();
    }

    console.log("\nengine | same process, ms | over Redis | only the database");
    for (const engine of engines) {
      const one = await started(engine);
      const cells = [await delayMs(one, one)];
      const redis = { REDIS_URL: redisUrl! };
      const [writer, reader] = [await started(engine, redis), await started(engine, redis)];
      cells.push(await delayMs(writer, reader));
      const other = await started(engine);
      cells.push(await delayMs(one, other));
      for (const service of [one, writer, reader, other]) service.stop();
      console.log([engine, ...cells.map((ms) => ms.toFixed(1))].join(" | "));
    }

    console.log(
      "\nengine | streams | peak MiB before | with them open | at the end | write alone, ms | write with streams, ms | writes | last event behind, ms",
    );
    for (const engine of engines) {
      const service = await started(engine);
      await crowd(engine, service);
      service.stop();
    }
  },
  { needs: ["redis"] },
);
