/**
 * Whether MySQL and MariaDB compute a formula with all digits. Their decimals have nine words of nine digits, a word
 * belongs to one side of the point, and what does not fit is cut without an error. So the digits are computed at start,
 * for the largest values that the columns hold.
 */
import type { Column } from "../../../core/values/types/column.ts";
import { fractionOf, scaleOfResult } from "../../../core/query/formula.ts";
import type { Formula, Term } from "../../../core/values/types/formula-tree.ts";
import { sizeOf } from "./decimals.ts";

/** Digits on the two sides of the point. */
interface Digits {
  readonly whole: number;
  readonly behind: number;
}

const wordsMax = 9;
const digitsPerWord = 9;
const behindMax = 30;

export function fitsDecimals(
  formula: Formula,
  operands: readonly Column[],
  target: Column,
): boolean {
  // A joined column has another name in the formula.
  const byName = new Map(formula.names.map((name, at) => [name, operands[at]!]));
  let fits = true;
  const checked = (digits: Digits, words = wordsOf(digits)): Digits => {
    if (words > wordsMax || digits.behind > behindMax) fits = false;
    return digits;
  };
  const product = (left: Digits, right: Digits): Digits =>
    checked(
      { whole: left.whole + right.whole, behind: left.behind + right.behind },
      wordsOf(left) + wordsOf(right),
    );
  const sum = (left: Digits, right: Digits): Digits =>
    checked({
      whole: Math.max(left.whole, right.whole) + 1,
      behind: Math.max(left.behind, right.behind),
    });
  const measure = (term: Term): Digits => {
    if (term.kind === "number") return checked(digitsOfText(term.digits));
    if (term.kind === "column") return checked(digitsOfColumn(byName.get(term.name)!));
    const [left, right] = [measure(term.left), measure(term.right)];
    return term.operator === "*" ? product(left, right) : sum(left, right);
  };

  const fraction = fractionOf(formula.root);
  const above = measure(fraction.numerator);
  if (fraction.denominator === null) return fits;
  const below = measure(fraction.denominator);
  // As in `printFormula`: the doubled units of the last place, and their divisor.
  const places = scaleOfResult(target, fraction) ?? 0;
  const dividend = sum(product(above, { whole: places + 1, behind: 0 }), below);
  product(below, { whole: 1, behind: 0 });
  const units = checked({ whole: dividend.whole + below.behind, behind: 0 });
  product(units, { whole: 1, behind: places });
  return fits;
}

const wordsOf = ({ whole, behind }: Digits): number =>
  Math.ceil(whole / digitsPerWord) + Math.ceil(behind / digitsPerWord);

function digitsOfText(digits: string): Digits {
  const [whole = "", fraction = ""] = digits.split(".");
  return { whole: whole.length, behind: fraction.length };
}

function digitsOfColumn(column: Column): Digits {
  const { precision, scale } = sizeOf(column);
  return { whole: precision - scale, behind: scale };
}
