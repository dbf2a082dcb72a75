/**
 * `npm run bench:figures [-- sqlite postgres mysql]`: figures of 1,000,000 sales by month and by customer, against the
 * same SQL by hand, which runs in this process. With a time zone, only PostgreSQL has SQL for it: on the others the
 * same figures in UTC. `BENCH_ROWS` and `BENCH_PAIRS` change how much.
 */
import { openSession, type PlainSession } from "../test/servers/session.ts";
import { bench, type EngineName, ratioOf } from "./contest.ts";
import { median } from "./turn.ts";

const rows = Number(process.env["BENCH_ROWS"] ?? 1_000_000);
const pairs = Number(process.env["BENCH_PAIRS"] ?? 5);
const customers = 1_000;
const zone = "Europe/Vienna";

interface Asked {
  readonly body: object;
  /** The grouped expression by hand. */
  readonly group: Readonly<Record<EngineName, string>>;
  readonly figures: string;
}

const count = { function: "count", field: "*", alias: "n" };
const quantity = { function: "sum", field: "quantity", alias: "total" };
const amount = { function: "sum", field: "amount", alias: "total" };
const month = { field: "sold_at", by: "month", alias: "month" };
const monthOf = (zoned: string): Readonly<Record<EngineName, string>> => ({
  sqlite: "substr(sold_at, 1, 7) || '-01'",
  postgres: `date_trunc('month', sold_at at time zone '${zoned}')::date`,
  mysql: "cast(date_format(sold_at, '%Y-%m-01') as date)",
});
const customer = { sqlite: "customer_id", postgres: "customer_id", mysql: "customer_id" };

const loads: Readonly<Record<string, Asked>> = {
  "by month": {
    body: { group_by: [month], operations: [count, quantity] },
    group: monthOf("UTC"),
    figures: "count(*), sum(quantity)",
  },
  "by month, decimals": {
    body: { group_by: [month], operations: [count, amount] },
    group: monthOf("UTC"),
    figures: "count(*), sum(amount)",
  },
  "by month in a time zone": {
    body: { group_by: [month], operations: [count, quantity], time_zone: zone },
    group: monthOf(zone),
    figures: "count(*), sum(quantity)",
  },
  "by customer": {
    body: { group_by: ["customer_id"], operations: [count, quantity] },
    group: customer,
    figures: "count(*), sum(quantity)",
  },
};

/** Numbers from 1, made by the database. */
const series = (engine: EngineName): string =>
  engine === "mysql"
    ? `(select seq as n from seq_1_to_${rows}) as s`
    : `(with recursive s(n) as (select 1 union all select n + 1 from s where n < ${rows}) select n from s) as s`;

/** Three years of sales, some seconds apart, in no order of time. */
const soldAt: Readonly<Record<EngineName, string>> = {
  sqlite: "datetime(1704067200 + n * 7919 % 94608000, 'unixepoch')",
  postgres: "to_timestamp(1704067200 + n::bigint * 7919 % 94608000)",
  mysql: "from_unixtime(1704067200 + n * 7919 % 94608000)",
};
const timeType = { sqlite: "datetime", postgres: "timestamptz", mysql: "datetime" };

async function fill(engine: EngineName, session: PlainSession): Promise<void> {
  for (const statement of [
    `create table sales (id integer primary key, customer_id integer not null, sold_at ${timeType[engine]} not null, quantity integer not null, amount decimal(10,2) not null)`,
    ...(engine === "mysql" ? ["set time_zone = '+00:00'"] : []),
    `insert into sales select n, 1 + n * 31 % ${customers}, ${soldAt[engine]}, n % 50, (n % 10000) / 100.0 from ${series(engine)}`,
    "create index sales_sold_at on sales (sold_at)",
    engine === "mysql" ? "analyze table sales" : "analyze",
  ])
    await session.run(statement);
}

async function timed(run: () => Promise<unknown>): Promise<number> {
  const begin = performance.now();
  await run();
  return performance.now() - begin;
}

await bench(async ({ engines, database, serve }) => {
  console.log("engine | figures | by hand, ms | Rowgate, ms | Rowgate to by hand");
  for (const engine of engines) {
    const url = await database(engine);
    const session = await openSession(engine, engine === "sqlite" ? `sqlite:${url}` : url);
    await fill(engine, session);
    const rowgate = await serve(engine, {
      database: url,
      endpoint: { tableName: "sales", action: { aggregate: true }, auditColumns: false },
      project: { cache: { enabled: false } },
    });
    for (const [name, { body, group, figures }] of Object.entries(loads)) {
      const text = `select ${group[engine]} as label, ${figures} from sales group by 1 order by 1 limit 10000`;
      const byHand = () => timed(() => session.run(text));
      const asked = () =>
        timed(async () => {
          const answer = await fetch(`${rowgate.origin}/api/bench/items/aggregate`, {
            method: "POST",
            headers: { "content-type": "application/json" },
            body: JSON.stringify(body),
          });
          if (answer.status !== 200) throw new Error(`${answer.status}: ${await answer.text()}`);
          await answer.arrayBuffer();
        });
      await byHand();
      await asked();
      const [left, right]: [number[], number[]] = [[], []];
      for (let pair = 0; pair < pairs; pair++) {
        left.push(await byHand());
        right.push(await asked());
      }
      const ratios = right.map((one, at) => one / left[at]!);
      console.log(
        `${engine} | ${name} | ${median(left).toFixed(0)} | ${median(right).toFixed(0)} | ${ratioOf(ratios)}`,
      );
    }
    rowgate.stop();
    await session.close();
  }
});
