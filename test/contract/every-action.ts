/** A project in which every action is switched on somewhere, over the tables of the shop. */
import type { Json } from "../../core/values/json.ts";
import { shopOptions } from "./fixture.ts";
import type { FixtureOptions } from "./harness.ts";

const { counters, orders, documents, folders, kinds } = shopOptions.endpoints as Record<
  string,
  { action: object; fieldName?: string[] }
>;

/** Every action is on in one endpoint at least. Where rows are listed, no other table can be joined: what that adds is in `aggregate.test.ts`. */
const endpoints = {
  kinds: {
    ...kinds,
    action: {
      ...kinds!.action,
      datatables: true,
      lookup: true,
      aggregate: true,
      lock: true,
      export: true,
    },
    fieldNameLookup: { id: "kind_id", text: "note" },
    fieldValidation: [
      { name: "short", type: "string", constraints: { minLength: 2, maxLength: 6 } },
      { name: "whole", type: "integer", constraints: { required: true, min: -50, max: 50 } },
      // The tables of SQLite say this with a check.
      { name: "unsigned", type: "integer", constraints: { min: 0 } },
      { name: "note", type: "string", constraints: { enum: ["a", "b", "some text"] } },
    ],
  },
  counters: { ...counters, action: { adjust: true } },
  reasoned: { ...shopOptions.endpoints["reasoned"] },
  orders: { ...orders, action: { "change-status": true } },
  documents: {
    ...documents,
    action: { "create-composite": true, "read-composite": true, "update-composite": true },
  },
  folders: { ...folders, action: { "create-composite": true, "update-composite": true } },
  parcels: {
    tableName: "items",
    primaryKey: "item_id",
    fieldName: ["item_id", "code", "name"],
    action: { import: true },
  },
};

const setUp: typeof shopOptions.setUp = (engine) => [
  ...(shopOptions.setUp?.(engine) ?? []),
  "insert into kinds (kind_id, whole, note) values ('k1', 1, 'a'), ('k2', 2, 'b')",
  "insert into counters (counter_id, stock, balance, big, free) values ('n1', 500, 500, 500, 500)",
  "insert into orders (order_id, status) values ('o1', 'draft'), ('o2', 'posted')",
  "insert into documents (document_id, number, total_items, total_amount) values ('d1', 'D-1', 0, 0)",
];

export const everyAction: FixtureOptions = {
  ...shopOptions,
  setUp,
  endpoints,
  project: { cache: { enabled: false }, requests: { unknown: "refuse" } },
};

/** Keys of records that are there. */
export const storedKeys: Readonly<Record<string, Json[]>> = {
  kind_id: ["k1", "k2"],
  counter_id: ["n1"],
  order_id: ["o1", "o2"],
  id: ["o1", "o2"],
  document_id: ["d1"],
};
