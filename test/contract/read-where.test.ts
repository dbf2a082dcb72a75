/** read's where over HTTP: each operator, groups, limits, and refusals before any statement is sent. */
import { describe, expect, test } from "vitest";
import { and, check, column, condition, or } from "./cases.ts";
import { items } from "./fixture.ts";
import { openShop } from "./shop.ts";

const shop = openShop();

const ids = items.map((row) => row.item_id);
const all = { select: ["item_id"] };

/** A whole-number column (5, 10, 20, 777, 0 …) against numbers that it cannot hold. */
const wholeNumberFilters = [
  { name: "< 5.5", where: condition("qty", "<", 5.5), ids: ["i03", "i04"] },
  { name: "<= 5.5, sent as text", where: condition("qty", "<=", "5.5"), ids: ["i03", "i04"] },
  { name: "> 19.5", where: condition("qty", ">", 19.5), ids: ["i02", "i07", "i08"] },
  { name: ">= 20.5", where: condition("qty", ">=", 20.5), ids: ["i07"] },
  { name: "< -0.5", where: condition("qty", "<", -0.5), ids: [] },
  { name: ">= -0.5", where: condition("qty", ">=", -0.5), ids: ids.filter((id) => id !== "i05") },
  { name: "= 5.5", where: condition("qty", "=", 5.5), ids: [] },
  { name: "!= 5.5", where: condition("qty", "!=", 5.5), ids: ids.filter((id) => id !== "i05") },
  { name: "= 5.0, sent as text", where: condition("qty", "=", "5.0"), ids: ["i03"] },
  { name: "BETWEEN", where: condition("qty", "BETWEEN", [4.5, 10.5]), ids: ["i01", "i03", "i06"] },
  {
    name: "NOT BETWEEN",
    where: condition("qty", "NOT BETWEEN", [4.5, 10.5]),
    ids: ["i02", "i04", "i07", "i08"],
  },
  { name: "BETWEEN two neighbours", where: condition("qty", "BETWEEN", [5.2, 5.8]), ids: [] },
  { name: "IN", where: condition("qty", "IN", [5.5, 20]), ids: ["i02", "i08"] },
  { name: "IN alone", where: condition("qty", "IN", [5.5]), ids: [] },
  {
    name: "NOT IN",
    where: condition("qty", "NOT IN", [5.5, 20]),
    ids: ["i01", "i03", "i04", "i06", "i07"],
  },
  {
    name: "< a number beyond every whole number",
    where: condition("qty", "<", 1e30),
    ids: ids.filter((id) => id !== "i05"),
  },
].map(({ name, where, ids: found }) => ({
  name: `read compares a whole-number column by ${name}`,
  where: and(where),
  ids: found,
}));

describe("where", () => {
  const filters: { name: string; where: object; ids: string[] }[] = [
    { name: "read filters by =", where: and(condition("qty", "=", 20)), ids: ["i02", "i08"] },
    {
      name: "read filters by !=",
      where: and(condition("qty", "!=", 20)),
      ids: ["i01", "i03", "i04", "i06", "i07"],
    },
    {
      name: "read filters by <>",
      where: and(condition("qty", "<>", 20)),
      ids: ["i01", "i03", "i04", "i06", "i07"],
    },
    { name: "read filters by >", where: and(condition("qty", ">", 20)), ids: ["i07"] },
    { name: "read filters by <", where: and(condition("qty", "<", 5)), ids: ["i04"] },
    {
      name: "read filters by >=",
      where: and(condition("qty", ">=", 20)),
      ids: ["i02", "i07", "i08"],
    },
    { name: "read filters by <=", where: and(condition("qty", "<=", 5)), ids: ["i03", "i04"] },
    {
      name: "read filters by LIKE with %",
      where: and(condition("name", "LIKE", "%an%")),
      ids: ["i02"],
    },
    {
      name: "read filters by LIKE with _",
      where: and(condition("name", "LIKE", "snake_case")),
      ids: ["i05", "i08"],
    },
    {
      name: "read filters by LIKE over the whole value",
      where: and(condition("name", "LIKE", "app")),
      ids: [],
    },
    {
      name: "read filters by NOT LIKE",
      where: and(condition("name", "NOT LIKE", "%e%")),
      ids: ["i02", "i04", "i06", "i07"],
    },
    {
      name: "read filters by ILIKE, whatever the case",
      where: and(condition("name", "ILIKE", "APP%")),
      ids: ["i01"],
    },
    {
      name: "read filters by ILIKE, whatever the case of letters beyond ASCII",
      where: and(condition("name", "ILIKE", "éclair")),
      ids: ["i06"],
    },
    {
      name: "read filters by LIKE with sensitive false like ILIKE",
      where: and(condition("name", "LIKE", "éCL%", { sensitive: false })),
      ids: ["i06"],
    },
    {
      name: "read filters by NOT LIKE with sensitive false",
      where: and(condition("name", "NOT LIKE", "%A%", { sensitive: false })),
      ids: ["i03", "i04"],
    },
    {
      name: "read filters by BETWEEN, both ends included",
      where: and(condition("qty", "BETWEEN", [5, 10])),
      ids: ["i01", "i03", "i06"],
    },
    {
      name: "read filters by NOT BETWEEN",
      where: and(condition("qty", "NOT BETWEEN", [5, 10])),
      ids: ["i02", "i04", "i07", "i08"],
    },
    {
      name: "read filters by BETWEEN over dates",
      where: and(condition("due", "BETWEEN", ["2026-02-01", "2026-03-10"])),
      ids: ["i02", "i03"],
    },
    {
      name: "read filters by IN",
      where: and(condition("code", "IN", ["A-1", "A-3", "none"])),
      ids: ["i01", "i03"],
    },
    {
      name: "read filters by NOT IN",
      where: and(condition("code", "NOT IN", ["A-1", "A-3"])),
      ids: ["i02", "i04", "i05", "i06", "i07", "i08"],
    },
    { name: "read finds nothing with IN []", where: and(condition("code", "IN", [])), ids: [] },
    { name: "read finds all with NOT IN []", where: and(condition("code", "NOT IN", [])), ids },
    { name: "read filters by IS NULL", where: and(condition("qty", "IS NULL")), ids: ["i05"] },
    {
      name: "read filters by IS NOT NULL",
      where: and(condition("due", "IS NOT NULL")),
      ids: ["i01", "i02", "i03", "i06", "i07", "i08"],
    },
    {
      name: "read takes = null as IS NULL",
      where: and(condition("due", "=", null)),
      ids: ["i04", "i05"],
    },
    {
      name: "read filters by a boolean",
      where: and(condition("active", "=", false)),
      ids: ["i03", "i07", "i08"],
    },
    {
      name: "read filters by a decimal",
      where: and(condition("price", "=", "7.00")),
      ids: ["i07", "i08"],
    },
    {
      name: "read filters by a decimal with more digits than the column",
      where: and(condition("price", ">", 9.985)),
      ids: ["i03", "i04"],
    },
    {
      name: "read compares a number sent as text as a number",
      where: and(condition("qty", ">", "9")),
      ids: ["i01", "i02", "i07", "i08"],
    },
    ...wholeNumberFilters,
    {
      name: "read joins conditions by AND",
      where: and(condition("qty", "=", 20), condition("active", "=", true)),
      ids: ["i02"],
    },
    {
      name: "read joins conditions by OR",
      where: or(condition("qty", "=", 777), condition("code", "=", "A-1")),
      ids: ["i01", "i07"],
    },
    {
      name: "read takes AND when logic is missing",
      where: { conditions: [condition("qty", "=", 20), condition("active", "=", true)] },
      ids: ["i02"],
    },
    {
      name: "read keeps nested groups together",
      where: and(
        condition("category_id", "=", "c1"),
        or(condition("qty", "=", 10), condition("qty", "=", 777)),
      ),
      ids: ["i01"],
    },
    {
      name: "read takes OR of groups",
      where: or(
        and(condition("qty", "=", 20), condition("active", "=", false)),
        condition("code", "=", "A-3"),
      ),
      ids: ["i03", "i08"],
    },
    { name: "read takes five groups deep", where: nested(5), ids: ["i01"] },
    { name: "read takes 100 conditions", where: or(...many(100)), ids: ["i01"] },
    {
      name: "read takes 1000 values in one IN",
      where: and(condition("qty", "IN", numbers(1000))),
      ids: ["i01", "i02", "i03", "i04", "i06", "i07", "i08"],
    },
    {
      name: "read takes quotes in a value as text",
      where: and(condition("name", "=", "' or '1'='1")),
      ids: [],
    },
    {
      name: "read takes a backslash in a value as text",
      where: and(condition("name", "=", "back\\slash")),
      ids: ["i07"],
    },
  ];
  test.each(filters)("$name", async ({ where, ids: expected }) => {
    expect(column(await shop.post("items", "read", { ...all, where }), "item_id")).toEqual(
      expected,
    );
  });

  const malformed: { what: string; where: unknown }[] = [
    { what: "a bare array", where: [{ key: "qty", value: 1 }] },
    { what: "a text", where: "qty = 1" },
    { what: "a number", where: 1 },
    { what: "no conditions", where: { logic: "AND" } },
    { what: "conditions that are no array", where: { logic: "AND", conditions: { key: "qty" } } },
    { what: "an unknown logic", where: { logic: "XOR", conditions: [condition("qty", "=", 1)] } },
    {
      what: "a logic that is no text",
      where: { logic: ["AND"], conditions: [condition("qty", "=", 1)] },
    },
    { what: "a condition that is a text", where: and("qty = 1" as never) },
    { what: "a condition that is null", where: and(null as never) },
    { what: "a condition without key", where: and({ operator: "=", value: 1 }) },
    { what: "a key that is no text", where: and({ key: ["qty"], operator: "=", value: 1 }) },
    { what: "an unknown operator", where: and(condition("qty", "==", 1)) },
    { what: "SQL as operator", where: and(condition("qty", "= 1 OR 1", 1)) },
    {
      what: "an operator named like a member of every object",
      where: and(condition("qty", "constructor", 1)),
    },
    { what: "an operator that is no text", where: and(condition("qty", { a: 1 } as never, 1)) },
    { what: "BETWEEN with one value", where: and(condition("qty", "BETWEEN", [1])) },
    { what: "BETWEEN with three values", where: and(condition("qty", "BETWEEN", [1, 2, 3])) },
    { what: "BETWEEN with no array", where: and(condition("qty", "BETWEEN", 1)) },
    { what: "IN with no array", where: and(condition("qty", "IN", 1)) },
    { what: "1001 values in one IN", where: and(condition("qty", "IN", numbers(1001))) },
    { what: "101 conditions", where: or(...many(101)) },
    { what: "101 empty groups", where: or(...Array.from({ length: 101 }, () => or())) },
    { what: "101 conditions in groups", where: or(or(...many(50)), or(...many(51))) },
    { what: "six groups deep", where: nested(6) },
    { what: "no value where the operator takes one", where: and({ key: "qty", operator: "=" }) },
  ];
  test.each(malformed)("read refuses a where with $what", async ({ where }) => {
    check(await shop.post("items", "read", { where }), {
      name: "",
      body: 0,
      status: 400,
      error: "Invalid payload",
    });
  });

  const values: { what: string; where: object }[] = [
    { what: "a text for an integer", where: condition("qty", "=", "abc") },
    { what: "a text that begins with digits for an integer", where: condition("qty", "=", "5abc") },
    { what: "an object", where: condition("code", "=", { a: 1 }) },
    { what: "an array for one value", where: condition("code", "=", ["A-1"]) },
    { what: "30 February", where: condition("due", "=", "2026-02-30") },
    { what: "a text for a boolean", where: condition("active", "=", "maybe") },
    { what: "an object among the values of IN", where: condition("code", "IN", ["A-1", {}]) },
    { what: "a text in BETWEEN of an integer", where: condition("qty", "BETWEEN", [1, "x"]) },
    { what: "a lone surrogate", where: condition("code", "=", "\ud800") },
  ];
  test.each(values)(
    "read refuses a value that the column cannot take: $what",
    async ({ where }) => {
      check(await shop.post("items", "read", { where: and(where) }), {
        name: "",
        body: 0,
        status: 400,
        error: "Invalid parameter",
      });
    },
  );

  const names = [
    "nope",
    "secret",
    "constructor",
    "__proto__",
    "toString",
    "items.qty",
    "qty; drop table items",
    'qty"',
    "`qty`",
    "",
  ];
  test.each(names)("read refuses the column %j in where", async (key) => {
    const answer = await shop.post("items", "read", { where: and(condition(key, "=", "1")) });
    check(answer, { status: 400, error: "Invalid field" });
  });
});

/** A where with one condition inside the given number of groups. */
function nested(groups: number): object {
  const inner = groups === 1 ? condition("code", "=", "A-1") : nested(groups - 1);
  return and(inner);
}

function many(length: number): object[] {
  return Array.from({ length }, (_, index) =>
    condition("code", "=", index === 0 ? "A-1" : `none ${index}`),
  );
}

/** 0, 1, 2 … and 777 last. */
function numbers(length: number): number[] {
  return [
    ...Array.from({ length: length - 1 }, (_, index) => (index === 777 ? 10_000 : index)),
    777,
  ];
}
