/** Cursors as plain values: what a page asks of the database, and what a cursor says of its list. */
import { describe, expect, test } from "vitest";
import type { Column } from "../../core/values/types/column.ts";
import {
  cursor as cursorGrammar,
  cursorFailure,
  type CursorList,
  type CursorPage,
  markOf,
  pageBehind,
  placeBehind,
  selectPage,
} from "../../core/lists/cursor.ts";
import { AppError } from "../../core/values/errors.ts";
import type { Row } from "../../core/values/row.ts";
import type { Condition, Select, Sort } from "../../core/query/statement.ts";
import { column } from "../values/column.ts";

const key = column("integer", { name: "id", nullable: false });
const name = column("text", { name: "name" });
const place = column("other", { name: "place", nullable: false });

const asc = (of: Column): Sort => ({ column: of, direction: "asc" });
const desc = (of: Column): Sort => ({ column: of, direction: "desc" });
const listBy = (...sort: Sort[]): CursorList => ({
  name: "shop/things",
  sort,
  hasKey: true,
  filter: null,
});

const select: Select = {
  kind: "select",
  source: { kind: "table", schema: null, name: "things", columns: new Map() },
  columns: [name],
  where: { kind: "null", column: place, negated: true },
  sort: [],
  limit: null,
  offset: 0,
  lock: false,
};

/** A condition as a text that is easy to read. */
function textOf(condition: Condition | null): string {
  if (condition === null) return "all";
  if (condition.kind === "and" || condition.kind === "or")
    return condition.members.length === 0
      ? `no ${condition.kind}`
      : `(${condition.members.map(textOf).join(` ${condition.kind} `)})`;
  const of = "column" in condition ? (condition.column.markOf ?? condition.column).name : "";
  if (condition.kind === "compare") return `${of} ${condition.operator} ${String(condition.value)}`;
  if (condition.kind === "null") return `${of} is ${condition.negated ? "not " : ""}null`;
  throw new Error(`No condition of a page: ${condition.kind}`);
}

/** The condition that a page adds. */
function behind(sort: Sort[], after: (string | null)[]): string {
  const { where } = selectPage(
    { ...select, where: null },
    { list: listBy(...sort), perPage: 5, after },
  );
  return textOf(where);
}

describe("the rows behind a place", () => {
  const cases: [what: string, sort: Sort[], after: (string | null)[], text: string][] = [
    ["of the key", [asc(key)], ["7"], "id > 7"],
    ["of the key downwards", [desc(key)], ["7"], "id < 7"],
    [
      "of a value",
      [asc(name), asc(key)],
      ["a", "7"],
      "(name >= a and (name > a or (name = a and id > 7)))",
    ],
    [
      "of a value downwards, where nulls come last",
      [desc(name), asc(key)],
      ["a", "7"],
      "((name < a or name is null) or (name = a and id > 7))",
    ],
    [
      "of a value that is never null, downwards",
      [desc(place), asc(key)],
      ["a", "7"],
      "(place <= a and (place < a or (place = a and id > 7)))",
    ],
    [
      "of a null",
      [asc(name), asc(key)],
      [null, "7"],
      "(name is not null or (name is null and id > 7))",
    ],
    ["of a null downwards", [desc(name), asc(key)], [null, "7"], "(name is null and id > 7)"],
    ["of a null alone, downwards", [desc(name)], [null], "no or"],
    [
      "of three columns",
      [asc(name), desc(place), asc(key)],
      ["a", "b", "7"],
      "(name >= a and (name > a or (name = a and (place <= b and (place < b or (place = b and id > 7))))))",
    ],
  ];
  test.each(cases)("are those %s", (_what, sort, after, text) => {
    expect(behind(sort, after)).toBe(text);
  });

  test("are all at the beginning", () => {
    const page = selectPage(
      { ...select, where: null },
      { list: listBy(asc(key)), perPage: 5, after: null },
    );
    expect(page.where).toBeNull();
  });

  test("stay within the list's own condition", () => {
    const page = selectPage(select, { list: listBy(asc(key)), perPage: 5, after: ["7"] });
    expect(textOf(page.where)).toBe("(place is not null and id > 7)");
    expect(page).toMatchObject({ limit: 6, offset: 0, columns: [name, markOf(key)] });
  });
});

describe("a cursor", () => {
  const list = listBy(desc(name), asc(key));
  const rowAt = (at: number): Row => ({
    [markOf(name).name]: at === 1 ? 'é"😀\\' : null,
    [markOf(key).name]: String(at),
  });
  const begin: CursorPage = { list, perPage: 2, after: null };
  /** Of a page whose text is full with the first of these rows. */
  const paginationOf = (ends: Row[], { perPage, ...page }: CursorPage = begin) =>
    pageBehind({ found: perPage - 1 + ends.length, ends }, { perPage, ...page });
  const cursorAfter = (at: number): string =>
    String(paginationOf([rowAt(at), rowAt(at + 1)])["next_cursor"]);
  const parse = (sent: unknown, of: CursorList = list) =>
    placeBehind(cursorGrammar.read(sent)!, of);
  const faultOf = (work: () => unknown): AppError => {
    try {
      work();
    } catch (error) {
      if (error instanceof AppError) return error;
    }
    throw new Error("The work did not fail");
  };

  test("comes back as the place of the last row that was shown", () => {
    expect(parse(cursorAfter(1))).toEqual(['é"😀\\', "1"]);
    expect(parse(cursorAfter(2))).toEqual([null, "2"]);
    expect(parse(true)).toBeNull();
  });

  test("is of letters that need no escape in a URL or in JSON", () => {
    for (let at = 1; at < 50; at++) expect(cursorAfter(at)).toMatch(/^[\w-]+$/);
  });

  test("is not given where the list ends", () => {
    const last = { per_page: 2, next_cursor: null, has_next: false };
    expect(paginationOf([rowAt(2)])).toEqual(last);
    expect(pageBehind({ found: 0, ends: [] }, begin)).toEqual(last);
  });

  test("is refused where it would be too long", () => {
    const rows = [2, 3].map((at) => ({ ...rowAt(at), [markOf(name).name]: "x".repeat(100_000) }));
    expect(faultOf(() => paginationOf(rows)).kind).toBe("invalidParameter");
  });

  test("cannot stand between two rows with one place, and need not behind them", () => {
    const message = "The primary key is not unique in this endpoint";
    const fault = faultOf(() => paginationOf([rowAt(3), rowAt(3)]));
    expect(fault).toMatchObject({
      kind: "invalidParameter",
      message: expect.stringContaining(message),
    });
    expect(paginationOf([rowAt(3), rowAt(4)])["has_next"]).toBe(true);
    expect(paginationOf([rowAt(3)])["has_next"]).toBe(false);
  });

  const others: [string, CursorList][] = [
    ["another name", { ...list, name: "shop/others" }],
    ["another direction", listBy(asc(name), asc(key))],
    ["fewer columns", listBy(asc(key))],
    ["more columns", listBy(desc(name), asc(key), asc(place))],
    ["another filter", { ...list, filter: { kind: "null", column: name, negated: true } }],
  ];
  test.each(others)("is refused by a list with %s", (_what, other) => {
    const fault = faultOf(() => parse(cursorAfter(1), other));
    expect(fault.kind).toBe("invalidParameter");
    expect(fault.message).toContain("a different sort, where or search");
  });

  test("is taken by an equal list of other objects, whatever kinds of value filter it", () => {
    const filtered = (): CursorList => ({
      ...listBy(desc({ ...name }), asc({ ...key })),
      filter: {
        kind: "or",
        members: [
          { kind: "in", column: { ...key }, values: [2n ** 63n, 1n], negated: false },
          { kind: "compare", column: { ...name }, operator: "=", value: new Uint8Array([1, 2]) },
        ],
      },
    });
    const row = (id: string) => ({ [markOf(name).name]: "a", [markOf(key).name]: id });
    // The marks are named after their columns, so the rows of one list fit the other.
    const page = { list: filtered(), perPage: 1, after: null };
    const { next_cursor: cursor } = paginationOf([row("1"), row("2")], page);
    expect(parse(cursor, filtered())).toEqual(["a", "1"]);
  });

  test("is true or a text; undefined, null and false ask for none", () => {
    expect([true, "x"].map((sent) => cursorGrammar.read(sent))).toEqual([true, "x"]);
    expect([undefined, null, false].map((sent) => cursorGrammar.read(sent))).toEqual([
      null,
      null,
      null,
    ]);
    for (const sent of [0, 1, {}, []])
      expect(faultOf(() => cursorGrammar.read(sent)).kind).toBe("invalidParameter");
  });
});

describe("the failure of a page", () => {
  const page = (sort: Sort, after: string[] | null): CursorPage => ({
    list: listBy(sort),
    perPage: 1,
    after,
  });
  const refused = new AppError("validationFailed", "Invalid data");
  const broken = new AppError("internal", "Internal server error");
  const away = new AppError("unavailable", "The database is not reachable; try again later");

  test("is the cursor's when the database refuses what it holds", () => {
    expect(cursorFailure(refused, page(asc(key), ["7"]))).toMatchObject({
      kind: "invalidParameter",
      cause: refused,
    });
    expect(cursorFailure(broken, page(asc(place), ["7"]))).toMatchObject({
      kind: "invalidParameter",
    });
  });

  test("stays what it is otherwise", () => {
    expect(cursorFailure(refused, page(asc(key), null))).toBe(refused);
    expect(cursorFailure(broken, page(asc(key), ["7"]))).toBe(broken);
    expect(cursorFailure(away, page(asc(place), ["7"]))).toBe(away);
    const fault = new TypeError("a bug");
    expect(cursorFailure(fault, page(asc(place), ["7"]))).toBe(fault);
  });
});
