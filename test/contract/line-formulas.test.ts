/** The formulas in the notes of lines give what the service stores: computed as the console does, on every engine. */
import { expect, test } from "vitest";
import { normalDecimal } from "../../core/values/decimal.ts";
import { openFixture, openForTests } from "./harness.ts";

const fixture = openForTests(openFixture, {
  tables: [
    {
      name: "bills",
      columns: {
        bill_id: "key",
        line_count: "integer",
        net: "decimal(12,2)",
        units: "integer",
        smallest: "decimal(12,3)",
        dearest: "decimal(12,1)",
        average: "decimal(14,6)",
        mean_ratio: "decimal(14,4)",
        ratio_sum: "decimal(14,8)",
      },
    },
    {
      name: "bill_lines",
      columns: {
        line_id: "key",
        bill_id: {
          type: "text(36)",
          notNull: true,
          references: { table: "bills", column: "bill_id" },
        },
        a: "decimal(10,3)",
        b: "decimal(10,4)",
        c: "integer",
        gross: "decimal(12,2)",
        tax: "decimal(12,2)",
        packs: "integer",
        share: "decimal(14,5)",
      },
    },
  ],
  endpoints: {
    bills: {
      tableName: "bills",
      action: { "create-composite": true },
      masterDetail: { detailTable: "bill_lines", foreignKey: "bill_id" },
      calculation: {
        detail: {
          share: "(gross - tax) / (c * 3) - -0.125",
          tax: "gross * 0.19",
          gross: "a * b",
          packs: "a / 2",
        },
        header: {
          line_count: "COUNT(*)",
          net: "SUM(gross)",
          units: "SUM(a)",
          smallest: "MIN(a - b)",
          dearest: "MAX(b)",
          average: "AVG(share)",
          mean_ratio: "AVG(a / b)",
          ratio_sum: "SUM(c / 7)",
        },
      },
    },
  },
});

type Line = Record<string, number | string | null>;

/** Halves on both sides of zero, thirds, missing values; nothing divides by zero. */
const pool: Readonly<Record<"a" | "b" | "c", Line[string][]>> = {
  a: [0.5, -0.5, 1, 3.335, -2.005, 1.5, "120.125", null, 0],
  b: [0.01, -0.01, 0.3333, 7, "19.9999", 2.5, null],
  c: [1, -1, 3, 7, 11, null],
};

/** A fixed sequence that looks random. */
let seed = 7;
const picked = <Item>(list: readonly Item[]): Item => {
  seed = (seed * 48_271) % 2_147_483_647;
  return list[seed % list.length]!;
};

const documents: Line[][] = Array.from({ length: 40 }, (_, at) =>
  Array.from({ length: 1 + (at % 5) }, () => ({
    a: picked(pool.a),
    b: picked(pool.b),
    c: picked(pool.c),
  })),
);

const canonical = (values: Record<string, unknown>, names: readonly string[]) =>
  Object.fromEntries(
    names.map((name) => [name, values[name] === null ? null : normalDecimal(String(values[name]))]),
  );

test("formulas of the notes give the amounts and totals that are stored", async () => {
  const { body } = await fixture.request("/api/test/bills/openapi.json");
  const { calculation } = body.tags[0]["x-rowgate"].lines[0];
  expect(calculation.filled).toEqual([]);
  const module = new URL("../../app/console/client/records/line-totals.js", import.meta.url).href;
  const { lineFormulas } = await import(module);
  const formulas = lineFormulas(calculation);
  for (const lines of documents) {
    const { status, body: answer } = await fixture.post("bills/create-composite", {
      bills: { bill_lines: lines },
    });
    expect(status, JSON.stringify(answer)).toBe(201);
    const { bill_lines: stored, ...header } = answer.data;
    const preview = formulas.computed(
      lines.map((values) => ({ row: null, values, isChanged: true })),
    );
    expect(preview.totals).toEqual(canonical(header, Object.keys(calculation.header)));
    // The service answers lines in the order of their keys.
    const shown = (rows: readonly Record<string, unknown>[]) =>
      rows.map((row) => JSON.stringify(row)).toSorted();
    const names = ["a", "b", "c", ...Object.keys(calculation.detail)];
    expect(
      shown(
        preview.lines.map((line: object, at: number) =>
          canonical({ ...lines[at], ...line }, names),
        ),
      ),
    ).toEqual(shown(stored.map((line: Record<string, unknown>) => canonical(line, names))));
    expect(formulas.areKept(header, stored)).toBe(true);
    expect(formulas.areKept({ ...header, net: 1e6 }, stored)).toBe(false);
  }
});
