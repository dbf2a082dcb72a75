/**
 * Opens the service for the tests of `_batch`: customers, orders with lines and totals, accounts that are adjusted, and
 * tickets with a workflow and hooks. Tests set the handlers' behaviour through `on`. Every answer has passed
 * `checkEnvelope`.
 */
import { afterEach } from "vitest";
import {
  type EventName,
  eventNames,
  type HookContext,
  type HookHandler,
} from "../../core/plans/hook.ts";
import { startHookServer } from "../outbound/hook-server.ts";
import { checkEnvelope } from "./cases.ts";
import { type Answer, type FixtureOptions, openFixture, openForTests } from "./harness.ts";
import type { FixtureTable } from "./tables.ts";

const tables: readonly FixtureTable[] = [
  {
    name: "customers",
    columns: {
      customer_id: "key",
      name: { type: "text(60)", notNull: true, unique: true },
      extra: "json",
      is_deleted: { type: "boolean", notNull: true },
      deleted_at: "timestamp",
      updated_at: "timestamp",
    },
  },
  {
    name: "orders",
    columns: {
      order_id: "identity",
      customer_id: { type: "text(36)", references: { table: "customers", column: "customer_id" } },
      note: "longtext",
      total: "decimal(14,2)",
      updated_at: "timestamp",
    },
  },
  {
    name: "order_lines",
    columns: {
      order_line_id: "identity",
      order_id: { type: "integer", references: { table: "orders", column: "order_id" } },
      amount: { type: "decimal(12,2)", check: "amount >= 0" },
    },
  },
  {
    name: "accounts",
    columns: { account_id: "key", big: "bigint", balance: "integer", updated_at: "timestamp" },
  },
  { name: "tickets", columns: { ticket_id: "key", status: "text(30)", updated_at: "timestamp" } },
  { name: "journal", columns: { entry_id: "identity", note: "text(60)" } },
];

/** Every event of an endpoint goes to `on`. */
const components = Object.fromEntries(
  eventNames.map((event) => [event, ["components/probe.ts#run"]]),
);

const endpoints = (port: number) => {
  const hook = (path: string, blocking: boolean) => ({
    name: path.split("/")[0]!,
    url: `http://localhost:${port}/${path}/{{id}}`,
    method: "POST",
    blocking,
    timeoutMs: 5_000,
  });
  return {
    customers: {
      tableName: "customers",
      action: {
        create: true,
        read: true,
        first: true,
        lookup: true,
        update: true,
        delete: true,
        restore: true,
        aggregate: true,
        datatables: true,
        lock: true,
      },
      fieldNameLookup: { text: "name" },
      softDelete: true,
    },
    orders: {
      tableName: "orders",
      action: {
        create: true,
        read: true,
        first: true,
        update: true,
        "create-composite": true,
        "update-composite": true,
        "read-composite": true,
      },
      masterDetail: { detailTable: "order_lines", foreignKey: "order_id" },
      calculation: { header: { total: "SUM(amount)" } },
    },
    lines: {
      tableName: "order_lines",
      action: { create: true, read: true, update: true, delete: true },
    },
    accounts: {
      tableName: "accounts",
      action: { create: true, read: true, first: true, update: true, adjust: true, delete: true },
      adjustConfig: { fields: { balance: { type: "integer", min: 0 } } },
    },
    handled: {
      tableName: "accounts",
      action: { create: true, update: true, delete: true, read: true },
      components,
    },
    tickets: {
      tableName: "tickets",
      action: { create: true, first: true, "change-status": true },
      workflow: {
        hooks: {
          told: {
            onBefore: [hook("before", true)],
            onAfter: [hook("after", true), hook("later", false)],
          },
          slow: { onBefore: [hook("slow", true)] },
          refused: { onBefore: [hook("status/500", true)] },
        },
      },
    },
    journal: { tableName: "journal", action: { read: true, create: true } },
  };
};

export interface Step {
  id?: unknown;
  endpoint: string;
  action: string;
  body?: unknown;
  if_match?: unknown;
  lock_token?: unknown;
}

/** `project`: further settings of project.json. */
export function openBatched(
  options: Pick<FixtureOptions, "project" | "callers" | "watchers"> = {},
) {
  const server = openForTests(startHookServer);
  const on: Partial<Record<EventName, HookHandler>> = {};

  const fixture = openForTests(() =>
    openFixture({
      ...options,
      tables,
      endpoints: endpoints(server.port),
      components: {
        "components/probe.ts": { run: (context: HookContext) => on[context.event]?.(context) },
      },
      project: {
        batch: { enabled: true, maxSteps: 20 },
        hooks: { allowedHosts: [`localhost:${server.port}`] },
        ...options.project,
      },
    }),
  );
  afterEach(() => {
    for (const event of eventNames) delete on[event];
  });
  async function post(
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer> {
    const answer = await fixture.post(path, body, headers);
    checkEnvelope(answer);
    return answer;
  }
  return {
    on,
    post,
    batch: (
      steps: readonly Step[],
      more: object = {},
      headers?: Record<string, string>,
    ): Promise<Answer> => post("_batch", { steps, ...more }, headers),
    fixture,
    server,
    sql: (text: string) => fixture.sql(text),
    rows: (table: string) => fixture.sql(`select * from ${table} order by 1`),
    async empty() {
      for (const { name } of tables.toReversed()) await fixture.sql(`delete from ${name}`);
    },
  };
}
