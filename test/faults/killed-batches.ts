/**
 * Kills the service at a random moment of a batch, starts it again, and repeats the batch with its Idempotency-Key:
 * each batch is stored whole or not at all, and once.
 */
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import type { EngineName } from "../servers/session.ts";
import { useKilledService } from "./killed-service.ts";

const rounds = Number(process.env["TEST_KILLS"] ?? 6);

export function killedBatches(engine: EngineName): void {
  const killed = useKilledService(engine, {
    column: "batch_no",
    endpoint: { action: { create: true, read: true } },
  });

  const stored = async (batch: number): Promise<number> => {
    const rows = await killed.sql(`select count(*) as n from entries where batch_no = ${batch}`);
    return Number(rows[0]!["n"]);
  };

  const stepsOf = (batch: number) =>
    Array.from({ length: 5 }, (_, at) => ({
      endpoint: "entries",
      action: "create",
      body: { entry_id: `${batch}-${at}`, batch_no: batch },
    }));

  test(`${rounds} batches whose process is killed are stored whole or not at all, and once`, async () => {
    // So that the table of keys is there.
    const steps = stepsOf(-1);
    await killed.services()[0]!.post("_batch", { steps }, { "Idempotency-Key": "first" });
    for (let round = 0; round < rounds; round++) {
      const steps = stepsOf(round);
      const key = { "Idempotency-Key": `batch-${round}` };
      const answer = await killed.killDuring(
        ({ post }) => post("_batch", { steps }, key).catch(() => null),
        () => pause(Math.random() * 25),
      );
      const [service] = killed.services();
      // The database may still be ending the transaction of the dead process.
      await pause(50);
      const count = await stored(round);
      expect([0, 5], `round ${round}`).toContain(count);
      if (answer?.status === 200) expect(count).toBe(5);
      // The claim of the dead process would be kept for some seconds more.
      await killed.sql(
        `update rowgate_requests set started_at = '2001-01-01 00:00:00' where answer is null`,
      );
      const again = await service!.post("_batch", { steps }, key);
      expect(again.status, JSON.stringify(again.body)).toBe(200);
      const replayed = await service!.post("_batch", { steps }, key);
      expect(replayed.body).toEqual(again.body);
      expect(await stored(round)).toBe(5);
    }
  }, 600_000);
}
