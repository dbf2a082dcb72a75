/**
 * Tables whose keys have several columns: two numbers; a text, which two engines compare without case, and a date, not in the order of the
 * table; and three, of which one is a UUID and refers to another table. All have the same other columns.
 */
import { afterAll, beforeAll, beforeEach } from "vitest";
import type { Row } from "../../core/plans/ports.ts";
import { check, checkEnvelope } from "./cases.ts";
import { type Answer, type Fixture, openFixture } from "./harness.ts";
import type { FixtureTable } from "./tables.ts";

const others: FixtureTable["columns"] = {
  note: "text(50)",
  qty: { type: "integer", default: "0" },
  status: "text(20)",
  updated_at: "timestamp",
};

export interface WideKey {
  readonly endpoint: string;
  readonly names: readonly string[];
  /** Of records, in the order of lists; the first two differ in the last column alone. */
  readonly rows: readonly [Row, Row, Row];
  /** Of no record. */
  readonly unknown: Row;
  /** Of the first record, with a value that the last column cannot hold. */
  readonly invalid: Row;
  /** DT_RowId of the first record. */
  readonly rowId: string;
}

const items = ["0b0c7d4e-0000-4000-8000-000000000001", "0b0c7d4e-0000-4000-8000-000000000002"];

export const wideKeys: readonly WideKey[] = [
  {
    endpoint: "lines",
    names: ["order_id", "line_no"],
    rows: [
      { order_id: 1, line_no: 1 },
      { order_id: 1, line_no: 2 },
      { order_id: 2, line_no: 1 },
    ],
    unknown: { order_id: 2, line_no: 2 },
    invalid: { order_id: 1, line_no: "one" },
    rowId: "1_1",
  },
  {
    endpoint: "prices",
    names: ["code", "day"],
    rows: [
      { code: "a-b", day: "2026-01-01" },
      { code: "a-b", day: "2026-01-02" },
      { code: "ac", day: "2026-01-01" },
    ],
    unknown: { code: "ac", day: "2026-01-02" },
    invalid: { code: "a-b", day: "2026-02-30" },
    rowId: "a-b_2026-01-01",
  },
  {
    endpoint: "stocks",
    names: ["site", "item_id", "bin"],
    rows: [
      { site: "north", item_id: items[0]!, bin: 1 },
      { site: "north", item_id: items[0]!, bin: 2 },
      { site: "north", item_id: items[1]!, bin: 1 },
    ],
    unknown: { site: "south", item_id: items[0]!, bin: 1 },
    invalid: { site: "north", item_id: items[0]!, bin: 1.5 },
    rowId: `north_${items[0]}_1`,
  },
];

const action = {
  create: true,
  read: true,
  first: true,
  update: true,
  delete: true,
  adjust: true,
  datatables: true,
  "change-status": true,
  "next-statuses": true,
  lock: true,
};

const common = {
  action,
  adjustConfig: { fields: { qty: { min: 0 } } },
  workflow: { transitions: { open: ["done"], done: [] } },
  datatables: { rowId: true },
};

const endpoints = {
  lines: { ...common, tableName: "order_lines" },
  /** The same table, its key named in another order. */
  "lines-turned": { ...common, tableName: "order_lines", primaryKey: ["line_no", "order_id"] },
  viewed: {
    ...common,
    tableName: "order_lines",
    viewQuery: "select l.*, l.qty * 2 as twice from order_lines l",
  },
  prices: { ...common, tableName: "prices", primaryKey: ["code", "day"] },
  stocks: { ...common, tableName: "stocks" },
};

export function openWide(project: object = {}) {
  let fixture: Fixture | null = null;
  const opened = (): Fixture => {
    if (!fixture) throw new Error("The service opens in beforeAll");
    return fixture;
  };
  const post = async (
    path: string,
    body: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer> => {
    const answer = await opened().post(path, body, headers);
    checkEnvelope(answer);
    return answer;
  };
  beforeAll(async () => {
    fixture = await openFixture({
      tables: [
        { name: "items", columns: { item_id: "uuid", name: "text(20)" }, primaryKey: ["item_id"] },
        {
          name: "order_lines",
          columns: { order_id: "integer", line_no: "integer", ...others },
          primaryKey: ["order_id", "line_no"],
        },
        {
          name: "stocks",
          columns: {
            bin: "smallint",
            item_id: { type: "uuid", references: { table: "items", column: "item_id" } },
            site: "text(20)",
            ...others,
          },
          primaryKey: ["site", "item_id", "bin"],
        },
        {
          name: "prices",
          columns: { day: "date", code: "text(20)", ...others },
          primaryKey: ["code", "day"],
        },
      ],
      setUp: (engine) => [
        ...(engine === "mysql"
          ? ["alter table prices convert to character set utf8mb4 collate utf8mb4_general_ci"]
          : []),
        ...items.map((id, at) => `insert into items (item_id, name) values ('${id}', 'i${at}')`),
      ],
      endpoints,
      project,
    });
  });
  afterAll(() => fixture?.close());

  /** Before each test the three records of each key are there as create stored them. */
  beforeEach(async () => {
    for (const { endpoint, rows } of wideKeys) {
      await opened().sql(`delete from ${endpoint === "lines" ? "order_lines" : endpoint}`);
      for (const [at, key] of rows.entries())
        check(
          await post(`${endpoint}/create`, { ...key, note: `n${at}`, qty: 10, status: "open" }),
          {
            status: 201,
          },
        );
    }
  });
  return { post, sql: (text: string) => opened().sql(text), engine: () => opened().engine };
}
