/**
 * Kills the service at a random moment of its writes, starts it again, and asks for the changes since the last answer:
 * every write that was acknowledged is told once, and nothing that was undone.
 */
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import type { EngineName } from "../servers/session.ts";
import { useKilledService } from "./killed-service.ts";
import type { ServiceProcess } from "./service-process.ts";

const writers = 8;
/** Updates of each record after its creation. */
const updates = 3;

interface Answer {
  readonly since: string;
  readonly data: readonly { readonly type: string; readonly keys: { entry_id: string }[] }[];
}

const rounds = Number(process.env["TEST_KILLS"] ?? 3);

export function killedChanges(engine: EngineName): void {
  const killed = useKilledService(engine, {
    column: "n",
    endpoint: { action: { create: true, read: true, update: true }, live: true },
  });

  /** Counts what was acknowledged, by record. */
  async function write(
    { post }: ServiceProcess,
    entry_id: string,
    acknowledged: Map<string, number>,
  ): Promise<void> {
    if ((await post("entries/create", { entry_id, n: 1 })).status !== 201) return;
    acknowledged.set(entry_id, 1);
    for (let n = 2; n <= updates + 1; n++) {
      const undone = { endpoint: "entries", action: "update", body: { entry_id, n: 99 } };
      const failing = { ...undone, body: { entry_id: "none", n: 99 } };
      await post("_batch", { steps: [undone, failing] });
      if ((await post("entries/update", { entry_id, n })).status === 200)
        acknowledged.set(entry_id, n);
    }
  }

  test(`no change is lost by a service that is killed ${rounds} times`, async () => {
    const acknowledged = new Map<string, number>();
    const told = new Map<string, string[]>();
    let since: string | undefined;

    async function listen(): Promise<void> {
      const { post } = await killed.running();
      for (;;) {
        const { status, body } = await post("changes", { endpoints: ["entries"], since, limit: 5 });
        expect([status, body.reset]).toEqual([200, undefined]);
        const answer = body as unknown as Answer;
        since = answer.since;
        if (answer.data.length === 0) return;
        for (const { type, keys } of answer.data)
          for (const { entry_id } of keys)
            told.set(entry_id, [...(told.get(entry_id) ?? []), type]);
      }
    }

    await listen();
    for (let round = 0; round < rounds; round++) {
      const writeAll = (service: ServiceProcess) =>
        Promise.all(
          Array.from({ length: writers }, (_, at) =>
            write(service, `${round}-${at}`, acknowledged).catch(() => undefined),
          ),
        );
      await killed.killDuring(writeAll, 250);
      await listen();
    }
    // The database may still be ending transactions of the dead process.
    await pause(500);
    await listen();

    const rows = await killed.sql("select entry_id, n from entries");
    const stored = new Map(rows.map((row) => [String(row["entry_id"]), Number(row["n"])]));
    for (const [entry, n] of acknowledged)
      expect(stored.get(entry), entry).toBeGreaterThanOrEqual(n);
    const expected = [...stored].map(([entry, n]): [string, string[]] => [
      entry,
      ["created", ...Array<string>(n - 1).fill("updated")],
    ]);
    expect(new Map([...told].toSorted())).toEqual(new Map(expected.toSorted()));
  }, 1_800_000);
}
