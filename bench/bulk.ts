/**
 * `npm run bench:bulk [-- sqlite postgres mysql]`: 1,000 records in one bulk-create, beside a service that does the same
 * with one INSERT by hand and beside 1,000 creates one after the other; and 1,000 different records in one bulk-update,
 * beside 1,000 updates. All are measured in turn; a figure is the ratio of medians.
 */
import { openSession } from "../test/servers/session.ts";
import { bench } from "./contest.ts";
import { latencies, type Load } from "./load.ts";
import { median } from "./turn.ts";

const count = 1_000;
const rounds = 3;
const roundMs = 1_500;

interface Item {
  readonly id: string;
  readonly name: string;
  readonly amount: number;
}

let made = 0;
const item = (): Item => ({ id: `r${made++}`, name: "A name of usual length", amount: 12 });
const items = (): Item[] => Array.from({ length: count }, item);

const load = (action: string, expectedStatus: number, body: () => unknown): Load => ({
  path: `/api/bench/items/${action}`,
  body: () => JSON.stringify(body()),
  expectedStatus,
  connections: 1,
});

/** Milliseconds for 1,000 records. */
const msOf = async (origin: string, one: Load, records: number): Promise<number> =>
  (median(await latencies(origin, one, roundMs)) * count) / records;

await bench(async ({ engines, database, serve, serveByHand }) => {
  console.log("engine | bulk-create ms | by hand | creates | bulk-update ms | updates");
  for (const engine of engines) {
    const url = await database(engine);
    const session = await openSession(engine, engine === "sqlite" ? `sqlite:${url}` : url);
    await session.run(
      "create table items (id varchar(36) primary key, name varchar(60), amount integer)",
    );
    const byHand = await serveByHand("bulk-by-hand.ts", engine, url);
    const { origin } = await serve(engine, {
      database: url,
      endpoint: {
        tableName: "items",
        action: { create: true, update: true, "bulk-create": true, "bulk-update": true },
        fieldValidation: [{ name: "amount", type: "integer", constraints: { min: 0 } }],
        auditColumns: false,
      },
    });
    const first = made;
    await latencies(
      origin,
      load("bulk-create", 201, () => ({ data: items() })),
      roundMs,
    );
    // As the database does by itself, but only after a minute.
    await session.run(engine === "mysql" ? "analyze table items" : "analyze items");
    await session.close();
    let changed = 0;
    const change = () => ({ id: `r${first + (changed % count)}`, amount: ++changed });
    const changes = () => ({ data: Array.from({ length: count }, change) });
    const found = { bulk: [], hand: [], alone: [], changed: [], updated: [] } as Record<
      string,
      number[]
    >;
    for (let round = 0; round < rounds; round++) {
      const bulk = load("bulk-create", 201, () => ({ data: items() }));
      found["bulk"]!.push(await msOf(origin, bulk, count));
      found["hand"]!.push(await msOf(byHand.origin, bulk, count));
      found["alone"]!.push(await msOf(origin, load("create", 201, item), 1));
      found["changed"]!.push(await msOf(origin, load("bulk-update", 200, changes), count));
      found["updated"]!.push(await msOf(origin, load("update", 200, change), 1));
    }
    const ms = (name: string): number => median(found[name]!);
    const beside = (other: string, own: string) =>
      `${ms(other).toFixed(0)} (${(ms(other) / ms(own)).toFixed(2)})`;
    console.log(
      [
        engine,
        ms("bulk").toFixed(0),
        beside("hand", "bulk"),
        beside("alone", "bulk"),
        ms("changed").toFixed(0),
        beside("updated", "changed"),
      ].join(" | "),
    );
  }
});
