/**
 * Opens the service over one table whose endpoints have handlers; tests set their behaviour through `on`. `plain` is
 * the same table without handlers. Every answer has passed `checkEnvelope`.
 */
import { Writable } from "node:stream";
import { pino } from "pino";
import { afterEach } from "vitest";
import {
  eventNames,
  type EventName,
  type HookHandler,
  type HookContext,
} from "../../core/plans/hook.ts";
import { checkEnvelope } from "./cases.ts";
import { type Answer, type Fixture, openFixture, openForTests } from "./harness.ts";
import type { FixtureTable } from "./tables.ts";

export interface Workshop {
  post(
    endpoint: string,
    action: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer>;
  readonly fixture: Fixture;
}

const tables: readonly FixtureTable[] = [
  {
    name: "parts",
    columns: {
      part_id: "key",
      code: { type: "text(40)", notNull: true, unique: true },
      name: "text(100)",
      stock: "integer",
      price: "decimal(12,2)",
      big: "bigint",
      active: "boolean",
      made_on: "date",
      made_at: "timestamp",
      extra: "json",
      secret: "text(40)",
      updated_at: "timestamp",
      updated_by: "text(60)",
    },
  },
  {
    name: "notes",
    columns: {
      note_id: "identity",
      part_id: { type: "text(36)", references: { table: "parts", column: "part_id" } },
      text: "text(100)",
    },
  },
  { name: "journal", columns: { entry_id: "identity", note: { type: "text(100)", unique: true } } },
];

const parts = {
  tableName: "parts",
  action: { create: true, read: true, first: true, update: true, delete: true, adjust: true },
  adjustConfig: { fields: { stock: { type: "integer", min: 0 } } },
};

const everyEvent = Object.fromEntries(
  eventNames.map((event) => [event, ["components/probe.ts#run"]]),
);

/** `logged`: the lines of the service's log, from warnings on and of requests. */
export function openWorkshop() {
  const on: Partial<Record<EventName, HookHandler>> = {};
  const logged: Record<string, unknown>[] = [];
  const lines = new Writable({
    write(chunk, _encoding, done) {
      logged.push(JSON.parse(String(chunk)));
      done();
    },
  });

  const fixture = openForTests(openFixture, {
    tables,
    setUp: () => ["create view doubles as select part_id, stock * 2 as doubled from parts"],
    endpoints: {
      plain: parts,
      parts: { ...parts, hiddenFields: ["secret"], components: everyEvent },
      viewed: { ...parts, viewName: "doubles", components: everyEvent },
      headed: {
        ...parts,
        components: everyEvent,
        masterDetail: { detailTable: "notes", foreignKey: "part_id", cascadeDelete: true },
      },
      documents: {
        ...parts,
        action: { "create-composite": true, "read-composite": true, "update-composite": true },
        components: everyEvent,
        masterDetail: {
          detailTable: "notes",
          foreignKey: "part_id",
          detailConfig: { fieldValidation: [{ name: "text", constraints: { required: true } }] },
        },
        calculation: { header: { stock: "COUNT(*)" } },
      },
      ordered: {
        ...parts,
        components: {
          onBeforeInsert: ["one", "two", "one"].map((name) => `components/order.ts#${name}`),
        },
      },
      notes: { tableName: "notes", action: { create: true, read: true } },
      journal: { tableName: "journal", action: { read: true, create: true } },
    },
    components: {
      "components/probe.ts": { run: (context: HookContext) => on[context.event]?.(context) },
      "components/order.ts": { one: appending("-one"), two: appending("-two") },
    },
    log: pino({ level: "info" }, lines),
  });
  afterEach(() => {
    for (const event of eventNames) delete on[event];
  });
  const workshop: Workshop = {
    fixture,
    async post(endpoint, action, body, headers) {
      const answer = await fixture.post(`${endpoint}/${action}`, body, headers);
      checkEnvelope(answer);
      return answer;
    },
  };
  return { workshop, on, logged };
}

const appending =
  (end: string): HookHandler =>
  ({ data }) => ({ ...data, name: `${String(data["name"])}${end}` });
