/**
 * Services in separate processes with non-blocking hooks, one SQLite database and one store of hook calls. Also a
 * receiver whose answers the test sets, or which is down.
 */
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import {
  createServer,
  type IncomingHttpHeaders,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createTables } from "../contract/tables.ts";
import { type ServiceProcess, startService } from "../faults/service-process.ts";
import { freshDatabase } from "../servers/database.ts";
import { openSession } from "../servers/session.ts";

export interface HeardCall {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Receiver {
  readonly host: string;
  readonly heard: HeardCall[];
  /** Status of later calls; null: no answer. At first 200. Calls below `/wait/` always get 200, after a delay. */
  answers(status: number | null): void;
  /** Calls to that path. Waits for `count` of them, or rejects after `withinMs`. */
  hears(path: string, count?: number, withinMs?: number): Promise<HeardCall[]>;
  /** Stops listening. */
  leave(): Promise<void>;
  comeBack(): Promise<void>;
}

const waitMs = 1_500;

export async function startReceiver(): Promise<Receiver> {
  const heard: HeardCall[] = [];
  const open = new Set<ServerResponse>();
  let status: number | null = 200;
  let server: Server;
  let port = 0;
  const listen = async () => {
    server = createServer((request, response) => {
      let body = "";
      request.on("data", (text) => (body += text));
      request.on("end", () => {
        heard.push({ path: request.url ?? "", headers: request.headers, body });
        open.add(response);
        if (request.url?.startsWith("/wait/")) setTimeout(() => response.end(), waitMs);
        else if (status !== null) response.writeHead(status).end();
      });
    });
    await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
    port = (server.address() as AddressInfo).port;
  };
  await listen();
  return {
    host: `127.0.0.1:${port}`,
    heard,
    answers: (next) => void (status = next),
    async hears(path, count = 1, withinMs = 10_000) {
      const giveUpAtMs = performance.now() + withinMs;
      for (;;) {
        const found = heard.filter((one) => one.path === path);
        if (found.length >= count) return found;
        if (performance.now() > giveUpAtMs)
          throw new Error(`${path} was called ${found.length} times, not ${count}`);
        await sleep(20);
      }
    },
    async leave() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
    comeBack: listen,
  };
}

export const secret = "Bearer 3f9c-secret";

export interface Town {
  readonly receiver: Receiver;
  /** Where services keep their files. */
  readonly filesFolder: string;
  readonly queueName: string;
  /** An instance of the service. */
  start(): Promise<ServiceProcess>;
  /**
   * Creates a record and sets it to `status`. `told` calls the hook `/told/<id>`; `slow` first waits for `/wait/<id>`.
   * Resolves with the path of the `/told` call.
   */
  change(service: ServiceProcess, status?: string): Promise<string>;
  close(): Promise<void>;
}

/** `env`: where the hooks are kept. */
export async function openTown(env: Readonly<Record<string, string>>): Promise<Town> {
  const receiver = await startReceiver();
  const database = await freshDatabase("sqlite");
  const session = await openSession("sqlite", database.url);
  const columns = { id: "key", name: "text(100)", note: "text(100)" } as const;
  for (const text of createTables("sqlite", [{ name: "items", columns }])) await session.run(text);
  await session.close();
  const filesFolder = await mkdtemp(join(tmpdir(), "rowgate-test-hooks-"));
  const queueName = `test-${randomUUID()}`;
  const started: ServiceProcess[] = [];
  const hook = {
    name: "tell",
    url: `http://${receiver.host}/told/{{id}}`,
    headers: { Authorization: secret },
    body: { id: "{{id}}", note: "{{record.note}}" },
    timeoutMs: 60_000,
  };
  const wait = { url: `http://${receiver.host}/wait/{{id}}`, blocking: true };
  const own = { url: "/api/test/items/update", body: { id: "{{id}}", note: "by a hook" } };
  const files = {
    "project.json": { database: { url: database.url }, hooks: { allowedHosts: [receiver.host] } },
    "items.json": {
      tableName: "items",
      action: { create: true, first: true, update: true, "change-status": true },
      workflow: {
        statusField: "name",
        hooks: {
          told: { onAfter: [hook] },
          slow: { onAfter: [wait, hook] },
          own: { onAfter: [own] },
        },
      },
    },
  };
  return {
    receiver,
    filesFolder,
    queueName,
    async start() {
      const given = { STORAGE_URL: `file:${filesFolder}`, JOBS_QUEUE: queueName, ...env };
      const service = await startService(files, { env: given });
      started.push(service);
      return service;
    },
    async change(service, status = "told") {
      const id = randomUUID();
      await service.post("items/create", { id, name: "new", note: "n" });
      const answer = await service.post("items/change-status", { id, status });
      if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
      return `/told/${id}`;
    },
    async close() {
      for (const service of started) await service.stop();
      await receiver.leave().catch(() => undefined);
      await database.drop();
      await rm(filesFolder, { recursive: true, force: true });
    },
  };
}

export async function kill({ process: child }: ServiceProcess): Promise<void> {
  const exited = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGKILL");
  await exited;
}
