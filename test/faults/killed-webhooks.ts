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
import type { EngineName } from "../servers/session.ts";
import { useKilledService } from "./killed-service.ts";
import type { ServiceProcess } from "./service-process.ts";

const writers = 8;

const usualRounds = Number(process.env["TEST_KILLS"] ?? 5);

export function killedWebhooks(engine: EngineName, rounds = usualRounds): void {
  let receiver: Receiver;
  beforeAll(async () => {
    receiver = await startWebhookReceiver();
  });
  const killed = useKilledService(engine, {
    column: "n",
    endpoint: { action: { create: true, update: true } },
    project: () => ({
      hooks: { allowedHosts: [receiver.host], timeoutMs: 1_000 },
      webhooks: [
        {
          name: "told",
          endpoints: ["entries"],
          url: `http://${receiver.host}/told`,
          secret: webhookSecret,
        },
      ],
    }),
  });
  afterAll(() => receiver?.close());

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
    const writeAll = (round: number) => (service: ServiceProcess) =>
      Promise.all(
        Array.from({ length: writers }, (_, at) =>
          write(service, `${round}-${at}`, acknowledged).catch(() => undefined),
        ),
      );
    for (let round = 0; round < rounds; round++) await killed.killDuring(writeAll(round), 250);
    const left = async () =>
      Number((await killed.sql("select count(*) as n from rowgate_deliveries"))[0]!["n"]);
    await expect.poll(left, { timeout: 60_000, interval: 50 }).toBe(0);

    const told = receiver.received.map(
      ({ message: { key, record } }) => `${String(key?.["entry_id"])} ${String(record?.["n"])}`,
    );
    expect(receiver.forged).toEqual([]);
    expect(acknowledged.filter((one) => !told.includes(one))).toEqual([]);
    const rows = await killed.sql("select entry_id, n from entries");
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
