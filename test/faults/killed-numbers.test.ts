/**
 * 64 writers of one counter while the service is killed again and again: a third of their transactions are undone, and
 * in the end no number is there twice, and none is left out. TEST_NUMBERS: numbers in each run.
 */
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { createTables } from "../contract/tables.ts";
import { type FreshDatabase, freshDatabase } from "../servers/database.ts";
import { openSession, type PlainSession } from "../servers/session.ts";
import { type ServiceProcess, startService } from "./service-process.ts";

const wanted = Number(process.env["TEST_NUMBERS"] ?? 300);
const writers = 64;
const kills = 3;

const engine = inject("engine");
let database: FreshDatabase;
let session: PlainSession;
let service: ServiceProcess | undefined;

beforeAll(async () => {
  database = await freshDatabase(engine);
  session = await openSession(engine, database.url);
  for (const text of createTables(engine, [
    {
      name: "receipts",
      columns: {
        receipt_id: "key",
        receipt_no: { type: "text(20)", notNull: true, unique: true },
        run: "integer",
      },
    },
  ]))
    await session.run(text);
}, 60_000);
afterAll(async () => {
  await service?.stop();
  await session?.close();
  await database?.drop();
});

const start = (): Promise<ServiceProcess> =>
  startService({
    "project.json": { database: { url: database.url }, batch: { enabled: true } },
    "receipts.json": {
      tableName: "receipts",
      action: { create: true, update: true, "bulk-create": true },
      numbers: { receipt_no: { format: "R{run}-{seq:6}" } },
    },
  });

test.each([1])(
  `${wanted} numbers, run %i`,
  async (run) => {
    service = await start();
    let done = 0;
    let isOver = false;
    const body = { run };
    const undone = [
      { endpoint: "receipts", action: "create", body },
      { endpoint: "receipts", action: "update", body: { receipt_id: "none", run } },
    ];
    async function write(): Promise<void> {
      while (!isOver) {
        try {
          if (Math.random() < 1 / 3) await service!.post("_batch", { steps: undone });
          else if (Math.random() < 1 / 4) {
            const data = Array.from({ length: 5 }, () => body);
            const { status } = await service!.post("receipts/bulk-create", { data });
            if (status === 201) done += data.length;
          } else {
            const { status } = await service!.post("receipts/create", body);
            if (status === 201) done += 1;
          }
        } catch {
          // The process was killed.
          await new Promise((resolve) => setTimeout(resolve, 50));
        }
        isOver ||= done >= wanted;
      }
    }
    const writing = Promise.all(Array.from({ length: writers }, write));
    for (let kill = 1; kill <= kills; kill++) {
      while (done < (wanted * kill) / (kills + 1))
        await new Promise((resolve) => setTimeout(resolve, 5));
      const { process: child, stop } = service;
      const dead = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGKILL");
      await dead;
      await stop().catch(() => undefined);
      service = await start();
    }
    await writing;
    await service.stop();
    const rows = await session.run(`select receipt_no as number from receipts where run = ${run}`);
    const seqs = rows.map(({ number }) => Number(String(number).split("-")[1]));
    // What was stored, but not answered, counts too.
    expect(seqs.length).toBeGreaterThanOrEqual(done);
    expect(seqs.toSorted((a, b) => a - b)).toEqual(seqs.map((_, at) => at + 1));
  },
  600_000,
);
