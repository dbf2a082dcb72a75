/**
 * The formulas of `calculation.detail`: columns, numbers, `+ - * /` and parentheses, parsed into a tree and never run
 * as code. A formula means exact arithmetic with one rounding, at its end. So that every database computes the same,
 * divisions are gathered into a single one (`fractionOf`), which each engine prints. `compute` is the same arithmetic
 * in JavaScript; SQLite has no decimals and calls it. Read by `core/config/compiling/compile-composite.ts`.
 */
import type { Column } from "../values/types/column.ts";
import { digitsFault, divideDecimal, normalDecimal } from "../values/decimal.ts";
import { limits } from "../values/limits.ts";
import { scaleOf } from "../values/types/arithmetic.ts";
import type { Formula, Term } from "../values/types/formula-tree.ts";

/** A formula as one division of two terms without divisions; `denominator` null = there is no division. */
export interface Fraction {
  readonly numerator: Term;
  readonly denominator: Term | null;
}

export type ParsedFormula =
  | { readonly ok: true; readonly formula: Formula }
  /** What was expected instead. */
  | { readonly ok: false; readonly expected: string };

/** The result of a formula for these values. A null among them makes the result null. */
export type Computed =
  | { readonly ok: true; readonly value: string | null }
  | { readonly ok: false; readonly fault: keyof typeof formulaFaults };

/** The message for the field of a result that cannot be stored. */
export const formulaFaults = {
  divisionByZero: "divides by zero",
  outOfRange: "is out of range",
} as const;

/** What computing needs to know about the column that takes the result. */
export type FormulaTarget = Pick<Column, "type" | "range" | "precision" | "scale">;

const grammar = "columns, numbers, + - * / and parentheses";

export function parseFormula(text: string): ParsedFormula {
  if (text.length > limits.formulaLengthMax)
    return { ok: false, expected: `at most ${limits.formulaLengthMax} characters` };
  const tokens = tokensOf(text);
  const root = tokens && sumOf(tokens);
  if (!tokens || !root || tokens.length > 0) return { ok: false, expected: grammar };
  if (termsOf(root) > limits.formulaTermsMax)
    return {
      ok: false,
      expected: `${grammar}, with fewer divisions: as a single one they have more than ${limits.formulaTermsMax} terms`,
    };
  const names = [...new Set(namesOf(root))];
  return { ok: true, formula: { text, root, names } };
}

/**
 * `(a / b + c) * d` as `(a + c * b) * d / b`. A division by zero anywhere makes the denominator zero, and a null
 * anywhere makes one of the two null.
 */
export function fractionOf(term: Term): Fraction {
  if (term.kind !== "operation") return { numerator: term, denominator: null };
  const { numerator: a, denominator: b } = fractionOf(term.left);
  const { numerator: c, denominator: d } = fractionOf(term.right);
  switch (term.operator) {
    case "*":
      return { numerator: product(a, c)!, denominator: product(b, d) };
    case "/":
      // The divisor's own denominator moves into the numerator, and also stays in the denominator, because it must not
      // be zero either.
      return { numerator: product(product(a, d), d)!, denominator: product(product(b, c), d) };
    default: {
      const [left, right] = [product(a, d)!, product(c, b)!];
      return {
        numerator: { kind: "operation", operator: term.operator, left, right },
        denominator: product(b, d),
      };
    }
  }
}

/** Digits after the decimal point that a result has in the column; null = as many as it needs. */
export function scaleOfResult(target: FormulaTarget, { denominator }: Fraction): number | null {
  return scaleOf(target) ?? (denominator === null ? null : limits.quotientDigitsMax);
}

/**
 * The result for the column, in canonical digits; halves are rounded away from zero. `operand` gives canonical digits.
 */
export function compute(
  { root, names }: Formula,
  target: FormulaTarget,
  operand: (name: string) => string | null,
): Computed {
  const operands = new Map(names.map((name) => [name, operand(name)]));
  if ([...operands.values()].includes(null)) return { ok: true, value: null };
  const ratio = ratioOf(root, operands as ReadonlyMap<string, string>);
  if (ratio === null) return { ok: false, fault: "divisionByZero" };
  const [units, divisor] =
    ratio.below < 0n ? [-ratio.above, -ratio.below] : [ratio.above, ratio.below];
  // Without a division, the divisor is a power of ten.
  const places = scaleOfResult(target, fractionOf(root)) ?? String(divisor).length - 1;
  const value = divideDecimal(String(units), divisor, places);
  return fits(value, target) ? { ok: true, value } : { ok: false, fault: "outOfRange" };
}

function fits(value: string, { range, precision, scale }: FormulaTarget): boolean {
  if (range !== null) return BigInt(value) >= range.min && BigInt(value) <= range.max;
  return digitsFault(value, precision, scale) === null;
}

interface Ratio {
  readonly above: bigint;
  readonly below: bigint;
}

/** Null when it divides by zero. */
function ratioOf(term: Term, operands: ReadonlyMap<string, string>): Ratio | null {
  if (term.kind !== "operation")
    return ratioOfDigits(term.kind === "number" ? term.digits : operands.get(term.name)!);
  const left = ratioOf(term.left, operands);
  const right = ratioOf(term.right, operands);
  if (left === null || right === null) return null;
  switch (term.operator) {
    case "+":
    case "-": {
      const added = right.above * left.below;
      const above = left.above * right.below + (term.operator === "+" ? added : -added);
      return { above, below: left.below * right.below };
    }
    case "*":
      return { above: left.above * right.above, below: left.below * right.below };
    case "/":
      return right.above === 0n
        ? null
        : { above: left.above * right.below, below: left.below * right.above };
  }
}

function ratioOfDigits(digits: string): Ratio {
  const point = digits.indexOf(".");
  if (point < 0) return { above: BigInt(digits), below: 1n };
  return {
    above: BigInt(digits.replace(".", "")),
    below: 10n ** BigInt(digits.length - point - 1),
  };
}

/** Null means one. */
function product(left: Term | null, right: Term | null): Term | null {
  if (left === null || right === null) return left ?? right;
  return { kind: "operation", operator: "*", left, right };
}

/** The text in tokens, the first one last, so that they can be popped; null when it contains anything else. */
function tokensOf(text: string): string[] | null {
  const tokens = text.match(/\d+(?:\.\d+)?|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*|[-+*/()]/g) ?? [];
  return tokens.join("") === text.replace(/\s/g, "") ? tokens.toReversed() : null;
}

/** The length of formulas limits how deep they nest. */
const sumOf = (tokens: string[]): Term | null => chainOf(tokens, ["+", "-"], productOf);

const productOf = (tokens: string[]): Term | null => chainOf(tokens, ["*", "/"], factorOf);

/** Parts with one of the operators between them, from the left. */
function chainOf(
  tokens: string[],
  operators: readonly Extract<Term, { kind: "operation" }>["operator"][],
  partOf: (tokens: string[]) => Term | null,
): Term | null {
  let left = partOf(tokens);
  for (;;) {
    const operator = operators.find((one) => one === tokens.at(-1));
    if (left === null || operator === undefined) return left;
    tokens.pop();
    const right = partOf(tokens);
    left = right && { kind: "operation", operator, left, right };
  }
}

const zero: Term = { kind: "number", digits: "0" };

function factorOf(tokens: string[]): Term | null {
  const token = tokens.pop();
  if (token === undefined) return null;
  if (token === "-") {
    const right = factorOf(tokens);
    // Hundreds of signs would nest too deep for databases.
    if (right?.kind === "operation" && right.left === zero) return right.right;
    return right && { kind: "operation", operator: "-", left: zero, right };
  }
  if (token === "(") {
    const inner = sumOf(tokens);
    return tokens.pop() === ")" ? inner : null;
  }
  const digits = normalDecimal(token);
  if (digits !== null) return { kind: "number", digits };
  return /^\w/.test(token) ? { kind: "column", name: token } : null;
}

function namesOf(term: Term): string[] {
  if (term.kind === "operation") return [...namesOf(term.left), ...namesOf(term.right)];
  return term.kind === "column" ? [term.name] : [];
}

/** Numbers and columns of the two terms of the fraction, counted without creating them: there can be very many. */
function termsOf(root: Term): number {
  const count = (term: Term): readonly [above: number, below: number] => {
    if (term.kind !== "operation") return [1, 0];
    const [a, b] = count(term.left);
    const [c, d] = count(term.right);
    if (term.operator === "*") return [a + c, b + d];
    return term.operator === "/" ? [a + 2 * d, b + c + d] : [a + d + c + b, b + d];
  };
  const [above, below] = count(root);
  return above + below;
}
