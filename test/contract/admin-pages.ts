/**
 * Customers, orders and their lines as data providers of pages show them: keys that are texts, numbers and of two
 * columns, related names, rules, and a default scope.
 */
import type { EngineName } from "../servers/session.ts";
import { type Fixture, openFixture } from "./harness.ts";

const action = { create: true, read: true, first: true, update: true, delete: true };

/** `engine`: absent: that of the Vitest project. `limits`: of project.json. */
export const openAdminPages = ({
  limits = {},
  ...given
}: { engine?: EngineName; limits?: object } = {}): Promise<Fixture> =>
  openFixture({
    ...given,
    tables: [
      {
        name: "customers",
        columns: { customer_id: "key", name: "text(40)", city: "text(40)", is_active: "boolean" },
      },
      {
        name: "orders",
        columns: {
          id: "identity",
          order_no: { type: "text(20)", unique: true },
          customer_id: {
            type: "text(36)",
            references: { table: "customers", column: "customer_id" },
          },
          amount: "decimal(10,2)",
          placed_on: "date",
          tags: "json",
          updated_at: "timestamp",
        },
      },
      {
        name: "order_lines",
        columns: {
          order_no: { type: "text(20)", references: { table: "orders", column: "order_no" } },
          line_no: "integer",
          goods: "text(40)",
          qty: "integer",
        },
        primaryKey: ["order_no", "line_no"],
      },
    ],
    setUp: (engine) => {
      const [no, yes] = engine === "sqlite" ? ["0", "1"] : ["false", "true"];
      return [
        `INSERT INTO customers VALUES ('a', 'Ada', 'Oslo', ${yes}), ('b', 'Bob', 'Wien', ${yes}), ('c', 'Cid', null, ${no})`,
        `INSERT INTO orders (order_no, customer_id, amount, placed_on, tags) VALUES
          ('A-1', 'b', 10.5, '2026-01-05', '["new","big"]'), ('A/2', 'a', 20, '2026-02-01', '["new"]'),
          ('50%_x', 'c', 30, null, null), ('A-4', null, 40, '2026-03-01', '[]')`,
        "INSERT INTO order_lines VALUES ('A-1', 1, 'Pen', 2), ('A-1', 2, 'Ink', 1), ('A/2', 1, 'Pad', 5), ('50%_x', 1, 'Pen', 9)",
      ];
    },
    endpoints: {
      customers: { tableName: "customers", action, defaultScope: { is_active: true }, live: true },
      orders: {
        tableName: "orders",
        action,
        live: true,
        history: true,
        fieldValidation: [
          { name: "order_no", type: "string", constraints: { required: true, maxLength: 20 } },
          { name: "amount", type: "decimal", constraints: { min: 0, scale: 2 } },
        ],
        relations: {
          customer: { endpoint: "customers", column: "customer_id" },
          lines: { endpoint: "order-lines", foreignColumn: "order_no", key: "order_no" },
        },
      },
      // The same, with many records in one request.
      "bulk-orders": {
        tableName: "orders",
        action: { ...action, "bulk-create": true, "bulk-update": true, "bulk-delete": true },
        fieldValidation: [
          { name: "order_no", type: "string", constraints: { required: true, maxLength: 20 } },
        ],
      },
      "order-lines": {
        tableName: "order_lines",
        action,
        live: true,
        relations: { order: { endpoint: "orders", column: "order_no", key: "order_no" } },
      },
      // Records without a key.
      goods: {
        viewQuery: "select goods, sum(qty) as qty from order_lines group by goods",
        tableName: "order_lines",
        action: { read: true },
      },
    },
    project: { requests: { unknown: "refuse" }, limits },
  });

export interface SentRequest {
  /** Below the project: `orders/read`. */
  readonly path: string;
  readonly query: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers: Headers;
}

/** A `fetch` that sends requests for any host to the service, and adds them to the list. */
export const recordingFetch =
  (fixture: Fixture, sent: SentRequest[]): typeof fetch =>
  async (input, init) => {
    const { pathname, search } = new URL(input instanceof Request ? input.url : input);
    const body = typeof init?.body === "string" ? JSON.parse(init.body) : {};
    const path = pathname.replace("/api/test/", "");
    sent.push({ path, query: search, body, headers: new Headers(init?.headers) });
    return fixture.fetch(pathname + search, init);
  };
