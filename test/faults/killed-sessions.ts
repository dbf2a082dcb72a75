/**
 * All sessions of a database are killed twice a second under load: the service stays up, answers with its envelope,
 * loses no accepted write, repeats none that has a key, and works afterwards. Run for engines that have sessions.
 */
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTables } from "../contract/tables.ts";
import { type FreshDatabase, freshDatabase } from "../servers/database.ts";
import { type EngineName, openSession, type PlainSession } from "../servers/session.ts";
import { type ServiceProcess, startService } from "./service-process.ts";

const loadMs = 8_000;
const keyedLoadMs = 4_000;
const killEveryMs = 500;
/** Load after the last kill: the server ends a session with a delay, and in this time every session has been used. */
const calmMs = 2_000;
const clients = 16;

/** `killAll` ends every session of the service, but not the one that it is given. */
export function testKilledSessions(
  engine: EngineName,
  killAll: (session: PlainSession) => Promise<void>,
): void {
  let database: FreshDatabase;
  let session: PlainSession;
  let service: ServiceProcess;

  beforeAll(async () => {
    database = await freshDatabase(engine);
    session = await openSession(engine, database.url);
    const columns = { id: "key", name: "text(100)", stock: "integer" } as const;
    for (const text of createTables(engine, [{ name: "items", columns }])) await session.run(text);
    for (let at = 0; at < clients; at++)
      await session.run(`INSERT INTO items VALUES ('item-${at}', 'Item', 0)`);
    service = await startService({
      "project.json": { database: { url: database.url, pool: 8 } },
      "items.json": {
        tableName: "items",
        action: { create: true, read: true, first: true, update: true, delete: true, adjust: true },
        adjustConfig: { fields: { stock: { type: "integer" } } },
      },
    });
  });

  afterAll(async () => {
    await service?.stop();
    await session?.close();
    await database?.drop();
  });

  test(
    "the service lives through killed sessions and is whole afterwards",
    { timeout: 60_000 },
    async () => {
      const endMs = performance.now() + loadMs;
      const statuses = new Map<number, number>();
      const adjusts = { accepted: 0, unknown: 0 };

      const client = async (at: number) => {
        for (let round = 0; performance.now() < endMs; round++) {
          const id = `item-${at}`;
          const [path, body] = requests(id, round);
          const answer = await service.post(path, body);
          statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
          expect(answer.body["timestamp"]).toMatch(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/);
          expect(answer.body["success"]).toBe(answer.status < 400);
          if (answer.status === 503) expect(answer.body["error"]).toBe("Service unavailable");
          if (path.endsWith("adjust")) adjusts[answer.status === 200 ? "accepted" : "unknown"]++;
        }
      };
      const killer = async () => {
        while (performance.now() < endMs - calmMs) {
          await pause(killEveryMs);
          await killAll(session);
        }
      };
      await Promise.all([killer(), ...Array.from({ length: clients }, (_, at) => client(at))]);

      // Killed sessions are the only fault here: only success and "unavailable" are accepted.
      expect([...statuses.keys()].toSorted()).toEqual(expect.arrayContaining([200, 201]));
      expect([...statuses.keys()].filter((status) => ![200, 201, 503].includes(status))).toEqual(
        [],
      );
      expect(service.process.exitCode, service.said()).toBeNull();

      const afterwards = await Promise.all(
        Array.from({ length: 100 }, (_, at) =>
          service.post("items/update", { id: `item-${at % clients}`, name: `After ${at}` }),
        ),
      );
      expect(afterwards.map(({ status }) => status)).toEqual(afterwards.map(() => 200));

      // A lost answer leaves open whether its write was done; an accepted one must be there, and none twice.
      const [row] = await session.run("SELECT SUM(stock) AS total FROM items");
      const total = Number(row?.["total"]);
      expect(total).toBeGreaterThanOrEqual(adjusts.accepted);
      expect(total).toBeLessThanOrEqual(adjusts.accepted + adjusts.unknown);
      expect(adjusts.accepted).toBeGreaterThan(0);
    },
  );

  test(
    "adjusts with an Idempotency-Key that are repeated until they succeed count once each",
    { timeout: 60_000 },
    async () => {
      await session.run("UPDATE items SET stock = 0");
      const endMs = performance.now() + keyedLoadMs;
      let adjusted = 0;
      let repeated = 0;
      const client = async (at: number) => {
        const body = { id: `item-${at % 4}`, adjustments: [{ field: "stock", value: 1 }] };
        for (let round = 0; performance.now() < endMs; round++) {
          const key = { "Idempotency-Key": `adjust-${at}-${round}` };
          const adjust = () => service.post("items/adjust", body, key);
          const tries = await insist(adjust);
          // Once more, as by a client that does not know.
          await insist(adjust);
          adjusted++;
          if (tries > 1) repeated++;
        }
      };
      const killer = async () => {
        while (performance.now() < endMs) {
          await pause(100);
          await killAll(session);
        }
      };
      await Promise.all([killer(), ...Array.from({ length: clients }, (_, at) => client(at))]);
      const [row] = await session.run("SELECT SUM(stock) AS total FROM items");
      expect(Number(row?.["total"])).toBe(adjusted);
      expect(repeated).toBeGreaterThan(0);
    },
  );
}

/** Repeats the request until it has succeeded; how often it was sent. */
async function insist(
  ask: () => Promise<{ status: number; body: Record<string, unknown> }>,
): Promise<number> {
  for (let tries = 1; tries < 1_000; tries++) {
    const { status, body } = await ask();
    if (status === 200) return tries;
    expect([409, 503], JSON.stringify(body)).toContain(status);
    if (status === 409) expect(body["error"]).toBe("Request in progress");
    await pause(status === 409 ? 200 : 20);
  }
  throw new Error("The request was never answered with success");
}

function requests(id: string, round: number): [path: string, body: object] {
  // Long enough to be written at once, short enough to be held back: drivers treat the two differently.
  const name = "x".repeat(round % 2 === 0 ? 5 : 90);
  switch (round % 5) {
    case 0:
      return ["items/read", { page: 1, per_page: 20 }];
    case 1:
      return ["items/create", { name }];
    case 2:
      return ["items/update", { id, name }];
    case 3:
      return ["items/adjust", { id, adjustments: [{ field: "stock", value: 1 }] }];
    default:
      return ["items/first", { where: { key: "id", value: id } }];
  }
}
