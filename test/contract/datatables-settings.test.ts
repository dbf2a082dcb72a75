/** Effects of the setting `datatables` on the grid's answers, names with dots, and the ways to count. */
import { describe, expect, test } from "vitest";
import { ids, idsOf, parts, shelfOfFile } from "./shelf.ts";

const { ways, ask, fixture } = shelfOfFile();

const counts = (answer: { body: Record<string, unknown> }) => [
  answer.body["recordsTotal"],
  answer.body["recordsFiltered"],
];

describe.each(Object.entries(ways))("sent as %s", (_, send) => {
  test.each([-1, 1001, 1e15])(
    "datatables clamps the length %s to 1000 where told so",
    async (length) => {
      const answer = await send("clamped", { length });
      expect(answer.status).toBe(200);
      expect(idsOf(answer)).toEqual(ids);
    },
  );

  test("datatables keeps smaller lengths where it clamps", async () => {
    expect(idsOf(await send("clamped", { length: 2 }))).toEqual(["p1", "p2"]);
  });

  test.each([0, -2, 1.5, "x"])(
    "datatables refuses the length %s also where it clamps",
    async (length) => {
      expect((await send("clamped", { length })).status).toBe(400);
    },
  );

  test("datatables refuses the length -1 where it is not told to clamp", async () => {
    expect((await send("shelf", { length: -1 })).status).toBe(400);
  });

  test("datatables answers errors with status 200 and their text where told so", async () => {
    const answer = await send("inline", { draw: 5, length: -1 });
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({
      success: false,
      error: "Invalid payload: length must be a whole number from 1 to 1000",
      draw: 5,
      recordsTotal: 0,
      recordsFiltered: 0,
      data: [],
    });
    expect(answer.body).not.toHaveProperty("searchPanes");
  });

  test("datatables answers an unknown column with status 200 where told so", async () => {
    const answer = await send("inline", { searchBy: "nam" });
    expect(answer.status).toBe(200);
    expect(answer.body.error).toBe(
      'Invalid field: Unknown column "nam" in searchBy; did you mean "name"?',
    );
  });
});

describe("errors with status 200", () => {
  test("datatables answers a body that cannot be read with status 200 where told so", async () => {
    const answer = await fixture.post("inline/datatables", "{");
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({
      error: "Invalid payload: The body is not valid JSON",
      draw: 0,
      data: [],
    });
  });

  test("datatables answers another method with its status", async () => {
    const init = { method: "PUT" };
    expect((await fixture.request("/api/test/inline/datatables", init)).status).toBe(405);
  });
});

describe("rows", () => {
  test("datatables gives each row its key as DT_RowId where told so", async () => {
    const { body } = await ask("clamped", { length: 1 });
    expect(body.data).toEqual([{ DT_RowId: "p1", ...parts[0], token: null, extra: null }]);
  });

  test("datatables gives no DT_RowId otherwise", async () => {
    expect((await ask("shelf", { length: 1 })).body.data[0]).not.toHaveProperty("DT_RowId");
  });

  test("datatables nests fields whose names have dots", async () => {
    const { body } = await ask("nested", { length: 1 });
    expect(body.data).toEqual([
      { DT_RowId: "p1", part_id: "p1", part: { name: "Anvil", kind: { grade: "a" } }, qty: 5 },
    ]);
  });

  test.each(
    [
      {
        name: "sorts",
        body: { columns: [{ data: "part.name" }], order: [{ column: 0, dir: "desc" }] },
        expected: ["p3", "p4", "p6", "p2", "p5", "p1"],
      },
      {
        name: "searches",
        body: { columns: [{ data: "part.name", search: { value: "snake" } }] },
        expected: ["p4"],
      },
      {
        name: "filters by where",
        body: { where: { conditions: [{ key: "part.kind.grade", operator: "=", value: "b" }] } },
        expected: ["p3"],
      },
      {
        name: "filters by searchBuilder",
        body: {
          searchBuilder: {
            criteria: [{ condition: "ends", origData: "part.name", value: ["vil"] }],
          },
        },
        expected: ["p1"],
      },
      {
        name: "filters by searchPanes",
        body: { searchPanes: { "part.kind.grade": ["a"] } },
        expected: ["p1", "p2"],
      },
      {
        name: "filters by columnControl",
        body: { columns: [{ data: "part.kind.grade", columnControl: { list: ["b"] } }] },
        expected: ["p3"],
      },
    ].flatMap((one) => Object.entries(ways).map(([way, send]) => ({ ...one, way, send }))),
  )("datatables $name by a name with dots ($way)", async ({ send, body, expected }) => {
    const answer = await send("nested", body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    expect(idsOf(answer)).toEqual(expected);
  });

  test("datatables offers panes under a name with dots", async () => {
    const { body } = await ask("nested", {});
    expect(Object.keys(body.searchPanes.options)).toEqual(["part.kind.grade"]);
  });
});

const only = { search: { value: "a" } };

describe("count", () => {
  test.each(Object.entries(ways))("datatables counts exactly by default (%s)", async (_, send) => {
    for (const count of [undefined, "exact"]) {
      const answer = await send("shelf", { ...only, count, length: 1 });
      expect(counts(answer)).toEqual([6, 5]);
      expect(answer.body).not.toHaveProperty("count_mode");
    }
  });

  test.each([
    { start: 0, length: 2, known: 3, rows: 2 },
    { start: 2, length: 2, known: 5, rows: 2 },
    { start: 4, length: 2, known: 6, rows: 2 },
    { start: 5, length: 2, known: 6, rows: 1 },
    { start: 0, length: 1000, known: 6, rows: 6 },
    { start: 8, length: 2, known: 8, rows: 0 },
  ])(
    "datatables without counts knows $known rows of a page from $start on",
    async ({ known, rows, ...page }) => {
      const answer = await ask("shelf", { count: "none", ...page });
      expect(counts(answer)).toEqual([known, known]);
      expect(answer.body.data).toHaveLength(rows);
      expect(answer.body).not.toHaveProperty("count_mode");
    },
  );

  test("datatables without counts knows the rows that a search leaves", async () => {
    expect(counts(await ask("shelf", { count: "none", ...only, length: 4 }))).toEqual([5, 5]);
    expect(counts(await ask("shelf", { count: "none", ...only, length: 5 }))).toEqual([5, 5]);
  });

  test("datatables says how it counted where an estimate will do", async () => {
    const { body } = await ask("shelf", { count: "estimated", length: 2 });
    expect(["estimated", "exact"]).toContain(body.count_mode);
    expect(body.recordsTotal).toBeGreaterThanOrEqual(2);
    expect(body.recordsFiltered).toBe(body.recordsTotal);
  });

  test("datatables knows the end of an estimated list when the page shows it", async () => {
    const { body } = await ask("shelf", { count: "estimated", ...only });
    expect(body.recordsFiltered).toBe(5);
    expect(body.recordsTotal).toBeGreaterThanOrEqual(5);
  });

  test.each(["all", "EXACT", 1, true, ["none"], { a: 1 }, "__proto__"])(
    "datatables refuses the count %j",
    async (count) => {
      const answer = await ask("shelf", { count });
      expect(answer.status).toBe(400);
      expect(answer.body.error).toBe("Invalid payload");
    },
  );
});
