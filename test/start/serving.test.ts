/**
 * The service's socket on Node, tested with raw connections: shutdown, bodies that are not read or do not arrive, and
 * what the HTTP parser refuses. `runtime/runtime-serving.test.ts` covers differences between runtimes.
 */
import { Agent, request } from "node:http";
import { connect } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { listen } from "../../app/start/servers/node.ts";
import { openService } from "../../app/start/servers/wire.ts";
import { createTables } from "../contract/tables.ts";
import { freshDatabase } from "../servers/database.ts";
import { openSession } from "../servers/session.ts";
import { openForTests } from "../contract/harness.ts";

interface Line {
  readonly level: number;
  readonly msg: string;
  readonly status?: number;
  readonly err?: unknown;
}

interface Served {
  readonly port: number;
  /** What was logged so far. */
  readonly lines: Line[];
  stop(): Promise<void>;
}

const database = openForTests(freshDatabase, "sqlite");
beforeAll(async () => {
  const session = await openSession("sqlite", database.url);
  const columns = { id: "key", name: "text(400)" } as const;
  for (const text of createTables("sqlite", [{ name: "goods", columns }])) await session.run(text);
  await session.run("insert into goods values ('k1', 'one')");
  await session.close();
});

const timeouts = { headersTimeoutMs: 1_000, bodyTimeoutMs: 600, uploadReadMs: 1_000 };

async function serveGoods(more: { env?: Record<string, string> } = {}): Promise<Served> {
  const goods = { tableName: "goods", action: { first: true, import: true } };
  const lines: Line[] = [];
  const write = (line: string) => void lines.push(JSON.parse(line) as Line);
  const service = await openService({
    files: new Map([
      ["shop/project.json", JSON.stringify({ database: { url: database.url } })],
      ["shop/goods.json", JSON.stringify(goods)],
    ]),
    env: {
      PORT: "0",
      STORAGE_URL: `file:${database.url.replace("sqlite:", "")}-files`,
      ...more.env,
    },
    log: pino({ level: "info" }, { write }),
    timeouts,
  });
  const { url, stop } = await listen(service);
  return { port: Number(new URL(url).port), lines, stop };
}

interface Sent {
  readonly path?: string;
  readonly body?: string | Buffer;
  readonly type?: string;
}

interface Got {
  readonly status: number;
  readonly connection: string | undefined;
  readonly text: string;
}

const byKey = JSON.stringify({ where: { key: "id", value: "k1" } });

/** One request over a connection of the agent. */
function send(
  { port }: Served,
  agent: Agent,
  { path = "first", body = byKey, type = "application/json" }: Sent = {},
): Promise<Got> {
  return new Promise((resolve, reject) => {
    const headers = { "Content-Type": type, "Content-Length": Buffer.byteLength(body) };
    const options = { port, agent, method: "POST", path: `/api/shop/goods/${path}`, headers };
    const sent = request(options, (response) => {
      let text = "";
      const { statusCode: status = 0 } = response;
      const { connection } = response.headers;
      response.on("data", (chunk) => (text += chunk));
      response.on("end", () => resolve({ status, connection, text }));
      response.on("error", reject);
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

interface Talk {
  readonly send: string;
  /** Sent again and again. */
  readonly drip?: string;
  /** Whether the client goes away as soon as it has sent that. */
  readonly isGone?: boolean;
}

/** All that the service sends on a new connection until it closes it. */
function talk({ port }: Served, { send: first, drip = "", isGone = false }: Talk): Promise<string> {
  return new Promise((resolve) => {
    let text = "";
    let dripping: NodeJS.Timeout | undefined;
    const socket = connect(port, "127.0.0.1", () => {
      socket.write(first, () => isGone && setTimeout(() => socket.resetAndDestroy(), 50));
      // Not earlier, or it would come before the head.
      dripping = setInterval(() => drip !== "" && socket.writable && socket.write(drip), 20);
    });
    socket.on("data", (chunk) => (text += chunk));
    socket.on("error", () => undefined);
    socket.on("close", () => {
      clearInterval(dripping);
      resolve(text);
    });
  });
}

const head = (length: number, type = "application/json") =>
  `POST /api/shop/goods/first HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${type}\r\nContent-Length: ${length}\r\n\r\n`;

const part = (name: string, bytes: number) =>
  `--edge\r\nContent-Disposition: form-data; name="${name}"; filename="a.xlsx"\r\n\r\n${"x".repeat(bytes)}\r\n--edge--\r\n`;
const multipart = "multipart/form-data; boundary=edge";

describe("the end of the service", () => {
  // Clients and service share a thread: if it is busy, a connection can wait in the system's queue while it closes.
  const retry = 2;
  test(
    "resets no connection of clients that send one request after the other",
    { retry },
    async () => {
      const troubles: string[] = [];
      let answered = 0;
      for (let round = 0; round < 3; round++) {
        const served = await serveGoods();
        const clients = Array.from({ length: 24 }, async () => {
          const agent = new Agent({ keepAlive: true, maxSockets: 1 });
          for (;;) {
            const outcome = await send(served, agent).catch(
              (error: NodeJS.ErrnoException) => error,
            );
            if (!(outcome instanceof Error)) answered++;
            else {
              if (outcome.code !== "ECONNREFUSED")
                troubles.push(`${outcome.code}: ${outcome.message}`);
              return agent.destroy();
            }
          }
        });
        await pause(200);
        await served.stop();
        await Promise.all(clients);
      }
      expect(troubles).toEqual([]);
      expect(answered).toBeGreaterThan(100);
    },
  );

  test("is said in each answer after it has begun, and waits for no idle connection", async () => {
    const served = await serveGoods();
    const [busy, idle] = [1, 2].map(() => new Agent({ keepAlive: true, maxSockets: 1 }));
    expect((await send(served, busy!)).connection).toBe("keep-alive");
    expect((await send(served, idle!)).connection).toBe("keep-alive");
    const silent = connect(served.port, "127.0.0.1");
    await pause(50);
    const startedMs = performance.now();
    const stopped = served.stop();
    await expect.poll(async () => (await send(served, busy!)).connection).toBe("close");
    await stopped;
    expect(performance.now() - startedMs).toBeLessThan(3_000);
    for (const agent of [busy!, idle!]) agent.destroy();
    silent.destroy();
  });
});

describe("a body that is not read to its end", () => {
  let served: Served;
  beforeAll(async () => {
    served = await serveGoods();
  });
  afterAll(() => served?.stop());

  test.each([
    ["is too large", 413, { body: "x".repeat(9_000_000) }],
    ["is of another type", 415, { body: "x".repeat(9_000_000), type: "text/plain" }],
    ["goes to nothing", 404, { body: "x".repeat(9_000_000), path: "nothing" }],
    [
      "has a wrong part",
      400,
      { body: part("other", 9_000_000), path: "import-upload", type: multipart },
    ],
  ])("and %s closes its connection, so that the next request succeeds", async (_, status, sent) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let round = 0; round < 5; round++) {
      const refused = await send(served, agent, sent);
      expect([refused.status, refused.connection]).toEqual([status, "close"]);
      expect(JSON.parse(refused.text)).toMatchObject({ success: false });
      expect((await send(served, agent)).status).toBe(200);
    }
    agent.destroy();
  });

  test("is not needed to keep a connection whose body has arrived", async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const { status, connection } = await send(served, agent, { path: "nothing" });
    expect([status, connection]).toEqual([404, "keep-alive"]);
    agent.destroy();
  });
});

describe("a body that does not come", () => {
  const upload = (content: string) =>
    head(9_999, multipart).replace("/first", "/import-upload") + content;

  test.each([
    ["stops", { send: `${head(9_999)}{` }],
    ["comes a byte at a time", { send: `${head(9_999)}{`, drip: " " }],
    ["stops in a file", { send: upload(part("file", 100).slice(0, 120)) }],
    [
      "comes a byte at a time in a file",
      { send: upload(part("file", 100).slice(0, 120)), drip: "x" },
    ],
  ])("and %s is answered with 408, which is no error of the service", async (_, sent) => {
    const served = await serveGoods();
    const text = await talk(served, sent);
    expect(text).toMatch(/^HTTP\/1\.1 408 /);
    expect(text).toMatch(/\r\nConnection: close\r\n/i);
    expect(text).toContain('"error":"Request timeout"');
    await served.stop();
    expect(served.lines.map(({ level, status }) => [level, status])).toEqual([[30, 408]]);
  });

  test.each([
    ["in a body", `${head(9_999)}{`],
    [
      "in a body without a length",
      head(0).replace("Content-Length: 0", "Transfer-Encoding: chunked"),
    ],
    ["in a file", upload(part("file", 100).slice(0, 120))],
  ])("because the client goes away %s is no error of the service", async (_, first) => {
    const served = await serveGoods();
    await talk(served, { send: first, isGone: true });
    await expect.poll(() => served.lines.length).toBe(1);
    await served.stop();
    expect(served.lines.map(({ level, status }) => [level, status])).toEqual([[30, 499]]);
  });
});

describe("a path that is not the address of a thing is 404:", () => {
  let served: Served;
  beforeAll(async () => {
    served = await serveGoods();
  });
  afterAll(() => served?.stop());

  test.each([
    "/api/shop/x/../goods/first",
    "/api/shop/./goods/first",
    "/api/shop/%2e/goods/first",
    "/api/x/%2E%2e/shop/goods/first",
    "/api\\\\shop/goods/first",
    "http://localhost/api/x/../shop/goods/first",
  ])("%s", async (path) => {
    const first = `${head(byKey.length)}${byKey}`
      .replace("/api/shop/goods/first", path)
      .replace("Host:", "Connection: close\r\nHost:");
    expect(await talk(served, { send: first })).toMatch(/^HTTP\/1\.1 40[04] /);
  });

  test("and the address itself is found, also as a whole URL", async () => {
    for (const start of ["", "http://localhost"]) {
      const first = `${head(byKey.length)}${byKey}`
        .replace("/api/shop/goods/first", `${start}/api/shop/goods/first?a=../b`)
        .replace("Host:", "Connection: close\r\nHost:");
      expect(await talk(served, { send: first })).toMatch(/^HTTP\/1\.1 200 /);
    }
  });
});

describe("a request for an action means the same, however its head is written:", () => {
  let served: Served;
  beforeAll(async () => {
    served = await serveGoods({ env: { ALLOWED_HOSTS: "shop.example" } });
  });
  afterAll(() => served.stop());

  const plain = `${head(byKey.length)}${byKey}`.replace("Host:", "Connection: close\r\nHost:");
  const withHost = (host: string) => plain.replace(/Host: .*/, `Host: ${host}`);
  const chunked = `${byKey.length.toString(16)}\r\n${byKey}\r\n0\r\n\r\n`;
  const inCoding = (coding: string) =>
    plain.replace(/Content-Length: \d+/, `Transfer-Encoding: ${coding}`).replace(byKey, chunked);

  test.each([
    ["plainly", 200, plain],
    ["with names of fields in other case", 200, plain.replace("Content-Type", "CONTENT-TYPE")],
    ["to a name of its own", 200, withHost("shop.example")],
    ["to a name in other case", 200, withHost("LocalHost:80")],
    ["to an address of IPv6", 200, withHost("[::1]:3000")],
    ["in chunks", 200, inCoding("chunked")],
    ["in chunks, in other case", 200, inCoding("Chunked")],
    ["compressed, in chunks", 501, inCoding("gzip, chunked")],
    ["in a coding of earlier times, in chunks", 501, inCoding("identity, chunked")],
    ["with a question mark at the end", 200, plain.replace("/first", "/first?")],
    ["to a foreign name", 421, withHost("else.example")],
    ["to a port that cannot be", 400, withHost("localhost:70000")],
    ["to a port without a number", 400, withHost("localhost:")],
    ["to a name with a path", 400, withHost("localhost/api")],
    ["to a name with a user", 400, withHost("shop@localhost")],
    ["to an address of IPv6 in another notation", 400, withHost("[0:0::1]:3000")],
    ["as a whole URL with a user", 200, plain.replace("POST /", "POST http://shop@localhost/")],
    ["with a field that is sent twice", 200, plain.replace("Host:", "X-A: 1\r\nX-A: 2\r\nHost:")],
    ["to an address that cannot be", 400, withHost("256.1.1.1")],
    [
      "with two media types",
      415,
      plain.replace("Content-Type", "Content-Type: text/plain\r\nContent-Type"),
    ],
    ["as a form", 415, plain.replace("application/json", "Multipart/Form-Data; boundary=x")],
    ["with a slash at the end", 404, plain.replace("/first", "/first/")],
    ["with a doubled slash", 404, plain.replace("/goods/", "//goods/")],
    ["by another method", 405, plain.replace("POST", "PUT")],
    ["by HEAD", 405, plain.replace("POST", "HEAD")],
    ["by TRACE", 405, plain.replace("POST", "TRACE")],
    ["in HTTP/1.0", 200, plain.replace("HTTP/1.1", "HTTP/1.0")],
  ])("%s: %d", async (_, status, sent) => {
    expect(await talk(served, { send: sent })).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  });

  test.each(["PUT", "TRACE", "PROPFIND"])("a page refuses %s", async (method) => {
    const sent = `${method} /health/live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`;
    expect(await talk(served, { send: sent })).toMatch(/^HTTP\/1\.1 405 [^]*\r\nAllow: GET\r\n/i);
  });

  test("several on one connection are answered in turn", async () => {
    const kept = plain.replace("Connection: close\r\n", "");
    const answers = await talk(served, { send: `${kept}${kept}${plain}` });
    expect(answers.match(/HTTP\/1\.1 200 /g)).toHaveLength(3);
  });
});

describe("requests that are sent without reading the answers", () => {
  let served: Served;
  beforeAll(async () => {
    served = await serveGoods();
  });
  afterAll(() => served.stop());

  const page = "GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n";
  const answered = () => served.lines.filter(({ msg }) => msg === "request").length;

  test("wait until the client reads, and are then answered", async () => {
    const count = 400;
    const socket = connect(served.port, "127.0.0.1");
    socket.pause();
    socket.write(page.repeat(count));
    await pause(1_500);
    expect(answered()).toBeLessThan(count / 2);
    let text = "";
    socket.on("data", (chunk) => (text += chunk)).resume();
    await expect
      .poll(() => text.split("HTTP/1.1 200 OK").length - 1, { timeout: 20_000 })
      .toBe(count);
    socket.destroy();
  });

  test("are not answered after the client has left, and at most a thousand wait", async () => {
    const before = answered();
    expect(await talk(served, { send: page.repeat(5_000) })).toMatch(/^(HTTP\/1\.1 200 |$)/);
    await pause(300);
    expect(answered() - before).toBeLessThan(1_000);
  });
});

describe("a request that is no good HTTP gets the envelope:", () => {
  test.each([
    ["nothing that is HTTP", 400, "Bad request", "\0\x01 garbage\r\n\r\n"],
    ["no Host", 400, "Bad request", "GET /health/live HTTP/1.1\r\n\r\n"],
    ["a broken Host", 400, "Bad request", "GET /health/live HTTP/1.1\r\nHost: a b\r\n\r\n"],
    [
      "two Hosts",
      400,
      "Bad request",
      "GET /health/live HTTP/1.1\r\nHost: localhost\r\nHost: else.example\r\n\r\n",
    ],
    [
      "a broken chunk",
      400,
      "Bad request",
      `${head(0).replace("Content-Length: 0", "Transfer-Encoding: chunked")}zz\r\n`,
    ],
    [
      "a head that stops",
      408,
      "Request timeout",
      "GET /health/live HTTP/1.1\r\nHost: localhost\r\n",
    ],
    [
      "an expectation",
      417,
      "Expectation failed",
      "GET /health/live HTTP/1.1\r\nHost: localhost\r\nExpect: tea\r\nConnection: close\r\n\r\n",
    ],
    [
      "a head that is too large",
      431,
      "Request header fields too large",
      `GET /health/live HTTP/1.1\r\nHost: localhost\r\nX-A: ${"a".repeat(100_000)}\r\n\r\n`,
    ],
  ])("%s is %d", async (_, status, error, first) => {
    const served = await serveGoods();
    const text = await talk(served, { send: first });
    await served.stop();
    const [top = "", body = ""] = text.split("\r\n\r\n");
    expect(top).toMatch(new RegExp(`^HTTP/1.1 ${status} [A-Z]`));
    expect(top).toMatch(/^X-Request-Id: [0-9a-f-]{36}$/im);
    expect(top).toMatch(/^Content-Type: application\/json; charset=utf-8$/im);
    expect(JSON.parse(body)).toEqual({
      success: false,
      error,
      message: expect.any(String),
      timestamp: expect.any(String),
    });
    expect(served.lines.filter(({ level }) => level > 30)).toEqual([]);
  });
});

test.each([1, 3])(
  "malformed bytes behind %i whole requests are refused after their answers",
  async (count) => {
    const served = await serveGoods();
    const body = JSON.stringify({ where: { key: "id", value: "none" } });
    const whole = head(body.length) + body;
    const text = await talk(served, { send: `${whole.repeat(count)}\0\x01 garbage\r\n\r\n` });
    await served.stop();
    const statuses = [...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => status);
    expect(statuses).toEqual([...Array.from({ length: count }, () => "200"), "400"]);
    expect(text).toContain("Bad request");
  },
);

describe("connections", () => {
  /** Resolves when the service has answered on it; the connection stays open. */
  async function occupy({ port }: Served): Promise<Agent> {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    await new Promise<void>((resolve, reject) => {
      const sent = request({ port, agent, path: "/health/live" }, (response) => {
        response.on("end", resolve).resume();
      });
      sent.on("error", reject).end();
    });
    return agent;
  }

  test("beyond MAX_CONNECTIONS are closed without an answer, and the log says so once", async () => {
    const served = await serveGoods({ env: { MAX_CONNECTIONS: "2" } });
    const agents = [await occupy(served), await occupy(served)];
    const live = "GET /health/live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    try {
      expect([await talk(served, { send: live }), await talk(served, { send: live })]).toEqual([
        "",
        "",
      ]);
      const said = served.lines.filter(({ msg }) => msg.includes("MAX_CONNECTIONS"));
      expect(said).toHaveLength(1);
      agents[0]!.destroy();
      await expect
        .poll(() => talk(served, { send: live }), { timeout: 5_000 })
        .toMatch(/^HTTP\/1.1 200 /);
    } finally {
      for (const agent of agents) agent.destroy();
      await served.stop();
    }
  });

  test("are kept longer than load balancers keep theirs", async () => {
    const served = await serveGoods();
    const response = await fetch(`http://127.0.0.1:${served.port}/health/live`);
    expect(response.headers.get("Keep-Alive")).toBe("timeout=65");
    await served.stop();
  });
});
