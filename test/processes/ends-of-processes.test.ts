/** Two processes under one parent that are killed, reloaded and stopped while they answer. */
import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { createServer } from "node:net";
import { join } from "node:path";
import { rm, writeFile } from "node:fs/promises";
import Database from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { serveProcess } from "../running/serve-process.ts";
import {
  isRunning,
  makePlace,
  metricsToken,
  type Place,
  type ServedByTwo,
  serveByTwo,
} from "./served-by-two.ts";

const things = { tableName: "things", action: { read: true, create: true, export: true } };
const authorization = { Authorization: `Bearer ${metricsToken}` };
const soon = { timeout: 20_000 };
vi.setConfig({ testTimeout: 90_000 });

let place: Place;
let service: ServedByTwo | null = null;
beforeEach(async () => {
  const database = { url: "sqlite:shop.db" };
  place = await makePlace({ "shop/project.json": { database }, "shop/things.json": things });
});
afterEach(async () => {
  await service?.close();
  service = null;
  await place.remove();
});

interface Load {
  /** Ids whose create was acknowledged. */
  readonly acknowledged: string[];
  /** Statuses other than 201, and the messages of requests without an answer. */
  readonly failures: (number | string)[];
  stop(): Promise<void>;
}

/** Clients that create things one after the other, each on a connection that it keeps while it can. */
function createThings(origin: string, clients: number): Load {
  const acknowledged: string[] = [];
  const failures: (number | string)[] = [];
  let isOver = false;
  async function work(client: number): Promise<void> {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let sent = 0; !isOver; sent++) {
      const id = `${client}-${sent}`;
      try {
        const status = await post(`${origin}/api/shop/things/create`, { agent, body: { id } });
        if (status === 201) acknowledged.push(id);
        else failures.push(status);
      } catch (error) {
        failures.push((error as Error).message);
      }
    }
    agent.destroy();
  }
  const working = Array.from({ length: clients }, (_, client) => work(client));
  return {
    acknowledged,
    failures,
    async stop() {
      isOver = true;
      await Promise.all(working);
    },
  };
}

async function post(url: string, { agent, body }: { agent: Agent; body: object }): Promise<number> {
  const headers = { "Content-Type": "application/json" };
  const call = request(url, { method: "POST", agent, headers });
  call.end(JSON.stringify(body));
  const [response] = (await once(call, "response")) as [IncomingMessage];
  response.resume();
  await once(response, "end");
  return response.statusCode!;
}

function storedIds(): Set<unknown> {
  const database = new Database(place.database, { readonly: true });
  const rows = database.prepare("select id from things").pluck().all();
  database.close();
  return new Set(rows);
}

/** Resolves when so many more requests were acknowledged. */
const answersMore = async ({ acknowledged }: Load, more: number): Promise<void> => {
  const least = acknowledged.length + more;
  await expect.poll(() => acknowledged.length, soon).toBeGreaterThan(least);
};

describe("a killed process", () => {
  test("is replaced; no acknowledged write is lost, and only requests in it fail", async () => {
    service = await serveByTwo(place);
    const clients = 6;
    const load = createThings(service.origin, clients);
    const killed: number[] = [];
    for (const number of [2, 1]) {
      await answersMore(load, 20);
      const pid = service.pids()[number - 1]!;
      killed.push(pid);
      process.kill(pid, "SIGKILL");
      await answersMore(load, 20);
      await expect.poll(() => service!.pids()[number - 1], soon).not.toBe(pid);
    }
    await answersMore(load, 20);
    await load.stop();
    expect(load.acknowledged.filter((id) => !storedIds().has(id))).toEqual([]);
    // A client has one request under way, and does not fail again on its next connection.
    expect(load.failures.length).toBeLessThanOrEqual(clients * killed.length);
    expect(load.failures.filter((failure) => typeof failure === "number")).toEqual([]);
    expect(killed.filter(isRunning)).toEqual([]);
    expect(service.pids().every(isRunning)).toBe(true);
    const { body } = await service.ask("metrics", undefined, authorization);
    expect(body).toContain('rowgate_process_replacements_total{process="0"} 2\n');
  });

  test("is replaced while the others start, too", async () => {
    // The first ends just before the second says that it listens, and the next one takes its time.
    const flag = JSON.stringify(join(place.folder, "flag"));
    const early = `import cluster from "node:cluster";
import { existsSync, writeFileSync } from "node:fs";
const { send } = process;
const id = cluster.worker?.id;
const end = () => existsSync(${flag}) && process.kill(process.pid, "SIGKILL");
if (id === 1) setInterval(end, 20);
if (id === 2)
  process.send = (message, ...more) => {
    if (message?.name !== "listens") return send.call(process, message, ...more);
    writeFileSync(${flag}, "");
    setTimeout(() => send.call(process, message, ...more), 500);
  };
if (id === 3) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_000);`;
    const nodeArgs = ["--import", `data:text/javascript,${encodeURIComponent(early)}`];
    service = await serveByTwo(place, [], nodeArgs);
    expect(service.said()).toContain('"signal":"SIGKILL"');
    expect((await service.ask("api/shop/things/read", { limit: 10 })).status).toBe(200);
  });

  test("lets no client wait whose connection it had not taken yet", async () => {
    service = await serveByTwo(place);
    const [, second] = service.pids();
    process.kill(second, "SIGSTOP");
    const ask = () => service!.ask("api/shop/things/read", { limit: 10 });
    const outcomes = [ask(), ask()].map((asked) =>
      asked.then(
        ({ status }) => status,
        () => "failed",
      ),
    );
    expect(await Promise.race(outcomes)).toBe(200);
    process.kill(second, "SIGKILL");
    expect((await Promise.all(outcomes)).toSorted()).toEqual([200, "failed"]);
  });

  test("that died after a commit leaves no process with an older list", async () => {
    await place.save({
      "shop/things.json": { ...things, components: { onAfterInsert: ["components/die.ts#die"] } },
      "shop/components/die.ts": `const channel = process as unknown as Record<"_send", (...args: any[]) => unknown>;
export const die = () => {
  const send = channel._send;
  channel._send = (message, ...more) =>
    message?.name === "raise" ? process.kill(process.pid, "SIGKILL") : send.call(process, message, ...more);
};
`,
    });
    service = await serveByTwo(place);
    const read = async () => (await service!.ask("api/shop/things/read", { limit: 10 })).body.count;
    for (let asked = 0; asked < 6; asked++) expect(await read()).toBe(1);
    await expect(service.ask("api/shop/things/create", { id: "b" })).rejects.toThrow();
    expect(storedIds()).toContain("b");
    // Until the parent has heard of the end.
    await expect.poll(read, soon).toBe(2);
    for (let asked = 0; asked < 6; asked++) expect(await read()).toBe(2);
  });

  test("that has the jobs is replaced by one that goes on with them; requests wait for it", async () => {
    service = await serveByTwo(place);
    const { body } = await service.ask("api/shop/things/export", { format: "csv" });
    process.kill(service.pids()[0], "SIGKILL");
    const status = () => service!.ask(`api/shop/things/export-status?job_id=${body.job_id}`);
    expect((await status()).status).toBe(200);
    await expect.poll(async () => (await status()).body.status, soon).toBe("completed");
    expect((await service.ask("api/shop/things/export", { format: "csv" })).status).toBe(200);
  });

  test("is replaced by one with the configuration that the others serve, not with a faulty one", async () => {
    service = await serveByTwo(place);
    await place.save({ "shop/things.json": "{" });
    const [, second] = service.pids();
    process.kill(second, "SIGKILL");
    await expect.poll(() => service!.pids()[1], soon).not.toBe(second);
    for (let asked = 0; asked < 4; asked++)
      expect((await service.ask("api/shop/things/read", { limit: 1000 })).status).toBe(200);
  });

  test("that dies at each start is started again after growing pauses, while the other answers", async () => {
    const flag = join(place.folder, "broken");
    await place.save({
      "shop/things.json": { ...things, components: { onBeforeInsert: ["components/die.ts#die"] } },
      "shop/components/die.ts": `import { existsSync } from "node:fs";
if (existsSync(${JSON.stringify(flag)})) process.exit(3);
export const die = () => undefined;
`,
    });
    service = await serveByTwo(place);
    await writeFile(flag, "");
    const [, second] = service.pids();
    process.kill(second, "SIGKILL");
    const pauses = () =>
      service!.log().flatMap(({ number, waitMs }) => (number === 2 ? (waitMs ?? []) : []));
    await expect.poll(() => pauses().length, soon).toBeGreaterThanOrEqual(3);
    expect(pauses().slice(-2)).toEqual([500, 1_000]);
    expect((await service.ask("api/shop/things/read", { limit: 1000 })).status).toBe(200);
    await rm(flag);
    await expect.poll(() => service!.pids()[1], soon).not.toBe(second);
  });
});

describe("SIGHUP", () => {
  test("loads the configuration in both, one after the other, without a refused request", async () => {
    service = await serveByTwo(place);
    const load = createThings(service.origin, 4);
    await answersMore(load, 20);
    await place.save({ "shop/goods.json": things });
    service.parent.kill("SIGHUP");
    await expect
      .poll(() => service!.log().filter(({ msg }) => msg.includes("loaded again")).length, soon)
      .toBe(3);
    await answersMore(load, 20);
    await load.stop();
    expect(load.failures).toEqual([]);
    const loaded = service.log().filter(({ msg }) => msg.includes("loaded again"));
    expect(loaded.at(-1)!.process).toBe(0);
    expect(loaded.map((line) => line.process).toSorted()).toEqual([0, 1, 2]);
    for (let asked = 0; asked < 4; asked++)
      expect((await service.ask("api/shop/goods/read", { limit: 1 })).status).toBe(200);
  });

  test("with a faulty configuration leaves the old one in both, which say why", async () => {
    service = await serveByTwo(place);
    await place.save({ "shop/goods.json": { ...things, tableName: "nothing" } });
    service.parent.kill("SIGHUP");
    const states = async () => {
      const asked = [1, 2].map(() => service!.ask("health/ready", undefined, authorization));
      return (await Promise.all(asked)).map(({ body }) => body.config);
    };
    await expect
      .poll(async () => (await states()).every(({ last_error }) => last_error !== null), soon)
      .toBe(true);
    const [one, other] = await states();
    expect(one).toEqual(other);
    expect(one.last_error).toContain("nothing");
    for (let asked = 0; asked < 2; asked++) {
      expect((await service.ask("api/shop/things/read", { limit: 1000 })).status).toBe(200);
      expect((await service.ask("api/shop/goods/read", { limit: 1 })).status).toBe(404);
    }
  });

  test("that comes while a process starts is told by that process, too", async () => {
    const flag = join(place.folder, "slow");
    await place.save({
      "shop/things.json": {
        ...things,
        components: { onBeforeInsert: ["components/wait.ts#wait"] },
      },
      "shop/components/wait.ts": `import { existsSync } from "node:fs";
if (existsSync(${JSON.stringify(flag)})) await new Promise((resolve) => setTimeout(resolve, 4_000));
export const wait = () => undefined;
`,
    });
    service = await serveByTwo(place);
    await writeFile(flag, "");
    const [, second] = service.pids();
    process.kill(second, "SIGKILL");
    // Time to be told what is served, and not to listen.
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    await place.save({ "shop/things.json": "{" });
    service.parent.kill("SIGHUP");
    await expect.poll(() => service!.pids()[1], soon).not.toBe(second);
    const config = async () =>
      (await service!.ask("health/ready", undefined, authorization)).body.config;
    await expect.poll(async () => (await config()).last_error, soon).toContain("shop/things.json");
    const states = [await config(), await config(), await config(), await config()];
    expect(new Set(states.map((state) => JSON.stringify(state))).size).toBe(1);
  });

  test("happens by itself with --watch when a file is saved", async () => {
    service = await serveByTwo(place, ["--watch"]);
    await place.save({ "shop/goods.json": things });
    const statuses = async () => {
      const asked = [1, 2].map(() => service!.ask("api/shop/goods/read", { limit: 1 }));
      return (await Promise.all(asked)).map(({ status }) => status);
    };
    await expect.poll(statuses, soon).toEqual([200, 200]);
  });
});

describe("the end", () => {
  test("SIGTERM lets running requests of all finish, and ends with exit code 0", async () => {
    service = await serveByTwo(place);
    const pids = service.pids();
    const calls = [1, 2].map((number) => {
      const headers = { "Content-Type": "application/json", "Content-Length": 12 };
      const url = `${service!.origin}/api/shop/things/create`;
      const call = request(url, { method: "POST", headers, agent: false });
      const answered = once(call, "response") as Promise<[IncomingMessage]>;
      // It may fail before it is awaited.
      answered.catch(() => undefined);
      call.write('{"id": "');
      return { call, answered, end: () => call.end(`t${number}"}`) };
    });
    await Promise.all(calls.map(({ call }) => once(call, "socket")));
    // Both have arrived once requests that were sent after them are answered.
    await Promise.all([1, 2].map(() => service!.ask("api/shop/things/read", { limit: 1000 })));
    service.parent.kill("SIGTERM");
    await expect
      .poll(() => fetch(`${service!.origin}/health/live`).then(String, () => "refused"), soon)
      .toBe("refused");
    for (const { end } of calls) end();
    const statuses = await Promise.all(
      calls.map(async ({ answered }) => (await answered)[0].statusCode),
    );
    expect(statuses).toEqual([201, 201]);
    expect(await service.ended).toBe(0);
    expect(pids.filter(isRunning)).toEqual([]);
    expect(storedIds()).toEqual(new Set(["a", "t1", "t2"]));
  });

  test("SIGTERM while the second one starts ends both in order", async () => {
    const early = `import cluster from "node:cluster";
const { send } = process;
if (cluster.worker?.id === 2) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_000);
if (cluster.worker?.id === 1)
  process.send = (message, ...more) => {
    if (message?.name === "listens") setTimeout(() => process.kill(process.ppid, "SIGTERM"), 300);
    return send.call(process, message, ...more);
  };`;
    const nodeArgs = ["--import", `data:text/javascript,${encodeURIComponent(early)}`];
    await expect(serveByTwo(place, [], nodeArgs)).rejects.toThrow("The service ended with 0");
  });

  test("SIGTERM answers the connections that clients have opened", async () => {
    service = await serveByTwo(place);
    const url = `${service.origin}/health/live`;
    const asked: Promise<string>[] = [];
    const ask = (): Promise<string> =>
      once(request(url, { agent: false }).end(), "response").then(
        ([response]) => String((response as IncomingMessage).resume().statusCode),
        (error: NodeJS.ErrnoException) => error.code!,
      );
    const asking = setInterval(() => asked.push(ask(), ask(), ask()), 3);
    await expect.poll(() => asked.length, soon).toBeGreaterThan(300);
    service.parent.kill("SIGTERM");
    expect(await service.ended).toBe(0);
    clearInterval(asking);
    const outcomes = await Promise.all(asked);
    // One that the system accepts just while the socket is closed is reset, whatever the service does.
    const others = outcomes.filter((one) => one !== "200" && one !== "ECONNREFUSED");
    expect(others.length).toBeLessThan(outcomes.length / 20);
  });

  test("of a parent that is killed is the end of its processes", async () => {
    service = await serveByTwo(place);
    const pids = service.pids();
    service.parent.kill("SIGKILL");
    await expect.poll(() => pids.filter(isRunning), soon).toEqual([]);
  });
});

describe("the start", () => {
  const start = (processes: string, env: Readonly<Record<string, string>> = {}) =>
    serveProcess({ cwd: place.folder, args: ["--processes", processes], env });

  test("on a port that is taken says so once, and ends", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as { port: number };
    const error = await start("2", { PORT: String(port) }).catch((caught: Error) => caught);
    server.close();
    expect((error as Error).message.match(/is taken by another program/g)).toHaveLength(1);
    expect((error as Error).message).toContain("The service ended with 1");
  });

  test.each([
    ["0", {}, '--processes is "0"; use a number from 1 to 999, or auto'],
    ["many", {}, '--processes is "many"'],
    ["2", { "shop/things.json": "{" }, "shop/things.json"],
    [
      "2",
      { "shop/project.json": { database: { url: "sqlite::memory:" } } },
      "each process would have its own database in memory",
    ],
  ])("refuses %s, %j", async (processes, files, message) => {
    await place.save(files);
    await expect(start(processes)).rejects.toThrow(message);
  });

  test("with auto takes as many processes as there are processors", async () => {
    const { origin, stop } = await start("auto", { LOG_LEVEL: "info" });
    expect((await fetch(`${origin}/health/live`)).status).toBe(200);
    await stop();
  });
});
