/** A pooler that drops session settings: the settings for the form of values must be defaults of the database then. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openDb } from "../../db/open.ts";
import { type FreshDatabase, freshDatabase } from "../servers/database.ts";
import { openSession } from "../servers/session.ts";

let database: FreshDatabase;
let pooler: Server;
let pooledUrl: string;
const sockets = new Set<Socket>();

beforeAll(async () => {
  database = await freshDatabase("postgres");
  const { hostname, port } = new URL(database.url);
  pooler = createServer((client) => {
    const server = connect(Number(port), hostname);
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => [client, server].forEach((one) => one.destroy()));
    }
    client.once("data", (opening) => {
      server.write(withoutSettings(opening));
      client.pipe(server).pipe(client);
    });
  });
  await once(pooler.listen(0, "127.0.0.1"), "listening");
  const url = new URL(database.url);
  url.host = `127.0.0.1:${(pooler.address() as AddressInfo).port}`;
  pooledUrl = url.href;
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  pooler?.close();
  await database?.drop();
});

async function ping(): Promise<unknown> {
  const options = { connectionsMax: 1, statementTimeoutMs: 0, decimals: "number" } as const;
  const db = await openDb(pooledUrl, options);
  try {
    return await db.ping().then(
      () => "reached",
      (error: Error) => (error.cause as Error).message,
    );
  } finally {
    await db.close();
  }
}

async function setDefaults(settings: Record<string, string>): Promise<void> {
  const session = await openSession("postgres", database.url);
  const [row] = await session.run("select current_database() as name");
  for (const [name, value] of Object.entries(settings))
    await session.run(`alter database ${String(row!["name"])} set ${name} = '${value}'`);
  await session.close();
}

test("a session whose settings are lost is not used, and the log has the statements that help", async () => {
  await setDefaults({ TimeZone: "Asia/Tokyo", bytea_output: "escape", DateStyle: "German" });
  const said = await ping();
  expect(said).toContain("set TimeZone = 'UTC'");
  expect(said).toContain("set bytea_output = 'hex'");
  expect(said).toContain("set DateStyle = 'ISO, YMD'");
  expect(said).not.toContain("IntervalStyle");
});

test("defaults of the database that are what the session asked for are as good", async () => {
  await setDefaults({
    TimeZone: "UTC",
    bytea_output: "hex",
    DateStyle: "ISO, YMD",
    IntervalStyle: "postgres",
  });
  expect(await ping()).toBe("reached");
});

/** The first message of a session: its length, the protocol, then names and values. */
function withoutSettings(opening: Buffer): Buffer {
  const words = opening.toString("utf8", 8).split("\0");
  const kept = ["user", "database"].flatMap((name) => {
    const at = words.findIndex((word, place) => place % 2 === 0 && word === name);
    return at < 0 ? [] : [name, words[at + 1]!];
  });
  const body = Buffer.from(`${kept.join("\0")}\0\0`);
  const head = Buffer.from(opening.subarray(0, 8));
  head.writeUInt32BE(8 + body.length, 0);
  return Buffer.concat([head, body]);
}
