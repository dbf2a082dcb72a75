/** Reads from a replica that lags, is away or is silent, beside writes: no write is missing, and no request fails. */
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from "vitest";
import { openService } from "../../app/start/servers/wire.ts";
import { checkConfig } from "../../app/start/commands/check-config.ts";
import { createLog } from "../../app/start/observing/log.ts";
import { createTables } from "../contract/tables.ts";
import { type SilentDoor, startSilentDoor } from "../jobs/silent-door.ts";
import { runOnce } from "../servers/database.ts";
import { openReplicated, type Replicated } from "../servers/replicated.ts";
import { openSession } from "../servers/session.ts";

interface Answer {
  readonly status: number;
  // oxlint-disable-next-line no-explicit-any -- tests look into answers of every shape
  readonly body: any;
}

type Service = Awaited<ReturnType<typeof openService>>;

async function openAt(files: Record<string, object>): Promise<Service> {
  const service = await openService({
    files: new Map(Object.entries(files).map(([path, file]) => [path, JSON.stringify(file)])),
    env: { REDIS_URL: inject("serverUrls")!.redis! },
    log: createLog("silent"),
  });
  await service.ready;
  return service;
}

const placeOf = {
  postgres: "select 1 as id, inet_server_port() as port",
  mysql: "select 1 as id, @@port as port",
} as const;

/** Makes a replica a server of its own, and lets that go further than its primary. */
const onItsOwn = {
  postgres: [
    "select pg_promote()",
    "select pg_logical_emit_message(false, '', repeat('x', 2000000))",
  ],
  mysql: ["stop slave", ...Array.from({ length: 99 }, (_, at) => `create database own_${at}`)],
} as const;

/** Each row of the table `waits` takes two seconds to be written. */
const waiting = {
  postgres: [
    "create function wait() returns trigger language plpgsql as $$ begin perform pg_sleep(2); return new; end $$",
    "create trigger waits_long before insert on waits for each row execute function wait()",
  ],
  mysql: ["create trigger waits_long before insert on waits for each row do sleep(2)"],
} as const;

const slowOf = {
  postgres: "select 1 as id, inet_server_port() as port, pg_sleep(9)::text as slept",
  mysql: "select 1 as id, @@port as port, sleep(9) as slept",
} as const;

describe.each(["postgres", "mysql"] as const)("%s", (name) => {
  let servers: Replicated;
  let door: SilentDoor;
  let service: Service;
  let files: Record<string, object>;
  let ports: { readonly primary: number; readonly replica: number };

  beforeAll(async () => {
    servers = await openReplicated(name);
    door = await startSilentDoor(servers.replicaUrl);
    const session = await openSession(name, servers.primaryUrl);
    const columns = { id: "key", name: "text(40)", qty: "integer" } as const;
    const tables = ["goods", "waits"].map((table) => ({ name: table, columns }));
    for (const text of [...createTables(name, tables), ...waiting[name]]) await session.run(text);
    if (name === "postgres") await session.run("create sequence counted");
    await session.run("insert into goods (id, name, qty) values ('a', 'Hammer', 1)");
    await session.close();
    const [primary, replica] = [servers.primaryUrl, servers.replicaUrl].map((url) =>
      Number(new URL(url).port),
    ) as [number, number];
    ports = { primary, replica };
    const action = { create: true, update: true, first: true, read: true, lookup: true };
    files = {
      "test/project.json": {
        database: { url: servers.primaryUrl, replicas: [door.url], readFrom: "replica" },
        cache: { enabled: false },
      },
      "test/goods.json": {
        tableName: "goods",
        action: { ...action, delete: true, datatables: true, aggregate: true },
        fieldNameLookup: { id: "id", text: "name" },
      },
      "test/counted.json": {
        viewQuery: "select id, nextval('counted')::text as number from goods where id = 'a'",
        action: { read: true },
      },
      "test/waits.json": { tableName: "waits", action: { create: true } },
      "test/slow.json": { viewQuery: slowOf[name], primaryKey: "id", action: { read: true } },
      "test/place.json": {
        viewQuery: placeOf[name],
        datatablesQuery: placeOf[name],
        primaryKey: "id",
        action: { first: true, read: true, datatables: true, aggregate: true, lookup: true },
        fieldNameLookup: { id: "id", text: "port" },
      },
    };
    if (name === "mysql") delete files["test/counted.json"];
    service = await openAt(files);
  });
  afterAll(async () => {
    await service?.close();
    await door?.stop();
    await servers?.stop();
  });
  beforeEach(() => expect.poll(answering, { timeout: 10_000 }).toBe(ports.replica));

  async function ask(path: string, body: object, { app } = service): Promise<Answer> {
    const headers = { "content-type": "application/json", "x-request-mode": "static" };
    const request = { method: "POST", headers, body: JSON.stringify(body) };
    const response = await app.fetch(new Request(`http://localhost/api/test/${path}`, request));
    return { status: response.status, body: await response.json() };
  }

  /** The port of the server that answers reads. */
  const answering = async (): Promise<number> =>
    Number((await ask("place/first", { where: [{ key: "id", value: 1 }] })).body.data.port);
  const nameOf = (id: string, at = service): Promise<Answer> =>
    ask("goods/first", { where: [{ key: "id", value: id }] }, at);

  test.each<[string, object, (body: Answer["body"]) => unknown]>([
    ["place/read", { page: 1 }, ({ data }) => data[0].port],
    ["place/read", { page: 1, per_page: 1, export: false }, ({ data }) => data[0].port],
    ["place/datatables", { draw: 1 }, ({ data }) => data[0].port],
    ["place/lookup", {}, ({ data }) => data[0].text],
    [
      "place/aggregate",
      { operations: [{ function: "max", field: "port" }] },
      ({ data }) => data.max_port ?? data[0].max_port,
    ],
  ])("the replica answers %s %j", async (path, body, portIn) => {
    const answer = await ask(path, body);
    expect([answer.status, Number(portIn(answer.body))]).toEqual([200, ports.replica]);
  });

  test("each client sees what it wrote, at once", async () => {
    let missed = 0;
    const client = async (client: number): Promise<void> => {
      for (let at = 0; at < 40; at++) {
        const id = `${client}-${at}`;
        expect((await ask("goods/create", { id, name: id, qty: at })).status).toBe(201);
        if ((await nameOf(id)).body.data?.name !== id) missed++;
        expect((await ask("goods/update", { id, name: `${id} changed` })).status).toBe(200);
        if ((await nameOf(id)).body.data?.name !== `${id} changed`) missed++;
      }
    };
    await Promise.all([0, 1, 2, 3, 4, 5].map(client));
    expect(missed).toBe(0);
  });

  test("the primary answers what the replica does not have yet", async () => {
    await servers.pause();
    try {
      expect((await ask("goods/create", { id: "late", name: "Saw", qty: 1 })).status).toBe(201);
      for (let at = 0; at < 5; at++) expect((await nameOf("late")).body.data.name).toBe("Saw");
      expect(await answering()).toBe(ports.primary);
    } finally {
      await servers.goOn();
    }
    await expect.poll(answering, { timeout: 10_000 }).toBe(ports.replica);
    expect((await nameOf("late")).body.data.name).toBe("Saw");
  });

  test.each<[string, () => unknown, () => unknown]>([
    ["refuses", () => door.shut(), () => door.reopen()],
    ["is silent", () => door.silence(), () => door.goOn()],
  ])("a replica that %s costs no request its answer", async (_, leave, comeBack) => {
    let isOver = false;
    const failed: Answer[] = [];
    let answered = 0;
    const readers = Array.from({ length: 4 }, async () => {
      while (!isOver) {
        const answer = await nameOf("a");
        if (answer.status === 200) answered++;
        else failed.push(answer);
      }
    });
    await leave();
    try {
      await expect.poll(answering, { timeout: 20_000 }).toBe(ports.primary);
      const before = answered;
      const writes = [1, 2, 3].map((qty) => ask("goods/update", { id: "a", qty }));
      expect((await Promise.all(writes)).map(({ status }) => status)).toEqual([200, 200, 200]);
      // What was sent to the silent server is given up before the request's time is over.
      await expect.poll(() => answered, { timeout: 20_000 }).toBeGreaterThan(before + 20);
    } finally {
      await comeBack();
      isOver = true;
    }
    await expect.poll(answering, { timeout: 20_000 }).toBe(ports.replica);
    await Promise.all(readers);
    expect(failed).toEqual([]);
  });

  test("a record that was deleted is gone", async () => {
    expect((await ask("goods/create", { id: "gone", name: "Saw", qty: 1 })).status).toBe(201);
    expect((await nameOf("gone")).body.data.name).toBe("Saw");
    await servers.pause();
    try {
      const where = [{ key: "id", value: "gone" }];
      expect((await ask("goods/delete", { where })).status).toBe(200);
      expect((await nameOf("gone")).body.data).toBeNull();
    } finally {
      await servers.goOn();
    }
  });

  test.runIf(name === "postgres")("the primary answers what no replica can do", async () => {
    const { status, body } = await ask("counted/read", { page: 1 });
    expect([status, body.data[0].number]).toEqual([200, expect.stringMatching(/^\d+$/)]);
    await expect.poll(answering).toBe(ports.replica);
  });

  test("a read that takes long on the replica is not cut short", async () => {
    const { status, body } = await ask("slow/read", { page: 1 });
    expect([status, Number(body.data[0].port)]).toEqual([200, ports.replica]);
  });

  test("reads do not wait for writes that hold all connections with the primary", async () => {
    const database = {
      url: servers.primaryUrl,
      replicas: [door.url],
      readFrom: "replica",
      pool: 1,
    };
    const other = await openAt({
      ...files,
      "test/project.json": { database, cache: { enabled: false } },
    });
    expect((await ask("goods/update", { id: "a", qty: 3 }, other)).status).toBe(200);
    await setTimeout(500);
    const writes = [1, 2, 3].map((qty) => ask("waits/create", { name: "x", qty }, other));
    await setTimeout(100);
    const startedAt = performance.now();
    const { body } = await ask("place/read", { page: 1 }, other);
    expect(performance.now() - startedAt).toBeLessThan(900);
    expect(Number(body.data[0].port)).toBe(ports.replica);
    expect((await Promise.all(writes)).map(({ status }) => status)).toEqual([201, 201, 201]);
    await other.close();
  });

  test("another instance that shares Redis sees what this one wrote, at once", async () => {
    const other = await openAt(files);
    let missed = 0;
    for (let at = 0; at < 60; at++) {
      const id = `shared-${at}`;
      expect((await ask("goods/create", { id, name: id, qty: at })).status).toBe(201);
      if ((await nameOf(id, other)).body.data?.name !== id) missed++;
    }
    await other.close();
    expect(missed).toBe(0);
  });

  test.runIf(name === "postgres").each([
    ["any", "replica"],
    ["read-write", "primary"],
    ["primary", "primary"],
    ["read-only", "replica"],
    ["standby", "replica"],
    ["prefer-standby", "replica"],
  ] as const)(
    "of several hosts, target_session_attrs=%s takes the %s",
    async (attributes, taken) => {
      for (const hosts of [
        [ports.replica, ports.primary],
        [ports.primary, ports.replica],
      ]) {
        const own = new URL(servers.primaryUrl).host;
        const host = hosts.map((port) => own.replace(/\d+$/, String(port))).join(",");
        const url = `${servers.primaryUrl.replace(own, host)}?target_session_attrs=${attributes}`;
        const other = await openAt({ ...files, "test/project.json": { database: { url } } });
        const { body } = await ask("place/read", { page: 1 }, other);
        const expected = attributes === "any" ? hosts[0] : ports[taken];
        expect(Number(body.data[0].port)).toBe(expected);
        await other.close();
      }
    },
  );

  // The last one, as the replica does not follow again.
  test("a server that no longer follows the primary is not used", { retry: 0 }, async () => {
    for (const text of onItsOwn[name]) await runOnce(name, servers.replicaUrl, text);
    for (let qty = 100; qty < 105; qty++) {
      expect((await ask("goods/update", { id: "a", qty })).status).toBe(200);
      await setTimeout(50);
      expect((await nameOf("a")).body.data.qty).toBe(qty);
    }
    expect(await answering()).toBe(ports.primary);
  });
});

test.each<[string, object, string]>([
  ["SQLite", { url: "sqlite::memory:", replicas: ["sqlite:a.db"] }, "replicas"],
  ["another kind", { url: "postgres://a/b", replicas: ["mysql://a/b"] }, "replicas"],
  ["no address", { url: "postgres://a/b", readFrom: "replica" }, "readFrom"],
  ["an empty address", { url: "postgres://a/b", replicas: [""] }, "replicas"],
  [
    "another word",
    { url: "postgres://a/b", replicas: ["postgres://c/b"], readFrom: "all" },
    "readFrom",
  ],
])("%s is a fault", async (_, database, setting) => {
  const files = new Map([["test/project.json", JSON.stringify({ database })]]);
  const { faults } = await checkConfig({ files, env: {} });
  expect(faults.map(({ path }) => path)).toEqual([expect.stringContaining(`database.${setting}`)]);
});
