/** The grid's ColumnControl over HTTP: each logic of each type of search, lists of values, and their options. */
import { describe, expect, test } from "vitest";
import { ids, idsOf, shelfOfFile } from "./shelf.ts";

const { ways, ask } = shelfOfFile();

/** `columns` with one that has a control, as the library sends it. */
const control = (data: unknown, columnControl: unknown, more: object = {}) => ({
  columns: [
    { data: "part_id", searchable: true, search: { value: "", regex: false } },
    { data, searchable: true, search: { value: "", regex: false }, columnControl, ...more },
  ],
});
const search = (data: string, type: unknown, logic: unknown, value: unknown, mask?: unknown) =>
  control(data, { search: { value, logic, type, ...(mask !== undefined && { mask }) } });
const list = (data: string, ...values: unknown[]) => control(data, { list: { ...values } });

const found: { name: string; body: object; ids: readonly string[] }[] = [
  {
    name: "columnControl finds texts that contain a text, whatever the case",
    body: search("note", "text", "contains", "HEAVY"),
    ids: ["p1", "p4"],
  },
  {
    name: "columnControl finds texts that do not contain a text, and nulls",
    body: search("note", "text", "notContains", "heavy"),
    ids: ["p2", "p3", "p5", "p6"],
  },
  {
    name: "columnControl finds equal texts, whatever the case",
    body: search("grade", "text", "equal", "b"),
    ids: ["p3", "p6"],
  },
  {
    name: "columnControl finds texts that differ by more than case, and nulls",
    body: search("grade", "text", "notEqual", "b"),
    ids: ["p1", "p2", "p4", "p5"],
  },
  {
    name: "columnControl finds how texts start",
    body: search("name", "text", "starts", "ÇELIK"),
    ids: ["p3"],
  },
  {
    name: "columnControl finds how texts end",
    body: search("name", "text", "ends", "CASE"),
    ids: ["p4"],
  },
  {
    name: "columnControl finds texts that are null or empty",
    body: search("note", "text", "empty", ""),
    ids: ["p2", "p3"],
  },
  {
    name: "columnControl finds texts that are neither",
    body: search("grade", "text", "notEmpty", ""),
    ids: ["p1", "p2", "p3", "p6"],
  },
  { name: "columnControl takes % literally", body: search("name", "text", "equal", "%"), ids: [] },
  {
    name: "columnControl takes _ literally",
    body: search("name", "text", "contains", "e_c"),
    ids: ["p4"],
  },
  {
    name: "columnControl searches numbers as texts",
    body: search("price", "text", "starts", "1"),
    ids: ["p1"],
  },
  {
    name: "columnControl searches as texts where there is no type",
    body: control("note", { search: { value: "light", logic: "equal" } }),
    ids: ["p5"],
  },

  {
    name: "columnControl finds equal numbers",
    body: search("price", "num", "equal", "7.0"),
    ids: ["p3", "p6"],
  },
  {
    name: "columnControl finds numbers that differ, and nulls",
    body: search("price", "num", "notEqual", "7"),
    ids: ["p1", "p2", "p4", "p5"],
  },
  {
    name: "columnControl finds greater numbers",
    body: search("qty", "num", "greater", "9"),
    ids: ["p2", "p6"],
  },
  {
    name: "columnControl finds greater or equal numbers",
    body: search("qty", "num", "greaterOrEqual", "9"),
    ids: ["p2", "p3", "p6"],
  },
  {
    name: "columnControl finds smaller numbers",
    body: search("qty", "num", "less", "9"),
    ids: ["p1", "p5"],
  },
  {
    name: "columnControl finds smaller or equal numbers",
    body: search("qty", "num", "lessOrEqual", "9"),
    ids: ["p1", "p3", "p5"],
  },
  {
    name: "columnControl finds numbers that are null",
    body: search("qty", "num", "empty", ""),
    ids: ["p4"],
  },
  {
    name: "columnControl finds numbers that are not null",
    body: search("qty", "num", "notEmpty", ""),
    ids: ["p1", "p2", "p3", "p5", "p6"],
  },
  {
    name: "columnControl passes over a number that is only a sign",
    body: search("qty", "num", "less", "-"),
    ids,
  },

  {
    name: "columnControl finds equal dates",
    body: search("made", "date", "equal", "2026-03-10"),
    ids: ["p3", "p5"],
  },
  {
    name: "columnControl finds dates that differ, and nulls",
    body: search("made", "date", "notEqual", "2026-03-10"),
    ids: ["p1", "p2", "p4", "p6"],
  },
  {
    name: "columnControl finds later dates",
    body: search("made", "date", "greater", "2026-03-10"),
    ids: ["p6"],
  },
  {
    name: "columnControl finds earlier dates",
    body: search("made", "date", "less", "2026-03-10"),
    ids: ["p1", "p2"],
  },
  {
    name: "columnControl finds dates that are null",
    body: search("made", "date", "empty", ""),
    ids: ["p4"],
  },
  {
    name: "columnControl finds dates that are not null",
    body: search("made", "date", "notEmpty", ""),
    ids: ["p1", "p2", "p3", "p5", "p6"],
  },
  {
    name: "columnControl takes a picker's instant for a date",
    body: search("made", "date", "equal", "2026-03-10T00:00:00.000Z"),
    ids: ["p3", "p5"],
  },
  {
    name: "columnControl takes the day of the picker's own zone",
    body: search("made", "date", "equal", "2026-03-10T00:00:00.000+02:00", "YYYY-MM-DD"),
    ids: ["p3", "p5"],
  },
  {
    name: "columnControl finds an instant",
    body: search("seen", "date", "equal", "2026-01-10T08:00:00.000Z", ""),
    ids: ["p1"],
  },
  {
    name: "columnControl finds the instants of a day by the mask of a date",
    body: search("seen", "date", "equal", "2026-01-10T05:00:00.000Z", "YYYY-MM-DD"),
    ids: ["p1", "p2"],
  },
  {
    name: "columnControl finds the instants after a day by the mask of a date",
    body: search("seen", "date", "greater", "2026-01-10", "YYYY-MM-DD"),
    ids: ["p3", "p5", "p6"],
  },
  {
    name: "columnControl finds the instants before a day by the mask of a date",
    body: search("seen", "date", "less", "2026-01-11", "YYYY-MM-DD"),
    ids: ["p1", "p2"],
  },
  {
    name: "columnControl finds instants by their time of day",
    body: search("seen", "date", "equal", "2020-05-05T08:00:00.000Z", "hh:mm:ss"),
    ids: ["p1", "p6"],
  },
  {
    name: "columnControl finds instants of other times of day, and nulls",
    body: search("seen", "date", "notEqual", "08:00:00", "hh:mm:ss"),
    ids: ["p2", "p3", "p4", "p5"],
  },
  {
    name: "columnControl finds instants that are null by any mask",
    body: search("seen", "date", "empty", "x", "hh:mm:ss"),
    ids: ["p4"],
  },
  {
    name: "columnControl finds later times of day",
    body: search("opens", "date", "greater", "2020-05-05T08:00:00.000Z", "hh:mm:ss"),
    ids: ["p2", "p5"],
  },

  {
    name: "columnControl filters nothing by an empty value",
    body: search("qty", "num", "equal", ""),
    ids,
  },
  {
    name: "columnControl filters nothing by an empty value, whatever the mask",
    body: search("seen", "date", "less", "", "YYYY"),
    ids,
  },
  {
    name: "columnControl filters nothing without a logic",
    body: search("qty", "num", "", "5"),
    ids,
  },
  {
    name: "columnControl filters nothing where the column is not searchable",
    body: control(
      "qty",
      { search: { value: "5", logic: "equal", type: "num" }, list: ["5"] },
      { searchable: "false" },
    ),
    ids,
  },
  {
    name: "columnControl filters nothing by an unknown field without a value",
    body: control("nope", { search: { value: "", logic: "contains", type: "text" }, list: [] }),
    ids,
  },
  {
    name: "columnControl filters nothing by an unknown field that is not searchable",
    body: control("nope", { list: ["5"] }, { searchable: "false" }),
    ids,
  },
  {
    name: "columnControl filters nothing by a column that shows no field",
    body: control(null, { list: ["5"] }),
    ids,
  },
  {
    name: "columnControl filters nothing without a search and a list",
    body: control("qty", {}),
    ids,
  },

  ...["equal", "greater", "greaterOrEqual", "less", "lessOrEqual"].map((logic) => ({
    name: `columnControl finds no number for the logic ${logic} and a text`,
    body: search("qty", "num", logic, "5x"),
    ids: [],
  })),
  {
    name: "columnControl finds every number that is not a text",
    body: search("qty", "num", "notEqual", "5x"),
    ids,
  },
  {
    name: "columnControl compares whole numbers with a fraction",
    body: search("qty", "num", "greaterOrEqual", "9.5"),
    ids: ["p2", "p6"],
  },
  ...["equal", "notEqual", "greater", "less"].flatMap((logic) => [
    {
      name: `columnControl passes over a half typed date with the logic ${logic}`,
      body: search("made", "date", logic, "2026-1"),
      ids,
    },
    {
      name: `columnControl passes over a half typed instant with the logic ${logic}`,
      body: search("seen", "date", logic, "2026-01-1", "YYYY-MM-DD"),
      ids,
    },
  ]),
  {
    name: "columnControl passes over a half typed time of day",
    body: search("seen", "date", "equal", "8%", "hh:mm:ss"),
    ids,
  },
  {
    name: "columnControl finds nothing by a value of a list that the column cannot take",
    body: list("made", "x"),
    ids: [],
  },
  {
    name: "columnControl finds the other values of such a list",
    body: list("qty", "x", "5"),
    ids: ["p1"],
  },
  ...[
    { logic: "contains", value: "tru", ids: ["p1", "p3", "p6"] },
    { logic: "notContains", value: "tru", ids: ["p2", "p4", "p5"] },
    { logic: "equal", value: "FALSE", ids: ["p2", "p5"] },
    { logic: "equal", value: "fals", ids: [] },
    { logic: "notEqual", value: "false", ids: ["p1", "p3", "p4", "p6"] },
    { logic: "starts", value: "0", ids: ["p2", "p5"] },
    { logic: "ends", value: "rue", ids: ["p1", "p3", "p6"] },
  ].map(({ logic, value, ids: expected }) => ({
    name: `columnControl finds truth values by the logic ${logic} and ${value}`,
    body: search("ready", "text", logic, value),
    ids: expected,
  })),
  {
    name: "columnControl finds the values of a list",
    body: list("grade", "a", "B"),
    ids: ["p1", "p2", "p6"],
  },
  {
    name: "columnControl finds the values of a list that is an array",
    body: control("qty", { list: ["5", "9"] }),
    ids: ["p1", "p3"],
  },
  {
    name: "columnControl finds nulls and empty texts by an empty value of a list",
    body: list("grade", "", "b"),
    ids: ["p3", "p4", "p5"],
  },
  { name: "columnControl finds nulls by a null in a list", body: list("qty", null), ids: ["p4"] },
  {
    name: "columnControl finds truth values by a list",
    body: list("ready", "false"),
    ids: ["p2", "p5"],
  },
  { name: "columnControl finds all by an empty list", body: list("grade"), ids },
  {
    name: "columnControl joins search and list by AND",
    body: control("qty", {
      search: { value: "5", logic: "greater", type: "num" },
      list: ["5", "9"],
    }),
    ids: ["p3"],
  },
  {
    name: "columnControl joins columns by AND",
    body: {
      columns: [...list("grade", "a").columns, ...search("qty", "num", "less", "10").columns],
    },
    ids: ["p1"],
  },
];

const refused: { name: string; body: object; error?: string }[] = [
  { name: "columnControl refuses another type", body: search("qty", "html", "equal", "5") },
  { name: "columnControl refuses another logic", body: search("qty", "num", "includes", "5") },
  {
    name: "columnControl refuses a logic of another type",
    body: search("qty", "num", "contains", "5"),
  },
  {
    name: "columnControl refuses the logic of the manual",
    body: search("qty", "num", "greaterThan", "5"),
  },
  {
    name: "columnControl refuses another mask",
    body: search("seen", "date", "equal", "2026-01-10", "YYYY"),
  },
  {
    name: "columnControl refuses an order of times of day within instants",
    body: search("seen", "date", "less", "08:00:00", "hh:mm:ss"),
  },
  { name: "columnControl refuses a control that is no object", body: control("qty", "x") },
  {
    name: "columnControl refuses a search that is no object",
    body: control("qty", { search: "5" }),
  },
  { name: "columnControl refuses a list that is none", body: control("qty", { list: "5" }) },
  {
    name: "columnControl refuses a list with an object in it",
    body: control("grade", { list: [{ a: 1 }] }),
  },
  {
    name: "columnControl refuses lists of more than a thousand values",
    body: control("qty", { list: Array.from({ length: 1001 }, (_, at) => at) }),
  },
  {
    name: "columnControl refuses more than a hundred searches",
    body: {
      columns: Array.from({ length: 101 }, () => search("qty", "num", "equal", "5").columns[1]),
    },
  },
  {
    name: "columnControl refuses a list with other names than places",
    body: control("qty", { list: { a: "5" } }),
  },
  ...[
    {
      name: "columnControl refuses a search of an unknown field",
      body: search("nope", "num", "equal", "5"),
    },
    {
      name: "columnControl refuses a search for nothing in an unknown field",
      body: search("nope", "text", "notEmpty", ""),
    },
    {
      name: "columnControl refuses a list of an unknown field",
      body: control("nope", { list: ["5"] }),
    },
    {
      name: "columnControl refuses a list of a hidden field",
      body: control("secret", { list: ["5"] }),
    },
  ].map((one) => ({ ...one, error: "Invalid field" })),
];

describe.each(Object.entries(ways))("sent as %s", (_, send) => {
  test.each(found)("$name", async ({ body, ids: expected }) => {
    const answer = await send("shelf", body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    expect(idsOf(answer)).toEqual(expected);
    expect(answer.body).toMatchObject({ recordsTotal: 6, recordsFiltered: expected.length });
  });

  test.each(refused)("$name", async ({ body, error = "Invalid payload" }) => {
    const answer = await send("shelf", body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(400);
    expect(answer.body.error).toBe(error);
  });
});

describe("options", () => {
  test("columnControl offers the values of the configured fields, the empty one among them", async () => {
    const { body } = await ask("lists", { length: 1 });
    const option = (value: string) => ({ label: value, value });
    expect(body.columnControl).toEqual({
      grade: ["", "B", "a", "b"].map(option),
      made: ["", "2026-01-10", "2026-02-10", "2026-03-10", "2026-04-01"].map(option),
    });
  });

  test("columnControl offers nothing where no field is configured", async () => {
    expect((await ask("shelf", {})).body).not.toHaveProperty("columnControl");
  });
});
