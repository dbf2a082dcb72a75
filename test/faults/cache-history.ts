/**
 * Concurrent readers and writers with a checked history: a list requested after a write was acknowledged never shows
 * older data. The test files beside this one run it over one service, and over two that share a Redis.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { FixtureTable } from "../contract/tables.ts";
import type { EngineName } from "../servers/session.ts";

export interface Client {
  post(
    path: string,
    body: unknown,
    headers?: Record<string, string>,
  ): Promise<{ status: number; body: Record<string, unknown> }>;
}

export interface History {
  readonly reads: number;
  /** Reads answered from the cache, as far as detectable: by a random number that each query draws anew. */
  readonly kept: number;
  readonly writes: number;
  /** What must not be: sentences, the first few. */
  readonly violations: readonly string[];
}

const readers = 8;
const writers = 4;
const rowsPerWriter = 5;
/** New rows make lists longer; there is an end to that. */
const createdPerWriterMax = 50;
/** Between two writes of one writer, so that answers live long enough to be given again. */
const writerPauseMs = 15;
const readerPauseMs = 2;

export const historyTables: readonly FixtureTable[] = [
  { name: "counts", columns: { id: "key", counted: "integer" } },
];

/** Endpoints over these tables: `counts` reads the table, `drawn` a query with a new number in every row each time. */
export function historyEndpoints(engine: EngineName): Record<string, object> {
  const drawn = {
    sqlite: "cast(random() as integer)",
    postgres: "cast(random() * 2000000000 as integer)",
    mysql: "cast(rand() * 2000000000 as signed)",
  }[engine];
  const query = `select id, counted, ${drawn} as drawn from counts`;
  const lists = { primaryKey: "id", fieldNameLookup: { id: "id", text: "id" } };
  const reading = { read: true, lookup: true, datatables: true };
  return {
    counts: {
      ...lists,
      tableName: "counts",
      action: { ...reading, create: true, update: true, adjust: true },
      adjustConfig: { fields: { counted: { type: "integer" } } },
    },
    drawn: {
      ...lists,
      viewQuery: query,
      datatablesQuery: query,
      cacheDependsOn: ["counts"],
      action: reading,
    },
  };
}

/** Runs for `loadMs`; each request uses one of the clients. Rejects when an answer is not a success. */
export async function runHistory(
  clients: readonly Client[],
  { loadMs }: { loadMs: number },
): Promise<History> {
  /** What was last acknowledged of each row, which only grows. */
  const acknowledged = new Map<string, number>();
  const seen = new Set<unknown>();
  const violations: string[] = [];
  const totals = { reads: 0, kept: 0, writes: 0 };
  const endMs = performance.now() + loadMs;

  async function send(path: string, body: unknown): Promise<Record<string, unknown>> {
    const client = pick(clients);
    const answer = await client.post(`test/${path}`, body, { "X-Request-Mode": "static" });
    if (answer.status < 300) return answer.body;
    throw new Error(`${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  }

  async function write(at: number): Promise<void> {
    const ids: string[] = [];
    const create = async () => {
      const id = `w${at}-${ids.length}`;
      await send("counts/create", { id, counted: 0 });
      acknowledged.set(id, 0);
      ids.push(id);
    };
    while (ids.length < rowsPerWriter) await create();
    while (performance.now() < endMs) {
      const id = pick(ids);
      const counted = acknowledged.get(id)! + 1;
      const chance = Math.random();
      if (chance < 0.05 && ids.length < createdPerWriterMax) await create();
      else if (chance < 0.5) {
        await send("counts/update", { id, counted });
        acknowledged.set(id, counted);
      } else {
        await send("counts/adjust", { id, adjustments: [{ field: "counted", value: 1 }] });
        acknowledged.set(id, counted);
      }
      totals.writes++;
      await pause(writerPauseMs * Math.random() * 2);
    }
  }

  async function read(): Promise<void> {
    while (performance.now() < endMs) {
      const endpoint = pick(["counts", "drawn"] as const);
      const { name, action, body, isWhole } = pick(lists[endpoint]);
      const before = new Map(acknowledged);
      const answer = await send(`${endpoint}/${action}`, body);
      const rows = answer["data"] as { id: string; counted: number; drawn?: number }[];
      totals.reads++;
      if (rows[0]?.drawn !== undefined) {
        if (seen.has(`${name} ${rows[0].drawn}`)) totals.kept++;
        seen.add(`${name} ${rows[0].drawn}`);
      }
      const total = leastTotal(answer);
      if (total !== null && total < before.size && violations.length < 5)
        violations.push(`${endpoint} ${name} counts ${total} of ${before.size} rows`);
      const shown = new Map(rows.map(({ id, counted }) => [id, counted]));
      for (const [id, least] of before) {
        const counted = shown.get(id);
        const isOlder = counted === undefined ? isWhole : counted < least;
        if (isOlder && violations.length < 5) {
          violations.push(
            `${endpoint} ${name} shows ${counted} of ${id} after ${least} was acknowledged`,
          );
        }
      }
      // SQLite answers synchronously; timers and other test files need a turn.
      await pause(readerPauseMs);
    }
  }

  await Promise.all([
    ...Array.from({ length: writers }, (_, at) => write(at)),
    ...Array.from({ length: readers }, read),
  ]);
  return { ...totals, violations };
}

/** The smallest count of all rows that the answer has; null = it has none. */
function leastTotal({ pagination, recordsTotal, recordsFiltered }: Record<string, unknown>) {
  const { total_records } = (pagination ?? {}) as { total_records?: number };
  const counts = [total_records, recordsTotal, recordsFiltered];
  const known = counts.filter((count): count is number => typeof count === "number");
  return known.length === 0 ? null : Math.min(...known);
}

/** Each kind of list, by endpoint; `isWhole`: every row is in it. */
const lists = { counts: listsWith(["counted"]), drawn: listsWith(["counted", "drawn"]) };

function listsWith(select: readonly string[]) {
  return [
    { name: "read", action: "read", body: { limit: 1000 }, isWhole: true },
    { name: "page", action: "read", body: { page: 1, per_page: 10 }, isWhole: false },
    { name: "lookup", action: "lookup", body: { select }, isWhole: true },
    {
      name: "grid",
      action: "datatables",
      body: { draw: 1, start: 0, length: 1000 },
      isWhole: true,
    },
    // Pages that share their counts, with those above and with each other. Each row has a "w" in its id.
    { name: "further page", action: "read", body: { page: 2, per_page: 3 }, isWhole: false },
    {
      name: "page of the grid",
      action: "datatables",
      body: { draw: 1, start: 3, length: 3 },
      isWhole: false,
    },
    ...[3, 5].map((start) => ({
      name: "searched page",
      action: "datatables",
      body: { draw: 1, start, length: 3, search: { value: "w" } },
      isWhole: false,
    })),
  ];
}

function pick<Item>(items: readonly Item[]): Item {
  return items[Math.floor(Math.random() * items.length)]!;
}
