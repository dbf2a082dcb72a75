/**
 * Kills the service, its worker, its database or its Redis at random moments of its writes, and starts it again. Every
 * write that was acknowledged is told: once by the list of changes, at least once by streams and webhooks, and of each
 * record in order. A write whose answer was lost may be stored; then it is told as well. Nothing is told that was undone.
 * TEST_KILLS: how often each of them is killed.
 */
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, inject, test } from "vitest";
import { importerOf, workbookOf } from "../contract/imports.ts";
import { startWebhookReceiver, webhookSecret } from "../contract/webhook-receiver.ts";
import { useKilledService, type Victim } from "./killed-service.ts";
import type { ServiceProcess } from "./service-process.ts";
import { openForTests } from "../contract/harness.ts";

const rounds = Number(process.env["TEST_KILLS"] ?? 1);

/** `updates`: of each record after its creation. `lastsMs`: about as long as a write. */
const requests = { writers: 8, records: 1, updates: 3, lastsMs: 20 };
/** A file is one write. The worker runs two at a time. */
const imports = { writers: 2, records: 20, updates: 1, lastsMs: 300 };

/** Numbers of each record that was told, in their order: 1 for its creation, then one more for each update. */
type Told = Map<string, number[]>;

function tell(told: Told, entry: string, n: number): void {
  told.set(entry, [...(told.get(entry) ?? []), n]);
}

interface Event {
  readonly type: "created" | "updated";
  readonly keys: readonly { readonly entry_id: string }[];
}

/** Events have no values: an update is the next one of its record. */
function tellEvent(told: Told, { type, keys }: Event): void {
  for (const { entry_id } of keys)
    tell(told, entry_id, type === "created" ? 1 : (told.get(entry_id)?.at(-1) ?? 0) + 1);
}

const engine = inject("engine");
const victims: Victim[] = ["service", "worker", "redis"];
if (engine !== "sqlite") victims.push("database");

describe.each(victims)("%s", (victim) => {
  const { writers, records, updates, lastsMs } = victim === "worker" ? imports : requests;
  const receiver = openForTests(startWebhookReceiver);
  const killed = useKilledService(engine, {
    victim,
    column: "n",
    endpoint: {
      action: { create: true, read: true, update: true, import: true },
      importConfig: { upsertKeys: ["entry_id"] },
      live: true,
    },
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

  /** Gives the records this number; resolves with whether that was acknowledged. */
  async function put(to: ServiceProcess, entries: readonly string[], n: number): Promise<boolean> {
    if (victim !== "worker") {
      const action = n === 1 ? "create" : "update";
      const { status } = await to.post(`entries/${action}`, { entry_id: entries[0], n });
      return status === (n === 1 ? 201 : 200);
    }
    const request = async (path: string, init?: RequestInit) => {
      const response = await fetch(`${to.origin}${path}`, init);
      return { status: response.status, headers: response.headers, body: await response.json() };
    };
    const post = async (path: string, body?: unknown) => ({
      ...(await to.post(path, body)),
      headers: new Headers(),
    });
    const file = await workbookOf([["entry_id", "n"], ...entries.map((entry) => [entry, n])]);
    const { body } = await importerOf({ request, post }).committed("entries", file);
    return body.status === "completed";
  }

  /** The last number of each record that was acknowledged, and how many writes were. */
  const acknowledged = new Map<string, number>();
  let answers = 0;

  /** Up to the first write that is not acknowledged. */
  async function write(to: ServiceProcess, entries: readonly string[]): Promise<void> {
    for (let n = 1; n <= updates + 1; n++) {
      if (!(await put(to, entries, n))) return;
      answers++;
      for (const entry of entries) acknowledged.set(entry, n);
      const undone = {
        endpoint: "entries",
        action: "update",
        body: { entry_id: entries[0], n: 99 },
      };
      const failing = { ...undone, body: { entry_id: "none", n: 99 } };
      await to.post("_batch", { steps: [undone, failing] });
    }
  }

  /** Asks until the service answers. */
  let since: string | undefined;
  async function list(told: Told): Promise<void> {
    for (;;) {
      const body = { endpoints: ["entries"], since, limit: 5 };
      const answer = await killed.services()[0]!.post("changes", body);
      if (answer.status === 503) {
        await pause(50);
        continue;
      }
      expect([answer.status, answer.body["reset"]]).toEqual([200, undefined]);
      const events = answer.body["data"] as Event[];
      since = answer.body["since"] as string;
      if (events.length === 0) return;
      for (const event of events) tellEvent(told, event);
    }
  }

  /** Reads the stream of one service, and goes on where it was when it breaks. */
  async function follow(at: number, told: Told, signal: AbortSignal): Promise<void> {
    let last = since!;
    while (!signal.aborted) {
      const { origin } = killed.services()[at]!;
      try {
        const { body, ok } = await fetch(`${origin}/api/test/changes?endpoints=entries`, {
          headers: { "Last-Event-ID": last },
          signal,
        });
        let text = "";
        if (ok)
          for await (const piece of body!.pipeThrough(new TextDecoderStream())) {
            const parts = (text + piece).split("\n\n");
            text = parts.pop()!;
            for (const part of parts) {
              expect(part).not.toContain("event: reset");
              const data = /^data: (.*)$/m.exec(part)?.[1];
              if (data !== undefined) tellEvent(told, JSON.parse(data) as Event);
              last = /^id: (.*)$/m.exec(part)?.[1] ?? last;
            }
          }
      } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof TypeError)) throw error;
      }
      await pause(20);
    }
  }

  test(
    `that is killed ${rounds} times loses no change, and tells nothing that was undone`,
    async () => {
      const listed: Told = new Map();
      const streamed = killed.services().map((): Told => new Map());
      const stop = new AbortController();
      await list(listed);
      const following = Promise.all(streamed.map((told, at) => follow(at, told, stop.signal)));

      for (let round = 0; round < rounds; round++) {
        const giveUpAtMs = performance.now() + 120_000;
        const isLate = (): boolean => performance.now() > giveUpAtMs;
        /** Ends with writes that are acknowledged after what was killed is back. */
        const writeOn = async (isBack: () => boolean, writer: number): Promise<void> => {
          for (let at = 0, isEnd = false; !isEnd; at++) {
            const wasBack = isBack();
            const entries = Array.from(
              { length: records },
              (_, row) => `${round}-${writer}-${at}-${row}`,
            );
            const to = killed.services()[at % streamed.length]!;
            // While what was killed is away, answers say so, or do not come.
            await write(to, entries).catch(() => undefined);
            isEnd = wasBack && acknowledged.get(entries[0]!) === updates + 1;
            if (!isEnd && isLate()) throw new Error("Nothing is written any more");
            await pause(10);
          }
        };
        const writeAll = (_: ServiceProcess, isBack: () => boolean) =>
          Promise.all(Array.from({ length: writers }, (__, writer) => writeOn(isBack, writer)));
        const last = answers + Math.random() * writers * (updates + 1);
        await killed.killDuring(writeAll, async () => {
          while (answers < last && !isLate()) await pause(1);
          await pause(Math.random() * lastsMs);
        });
        await list(listed);
      }
      const left = async () =>
        Number((await killed.sql("select count(*) as n from rowgate_deliveries"))[0]!["n"]);
      await expect.poll(left, { timeout: 60_000, interval: 50 }).toBe(0);
      // The database may still have been ending transactions of the dead process.
      await list(listed);
      const rows = await killed.sql("select entry_id, n from entries");
      const stored = new Map(rows.map((row) => [String(row["entry_id"]), Number(row["n"])]));
      const missing = (told: Told) =>
        [...stored].filter(([entry, n]) => (told.get(entry)?.length ?? 0) < n);
      for (const told of streamed)
        await expect.poll(() => missing(told), { timeout: 20_000 }).toEqual([]);
      stop.abort();
      await following;

      for (const [entry, n] of acknowledged)
        expect(stored.get(entry), entry).toBeGreaterThanOrEqual(n);
      const whole = [...stored].map(([entry, n]): [string, number[]] => [
        entry,
        Array.from({ length: n }, (_, at) => at + 1),
      ]);
      expect(new Map([...listed].toSorted())).toEqual(new Map(whole.toSorted()));
      for (const told of streamed)
        expect([...told.keys()].toSorted()).toEqual([...stored.keys()].toSorted());
      const hooked: Told = new Map();
      for (const { message } of receiver.received)
        tell(hooked, String(message.key!["entry_id"]), Number(message.record!["n"]));
      expect(receiver.forged).toEqual([]);
      for (const [entry, numbers] of hooked)
        expect(numbers, `${entry} in order`).toEqual(numbers.toSorted((one, other) => one - other));
      const once = [...hooked].map(([entry, numbers]) => [entry, [...new Set(numbers)]] as const);
      expect(new Map(once.toSorted())).toEqual(new Map(whole.toSorted()));
      const writes = [...stored.values()].reduce((sum, n) => sum + n, 0);
      const answered = [...acknowledged.values()].reduce((sum, n) => sum + n, 0);
      console.log(
        `${engine}, ${rounds} kills of the ${victim}: ${writes} writes, ${writes - answered} without an answer, ${receiver.received.length} webhooks`,
      );
    },
    60_000 + rounds * 40_000,
  );
});
