/**
 * What the service will compute of the lines of a document, by the formulas that it tells: exact, with its rounding.
 * A value is a fraction; null as in a database; undefined where only the service knows it.
 */

/** @import { Row, Term } from "../types.d.ts" */
/** @typedef {NonNullable<import("../types.d.ts").Lines["calculation"]>} Calculation */
/** `below` is positive, and a power of ten where nothing was divided. @typedef {{ above: bigint, below: bigint }} Fraction */
/** @typedef {Fraction | null | undefined} Value */
/** `values`: those of its inputs. @typedef {{ row: Row | null, values: Row, isChanged: boolean }} TypedLine */

/** @param {Calculation} calculation */
export function lineFormulas({ detail, header, filled }) {
  /** @param {TypedLine} line @param {string} name @returns {Value} */
  function valueIn(line, name) {
    const formula = detail[name];
    if (formula) return resultOf(formula, (operand) => valueIn(line, operand));
    const { row, values, isChanged } = line;
    const value = values[name] === undefined ? (row ? row[name] : null) : values[name];
    const isFilled = filled.includes(name) && isChanged && values[name] === undefined;
    return isFilled || value === undefined ? undefined : fractionOf(value);
  }

  /** @param {Term} term @param {readonly TypedLine[]} lines @returns {Value} */
  function totalOf([name, inner, digits], lines) {
    if (name === "round")
      return rounded(totalOf(/** @type {Term} */ (inner), lines), Number(digits));
    if (name === "count") return whole(lines.length);
    const found = lines.map((line) =>
      resultOf(/** @type {Term} */ (inner), (operand) => valueIn(line, operand)),
    );
    if (found.includes(undefined)) return undefined;
    const values = found.filter((value) => value !== null && value !== undefined);
    const [first] = values;
    if (first === undefined) return name === "sum" ? whole(0) : null;
    if (name === "min" || name === "max")
      return values.reduce((a, b) => (isLess(a, b) === (name === "min") ? a : b));
    const sum = values.reduce((a, b) => combined("+", a, b));
    return name === "avg" ? combined("/", sum, whole(values.length)) : sum;
  }

  /** The same for each column and each total, as JSON has numbers. @param {readonly TypedLine[]} lines */
  const computed = (lines) => ({
    lines: lines.map((line) =>
      Object.fromEntries(Object.keys(detail).map((name) => [name, textOf(valueIn(line, name))])),
    ),
    totals: Object.fromEntries(
      Object.entries(header).map(([name, term]) => [name, textOf(totalOf(term, lines))]),
    ),
  });

  return {
    /** Those of a line that are computed. */
    columns: Object.keys(detail),
    computed,
    /** Whether the formulas give what is stored. Otherwise they also use what is not shown. @param {Row} record @param {readonly Row[]} rows */
    areKept(record, rows) {
      const { lines, totals } = computed(
        rows.map((row) => ({ row, values: {}, isChanged: false })),
      );
      const isKept = (/** @type {Record<string, any>} */ results, /** @type {Row} */ row) =>
        Object.entries(results).every(([name, text]) => text === textOf(fractionOf(row[name])));
      return isKept(totals, record) && lines.every((line, at) => isKept(line, rows[at] ?? {}));
    },
  };
}

/** @param {Term} term @param {(column: string) => Value} operand @returns {Value} */
function resultOf(term, operand) {
  if (typeof term === "string") return operand(term);
  const [name, ...parts] = term;
  if (name === "value") return fractionOf(parts[0]);
  const [left, right] = parts.map((part) =>
    typeof part === "number" ? whole(part) : resultOf(/** @type {Term} */ (part), operand),
  );
  if (left === undefined || right === undefined) return undefined;
  if (left === null || right === null) return null;
  return name === "round" ? rounded(left, Number(right.above)) : combined(name, left, right);
}

/** @type {{ (name: "+" | "-" | "*", left: Fraction, right: Fraction): Fraction, (name: string, left: Fraction, right: Fraction): Value }} */
const combined = (
  /** @type {string} */ name,
  /** @type {Fraction} */ { above: a, below: b },
  /** @type {Fraction} */ { above: c, below: d },
) => {
  // Long sums stay short.
  const [left, right, below] = b === d ? [a, c, b] : [a * d, c * b, b * d];
  if (name === "+") return { above: left + right, below };
  if (name === "-") return { above: left - right, below };
  if (name === "*") return { above: a * c, below: b * d };
  // The service refuses a line that divides by zero.
  if (c === 0n) return /** @type {any} */ (null);
  return c < 0n ? { above: -a * d, below: -b * c } : { above: a * d, below: b * c };
};

/** @param {Fraction} a @param {Fraction} b */
const isLess = (a, b) => a.above * b.below < b.above * a.below;

/** @param {number} number @returns {Fraction} */
const whole = (number) => ({ above: BigInt(number), below: 1n });

/** Halves away from zero. `digits` after the decimal point, before it where negative. @param {Value} value @param {number} digits @returns {Value} */
function rounded(value, digits) {
  if (!value) return value;
  const unit = 10n ** BigInt(Math.abs(digits));
  const [above, below] =
    digits < 0 ? [value.above, value.below * unit] : [value.above * unit, value.below];
  const size = ((above < 0n ? -above : above) * 2n + below) / (below * 2n);
  const units = above < 0n ? -size : size;
  return digits < 0 ? { above: units * unit, below: 1n } : { above: units, below: unit };
}

/** @param {unknown} value of JSON @returns {Value} */
function fractionOf(value) {
  if (value === null || value === undefined) return null;
  const [, sign, digits = "", fraction = "", exponent = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d{1,4}))?$/i.exec(String(value)) ?? [];
  if (sign === undefined) return undefined;
  const places = fraction.length - Number(exponent);
  const units = BigInt(sign + digits + fraction);
  return places < 0
    ? { above: units * 10n ** BigInt(-places), below: 1n }
    : { above: units, below: 10n ** BigInt(places) };
}

/** Without needless zeros. @param {Value} value @returns {string | null | undefined} */
function textOf(value) {
  if (!value) return value;
  const { above, below } = value;
  const places = String(below).length - 1;
  const digits = String(above < 0n ? -above : above).padStart(places + 1, "0");
  const fraction = places > 0 ? digits.slice(-places).replace(/0+$/, "") : "";
  const units = places > 0 ? digits.slice(0, -places) : digits;
  return `${above < 0n ? "-" : ""}${units}${fraction && `.${fraction}`}`;
}
