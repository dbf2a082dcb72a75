/** The grid's SearchBuilder over HTTP: each condition on each field type, groups, unfinished conditions, refusals. */
import { describe, expect, test } from "vitest";
import { ids, idsOf, shelfOfFile } from "./shelf.ts";

const { ways, ask } = shelfOfFile();

/** A criterion as the library sends it. */
const crit = (origData: unknown, condition: unknown, ...value: unknown[]) => ({
  condition,
  data: "A title",
  origData,
  type: "string",
  value,
  ...(value.length > 0 && { value1: value[0] }),
  ...(value.length > 1 && { value2: value[1] }),
});
const group = (logic: unknown, ...criteria: unknown[]) => ({ logic, criteria });
const built = (...criteria: unknown[]) => ({ searchBuilder: group("AND", ...criteria) });

const found: { name: string; body: object; ids: readonly string[] }[] = [
  {
    name: "searchBuilder finds equal texts, in their case",
    body: built(crit("grade", "=", "B")),
    ids: ["p6"],
  },
  {
    name: "searchBuilder finds texts that differ, and nulls",
    body: built(crit("grade", "!=", "a")),
    ids: ["p3", "p4", "p5", "p6"],
  },
  {
    name: "searchBuilder finds equal numbers",
    body: built(crit("price", "=", "7.00")),
    ids: ["p3", "p6"],
  },
  {
    name: "searchBuilder finds numbers that differ, and nulls",
    body: built(crit("qty", "!=", "9")),
    ids: ["p1", "p2", "p4", "p5", "p6"],
  },
  {
    name: "searchBuilder finds every row that differs from what the column cannot hold",
    body: built(crit("qty", "!=", "99999999999")),
    ids,
  },
  {
    name: "searchBuilder finds nothing equal to what the column cannot hold",
    body: built(crit("qty", "=", "99999999999")),
    ids: [],
  },
  {
    name: "searchBuilder compares numbers as numbers",
    body: built(crit("qty", "<", "10")),
    ids: ["p1", "p3", "p5"],
  },
  {
    name: "searchBuilder finds numbers up to one",
    body: built(crit("qty", "<=", "9")),
    ids: ["p1", "p3", "p5"],
  },
  {
    name: "searchBuilder finds numbers above one",
    body: built(crit("price", ">", "7")),
    ids: ["p1"],
  },
  {
    name: "searchBuilder finds numbers from one on",
    body: built(crit("price", ">=", "7")),
    ids: ["p1", "p3", "p6"],
  },
  {
    name: "searchBuilder finds numbers between two",
    body: built(crit("qty", "between", "5", "12")),
    ids: ["p1", "p2", "p3"],
  },
  {
    name: "searchBuilder takes the two numbers in either order",
    body: built(crit("qty", "between", "12", "5")),
    ids: ["p1", "p2", "p3"],
  },
  {
    name: "searchBuilder takes two decimals in either order",
    body: built(crit("price", "between", "7", "-3.00")),
    ids: ["p2", "p3", "p5", "p6"],
  },
  {
    name: "searchBuilder finds numbers outside of two, and nulls",
    body: built(crit("qty", "!between", "100", "9")),
    ids: ["p1", "p4", "p5"],
  },
  {
    name: "searchBuilder finds texts that contain a text, whatever the case",
    body: built(crit("note", "contains", "Heavy")),
    ids: ["p1", "p4"],
  },
  {
    name: "searchBuilder finds texts that do not contain a text, and nulls",
    body: built(crit("note", "!contains", "heavy")),
    ids: ["p2", "p3", "p5", "p6"],
  },
  {
    name: "searchBuilder finds how texts start, whatever the case",
    body: built(crit("name", "starts", "çELIK")),
    ids: ["p3"],
  },
  {
    name: "searchBuilder finds texts that start otherwise, and nulls",
    body: built(crit("note", "!starts", "heavy")),
    ids: ["p2", "p3", "p5", "p6"],
  },
  {
    name: "searchBuilder finds how texts end",
    body: built(crit("note", "ends", "LOAD")),
    ids: ["p4"],
  },
  {
    name: "searchBuilder finds texts that end otherwise, and nulls",
    body: built(crit("note", "!ends", "y")),
    ids: ["p2", "p3", "p4", "p5", "p6"],
  },
  { name: "searchBuilder takes % literally", body: built(crit("name", "ends", "0%")), ids: ["p3"] },
  {
    name: "searchBuilder takes _ literally",
    body: built(crit("name", "contains", "e_c")),
    ids: ["p4"],
  },
  {
    name: "searchBuilder takes a backslash literally",
    body: built(crit("name", "contains", "k\\s")),
    ids: ["p5"],
  },
  {
    name: "searchBuilder takes quotes literally",
    body: built(crit("name", "=", 'o\'brien "x"')),
    ids: ["p6"],
  },
  {
    name: "searchBuilder finds parts of numbers",
    body: built(crit("price", "contains", ".5")),
    ids: ["p1"],
  },
  {
    name: "searchBuilder finds no part in a type without a text, and the opposite in all rows",
    body: { searchBuilder: group("OR", crit("extra", "contains", "t"), crit("qty", "=", "5")) },
    ids: ["p1"],
  },
  {
    name: "searchBuilder counts a type without a text as not containing it",
    body: built(crit("extra", "!contains", "t")),
    ids,
  },
  {
    name: "searchBuilder finds texts that are null or empty",
    body: built(crit("note", "null")),
    ids: ["p2", "p3"],
  },
  {
    name: "searchBuilder finds texts that are neither null nor empty",
    body: built(crit("grade", "!null")),
    ids: ["p1", "p2", "p3", "p6"],
  },
  {
    name: "searchBuilder finds dates that are null",
    body: built(crit("made", "null")),
    ids: ["p4"],
  },
  {
    name: "searchBuilder finds numbers that are not null, 0 among them",
    body: built(crit("qty", "!null")),
    ids: ["p1", "p2", "p3", "p5", "p6"],
  },
  {
    name: "searchBuilder finds truth values",
    body: built(crit("ready", "=", "false")),
    ids: ["p2", "p5"],
  },
  {
    name: "searchBuilder finds dates",
    body: built(crit("made", "=", "2026-03-10")),
    ids: ["p3", "p5"],
  },
  {
    name: "searchBuilder takes the library's date and time for a date",
    body: built(crit("made", ">", "2026-03-10 00:00:00")),
    ids: ["p6"],
  },
  {
    name: "searchBuilder finds dates between two",
    body: built(crit("made", "between", "2026-03-10", "2026-02-01")),
    ids: ["p2", "p3", "p5"],
  },
  {
    name: "searchBuilder finds dates outside of two, and nulls",
    body: built(crit("made", "!between", "2026-02-01", "2026-03-10")),
    ids: ["p1", "p4", "p6"],
  },
  {
    name: "searchBuilder takes a date for the whole day of an instant",
    body: built(crit("seen", "=", "2026-01-10")),
    ids: ["p1", "p2"],
  },
  {
    name: "searchBuilder finds instants of other days, and nulls",
    body: built(crit("seen", "!=", "2026-01-10")),
    ids: ["p3", "p4", "p5", "p6"],
  },
  {
    name: "searchBuilder finds instants after a day",
    body: built(crit("seen", ">", "2026-01-10")),
    ids: ["p3", "p5", "p6"],
  },
  {
    name: "searchBuilder finds instants up to a day's end",
    body: built(crit("seen", "<=", "2026-01-10")),
    ids: ["p1", "p2"],
  },
  {
    name: "searchBuilder finds instants between two days, both of them whole",
    body: built(crit("seen", "between", "2026-01-10", "2026-01-11")),
    ids: ["p1", "p2", "p3"],
  },
  {
    name: "searchBuilder takes the library's date and time for an instant",
    body: built(crit("seen", "=", "2026-01-10 08:00:00")),
    ids: ["p1"],
  },
  {
    name: "searchBuilder takes an instant of another zone",
    body: built(crit("seen", ">=", "2026-03-10T14:30:00+02:00")),
    ids: ["p5", "p6"],
  },
  {
    name: "searchBuilder finds times of day",
    body: built(crit("opens", "<", "08:30")),
    ids: ["p1", "p3", "p6"],
  },
  {
    name: "searchBuilder takes the time of an instant for a time of day, in its own zone",
    body: built(crit("opens", "=", "2020-05-05T08:00+02:00")),
    ids: ["p1", "p6"],
  },
  {
    name: "searchBuilder joins criteria by AND",
    body: built(crit("qty", ">", "5"), crit("ready", "=", "true")),
    ids: ["p3", "p6"],
  },
  {
    name: "searchBuilder joins criteria by OR",
    body: { searchBuilder: group("OR", crit("qty", "=", "5"), crit("qty", "null")) },
    ids: ["p1", "p4"],
  },
  {
    name: "searchBuilder joins groups within groups",
    body: {
      searchBuilder: group(
        "AND",
        crit("ready", "=", "true"),
        group("OR", crit("qty", "=", "5"), group("and", crit("qty", ">", "50"))),
      ),
    },
    ids: ["p1", "p6"],
  },
  {
    name: "searchBuilder is joined with the other searches by AND",
    body: { ...built(crit("price", "=", "7")), search: { value: "brien" } },
    ids: ["p6"],
  },
  {
    name: "searchBuilder takes value1 and value2 where there is no value",
    body: built({ condition: "between", origData: "qty", value1: "9", value2: "12" }),
    ids: ["p2", "p3"],
  },
  {
    name: "searchBuilder joins by AND where there is no logic",
    body: { searchBuilder: { criteria: [crit("qty", "=", "5"), crit("grade", "=", "a")] } },
    ids: ["p1"],
  },

  ...[
    { name: "searchBuilder passes over a criterion without a condition", one: { origData: "qty" } },
    {
      name: "searchBuilder passes over a criterion whose condition a form calls undefined",
      one: { condition: "undefined", origData: "qty", type: "string", value1: "undefined" },
    },
    {
      name: "searchBuilder passes over a criterion whose values a form calls undefined",
      one: { condition: "between", origData: "qty", value1: "9", value2: "undefined" },
    },
    {
      name: "searchBuilder passes over a criterion with an empty condition",
      one: crit("qty", "", "5"),
    },
    {
      name: "searchBuilder passes over a criterion without a field and a value",
      one: crit(undefined, "="),
    },
    {
      name: "searchBuilder passes over a criterion with an empty field and value",
      one: crit("", "=", ""),
    },
    { name: "searchBuilder passes over a criterion without a value", one: crit("qty", "=") },
    {
      name: "searchBuilder passes over a criterion with an empty value",
      one: crit("qty", "=", ""),
    },
    {
      name: "searchBuilder passes over a criterion with one of two values",
      one: crit("qty", "between", "5"),
    },
    {
      name: "searchBuilder passes over a criterion with an empty second value",
      one: crit("qty", "!between", "5", ""),
    },
    {
      name: "searchBuilder passes over a criterion with a sign instead of a number",
      one: crit("price", "<", "-"),
    },
    {
      name: "searchBuilder passes over a criterion with a point instead of a number",
      one: crit("price", "<", "-."),
    },
  ].map(({ name, one }) => ({ name, body: { searchBuilder: group("OR", one) }, ids })),
  {
    name: "searchBuilder takes numbers that are half typed",
    body: built(crit("price", "between", ".25", "7.")),
    ids: ["p2", "p3", "p6"],
  },
  ...[
    { what: "a text for a number", field: "qty", value: "five" },
    { what: "a half typed date", field: "made", value: "2026-1" },
    { what: "a day that there is not", field: "made", value: "2026-02-30" },
    { what: "a half typed instant", field: "seen", value: "2026-01-10T" },
    { what: "a minute that there is not", field: "opens", value: "10:60" },
    { what: "a word for a truth value", field: "ready", value: "tr" },
    { what: "a part of a uuid", field: "token", value: "1" },
    { what: "a text for a JSON document", field: "extra", value: "1" },
  ].flatMap(({ what, field, value }) => [
    ...["=", "<", "<=", ">", ">="].map((condition) => ({
      name: `searchBuilder finds nothing ${condition} ${what}`,
      body: built(crit(field, condition, value)),
      ids: [],
    })),
    {
      name: `searchBuilder finds nothing between ${what} and itself`,
      body: built(crit(field, "between", value, value)),
      ids: [],
    },
    ...["!=", "!between"].map((condition) => ({
      name: `searchBuilder finds all rows ${condition} ${what}`,
      body: built(crit(field, condition, value, value)),
      ids,
    })),
  ]),
  {
    name: "searchBuilder finds nothing between a date and a half typed one",
    body: built(crit("made", "between", "2026-01-01", "2026-0")),
    ids: [],
  },
  {
    name: "searchBuilder compares whole numbers with a fraction",
    body: built(crit("qty", "<", "5.5")),
    ids: ["p1", "p5"],
  },
  {
    name: "searchBuilder finds whole numbers between two fractions",
    body: built(crit("qty", "between", "12.5", "4.5")),
    ids: ["p1", "p2", "p3"],
  },
  {
    name: "searchBuilder takes a whole number with zeros behind the point",
    body: built(crit("qty", "=", "5.00")),
    ids: ["p1"],
  },
  ...["-1e308", "-1e70", `-${"9".repeat(66)}.5`].flatMap((low) => [
    {
      name: `searchBuilder finds no decimal below ${low.slice(0, 8)}`,
      body: built(crit("price", "<", low)),
      ids: [],
    },
    {
      name: `searchBuilder finds no decimal equal to ${low.slice(0, 8)}`,
      body: built(crit("price", "=", low)),
      ids: [],
    },
    {
      name: `searchBuilder finds every decimal from ${low.slice(0, 8)} on`,
      body: built(crit("price", ">=", low)),
      ids: ["p1", "p2", "p3", "p5", "p6"],
    },
  ]),
  {
    name: "searchBuilder finds every decimal below 1e308",
    body: built(crit("price", "<", "1e308")),
    ids: ["p1", "p2", "p3", "p5", "p6"],
  },
  ...[
    { value: "TR", ids: ["p1", "p3", "p6"] },
    { value: "f", ids: ["p2", "p5"] },
    { value: "1", ids: ["p1", "p3", "p6"] },
    { value: "0", ids: ["p2", "p5"] },
    { value: "truer", ids: [] },
    { value: "alse", ids: [] },
  ].flatMap(({ value, ids: yes }) => [
    {
      name: `searchBuilder finds truth values that contain ${value}`,
      body: built(crit("ready", "contains", value)),
      ids: yes,
    },
    {
      name: `searchBuilder finds truth values that do not contain ${value}`,
      body: built(crit("ready", "!contains", value)),
      ids: ids.filter((id) => !yes.includes(id)),
    },
    {
      name: `searchBuilder finds truth values that start with ${value}`,
      body: built(crit("ready", "starts", value)),
      ids: yes,
    },
  ]),
  {
    name: "searchBuilder finds truth values by their end",
    body: built(crit("ready", "ends", "LSE")),
    ids: ["p2", "p5"],
  },
  {
    name: "searchBuilder takes a value by place",
    body: built({ ...crit("qty", "between", "x", "x"), value: { 0: "6", 1: "10" } }),
    ids: ["p3"],
  },
  ...["date", "moment-YYYY", "luxon-yyyy"].flatMap((type) => [
    {
      name: `searchBuilder finds nulls alone by the type ${type}`,
      body: built({ ...crit("note", "null"), type }),
      ids: ["p3"],
    },
    {
      name: `searchBuilder finds empty texts by their opposite and the type ${type}`,
      body: built({ ...crit("note", "!null"), type }),
      ids: ids.filter((id) => id !== "p3"),
    },
  ]),
  {
    name: "searchBuilder finds nulls and empty texts by another type",
    body: built({ ...crit("note", "null"), type: "html" }),
    ids: ["p2", "p3"],
  },
  { name: "searchBuilder without criteria filters nothing", body: built(), ids },
  { name: "an empty searchBuilder filters nothing", body: { searchBuilder: {} }, ids },
  {
    name: "searchBuilder passes over groups without criteria",
    body: { searchBuilder: group("OR", group("AND"), crit("qty", "=", "5")) },
    ids: ["p1"],
  },
  {
    name: "searchBuilder takes a hundred criteria",
    body: built(...Array.from({ length: 100 }, () => crit("qty", "=", "5"))),
    ids: ["p1"],
  },
];

describe.each(Object.entries(ways))("sent as %s", (_, send) => {
  test.each(found)("$name", async ({ body, ids: expected }) => {
    const answer = await send("shelf", body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    expect(idsOf(answer)).toEqual(expected);
    expect(answer.body).toMatchObject({ recordsTotal: 6, recordsFiltered: expected.length });
  });
});

const nestedTo = (depth: number): object =>
  depth === 1
    ? group("AND", crit("qty", "=", "5"))
    : group("AND", nestedTo(depth - 1), crit("qty", "=", "5"));

const refused: { name: string; searchBuilder: unknown; error: string }[] = [
  ...[
    {
      name: "searchBuilder refuses an unknown field",
      one: crit("nope", "=", "1"),
      error: "Invalid field",
    },
    {
      name: "searchBuilder refuses a hidden field",
      one: crit("secret", "=", "1"),
      error: "Invalid field",
    },
    {
      name: "searchBuilder refuses the word for a function",
      one: crit("function", "=", "1"),
      error: "Invalid field",
    },
    {
      name: "searchBuilder refuses a field by its title",
      one: crit("A title", "=", "1"),
      error: "Invalid field",
    },
    {
      name: "searchBuilder refuses a criterion with a title and no field",
      one: crit(undefined, "=", "1"),
    },
    {
      name: "searchBuilder refuses a criterion whose field a form calls undefined",
      one: crit("undefined", "between", "1", "2"),
    },
    {
      name: "searchBuilder refuses a criterion without a field that takes no value",
      one: crit("", "!null"),
    },
    { name: "searchBuilder refuses an unknown condition", one: crit("qty", "~", "1") },
    {
      name: "searchBuilder refuses a condition of its own for texts",
      one: crit("name", "like", "1"),
    },
    { name: "searchBuilder refuses an object for a value", one: crit("qty", "=", { a: 1 }) },
    {
      name: "searchBuilder refuses a value with other names than places",
      one: { ...crit("name", "=", "Anvil"), value: { a: "Anvil" } },
    },
    {
      name: "searchBuilder refuses a value with a name beside places",
      one: { ...crit("qty", "between", "1", "2"), value: { 0: "1", b: "2" } },
    },
    {
      name: "searchBuilder refuses a logic other than AND and OR",
      one: group("XOR", crit("qty", "=", "5")),
    },
  ].map(({ name, one, error = "Invalid payload" }) => ({
    name,
    searchBuilder: group("AND", one),
    error,
  })),
  { name: "searchBuilder refuses a text", searchBuilder: "x", error: "Invalid payload" },
  {
    name: "searchBuilder refuses criteria that are no array",
    searchBuilder: { criteria: { a: 1 } },
    error: "Invalid payload",
  },
  {
    name: "searchBuilder refuses criteria that are no objects",
    searchBuilder: group("AND", "qty = 5"),
    error: "Invalid payload",
  },
  {
    name: "searchBuilder refuses more than a hundred criteria",
    searchBuilder: group("AND", ...Array.from({ length: 101 }, () => crit("qty", "=", "5"))),
    error: "Invalid payload",
  },
  {
    name: "searchBuilder refuses groups deeper than five",
    searchBuilder: nestedTo(6),
    error: "Invalid payload",
  },
];

describe.each(Object.entries(ways))("refused as %s", (_, send) => {
  test.each(refused)("$name", async ({ searchBuilder, error }) => {
    const answer = await send("shelf", { draw: 2, searchBuilder });
    expect(answer.status, JSON.stringify(answer.body)).toBe(400);
    expect(answer.body).toMatchObject({ error, draw: 2, recordsTotal: 0, data: [] });
  });
});

describe("options", () => {
  test("searchBuilder takes five groups, one in the other", async () => {
    expect(idsOf(await ask("shelf", { searchBuilder: nestedTo(5) }))).toEqual(["p1"]);
  });

  test("searchBuilder offers the values of the configured fields, without the empty ones", async () => {
    const { body } = await ask("lists", { length: 1, ...built(crit("qty", "=", "5")) });
    const option = (value: string) => ({ label: value, value });
    expect(body.searchBuilder).toEqual({
      options: {
        grade: ["B", "a", "b"].map(option),
        price: ["-3", "0.25", "7", "10.5"].map(option),
      },
    });
  });

  test("searchBuilder offers nothing where no field is configured", async () => {
    expect((await ask("shelf", built())).body).not.toHaveProperty("searchBuilder");
  });
});
