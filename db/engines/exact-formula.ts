/**
 * Prints a formula for the engines whose decimals are exact. Its divisions are merged into one
 * (`core/query/formula.ts`), and the quotient is rounded with whole numbers, because engines keep different numbers of
 * digits of a quotient.
 */
import { sql, type SQL } from "drizzle-orm/sql/sql";
import type { Column } from "../../core/values/types/column.ts";
import { fractionOf, scaleOfResult } from "../../core/query/formula.ts";
import type { Formula, Term } from "../../core/values/types/formula-tree.ts";
import type { FindOperand } from "../statements/dialect.ts";

/** One engine's SQL for the parts of a formula. */
export interface FormulaWords {
  /** Digits as an exact decimal. */
  number(digits: string): SQL;
  /** A column's value as an exact decimal. */
  exact(column: Column, term: SQL): SQL;
  /** The integer part of the quotient of two positive numbers, exact. */
  wholeQuotient(dividend: SQL, divisor: SQL): SQL;
}

interface FormulaParts {
  readonly target: Column;
  readonly operand: FindOperand;
  readonly words: FormulaWords;
  /** True: null where it divides by zero. Absent: what the engine makes of that. */
  readonly isNullByZero?: true;
}

/** The formula's value in the digits of `target`. */
export function printFormula(
  formula: Formula,
  { target, operand, words, isNullByZero }: FormulaParts,
): SQL {
  const print = (term: Term): SQL => {
    if (term.kind === "number") return words.number(term.digits);
    if (term.kind === "operation")
      return sql`(${print(term.left)} ${sql.raw(term.operator)} ${print(term.right)})`;
    const { column, term: name } = operand(term.name);
    return words.exact(column, name);
  };
  const fraction = fractionOf(formula.root);
  const places = scaleOfResult(target, fraction);
  const above = print(fraction.numerator);
  if (fraction.denominator === null)
    return places === null ? above : sql`round(${above}, ${sql.raw(String(places))})`;
  const divisor = print(fraction.denominator);
  const below = isNullByZero ? sql`nullif(${divisor}, 0)` : divisor;
  return rounded({ above, below, places: places ?? 0 }, words);
}

/** Rounds halves away from zero: absolute values, in units of the last place, integer part of `above / below + 1/2`. */
function rounded(
  { above, below, places }: { above: SQL; below: SQL; places: number },
  words: FormulaWords,
): SQL {
  const [size, divisor] = [sql`abs(${above})`, sql`abs(${below})`];
  const twice = words.number(`2${"0".repeat(places)}`);
  const units = words.wholeQuotient(
    sql`(${size} * ${twice} + ${divisor})`,
    sql`(${divisor} * ${words.number("2")})`,
  );
  const unit = words.number(places === 0 ? "1" : `0.${"1".padStart(places, "0")}`);
  return sql`sign(${above}) * sign(${below}) * ${units} * ${unit}`;
}
