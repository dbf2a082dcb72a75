/**
 * Kills the service at a random moment of its writes and deliveries, and starts it again: webhooks are told of every
 * write that was acknowledged, of each record in order, and of nothing that was undone.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  startWebhookReceiver,
  type Receiver,
  webhookSecret,
} from "../contract/webhook-receiver.ts";
import { createTables } from "../contract/tables.ts";
import { type FreshDatabase, freshDatabase } from "../servers/database.ts";
import { type EngineName, openSession, type PlainSession } from "../servers/session.ts";
import { type ServiceProcess, startService } from "./service-process.ts";

const writers = 8;

export function killedWebhooks(engine: EngineName, rounds: number): void {
  let database: FreshDatabase;
  let session: PlainSession;
  let receiver: Receiver;
  let service: ServiceProcess | undefined;

  const start = (): Promise<ServiceProcess> =>
    startService({
      "project.json": {
        database: { url: database.url },
        batch: { enabled: true },
        hooks: { allowedHosts: [receiver.host], timeoutMs: 1_000 },
        webhooks: [
          {
            name: "told",
            endpoints: ["entries"],
            url: `http://${receiver.host}/told`,
            secret: webhookSecret,
          },
        ],
      },
      "entries.json": { tableName: "entries", action: { create: true, update: true } },
    });

  beforeAll(async () => {
    receiver = await startWebhookReceiver();
    database = await freshDatabase(engine);
    session = await openSession(engine, database.url);
    for (const text of createTables(engine, [
      { name: "entries", columns: { entry_id: "key", n: "integer" } },
    ]))
      await session.run(text);
  }, 60_000);
  afterAll(async () => {
    await service?.stop();
    await receiver?.close();
    await session?.close();
    await database?.drop();
  });

  /** Adds what was acknowledged: `entry 1` for a create, `entry 2` for an update. */
  async function write(
    to: ServiceProcess,
    entry_id: string,
    acknowledged: string[],
  ): Promise<void> {
    const created = await to.post("entries/create", { entry_id, n: 1 });
    if (created.status === 201) acknowledged.push(`${entry_id} 1`);
    const updated = await to.post("entries/update", { entry_id, n: 2 });
    if (updated.status === 200) acknowledged.push(`${entry_id} 2`);
    const undone = { endpoint: "entries", action: "update", body: { entry_id, n: 3 } };
    await to.post("_batch", { steps: [undone, { ...undone, body: { entry_id: "none", n: 3 } }] });
  }

  test(`webhooks hear of every write of a service that is killed ${rounds} times`, async () => {
    const acknowledged: string[] = [];
    for (let round = 0; round < rounds; round++) {
      service ??= await start();
      const { process: child } = service;
      const dead = new Promise((resolve) => child.once("exit", resolve));
      const writing = Array.from({ length: writers }, (_, at) =>
        write(service!, `${round}-${at}`, acknowledged).catch(() => undefined),
      );
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 250));
      child.kill("SIGKILL");
      await Promise.all(writing);
      await dead;
      await service.stop().catch(() => undefined);
      service = await start();
    }
    const left = async () =>
      Number((await session.run("select count(*) as n from rowgate_deliveries"))[0]!["n"]);
    await expect.poll(left, { timeout: 60_000, interval: 50 }).toBe(0);

    const told = receiver.received.map(
      ({ message: { key, record } }) => `${String(key?.["entry_id"])} ${String(record?.["n"])}`,
    );
    expect(receiver.forged).toEqual([]);
    expect(acknowledged.filter((one) => !told.includes(one))).toEqual([]);
    const rows = await session.run("select entry_id, n from entries");
    const stored = new Map(rows.map((row) => [String(row["entry_id"]), Number(row["n"])]));
    for (const [at, one] of told.entries()) {
      const [entry, n] = one.split(" ") as [string, string];
      expect(stored.get(entry), `${one} was committed`).toBeGreaterThanOrEqual(Number(n));
      if (n === "1") expect(told.slice(0, at), "in order").not.toContain(`${entry} 2`);
    }
    // What is committed is told, also where the killed service did not answer.
    for (const [entry, n] of stored) expect(told).toContain(`${entry} ${n}`);
  }, 1_800_000);
}
