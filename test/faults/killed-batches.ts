/**
 * Kills the service at a random moment of a batch, starts it again, and repeats the batch with its Idempotency-Key:
 * each batch is stored whole or not at all, and once.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTables } from "../contract/tables.ts";
import { type FreshDatabase, freshDatabase } from "../servers/database.ts";
import { type EngineName, openSession, type PlainSession } from "../servers/session.ts";
import { type ServiceProcess, startService } from "./service-process.ts";

const rounds = Number(process.env["TEST_KILLS"] ?? 50);

export function killedBatches(engine: EngineName): void {
  let database: FreshDatabase;
  let session: PlainSession;
  let service: ServiceProcess | undefined;

  const start = (): Promise<ServiceProcess> =>
    startService({
      "project.json": {
        database: { url: database.url },
        batch: { enabled: true },
      },
      "entries.json": { tableName: "entries", action: { create: true, read: true } },
    });

  beforeAll(async () => {
    database = await freshDatabase(engine);
    session = await openSession(engine, database.url);
    for (const text of createTables(engine, [
      { name: "entries", columns: { entry_id: "key", batch_no: "integer" } },
    ]))
      await session.run(text);
  }, 60_000);
  afterAll(async () => {
    await service?.stop();
    await session?.close();
    await database?.drop();
  });

  const stored = async (batch: number): Promise<number> => {
    const rows = await session.run(`select count(*) as n from entries where batch_no = ${batch}`);
    return Number(rows[0]!["n"]);
  };

  test(`${rounds} batches whose process is killed are stored whole or not at all, and once`, async () => {
    const found = { all: 0, none: 0 };
    for (let round = 0; round < rounds; round++) {
      service ??= await start();
      const steps = Array.from({ length: 5 }, (_, at) => ({
        endpoint: "entries",
        action: "create",
        body: { entry_id: `${round}-${at}`, batch_no: round },
      }));
      const key = { "Idempotency-Key": `batch-${round}` };
      const { process: child, post } = service;
      const dead = new Promise((resolve) => child.once("exit", resolve));
      const sent = post("_batch", { steps }, key).catch(() => null);
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 25));
      child.kill("SIGKILL");
      const answer = await sent;
      await dead;
      await service.stop().catch(() => undefined);
      service = await start();
      // The database may still be ending the transaction of the dead process.
      await new Promise((resolve) => setTimeout(resolve, 50));
      const count = await stored(round);
      expect([0, 5], `round ${round}`).toContain(count);
      if (answer?.status === 200) expect(count).toBe(5);
      found[count === 5 ? "all" : "none"] += 1;
      // A claim of the dead process is kept for a moment, so an unfinished batch is sent under another key.
      if (count === 5) {
        const again = await service.post("_batch", { steps }, key);
        expect(again.status, JSON.stringify(again.body)).toBe(200);
      } else {
        const again = await service.post(
          "_batch",
          { steps },
          { "Idempotency-Key": `again-${round}` },
        );
        expect(again.status, JSON.stringify(again.body)).toBe(200);
      }
      expect(await stored(round)).toBe(5);
    }
    expect(found.all + found.none).toBe(rounds);
  }, 600_000);
}
