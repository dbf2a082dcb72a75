/**
 * Results of formulas: each row has the exact result, computed by hand or with integers, on every engine. Each formula
 * is computed twice, by the service with the INSERT and by the database afterwards, so the two must agree.
 */
import { describe, expect, inject, test } from "vitest";
import { check } from "./cases.ts";
import { openFixture, openForTests } from "./harness.ts";

/** A formula and the column that takes it, the operands, and the result. */
type Row = readonly [
  formula: string,
  target: string,
  operands: Readonly<Record<string, number | string | null>>,
  result: number | string | null | "divides by zero" | "is out of range",
];

const rows: readonly Row[] = [
  // One rounding, halves away from zero.
  ["a * b", "money", { a: 3, b: "0.125" }, 0.38],
  ["a * b", "money", { a: -3, b: "0.125" }, -0.38],
  ["a * b", "money", { a: 1, b: "0.005" }, 0.01],
  ["a * b", "money", { a: 1, b: "-0.005" }, -0.01],
  ["a * b", "money", { a: 1, b: "0.0049" }, 0],
  ["a * b", "whole", { a: 5, b: "0.5" }, 3],
  ["a * b", "whole", { a: -5, b: "0.5" }, -3],
  // Values that doubles cannot represent.
  ["b + c", "fine", { b: "0.1", c: "0.2" }, 0.3],
  ["b - c", "fine", { b: "0.3", c: "0.1" }, 0.2],
  ["b * 1.005", "money", { b: 1 }, 1.01],
  ["b * 100", "whole", { b: "1.15" }, 115],
  ["c * a", "large", { a: 7, c: "1428571428.5714" }, 9999999999.9998],
  // Precedence, parentheses, signs.
  ["a + b * c", "fine", { a: 1, b: 2, c: 3 }, 7],
  ["(a + b) * c", "fine", { a: 1, b: 2, c: 3 }, 9],
  ["a - b - c", "fine", { a: 1, b: 2, c: 3 }, -4],
  ["a / b / c", "fine", { a: 12, b: 2, c: 3 }, 2],
  ["a / (b / c)", "fine", { a: 12, b: 2, c: 3 }, 18],
  ["-a", "whole", { a: 4 }, -4],
  ["-(a + b) * -c", "fine", { a: 1, b: 2, c: 3 }, 9],
  ["- - a", "whole", { a: 4 }, 4],
  ["2 * (3 + 4)", "whole", { a: 1 }, 14],
  ["0.5", "whole", {}, 1],
  // Division: one quotient, rounded once, independent of the order of steps.
  ["a / b", "fine", { a: 1, b: 3 }, 0.3333],
  ["a / b", "fine", { a: 2, b: 3 }, 0.6667],
  ["a / b", "fine", { a: -2, b: 3 }, -0.6667],
  ["a / b * c", "fine", { a: 1, b: 3, c: 3 }, 1],
  ["a / b + a / b + a / b", "fine", { a: 1, b: 3 }, 1],
  ["a / 7 * 7", "whole", { a: 2_147_483_647 }, 2_147_483_647],
  ["1 / a - 1 / b", "fine", { a: 3, b: 3 }, 0],
  ["a / b", "whole", { a: 5, b: 2 }, 3],
  ["a / b", "whole", { a: -5, b: 2 }, -3],
  ["a / b", "whole", { a: 1, b: 2 }, 1],
  ["a / 200", "money", { a: 1 }, 0.01],
  ["a / 201", "money", { a: 1 }, 0],
  // Just below a half, further behind than an engine's own quotients go.
  ["(a * 1000000000000 - 1) / 2000000000000", "whole", { a: 1 }, 0],
  ["a * 1000000000000 / 2000000000000", "whole", { a: 1 }, 1],
  ["a / b", "fine", { a: 1, b: "0.0001" }, 10_000],
  ["b / c", "fine", { b: "0.0001", c: "10000" }, 0],
  // Null, and zero.
  ["a * b", "money", { a: null, b: 2 }, null],
  ["a / b", "money", { a: 1, b: null }, null],
  ["a / b", "money", { a: null, b: 0 }, null],
  ["a / b", "money", { a: 1, b: 0 }, "divides by zero"],
  ["a / b", "money", { a: 0, b: 0 }, "divides by zero"],
  ["a / (b - c)", "money", { a: 1, b: 2, c: 2 }, "divides by zero"],
  ["a / (b / c)", "money", { a: 1, b: 2, c: 0 }, "divides by zero"],
  ["a / (b / c)", "money", { a: 1, b: 0, c: 2 }, "divides by zero"],
  ["a + b / c", "money", { a: 1, b: 0, c: 0 }, "divides by zero"],
  ["0 / a", "money", { a: 5 }, 0],
  // The limits of the target.
  ["a * b", "money", { a: 10_000_000, b: "10" }, "is out of range"],
  ["a * b", "money", { a: 9_999_999, b: "10" }, 99_999_990],
  ["a * 10", "small", { a: 3276 }, 32_760],
  ["a * 10", "small", { a: 3277 }, "is out of range"],
  ["-a * 10", "small", { a: 3277 }, "is out of range"],
  ["b - 0.005", "money", { b: "-99999999.99" }, "is out of range"],
  ["b - 0.004", "money", { b: "-99999999.99" }, -99_999_999.99],
  // Beyond 32 and 64 bits on the way.
  ["a * a - a * a + 1", "whole", { a: 2_147_483_647 }, 1],
  ["a * a * a / a / a", "whole", { a: 2_147_483_647 }, 2_147_483_647],
  ["a - 2147483647 - 1", "whole", { a: 0 }, -2_147_483_648],
  ["d + d - d", "long", { d: "9223372036854775807" }, "9223372036854775807"],
  ["d / 1000000000", "long", { d: "9223372036854775807" }, 9_223_372_037],
];

const targets: Readonly<Record<string, string>> = {
  money: "decimal(10,2)",
  fine: "decimal(12,4)",
  large: "decimal(15,4)",
  whole: "integer",
  small: "smallint",
  long: "bigint",
};

/** Formulas with their targets, each once; each has its own table of details and endpoint. */
const kinds = [...new Set(rows.map(([formula, target]) => JSON.stringify([formula, target])))].map(
  (text) => JSON.parse(text) as [formula: string, target: string],
);
const name = (kind: number) => `lines_${kind}`;
const cases = rows.map(([formula, target, operands, result], at) => ({
  formula,
  target,
  operands,
  result,
  at,
  kind: kinds.findIndex(([one, other]) => one === formula && other === target),
}));
const isRefusal = (result: unknown): result is string =>
  typeof result === "string" && /[a-z]/.test(result);

const fixture = openForTests(openFixture, {
  tables: [
    { name: "sheets", columns: { sheet_id: "key", label: "text(20)" } },
    ...kinds.map(([, target], at) => ({
      name: name(at),
      columns: {
        line_id: "key" as const,
        sheet_id: {
          type: "text(36)" as const,
          references: { table: "sheets", column: "sheet_id" },
        },
        a: "integer" as const,
        b: "decimal(12,4)" as const,
        c: "decimal(15,4)" as const,
        d: "bigint" as const,
        result: targets[target] as "integer",
      },
    })),
  ],
  endpoints: Object.fromEntries(
    kinds.map(([formula], at) => [
      `sheet-${at}`,
      {
        tableName: "sheets",
        action: { "create-composite": true, "update-composite": true, "read-composite": true },
        masterDetail: { detailTable: name(at), foreignKey: "sheet_id" },
        calculation: { detail: { result: formula } },
      },
    ]),
  ),
});

describe("a formula", () => {
  test.each(cases)(
    "create-composite computes $formula of $operands as $result for a $target column",
    async ({ operands, result, kind }) => {
      const answer = await fixture.post(`sheet-${kind}/create-composite`, {
        sheets: { [name(kind)]: [operands] },
      });
      if (isRefusal(result)) {
        check(answer, {
          status: 400,
          error: "Validation failed",
          errors: { [`${name(kind)}[0].result`]: [result] },
        });
        return;
      }
      check(answer, { status: 201 });
      expect(answer.body.data[name(kind)][0].result).toBe(result);
    },
  );

  test.each(cases)(
    "update-composite has the database compute $formula of $operands as $result for a $target column",
    async ({ operands, result, at, kind }) => {
      const sheet_id = `s${at}`;
      const line_id = `l${at}`;
      await fixture.sql(`insert into sheets (sheet_id) values ('${sheet_id}')`);
      await fixture.sql(
        `insert into ${name(kind)} (line_id, sheet_id) values ('${line_id}', '${sheet_id}')`,
      );
      const answer = await fixture.post(`sheet-${kind}/update-composite`, {
        sheets: { sheet_id, [name(kind)]: { update: [{ line_id, ...operands }] } },
      });
      if (isRefusal(result)) {
        check(answer, {
          status: 400,
          error: "Validation failed",
          errors: { [`${name(kind)}.result`]: [result] },
        });
        return;
      }
      check(answer, { status: 200 });
      const where = [{ key: "sheet_id", value: sheet_id }];
      const read = await fixture.post(`sheet-${kind}/read-composite`, { where });
      expect(read.body.data[name(kind)][0].result).toBe(result);
    },
  );
});

test("the formulas ran on the engine of this project", () => {
  expect(fixture.engine).toBe(inject("engine"));
});
