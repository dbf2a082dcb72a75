/**
 * Formulas on SQLite, which has no decimals: one SQL function computes a row's result with core's exact arithmetic.
 * Its first argument is the formula (`formulaCall`), the others are the row's values.
 */
import type { Database } from "better-sqlite3";
import type { Column } from "../../../core/values/types/column.ts";
import { divideDecimal, normalDecimal } from "../../../core/values/decimal.ts";
import { compute, type FormulaTarget, parseFormula } from "../../../core/query/formula.ts";
import type { Formula } from "../../../core/values/types/formula-tree.ts";

/** A row whose result cannot be stored; `failure.ts` knows it. */
export class FormulaFault extends Error {
  readonly kind: "divisionByZero" | "outOfRange";

  constructor(kind: FormulaFault["kind"]) {
    super(`A formula's result: ${kind}`);
    this.kind = kind;
  }
}

/** The first argument: free of quotes. `scales`: digits after the decimal point of the values, null = any number. */
export function formulaCall(
  { text }: Formula,
  { type, range, precision, scale }: Column,
  scales: readonly (number | null)[],
): string {
  const bounds = range && { min: String(range.min), max: String(range.max) };
  return JSON.stringify({ text, type, bounds, precision, scale, scales });
}

interface Call {
  readonly formula: Formula;
  readonly target: FormulaTarget;
  readonly scales: readonly (number | null)[];
}

export function registerFormulas(database: Database): void {
  const known = new Map<string, Call>();
  const resultOf = ([first, ...values]: readonly unknown[], read: typeof decimalOf) => {
    const text = String(first);
    const call = known.get(text) ?? readCall(text);
    // Requests have ever new formulas.
    if (known.size < callsMax) known.set(text, call);
    const { formula, target, scales } = call;
    return compute(formula, target, (name) => {
      const at = formula.names.indexOf(name);
      return read(values[at], scales[at] ?? null);
    });
  };
  const options = { deterministic: true, varargs: true, safeIntegers: true } as const;
  database.function("rowgate_formula", options, (...given: unknown[]) => {
    const computed = resultOf(given, storedDecimalOf);
    if (!computed.ok) throw new FormulaFault(computed.fault);
    return computed.value;
  });
  database.function("rowgate_figure", options, (...given: unknown[]) => {
    const computed = resultOf(given, decimalOf);
    return computed.ok ? computed.value : null;
  });
  database.function("rowgate_bin", options, (value: unknown, width: unknown, scale: unknown) => {
    const digits = decimalOf(value, scale === -1n ? null : Number(scale));
    return digits === null ? null : binOf(digits, String(width));
  });
  database.function("rowgate_float_bin", options, (value: unknown, width: unknown) => {
    if (typeof value !== "number" && typeof value !== "bigint") return null;
    // 0.3 divided by 0.1 is less than 3, so the digits count.
    const digits = normalDecimal(String(Number(value)));
    return digits === null ? null : Number(binOf(digits, String(width)));
  });
}

const callsMax = 200;

/** The greatest multiple of `width` that is not above the number. */
function binOf(number: string, width: string): string {
  const places = Math.max(...[number, width].map((digits) => digits.split(".")[1]?.length ?? 0));
  const [units, by] = [number, width].map((digits) =>
    BigInt(normalDecimal(`${digits}e${places}`)!),
  ) as [bigint, bigint];
  const rest = units % by;
  return normalDecimal(`${units - (rest < 0n ? rest + by : rest)}e-${places}`)!;
}

function readCall(text: string): Call {
  const { bounds, scales, ...target } = JSON.parse(text);
  const parsed = parseFormula(target.text);
  if (!parsed.ok) throw new Error("The formula cannot be read");
  const range = bounds && { min: BigInt(bounds.min), max: BigInt(bounds.max) };
  return { formula: parsed.formula, target: { ...target, range }, scales };
}

/**
 * A double counts with its 15 reliable digits, rounded to the scale of its column. What is no number counts as no value:
 * SQLite keeps any text in any column.
 */
function decimalOf(value: unknown, scale: number | null): string | null {
  if (value === null) return null;
  const digits = normalDecimal(typeof value === "number" ? value.toPrecision(15) : String(value));
  return digits === null || scale === null ? digits : divideDecimal(digits, 1n, scale);
}

/** A result that is stored must not hide such a value. */
function storedDecimalOf(value: unknown, scale: number | null): string | null {
  const digits = decimalOf(value, scale);
  if (digits === null && value !== null)
    throw new Error("A column of the formula contains a value that is not a number");
  return digits;
}
