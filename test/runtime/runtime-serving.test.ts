/** The socket of the service on Node, Bun and Deno, whose servers differ: slow clients, bodies, files, and the stop. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { Agent, request } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTables } from "../contract/tables.ts";
import { readExposition } from "../observe/exposition.ts";
import { freshDatabase, type FreshDatabase } from "../servers/database.ts";
import { openSession } from "../servers/session.ts";
import { commandFor, type Runtime } from "./runtimes.ts";

const rowsMax = 3_000;
const goods = {
  tableName: "goods",
  action: { create: true, read: true, first: true, export: true, import: true },
  live: true,
};
/** Bun closes a connection without a complete header after about 12 seconds, whatever the settings. */
const headsEndWithinMs = 16_000;

describe.each(["node", "bun", "deno"] as const)("the socket on %s", (runtime) => {
  let database: FreshDatabase;
  let folder = "";
  let service: Running;
  beforeAll(async () => {
    database = await freshDatabase("sqlite");
    const session = await openSession("sqlite", database.url);
    const columns = { id: "key", name: "text(400)" } as const;
    for (const text of createTables("sqlite", [{ name: "goods", columns }]))
      await session.run(text);
    await session.run(
      `INSERT INTO goods WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rowsMax})
       SELECT 'k' || i, hex(randomblob(150)) FROM n`,
    );
    await session.close();
    folder = await mkdtemp(join(tmpdir(), "rowgate-test-serving-"));
    await mkdir(join(folder, "configs/shop"), { recursive: true });
    const project = { database: { url: database.url } };
    await writeFile(join(folder, "configs/shop/project.json"), JSON.stringify(project));
    await writeFile(join(folder, "configs/shop/goods.json"), JSON.stringify(goods));
    service = await start(runtime, folder);
  });
  afterAll(async () => {
    service?.process.kill("SIGKILL");
    if (folder) await rm(folder, { recursive: true, force: true });
    await database?.drop();
  });

  const post = (path: string, body: string) =>
    head("POST", `/api/shop/goods/${path}`, body.length) + body;
  const byKey = (id: string) => JSON.stringify({ where: { key: "id", value: id } });

  test("answers HTTP/1.0 without a Host, as load balancers ask", async () => {
    const { text } = await talk(service, { send: "GET /health/live HTTP/1.0\r\n\r\n" });
    expect(text).toMatch(/^HTTP\/1\.[01] 200 /);
  });

  test("shows its metrics to this machine, those of the process among them", async () => {
    const response = await fetch(`${service.origin}/metrics`);
    expect(response.status).toBe(200);
    const families = readExposition(await response.text());
    for (const name of [
      "process_resident_memory_bytes",
      "process_cpu_seconds_total",
      "nodejs_eventloop_lag_p99_seconds",
    ])
      expect([name, families.get(name)!.samples[0]!.value > 0]).toEqual([name, true]);
  });

  test("answers one request after the other on one connection", async () => {
    const two = post("first", byKey("k1")) + post("first", byKey("k2"));
    const { text } = await talk(service, { send: two, untilMs: 2_000 });
    expect(text.match(/HTTP\/1\.1 200 /g)).toHaveLength(2);
    expect(text.indexOf('"k1"')).toBeLessThan(text.indexOf('"k2"'));
  });

  const found = byKey("k1");
  const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
  test.each([
    [200, "in one piece", post("first", found), ""],
    [200, "by drips", head("POST", "/api/shop/goods/first", found.length + 3) + found, " "],
    [
      200,
      "in chunks",
      `${head("POST", "/api/shop/goods/first", 0).replace("Content-Length: 0", "Transfer-Encoding: chunked")}${chunk(found.slice(0, 9))}${chunk(found.slice(9))}${chunk("")}`,
      "",
    ],
    [200, "of 200,000 characters", post("first", " ".repeat(200_000) + found), ""],
    [400, "without a character", post("first", ""), ""],
  ])("answers %d to a body %s", async (status, _, send, drip) => {
    const closing = send.replace("\r\n", "\r\nConnection: close\r\n");
    const { text } = await talk(service, { send: closing, drip });
    expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  });

  const bodiless = (method: string, path: string) =>
    `${method} /api/shop/goods/${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;

  test("answers HEAD at the path of an action without a body", async () => {
    const { text } = await talk(service, { send: bodiless("HEAD", "first"), untilMs: 1_000 });
    expect(text).toMatch(/^HTTP\/1\.1 405 [^]*\r\n\r\n$/);
    expect(text).not.toContain('"success"');
  });

  test("keeps the connection after a GET that is refused, as there is no body to wait for", async () => {
    const two = bodiless("GET", "first") + bodiless("GET", "none");
    const { text, isClosed } = await talk(service, { send: two, untilMs: 1_000 });
    expect(text.match(/HTTP\/1\.1 40\d /g)).toEqual(["HTTP/1.1 405 ", "HTTP/1.1 404 "]);
    expect(isClosed).toBe(false);
  });

  test.each([
    ["nothing that is HTTP", "\0\x01 garbage\r\n\r\n"],
    [
      "two lengths",
      `${head("POST", "/api/shop/goods/first", 4).trimEnd()}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    [
      "a head of 100,000 characters",
      `GET /health/live HTTP/1.1\r\nHost: localhost\r\nX-A: ${"a".repeat(100_000)}\r\n\r\n`,
    ],
  ])("refuses %s and closes the connection", async (_, send) => {
    const { text, isClosed } = await talk(service, { send, untilMs: 5_000 });
    expect(text).toMatch(/^HTTP\/1\.1 4/);
    expect(text).not.toMatch(/ at .*\.ts|node_modules/);
    expect(isClosed).toBe(true);
  });

  test("refuses a body that is announced as too large, and does not wait for it", async () => {
    const send = head("POST", "/api/shop/goods/first", 99_999_999);
    const { text, isClosed } = await talk(service, {
      send,
      drip: "x".repeat(10_000),
      untilMs: 10_000,
    });
    expect(text).toMatch(/^HTTP\/1\.1 413 /);
    expect(isClosed).toBe(true);
  });

  test.concurrent.each([
    [
      "sends its head by drips",
      "POST /api/shop/goods/first HTTP/1.1\r\nHost: localhost\r\nX-A: ",
      "a",
    ],
    ["stops in its head", "POST /api/shop/goods/first HTTP/1.1\r\nHost: localhost\r\n", ""],
    ["sends its body by drips", `${head("POST", "/api/shop/goods/first", 9_999)}{`, " "],
    ["stops in its body", `${head("POST", "/api/shop/goods/first", 9_999)}{`, ""],
    ["sends a body that nobody reads", `${head("POST", "/api/shop/goods/none", 9_999)}{`, " "],
  ])("lets go of a client that %s", async (_, send, drip) => {
    const { isClosed } = await talk(service, { send, drip, untilMs: headsEndWithinMs });
    expect(isClosed).toBe(true);
  });

  test("gives a file whole, and from any place on; a client that goes away disturbs nobody", async () => {
    const path = await exportGoods(service.origin);
    const whole = Buffer.from(await (await fetch(service.origin + path)).arrayBuffer());
    expect(whole.length).toBeGreaterThan(500_000);
    const headers = { Range: "bytes=100000-" };
    const rest = await fetch(service.origin + path, { headers });
    expect(rest.status).toBe(206);
    expect(whole.subarray(100_000).equals(Buffer.from(await rest.arrayBuffer()))).toBe(true);
    for (let at = 0; at < 20; at++) {
      const broken = await fetch(service.origin + path);
      await broken
        .body!.getReader()
        .read()
        .then(() => broken.body!.cancel().catch(() => undefined));
    }
    expect((await fetch(service.origin + path)).status).toBe(200);
    const form = new FormData();
    form.set("file", new Blob([whole]), "goods.xlsx");
    const url = `${service.origin}/api/shop/goods/import-upload`;
    const upload = await fetch(url, { method: "POST", body: form });
    expect(await upload.json()).toMatchObject({ success: true, total_rows: rowsMax });
  });

  test("goes on after an upload that breaks off", async () => {
    const url = "/api/shop/goods/import-upload";
    const type = "Content-Type: multipart/form-data; boundary=b";
    const part = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.xlsx"\r\n\r\nPK';
    const send = `POST ${url} HTTP/1.1\r\nHost: localhost\r\n${type}\r\nContent-Length: 100000\r\n\r\n${part}`;
    await talk(service, { send, untilMs: 200 });
    const { text } = await talk(service, { send: post("first", byKey("k1")), untilMs: 2_000 });
    expect(text).toContain(" 200 ");
  });

  const multipart = "multipart/form-data; boundary=edge";
  const wrongPart = `--edge\r\nContent-Disposition: form-data; name="other"; filename="a.xlsx"\r\n\r\n${"x".repeat(9_000_000)}\r\n--edge--\r\n`;
  const tooLarge = ["is too large", 413, { path: "first", body: "x".repeat(9_000_000) }] as const;
  test.each([
    // Bun may end the connection before the client has read its answer (docs/runtimes.md, known limits).
    ...(runtime === "bun" ? [] : [tooLarge]),
    ["has a wrong part", 400, { path: "import-upload", body: wrongPart, type: multipart }] as const,
  ])("answers the request after a body that %s", async (_, status, sent) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let round = 0; round < 3; round++) {
      expect(await send(service, agent, sent)).toBe(status);
      expect(await send(service, agent, { path: "first", body: byKey("k1") })).toBe(200);
    }
    agent.destroy();
  });

  const stream = async ({ origin }: Running, since = "") => {
    const headers = { "Last-Event-ID": since };
    const url = `${origin}/api/shop/changes?endpoints=goods`;
    const { body } = await fetch(url, since === "" ? {} : { headers });
    return body!.pipeThrough(new TextDecoderStream()).getReader();
  };
  const create = ({ origin }: Running, id: string) =>
    fetch(`${origin}/api/shop/goods/create`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ id, name: "n" }),
    });

  test("tells streams of writes, and notices that a client has left", async () => {
    const texts = await Promise.all(
      ["s1", "s2"].map(async () => {
        const reader = await stream(service);
        let text = (await reader.read()).value ?? "";
        return async (id: string) => {
          while (!text.includes(id)) text += (await reader.read()).value ?? "";
          await reader.cancel();
          return text;
        };
      }),
    );
    expect((await create(service, "live-1")).status).toBe(201);
    for (const until of texts)
      expect(await until("live-1")).toMatch(/^: changes\nid: \w+\n\n[^]*event: change\ndata: /);
    await expect
      .poll(async () => {
        const metrics = await (await fetch(`${service.origin}/metrics`)).text();
        return /^rowgate_change_streams\{.*\} (\d+)$/m.exec(metrics)?.[1] ?? "0";
      })
      .toBe("0");
  });

  test("stops: streams end at once, and go on elsewhere where they were", async () => {
    const [own, other] = [await start(runtime, folder), service];
    const reader = await stream(own);
    let text = "";
    while (!text.includes("id: ")) text += (await reader.read()).value ?? "";
    const [, since] = /^id: (\w+)$/m.exec(text)!;
    const ended = new Promise((resolve) => own.process.once("exit", resolve));
    const stoppedMs = performance.now();
    own.process.kill("SIGTERM");
    while (!(await reader.read().catch(() => ({ done: true }))).done);
    expect(performance.now() - stoppedMs).toBeLessThan(2_000);
    expect(await ended).toBe(0);
    expect(performance.now() - stoppedMs).toBeLessThan(5_000);
    await create(other, "live-2");
    const again = await stream(other, since);
    let told = "";
    while (!told.includes("live-2")) told += (await again.read()).value ?? "";
    expect(told).not.toContain("reset");
    await again.cancel();
  });

  // Bun closes open connections when it stops (docs/runtimes.md, known limits).
  const testStop = test.skipIf(runtime === "bun");
  testStop.for([
    ["on one connection", true],
    ["on a new connection each", false],
  ] as const)(
    "stops: no connection of clients that send one request after the other, %s, is reset",
    async ([, keepAlive]) => {
      const own = await start(runtime, folder);
      const troubles: string[] = [];
      let answered = 0;
      const clients = Array.from({ length: 32 }, async () => {
        const agent = new Agent({ keepAlive, maxSockets: 1 });
        for (;;) {
          const sent = send(own, agent, { path: "first", body: byKey("k1") });
          const outcome = await sent.catch((error: NodeJS.ErrnoException) => error);
          if (!(outcome instanceof Error)) answered++;
          else {
            if (outcome.code !== "ECONNREFUSED")
              troubles.push(`${outcome.code}: ${outcome.message}`);
            return agent.destroy();
          }
        }
      });
      const ended = new Promise((resolve) => own.process.once("exit", resolve));
      await pause(500);
      own.process.kill("SIGTERM");
      await Promise.all(clients);
      expect(troubles).toEqual([]);
      expect(answered).toBeGreaterThan(clients.length);
      expect(await ended).toBe(0);
    },
  );

  // Bun's server has no such limit.
  test.skipIf(runtime === "bun")("closes connections beyond MAX_CONNECTIONS", async () => {
    const own = await start(runtime, folder, { MAX_CONNECTIONS: "1" });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    try {
      await new Promise<void>((resolve, reject) => {
        const sent = request(`${own.origin}/health/live`, { agent }, (response) => {
          response.on("end", resolve).resume();
        });
        sent.on("error", reject).end();
      });
      const further = { send: "GET /health/live HTTP/1.0\r\n\r\n", untilMs: 9_000 };
      expect(await talk(own, further)).toMatchObject({ text: "", isClosed: true });
    } finally {
      agent.destroy();
      own.process.kill("SIGKILL");
    }
  });

  test("stops: a running request finishes, an idle connection is no hindrance, and the exit code is 0", async () => {
    const own = await start(runtime, folder);
    const idle = talk(own, {
      send: "GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n",
      untilMs: 9_000,
    });
    const body = byKey("k3");
    const running = talk(own, {
      send: head("POST", "/api/shop/goods/first", body.length),
      later: body,
      untilMs: 9_000,
    });
    await pause(300);
    const ended = new Promise((resolve) => own.process.once("exit", resolve));
    own.process.kill("SIGTERM");
    expect((await running).text).toMatch(/^HTTP\/1\.1 200 [^]*"k3"/);
    expect((await idle).isClosed).toBe(true);
    expect(await ended).toBe(0);
    await expect(fetch(`${own.origin}/health/live`)).rejects.toThrow();
  });
});

interface Running {
  readonly origin: string;
  readonly process: ChildProcess;
}

async function start(
  runtime: Runtime,
  folder: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Running> {
  const [program, ...args] = commandFor(runtime)!;
  const script = join(import.meta.dirname, "hasty-service.ts");
  const child = spawn(program, [...args, script], {
    cwd: join(import.meta.dirname, "../.."),
    env: {
      ...process.env,
      CONFIG_DIR: join(folder, "configs"),
      STORAGE_URL: `file:${join(folder, "files")}`,
      PORT: "0",
      LOG_LEVEL: "silent",
      DENO_NO_UPDATE_CHECK: "1",
      ...env,
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const origin = await new Promise<string>((resolve, reject) => {
    child.stdout.on("data", (chunk) => {
      const url = /listens on (http:\S+)/.exec(String(chunk))?.[1];
      if (url) resolve(url);
    });
    child.once("exit", (status) => reject(new Error(`The service ended with ${status}`)));
  });
  return { origin, process: child };
}

const head = (method: string, path: string, length: number): string =>
  `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;

interface Talk {
  readonly send: string;
  /** Sent again and again. */
  readonly drip?: string;
  /** Sent once, a second later. */
  readonly later?: string;
  readonly untilMs?: number;
}

/** All that the service sends until it closes the connection or the time is over. */
function talk(
  { origin }: Running,
  { send, drip = "", later = "", untilMs = 5_000 }: Talk,
): Promise<{ text: string; isClosed: boolean }> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(origin).port), "127.0.0.1", () => socket.write(send));
    let text = "";
    const isOpen = () => !socket.connecting && socket.writable;
    const dripping = setInterval(() => drip !== "" && isOpen() && socket.write(drip), 200);
    const sending = setTimeout(() => later !== "" && socket.write(later), 1_000);
    const end = (isClosed: boolean) => {
      clearInterval(dripping);
      clearTimeout(sending);
      clearTimeout(over);
      socket.destroy();
      resolve({ text, isClosed });
    };
    const over = setTimeout(() => end(false), untilMs);
    socket.on("data", (chunk) => (text += chunk));
    socket.on("error", () => undefined);
    socket.on("close", () => end(true));
  });
}

interface Sent {
  readonly path: string;
  readonly body: string;
  readonly type?: string;
}

/** The status of one request over a connection of the agent. */
function send(
  { origin }: Running,
  agent: Agent,
  { path, body, type = "application/json" }: Sent,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { "Content-Type": type, "Content-Length": Buffer.byteLength(body) };
    const options = { agent, method: "POST", headers };
    const sent = request(`${origin}/api/shop/goods/${path}`, options, (response) => {
      response.resume();
      response.on("end", () => resolve(response.statusCode!));
      response.on("error", reject);
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

/** The path of the file. */
async function exportGoods(origin: string): Promise<string> {
  const headers = { "Content-Type": "application/json" };
  const url = `${origin}/api/shop/goods/export`;
  const { job_id } = await fetch(url, { method: "POST", headers, body: "{}" }).then(jsonOf);
  for (;;) {
    const status = await fetch(`${origin}/api/shop/goods/export-status?job_id=${job_id}`).then(
      jsonOf,
    );
    if (status["file_url"] !== undefined) return status["file_url"]!;
    if (status["status"] === "failed") throw new Error(JSON.stringify(status));
    await pause(50);
  }
}

const jsonOf = (response: Response) => response.json() as Promise<Record<string, string>>;
