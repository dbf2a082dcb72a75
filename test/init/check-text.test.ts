import { describe, expect, test } from "vitest";
import { checkedColumns } from "../../core/init/check-text.ts";

const cases: readonly (readonly [condition: string, asks: object])[] = [
  ["qty >= 0", { qty: { min: 0 } }],
  ["((qty >= 0))", { qty: { min: 0 } }],
  ["(qty >= 0) AND (qty <= 10)", { qty: { min: 0, max: 10 } }],
  ["`qty` >= 1 and `qty` <= 9", { qty: { min: 1, max: 9 } }],
  ["qty between 1 and 5", { qty: { min: 1, max: 5 } }],
  ["qty BETWEEN 1 AND 5 AND price >= 0", { qty: { min: 1, max: 5 }, price: { min: 0 } }],
  ["((price >= (0)::numeric) AND (price <= (99999)::numeric))", { price: { min: 0, max: 99999 } }],
  ["(rate >= '-1.5'::numeric)", { rate: { min: -1.5 } }],
  ['("Qty" >= 0)', { Qty: { min: 0 } }],
  ["[the qty] >= 0", { "the qty": { min: 0 } }],
  ["status in ('open', 'it''s off')", { status: { enum: ["open", "it's off"] } }],
  ["`status` in ('open','it\\'s off')", { status: { enum: ["open", "it's off"] } }],
  [
    "((status)::text = ANY ((ARRAY['open'::character varying, 'it''s (off)'::character varying])::text[]))",
    { status: { enum: ["open", "it's (off)"] } },
  ],
  ["(mood = ANY (ARRAY['a'::text, 'b'::text]))", { mood: { enum: ["a", "b"] } }],
  // Conditions that no rule expresses, or not exactly.
  ["qty > 0", {}],
  ["qty in (1, 2)", {}],
  ["qty >= 0 or qty is null", {}],
  ["qty >= least", {}],
  ["length(name) >= 3", {}],
  ["qty >= 0 and (qty <= 5 or flag)", { qty: { min: 0 } }],
  ["lower(status) in ('a')", {}],
  ["status not in ('a')", {}],
  ["json_valid(`document`)", {}],
];

describe("a check constraint", () => {
  test.for(cases)("%s", ([condition, asks]) => {
    expect(Object.fromEntries(checkedColumns([condition]))).toEqual(asks);
  });
});
