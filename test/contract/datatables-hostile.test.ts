/**
 * Hostile input in every parameter of the grid's extensions: unknown names, SQL in texts, numbers out of range and
 * unexpected shapes. Each request has one answer, the same on every engine, and nothing is written.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hostileNames, hostileTexts } from "./hostile-words.ts";
import { ids, idsOf, shelfOfFile } from "./shelf.ts";

const { ask, ways, fixture } = shelfOfFile();

const dump = () => fixture.sql("select * from parts order by 1");
let before: unknown;
beforeAll(async () => {
  before = await dump();
});
afterAll(async () => {
  expect(await dump(), "a grid never writes").toEqual(before);
});

const criterion = (origData: unknown, condition: unknown, ...value: unknown[]) => ({
  searchBuilder: { logic: "AND", criteria: [{ condition, origData, value }] },
});
const pane = (name: string, ...values: unknown[]) => ({
  searchPanes: Object.fromEntries([[name, { ...values }]]),
});
const control = (data: unknown, columnControl: unknown) => ({ columns: [{ data, columnControl }] });
const search = (data: unknown, type: unknown, logic: unknown, value: unknown, mask?: unknown) =>
  control(data, { search: { type, logic, value, mask } });

const shown = (value: unknown) => JSON.stringify(value)?.slice(0, 40);
const names = hostileNames
  .filter((name) => name !== "")
  .map((name) => [shown(name), name] as const);

describe("names", () => {
  test.each(names)("searchBuilder refuses the field %s", async (_, name) => {
    const answer = await ask("shelf", criterion(name, "=", "1"));
    expect(answer.status).toBe(400);
    expect(answer.body.error).toBe("Invalid field");
  });

  test.each(names)("searchBuilder refuses the condition %s", async (_, name) => {
    const answer = await ask("shelf", criterion("qty", name, "1"));
    expect(answer.status).toBe(400);
    expect(answer.body.error).toBe("Invalid payload");
  });

  test.each(names)("searchPanes passes over the pane %s", async (_, name) => {
    const answer = await ask("panes", {
      ...pane(name, "x"),
      searchPanes_null: Object.fromEntries([[name, [true]]]),
      searchPanesLast: name,
      searchPanes_options: Object.fromEntries([[name, true]]),
    });
    expect(idsOf(answer)).toEqual(ids);
    expect(Object.keys(answer.body.searchPanes.options)).toEqual(["grade", "qty", "ready"]);
  });

  test.each(names)("columnControl refuses the column %s", async (_, name) => {
    const answer = await ask("lists", control(name, { list: ["x"], search: { logic: "empty" } }));
    // A number is what the library sends for a column of arrays, which names no field.
    if (name === "1") return expect(idsOf(answer)).toEqual(ids);
    expect(answer.status).toBe(400);
    expect(answer.body.error).toBe("Invalid field");
  });

  test.each(names)("columnControl refuses the type, the logic and the mask %s", async (_, name) => {
    for (const body of [
      search("qty", name, "equal", "1"),
      search("qty", "num", name, "1"),
      search("seen", "date", "equal", "2026-01-01", name),
    ]) {
      const answer = await ask("shelf", body);
      expect(answer.status).toBe(400);
      expect(answer.body.error).toBe("Invalid payload");
    }
  });
});

describe("texts", () => {
  const conditions = ["=", "contains", "starts", "ends", "<", "between"];
  test.each(hostileTexts.map((text) => [shown(text), text] as const))(
    "the text %s is searched for as it is",
    async (_, text) => {
      for (const send of Object.values(ways)) {
        for (const condition of conditions)
          expect((await send("shelf", criterion("name", condition, text, text))).status).toBe(200);
        for (const condition of ["!=", "!contains", "!starts", "!ends", "!between"]) {
          const opposite = criterion("name", condition, text, text);
          const positive = criterion("name", condition.slice(1) || "=", text, text);
          const [others, same] = [await send("shelf", opposite), await send("shelf", positive)];
          const both = [...idsOf(others), ...idsOf(same)].toSorted();
          expect(both, `${condition} and its opposite`).toEqual(ids);
        }
        expect(idsOf(await send("shelf", pane("name", text)))).toEqual([]);
        expect(idsOf(await send("shelf", control("name", { list: [text] })))).toEqual([]);
        expect(idsOf(await send("shelf", search("name", "text", "equal", text)))).toEqual([]);
      }
    },
  );

  test.each(
    ["'", "1; drop table parts", "0x41", "1e1001", "NaN", "Infinity", "--1", "1 or 1=1", "٣"].map(
      (text) => [text],
    ),
  )("the text %s is no number, and finds none", async (text) => {
    for (const body of [
      criterion("qty", "=", text),
      criterion("price", "between", text, "1"),
      pane("qty", text),
      control("price", { list: [text] }),
      search("qty", "num", "less", text),
    ])
      expect(idsOf(await ask("shelf", body))).toEqual([]);
    expect(idsOf(await ask("shelf", criterion("price", "!between", text, "1")))).toEqual(ids);
  });

  test("a NUL character is refused everywhere", async () => {
    for (const send of Object.values(ways)) {
      for (const body of [
        criterion("name", "=", "a\0"),
        criterion("name\0", "=", "a"),
        pane("name", "\0"),
        search("name", "text", "contains", "\0"),
        { count: "\0" },
      ])
        expect((await send("shelf", body)).status).toBe(400);
    }
  });

  test("half of a surrogate pair is refused everywhere", async () => {
    for (const body of [
      criterion("name", "=", "\ud800"),
      criterion("name", "contains", "\udfff"),
      pane("name", "\ud800"),
      control("name", { list: ["\ud800"] }),
      search("name", "text", "contains", "a\ud800"),
    ])
      expect((await ask("shelf", body)).status).toBe(400);
  });

  test("a text of 10,001 characters is refused as a pattern", async () => {
    expect((await ask("shelf", criterion("name", "contains", "%".repeat(10_000)))).status).toBe(
      200,
    );
    expect((await ask("shelf", criterion("name", "contains", "x".repeat(10_001)))).status).toBe(
      400,
    );
  });
});

describe("numbers", () => {
  test("a text of 30,000 blanks that is no number is answered within a second", async () => {
    const started = performance.now();
    const answer = await ask("shelf", criterion("qty", "=", `${" ".repeat(30_000)}x`));
    expect(idsOf(answer)).toEqual([]);
    expect(performance.now() - started).toBeLessThan(1000);
  });

  test.each(["1e308", "-1e308", "9223372036854775808", "-9223372036854775809", "1e1000"])(
    "%s is compared with every type of number without an error of the database",
    async (number) => {
      for (const field of ["qty", "price"]) {
        for (const condition of ["=", "!=", "<", ">=", "between", "!between"]) {
          const values = [number, number].map((text) => `${text}`);
          const sent = JSON.stringify(criterion(field, condition, ...values));
          for (const text of [sent, sent.replaceAll(`"${number}"`, number)]) {
            const answer = await fixture.post("shelf/datatables", text);
            expect(answer.status, JSON.stringify(answer.body)).toBe(200);
          }
        }
      }
    },
  );
});

describe("shapes", () => {
  const named = { toString: "qty" };
  /** In a form nothing is sent of these. */
  const empty = [[], {}, [[]], [{}], { 0: { 0: {} } }];
  const containers = [...empty, ["qty"], named, [["qty"]]];
  const words = ["x", 1, -1, 1e308, true];
  const objects = [{}, named, { 0: { 0: {} } }];
  const others = [null, ...containers, ...words];

  /** `json` and `form`: what is taken when it is sent so, beside what a form does not send. All else is refused. */
  interface Taken {
    readonly body: (value: unknown) => object;
    readonly json: readonly unknown[];
    readonly form: readonly unknown[];
  }
  const taking = (
    body: Taken["body"],
    json: readonly unknown[],
    form: readonly unknown[] = json,
  ): Taken => ({ body, json, form });
  const plain = [null, ...words];
  const places: Record<string, Taken> = {
    searchBuilder: taking((value) => ({ searchBuilder: value }), [null, ...objects]),
    "searchBuilder.logic": taking(
      (value) => ({ searchBuilder: { logic: value, criteria: [] } }),
      [null],
    ),
    "searchBuilder.criteria": taking(
      (value) => ({ searchBuilder: { criteria: value } }),
      [null, [], [{}]],
    ),
    "a criterion": taking((value) => ({ searchBuilder: { criteria: [value] } }), objects),
    "a condition": taking((value) => criterion("qty", value, "1"), [null]),
    // Without a value, because a criterion with one needs its field.
    origData: taking((value) => criterion(value, "="), [null]),
    "a value of a criterion": taking((value) => criterion("qty", "=", value), plain),
    "the value of a criterion": taking(
      (value) => ({
        searchBuilder: { criteria: [{ condition: "=", origData: "name", value, value1: value }] },
      }),
      [null, "x", 1, -1, 1e308, ["qty"]],
      [...plain, ["qty"]],
    ),
    searchPanes: taking((value) => ({ searchPanes: value }), [null, ...containers]),
    "a pane": taking((value) => ({ searchPanes: { grade: value } }), [null, [], {}, ["qty"]]),
    "a value of a pane": taking((value) => pane("grade", value), plain),
    searchPanes_null: taking((value) => ({ searchPanes_null: value }), [null, ...containers]),
    "the marks of a pane": taking(
      (value) => ({ searchPanes_null: { grade: value } }),
      [null, ...empty, ["qty"], [["qty"]]],
    ),
    searchPanesLast: taking((value) => ({ searchPanesLast: value }), others),
    searchPanes_options: taking((value) => ({ searchPanes_options: value }), [null, ...containers]),
    cascade: taking(
      (value) => ({ searchPanes_options: { cascade: value, viewTotal: value } }),
      others,
    ),
    columnControl: taking((value) => control("qty", value), [null, ...objects]),
    "the search of columnControl": taking(
      (value) => control("qty", { search: value }),
      [null, ...objects],
    ),
    "a value of columnControl": taking((value) => search("qty", "num", "equal", value), plain),
    "a type of columnControl": taking((value) => search("qty", value, "equal", "1"), [null]),
    "a logic of columnControl": taking((value) => search("qty", "num", value, "1"), [null]),
    "a mask of columnControl": taking(
      (value) => search("seen", "date", "equal", "2026-01-01", value),
      [null],
    ),
    "a list of columnControl": taking(
      (value) => control("qty", { list: value }),
      [null, [], {}, ["qty"]],
    ),
    "a value of a list": taking((value) => control("qty", { list: [value] }), plain),
    // In a form it is the empty word.
    count: taking((value) => ({ count: value }), [null], []),
  };

  test.each(Object.entries(places))("%s takes its own shapes and no other", async (_, place) => {
    const holds = (list: readonly unknown[], value: unknown) =>
      list.map(shown).includes(shown(value));
    for (const value of others) {
      const statusIf = (isTaken: boolean) => (isTaken ? 200 : 400);
      const byJson = await ways.JSON("panes", place.body(value));
      const byForm = await ways["a form"]("panes", place.body(value));
      expect([shown(value), byJson.status, byForm.status]).toEqual([
        shown(value),
        statusIf(holds(place.json, value)),
        statusIf(holds([...empty, ...place.form], value)),
      ]);
    }
  });

  test("10,000 criteria are refused", async () => {
    const criteria = Array.from({ length: 10_000 }, () => ({}));
    expect((await ask("shelf", { searchBuilder: { criteria } })).status).toBe(400);
  });

  test("a thousand groups, one in the other, are refused", async () => {
    const open = '{"criteria":['.repeat(1000);
    const text = `{"searchBuilder":${open}${"]}".repeat(1000)}}`;
    expect((await fixture.post("shelf/datatables", text)).status).toBe(400);
    const thirty = `{"searchBuilder":${'{"criteria":['.repeat(14)}${"]}".repeat(14)}}`;
    expect((await fixture.post("shelf/datatables", thirty)).status).toBe(400);
  });

  test("a pane or list of 10,000 values is refused", async () => {
    const values = Array.from({ length: 10_000 }, (_, at) => at);
    for (const body of [
      { searchPanes: { qty: values } },
      control("qty", { list: values }),
      { searchPanes_null: { qty: values.map(() => true) } },
    ])
      expect((await ask("shelf", body)).status).toBe(400);
  });

  test("a prototype's name in the JSON text reaches nothing", async () => {
    const text = `{
      "searchPanes": {"__proto__": {"0": "x"}, "constructor": {"0": "x"}},
      "searchPanes_null": {"__proto__": {"0": true}},
      "searchBuilder": {"__proto__": {"criteria": [{}]}},
      "columns": [{"data": "qty", "columnControl": {"__proto__": {"list": ["5"]}}}]
    }`;
    const answer = await fixture.post("panes/datatables", text);
    expect(idsOf(answer)).toEqual(ids);
  });
});
