/**
 * Whether MySQL and MariaDB compute a formula with all digits. Their decimals have nine words of nine digits, a word
 * belongs to one side of the point, and what does not fit is cut without an error. So the digits are computed at start,
 * for the largest values that the columns hold.
 */
import type { Column } from "../../../core/values/types/column.ts";
import { fractionOf, scaleOfResult } from "../../../core/query/formula.ts";
import type { Formula, Term } from "../../../core/values/types/formula-tree.ts";
import { sizeOf } from "./decimals.ts";

/** The size of numbers. */
interface Size {
  /** All of them are smaller than this, without their sign. */
  readonly below: bigint;
  /** Digits behind the point. */
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
  const checked = (size: Size, words = wordsOf(size)): Size => {
    if (words > wordsMax || size.behind > behindMax) fits = false;
    return size;
  };
  const product = (left: Size, right: Size): Size =>
    checked(
      { below: left.below * right.below, behind: left.behind + right.behind },
      wordsOf(left) + wordsOf(right),
    );
  const sum = (left: Size, right: Size): Size =>
    checked({ below: left.below + right.below, behind: Math.max(left.behind, right.behind) });
  const measure = (term: Term): Size => {
    if (term.kind === "number") return checked(sizeOfText(term.digits));
    if (term.kind === "column") return checked(sizeOfColumn(byName.get(term.name)!));
    const [left, right] = [measure(term.left), measure(term.right)];
    return term.operator === "*" ? product(left, right) : sum(left, right);
  };

  const fraction = fractionOf(formula.root);
  const above = measure(fraction.numerator);
  if (fraction.denominator === null) return fits;
  const below = measure(fraction.denominator);
  // As in `printFormula`: the doubled units of the last place, and their divisor.
  const places = scaleOfResult(target, fraction) ?? 0;
  const dividend = sum(product(above, { below: powerOfTen(places + 1), behind: 0 }), below);
  product(below, { below: 10n, behind: 0 });
  const units = checked({ below: dividend.below * powerOfTen(below.behind), behind: 0 });
  product(units, { below: 10n, behind: places });
  return fits;
}

const powerOfTen = (digits: number): bigint => 10n ** BigInt(digits);

const wordsOf = ({ below, behind }: Size): number =>
  Math.ceil(String(below - 1n).length / digitsPerWord) + Math.ceil(behind / digitsPerWord);

function sizeOfText(digits: string): Size {
  const [whole = "", fraction = ""] = digits.split(".");
  return { below: BigInt(whole) + 1n, behind: fraction.length };
}

function sizeOfColumn(column: Column): Size {
  const { precision, scale } = sizeOf(column);
  return { below: powerOfTen(precision - scale), behind: scale };
}
