/**
 * A proxy between the service and its database drops the acknowledgement of a COMMIT: the write is stored, but the
 * service cannot know. With an Idempotency-Key it finds out, itself or at the client's retry. The files beside this one
 * run it on the engines that use a network.
 */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createLog } from "../../app/start/observing/log.ts";
import { openService, type Service } from "../../app/start/servers/wire.ts";
import { createTables } from "../contract/tables.ts";
import { type FreshDatabase, freshDatabase } from "../servers/database.ts";
import { type EngineName, openSession, type PlainSession } from "../servers/session.ts";

/** Whether what came from the server, after what was sent last, acknowledges a COMMIT that was on its way. */
export type Acknowledges = (fromServer: Buffer, sentLast: Buffer) => boolean;

export function testLostCommits(engine: EngineName, acknowledges: Acknowledges): void {
  let database: FreshDatabase;
  let session: PlainSession;
  let proxy: Proxy;
  let service: Service;

  beforeAll(async () => {
    database = await freshDatabase(engine);
    session = await openSession(engine, database.url);
    const columns = { id: "key", name: "text(100)", stock: "integer" } as const;
    for (const text of createTables(engine, [{ name: "items", columns }])) await session.run(text);
    proxy = await openProxy(new URL(database.url), acknowledges);
    const url = new URL(database.url);
    url.host = `127.0.0.1:${proxy.port}`;
    const action = { create: true, adjust: true };
    const adjustConfig = { fields: { stock: { type: "integer" } } };
    const files = new Map([
      ["test/project.json", JSON.stringify({ database: { url: url.href, pool: 2 } })],
      ["test/items.json", JSON.stringify({ tableName: "items", action, adjustConfig })],
    ]);
    service = await openService({ files, env: {}, log: createLog("silent") });
  });
  afterAll(async () => {
    await service?.close();
    proxy?.close();
    await session?.close();
    await database?.drop();
  });

  let made = 0;
  let id = "";
  beforeEach(async () => {
    id = `item-${++made}`;
    await session.run(`INSERT INTO items VALUES ('${id}', 'Item', 0)`);
  });

  async function send(action: string, body: object) {
    const response = await service.app.request(`/api/test/items/${action}`, {
      method: "POST",
      headers: { "content-type": "application/json", "Idempotency-Key": `key-${id}` },
      body: JSON.stringify(body),
    });
    const isReplayed = response.headers.has("Idempotency-Replayed");
    return { status: response.status, isReplayed, body: await response.json() };
  }
  const written = async () => {
    const [row] = await session.run(
      `SELECT COUNT(*) AS items, SUM(stock) AS stock FROM items WHERE id = '${id}' OR name = '${id}'`,
    );
    return { items: Number(row!["items"]), stock: Number(row!["stock"]) };
  };

  const requests = [
    {
      action: "adjust",
      body: () => ({ id, adjustments: [{ field: "stock", value: 1 }] }),
      status: 200,
      after: { items: 1, stock: 1 },
    },
    {
      action: "create",
      body: () => ({ name: id, stock: 1 }),
      status: 201,
      after: { items: 2, stock: 1 },
    },
  ];

  test.each(requests)(
    "$action finds out that it was stored, where the database can be asked",
    async ({ action, body, status, after }) => {
      const lost = proxy.loseNextCommit({ awayMs: 0 });
      const first = await send(action, body());
      await lost;
      expect(first).toMatchObject({ status, isReplayed: false });
      const again = await send(action, body());
      expect(again).toEqual({ ...first, isReplayed: true });
      expect(await written()).toEqual(after);
    },
  );

  test.each(requests)(
    "$action that was answered with 503 is not done again by its repeat",
    async ({ action, body, status, after }) => {
      const lost = proxy.loseNextCommit({ awayMs: 2_500 });
      const first = await send(action, body());
      await lost;
      expect(first).toMatchObject({ status: 503, body: { error: "Service unavailable" } });
      await proxy.isBack();
      const again = await untilThere(() => send(action, body()));
      expect(again).toMatchObject({ status, isReplayed: true });
      expect(await written()).toEqual(after);
    },
  );
}

/** Repeats the request while the database is out of reach. */
async function untilThere<Sent extends { status: number }>(
  ask: () => Promise<Sent>,
): Promise<Sent> {
  for (let tries = 1; ; tries++) {
    const sent = await ask();
    if (sent.status !== 503 || tries === 20) return sent;
    await pause(100);
  }
}

interface Proxy {
  readonly port: number;
  /** Resolves when it was lost. New connections are refused for `awayMs` after it. */
  loseNextCommit(options: { awayMs: number }): Promise<void>;
  isBack(): Promise<void>;
  close(): void;
}

async function openProxy(target: URL, acknowledges: Acknowledges): Promise<Proxy> {
  const sockets = new Set<Socket>();
  let losing: (() => void) | null = null;
  let back = Promise.resolve();
  let isAway = false;

  const server = createServer((client) => {
    if (isAway) return void client.destroy();
    const upstream = connect(Number(target.port), target.hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => (client.destroy(), upstream.destroy(), sockets.delete(socket)));
    }
    let sentLast: Buffer = Buffer.alloc(0);
    let isCommitting = false;
    client.on("data", (sent) => {
      sentLast = sent as Buffer;
      isCommitting ||= losing !== null && sentLast.includes("commit");
      upstream.write(sent);
    });
    upstream.on("data", (received) => {
      if (!isCommitting || !acknowledges(received as Buffer, sentLast)) {
        client.write(received);
        return;
      }
      losing?.();
      client.destroy();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");

  return {
    port: (server.address() as AddressInfo).port,
    loseNextCommit({ awayMs }) {
      const lost = Promise.withResolvers<void>();
      losing = () => {
        losing = null;
        isAway = awayMs > 0;
        if (isAway) for (const socket of sockets) socket.destroy();
        back = new Promise((resolve) => {
          setTimeout(() => ((isAway = false), resolve()), awayMs);
        });
        lost.resolve();
      };
      return lost.promise;
    },
    isBack: () => back,
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
