/**
 * `npm run bench:related [-- sqlite postgres mysql]`: orders with the names of their customers and with their lines,
 * against hand-written handlers with the same SQL. 10,000 customers, 100,000 orders, 400,000 lines.
 */
import { openSession } from "../test/servers/session.ts";
import { bench, contest, type EngineName, printHead } from "./contest.ts";
import type { Load } from "./load.ts";

const customers = 10_000;
const orders = 100_000;
const lines = 400_000;

const action = { read: true, first: true };
const endpoint = {
  tableName: "orders",
  action,
  auditColumns: false,
  relations: {
    customer: { endpoint: "customers", column: "customer_id" },
    lines: { endpoint: "order-lines", foreignColumn: "order_id" },
  },
};
const others = {
  customers: {
    tableName: "customers",
    action,
    auditColumns: false,
    relations: { city: { endpoint: "cities", column: "city_id" } },
  },
  cities: { tableName: "cities", action, auditColumns: false },
  "order-lines": { tableName: "order_lines", action, auditColumns: false },
};

const load = (body: (at: number) => object): Load => ({
  path: "/api/bench/items/read",
  body: (at) => JSON.stringify(body(at)),
  expectedStatus: 200,
});

/** One of the first pages. */
const page = (at: number) => ({ page: 1 + (at % 50), per_page: 20, count: "none" });
const names = ["id", "order_no", "customer.name", "customer.city.name"];
const loads: Readonly<Record<string, Load>> = {
  "20 with two names": load((at) => ({ kind: "names", select: names, ...page(at) })),
  "20 sorted by a name": load((at) => ({
    kind: "sorted",
    select: names,
    sort_columns: [{ column: "customer.name", direction: "ASC" }],
    ...page(at),
  })),
  "20 by a condition on lines": load((at) => ({
    kind: "any",
    select: ["id", "order_no"],
    where: {
      conditions: [
        {
          key: "lines",
          operator: "ANY",
          where: { conditions: [{ key: "qty", operator: "=", value: 7 }] },
        },
      ],
    },
    ...page(at),
  })),
  "20 with their lines": load((at) => ({
    kind: "lines",
    select: ["id", "order_no"],
    expand: { lines: { limit: 20 } },
    ...page(at),
  })),
};

/** Numbers from 1, made by the database. */
const series = (engine: EngineName, count: number): string =>
  engine === "mysql"
    ? `(select seq as n from seq_1_to_${count}) as s`
    : `(with recursive s(n) as (select 1 union all select n + 1 from s where n < ${count}) select n from s) as s`;

async function createTables(engine: EngineName, url: string): Promise<void> {
  const session = await openSession(engine, engine === "sqlite" ? `sqlite:${url}` : url);
  const text = (prefix: string, n: string) =>
    engine === "mysql" ? `concat('${prefix}', ${n})` : `'${prefix}' || (${n})`;
  const wholes = engine === "mysql" ? " div " : "/";
  for (const statement of [
    "create table cities (id integer primary key, name varchar(40) not null)",
    "create table customers (id integer primary key, name varchar(40) not null, city_id integer not null references cities (id))",
    "create table orders (id integer primary key, order_no varchar(20) not null, customer_id integer not null references customers (id))",
    "create table order_lines (id integer primary key, order_id integer not null references orders (id), product varchar(40) not null, qty integer not null)",
    `insert into cities select n, ${text("City ", "n")} from ${series(engine, 100)}`,
    `insert into customers select n, ${text("Customer ", "10000 + n")}, 1 + n % 100 from ${series(engine, customers)}`,
    `insert into orders select n, ${text("A", "n")}, 1 + n % ${customers} from ${series(engine, orders)}`,
    `insert into order_lines select n, 1 + (n - 1)${wholes}4, ${text("Part ", "n % 500")}, n % 50 from ${series(engine, lines)}`,
    "create index customers_name on customers (name)",
    "create index orders_customer on orders (customer_id)",
    "create index lines_order on order_lines (order_id)",
    engine === "mysql" ? "analyze table cities, customers, orders, order_lines" : "analyze",
  ])
    await session.run(statement);
  await session.close();
}

await bench(async ({ engines, database, serve, serveByHand }) => {
  printHead("by hand", "Rowgate", { withCpu: true });
  for (const engine of engines) {
    const url = await database(engine);
    await createTables(engine, url);
    const byHand = await serveByHand("related-by-hand.ts", engine, url);
    const project = { cache: { enabled: false } };
    const rowgate = await serve(engine, { database: url, endpoint, others, project });
    for (const [name, one] of Object.entries(loads))
      await contest(`${engine} | ${name}`, { ...byHand, load: one }, { ...rowgate, load: one });
    byHand.stop();
    rowgate.stop();
  }
});
