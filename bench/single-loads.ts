/** Requests for single records, pages and a drop-down of the bench's table, and the endpoint that answers them. */
import type { Load } from "./load.ts";
import { keyOf, rowsAtStart } from "./table.ts";

const anyKey = (at: number): string => keyOf((at * 7919) % rowsAtStart);
const path = (action: string): string => `/api/bench/items/${action}`;

export const loads = {
  first: {
    path: path("first"),
    body: (at) => JSON.stringify({ where: { key: "id", value: anyKey(at) } }),
    expectedStatus: 200,
  },
  "read 20": {
    path: path("read"),
    body: (at) =>
      JSON.stringify({
        limit: 20,
        sort_columns: [{ column: "id", direction: at % 2 ? "asc" : "desc" }],
      }),
    expectedStatus: 200,
  },
  "lookup by prefix": {
    path: `${path("lookup")}?limit=20&search=Item%2042`,
    method: "GET",
    headers: { "X-Request-Mode": "dynamic" },
    body: () => "",
    expectedStatus: 200,
  },
  "read 20 with total": {
    path: path("read"),
    body: (at) =>
      JSON.stringify({ page: (at % 50) + 1, per_page: 20, sort_columns: [{ column: "id" }] }),
    expectedStatus: 200,
  },
  create: {
    path: path("create"),
    body: (at) => JSON.stringify({ name: `New ${at}`, price: 12.5, stock: 3, active: true }),
    expectedStatus: 201,
  },
  update: {
    path: path("update"),
    body: (at) => JSON.stringify({ id: anyKey(at), name: `Changed ${at}`, price: 9.99 }),
    expectedStatus: 200,
  },
  adjust: {
    path: path("adjust"),
    body: (at) => JSON.stringify({ id: anyKey(at), adjustments: [{ field: "stock", value: -1 }] }),
    expectedStatus: 200,
  },
} satisfies Readonly<Record<string, Load>>;

export const endpoint = {
  tableName: "items",
  action: { create: true, read: true, first: true, update: true, adjust: true, lookup: true },
  fieldNameLookup: { id: "id", text: "name", match: "prefix" },
  fieldName: ["id", "name", "price", "stock", "active"],
  fieldValidation: [{ name: "name", type: "string", required: true }],
  adjustConfig: { fields: { stock: { type: "integer", min: 0 } } },
};
