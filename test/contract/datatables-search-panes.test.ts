/** The grid's SearchPanes over HTTP: what a selection filters, and the options with their counts in every answer. */
import { describe, expect, test } from "vitest";
import { ids, idsOf, shelfOfFile } from "./shelf.ts";

const { ways, ask, fixture } = shelfOfFile();

interface Found {
  name: string;
  body: object;
  ids: readonly string[];
}

const found: Found[] = [
  {
    name: "searchPanes joins the values of one pane by OR",
    body: { searchPanes: { grade: { 0: "a", 1: "b" } } },
    ids: ["p1", "p2", "p3"],
  },
  {
    name: "searchPanes joins panes by AND",
    body: { searchPanes: { grade: { 0: "a", 1: "b" }, ready: { 0: "true" } } },
    ids: ["p1", "p3"],
  },
  {
    name: "searchPanes takes a pane as a list",
    body: { searchPanes: { grade: ["a"] } },
    ids: ["p1", "p2"],
  },
  {
    name: "searchPanes finds nothing by a text for a number",
    body: { searchPanes: { qty: { 0: "five" } } },
    ids: [],
  },
  {
    name: "searchPanes finds nothing in a pane of JSON documents",
    body: { searchPanes: { extra: { 0: "x" } } },
    ids: [],
  },
  {
    name: "searchPanes finds nulls and empty texts by null",
    body: { searchPanes: { grade: { 0: null } }, searchPanes_null: { grade: { 0: true } } },
    ids: ["p4", "p5"],
  },
  {
    name: "searchPanes finds null numbers by null",
    body: { searchPanes: { qty: { 0: null } }, searchPanes_null: { qty: { 0: true } } },
    ids: ["p4"],
  },
  {
    name: "searchPanes finds null or a value",
    body: {
      searchPanes: { qty: { 0: "12", 1: null } },
      searchPanes_null: { qty: { 0: false, 1: true } },
    },
    ids: ["p2", "p4"],
  },
  {
    name: "searchPanes finds nulls where the library marks a place alone",
    body: { searchPanes: { qty: {} }, searchPanes_null: { qty: { 0: true } } },
    ids: ["p4"],
  },
  {
    name: "searchPanes finds 0, which the library marks as null",
    body: { searchPanes: { qty: { 0: 0 } }, searchPanes_null: { qty: { 0: true } } },
    ids: ["p5"],
  },
  {
    name: "searchPanes finds false, which the library marks as null",
    body: { searchPanes: { ready: { 0: false } }, searchPanes_null: { ready: { 0: true } } },
    ids: ["p2", "p5"],
  },
  {
    name: "searchPanes takes numbers as the column writes them",
    body: { searchPanes: { price: { 0: "7.00" } } },
    ids: ["p3", "p6"],
  },
  {
    name: "searchPanes finds dates",
    body: { searchPanes: { made: { 0: "2026-03-10" } } },
    ids: ["p3", "p5"],
  },
  {
    name: "searchPanes finds nothing by a value that the column cannot hold",
    body: { searchPanes: { qty: { 0: "99999999999" } } },
    ids: [],
  },
  {
    name: "searchPanes is joined with the other searches by AND",
    body: { searchPanes: { grade: { 0: "a" } }, search: { value: "bolt" } },
    ids: ["p2"],
  },
  {
    name: "searchPanes without a selection filters nothing",
    body: {
      searchPanes: { grade: {}, qty: {} },
      searchPanes_null: { grade: {}, qty: {} },
      searchPanes_options: { cascade: false, viewCount: true, viewTotal: false },
    },
    ids,
  },
  {
    name: "searchPanes passes over panes of what is no field",
    body: { searchPanes: { nope: { 0: "x" }, secret: { 0: "x" }, function: { 0: "x" } } },
    ids,
  },
  {
    name: "searchPanes takes a thousand values",
    body: { searchPanes: { grade: Array.from({ length: 1000 }, (_, at) => `g${at}`) } },
    ids: [],
  },
];

describe.each(Object.entries(ways))("sent as %s", (_, send) => {
  test.each(found)("$name", async ({ body, ids: expected }) => {
    const answer = await send("shelf", body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    expect(idsOf(answer)).toEqual(expected);
    expect(answer.body).toMatchObject({ recordsTotal: 6, recordsFiltered: expected.length });
  });

  test.each([
    { name: "searchPanes refuses a text", body: { searchPanes: "x" } },
    { name: "searchPanes refuses a text as a pane", body: { searchPanes: { grade: "a" } } },
    { name: "searchPanes refuses marks that are no object", body: { searchPanes_null: "x" } },
    { name: "searchPanes refuses options that are no object", body: { searchPanes_options: "x" } },
    {
      name: "searchPanes refuses a value that is an object",
      body: { searchPanes: { grade: { 0: { a: 1 } } } },
    },
    {
      name: "searchPanes refuses a value that is a list",
      body: { searchPanes: { grade: { 0: ["a"] } } },
    },
    {
      name: "searchPanes refuses more than a thousand values",
      body: {
        searchPanes: {
          grade: Array.from({ length: 500 }, () => "a"),
          name: Array.from({ length: 501 }, () => "a"),
        },
      },
    },
  ])("$name", async ({ body }) => {
    const answer = await send("shelf", body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(400);
    expect(answer.body.error).toBe("Invalid payload");
  });
});

type Pane = [value: string | null, total: number, count: number][];

const options = (panes: Record<string, Pane>) =>
  Object.fromEntries(
    Object.entries(panes).map(([field, pane]) => [
      field,
      pane.map(([value, total, count]) => ({ label: value ?? "", value, total, count })),
    ]),
  );
const shown = (cascade: boolean, viewTotal: boolean) => ({
  searchPanes_options: { cascade, viewCount: true, viewTotal },
});
const selected = { searchPanes: { grade: { 0: "a" } }, searchPanesLast: "grade" };

const counted: { name: string; body: object; panes: Record<string, Pane> }[] = [
  {
    name: "searchPanes counts all rows of each value, nulls and empty texts together",
    body: {},
    panes: {
      grade: [
        [null, 2, 2],
        ["B", 1, 1],
        ["a", 2, 2],
        ["b", 1, 1],
      ],
      qty: [
        [null, 1, 1],
        ["0", 1, 1],
        ["5", 1, 1],
        ["9", 1, 1],
        ["12", 1, 1],
        ["100", 1, 1],
      ],
      ready: [
        [null, 1, 1],
        ["false", 2, 2],
        ["true", 3, 3],
      ],
    },
  },
  {
    name: "searchPanes does not count again where the page shows neither",
    body: { ...selected, ...shown(false, false) },
    panes: {
      grade: [
        [null, 2, 2],
        ["B", 1, 1],
        ["a", 2, 2],
        ["b", 1, 1],
      ],
      ready: [
        [null, 1, 1],
        ["false", 2, 2],
        ["true", 3, 3],
      ],
    },
  },
  {
    name: "searchPanes narrows the other panes by the selection, and leaves the last pane whole",
    body: { ...selected, ...shown(true, false) },
    panes: {
      grade: [
        [null, 2, 2],
        ["B", 1, 1],
        ["a", 2, 2],
        ["b", 1, 1],
      ],
      qty: [
        [null, 1, 0],
        ["0", 1, 0],
        ["5", 1, 1],
        ["9", 1, 0],
        ["12", 1, 1],
        ["100", 1, 0],
      ],
      ready: [
        [null, 1, 0],
        ["false", 2, 1],
        ["true", 3, 1],
      ],
    },
  },
  {
    name: "searchPanes narrows a pane by its own selection when another one was the last",
    body: {
      searchPanes: { grade: { 0: "a" }, ready: { 0: "true" } },
      searchPanesLast: "ready",
      ...shown(true, true),
    },
    panes: {
      grade: [
        [null, 2, 0],
        ["B", 1, 0],
        ["a", 2, 1],
        ["b", 1, 0],
      ],
      ready: [
        [null, 1, 0],
        ["false", 2, 1],
        ["true", 3, 1],
      ],
    },
  },
  {
    name: "searchPanes counts what the other searches leave",
    body: { search: { value: "a" }, ...shown(false, true) },
    panes: {
      ready: [
        [null, 1, 1],
        ["false", 2, 2],
        ["true", 3, 2],
      ],
    },
  },
];

describe("options", () => {
  test.each(
    Object.entries(ways).flatMap(([way, send]) => counted.map((one) => ({ ...one, way, send }))),
  )("$name ($way)", async ({ body, panes, send }) => {
    const answer = await send("panes", { length: 1, ...body });
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    expect(Object.keys(answer.body.searchPanes.options)).toEqual(["grade", "qty", "ready"]);
    expect(answer.body.searchPanes.options).toMatchObject(options(panes));
  });

  test("searchPanes gives options where a page has no rows", async () => {
    const { body } = await ask("panes", { search: { value: "nothing like it" } });
    expect(body.searchPanes.options.grade).toHaveLength(4);
  });

  test("searchPanes selects by the values that it offers, as many rows as it counts", async () => {
    const { body } = await ask("panes", {});
    for (const [field, pane] of Object.entries(body.searchPanes.options)) {
      for (const { value, total } of pane as { value: string | null; total: number }[]) {
        const searchPanes = { [field]: { 0: value } };
        const searchPanes_null = { [field]: { 0: !value } };
        const answer = await ask("panes", { searchPanes, searchPanes_null });
        expect(answer.body.recordsFiltered, `${field}: ${value}`).toBe(total);
      }
    }
  });

  test("searchPanes offers at most a thousand values, with the same counts", async () => {
    const keys = Array.from({ length: 1100 }, (_, at) => `many${at}`);
    const rows = keys.map((key, at) => `('${key}', 'many', ${at + 1000})`);
    await fixture.sql(`insert into parts (part_id, name, qty) values ${rows.join(", ")}`);
    const where = { conditions: [{ key: "qty", operator: "<", value: 1010 }] };
    const { body } = await ask("panes", { where, ...shown(true, true) });
    await fixture.sql("delete from parts where name = 'many'");
    expect(body).toMatchObject({ recordsTotal: 1106, recordsFiltered: 15 });
    const pane: { value: string; total: number; count: number }[] = body.searchPanes.options.qty;
    expect(pane).toHaveLength(1000);
    expect(pane.filter(({ count }) => count === 1)).toHaveLength(15);
    expect(pane.slice(0, 2)).toEqual([
      { label: "", value: null, total: 1, count: 0 },
      { label: "0", value: "0", total: 1, count: 1 },
    ]);
  });

  test("searchPanes offers nothing where no field is configured", async () => {
    expect((await ask("shelf", selected)).body).not.toHaveProperty("searchPanes");
  });
});
