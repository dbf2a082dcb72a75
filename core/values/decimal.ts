/**
 * Exact arithmetic on decimal numbers as text. The canonical form is what every function here gives and takes: plain
 * digits without exponent, without needless zeros and without `-0` (`-12.5`, `0.05`, `0`). Rules and columns
 * compare and store numbers in this form, because a double would change long ones.
 */
import { limits } from "./limits.ts";

const numberText = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,6}))?$/;

/**
 * The canonical form of a number's text, which may have an exponent, leading zeros and a minus sign.
 * Null when it is no number (also ` 5`, `+5`, `.5`, `5.`) or is beyond the two limits above.
 */
export function normalDecimal(text: string): string | null {
  if (text.length > limits.decimalLengthMax) return null;
  const match = numberText.exec(text);
  if (!match) return null;
  const fraction = match[3] ?? "";
  const exponent = Number(match[4] ?? 0);
  if (Math.abs(exponent) > limits.decimalExponentMax) return null;
  return placePoint(match[1]!, match[2]! + fraction, exponent - fraction.length);
}

/** The sum, exact. */
export function addDecimals(left: string, right: string): string {
  if (areShortAndWhole(left, right)) return String(Number(left) + Number(right));
  const [a, b, scale] = align(left, right);
  return fromUnits(a + b, scale);
}

/** `left` minus `right`, exact. */
export function subtractDecimals(left: string, right: string): string {
  if (areShortAndWhole(left, right)) return String(Number(left) - Number(right));
  const [a, b, scale] = align(left, right);
  return fromUnits(a - b, scale);
}

/**
 * `dividend` divided by a positive whole number, rounded to `places` digits after the decimal point, halves away from
 * zero.
 */
export function divideDecimal(dividend: string, divisor: bigint, places: number): string {
  const scale = Math.max(placesOf(dividend), places);
  const units = toUnits(dividend, scale);
  const twice = 2n * divisor * 10n ** BigInt(scale - places);
  const size = (units < 0n ? -units : units) * 2n;
  const quotient = (size + twice / 2n) / twice;
  return fromUnits(units < 0n ? -quotient : quotient, places);
}

/** Doubles compute these exactly. Creating BigInts would take most of the time of a sum. */
const areShortAndWhole = (left: string, right: string): boolean =>
  left.length <= 15 && right.length <= 15 && !left.includes(".") && !right.includes(".");

/** Negative when `left` is smaller, 0 when they are equal, positive when it is larger. */
export function compareDecimals(left: string, right: string): number {
  if (left === right) return 0;
  // Doubles distinguish 15 digits and keep their order, which saves the two BigInts.
  if (left.length <= 15 && right.length <= 15) return Number(left) - Number(right);
  const [a, b] = align(left, right);
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * The number as `units × 10^-scale` with the fewest digits of `units`: `precision` is their count.
 * `12.5` has precision 3 and scale 1, `1200` has precision 2 and scale -2, `0` has 0 and 0.
 */
export function digitsOf(decimal: string): { precision: number; scale: number } {
  if (decimal === "0") return { precision: 0, scale: 0 };
  const start = decimal.startsWith("-") ? 1 : 0;
  const point = decimal.indexOf(".");
  if (point < 0) {
    let end = decimal.length;
    while (decimal[end - 1] === "0") end--;
    return { precision: end - start, scale: end - decimal.length };
  }
  let first = start;
  while (decimal[first] === "0" || decimal[first] === ".") first++;
  const digits = decimal.length - first - (first < point ? 1 : 0);
  return { precision: digits, scale: decimal.length - point - 1 };
}

/**
 * Why canonical digits do not fit `precision` digits, `scale` of them after the decimal point, and `kept` from the first
 * that is not zero; null when they do.
 */
export function digitsFault(
  decimal: string,
  precision: number | null,
  scale: number | null,
  kept = Infinity,
): string | null {
  if (decimal === "0") return null;
  const digits = digitsOf(decimal);
  if (digits.precision > kept) return `must have at most ${kept} digits`;
  if (scale !== null && digits.scale > scale) {
    return scale < 0
      ? `must be a multiple of ${10n ** BigInt(-scale)}`
      : `must have at most ${scale} digits after the decimal point`;
  }
  if (precision === null) return null;
  if (scale === null)
    return digits.precision > precision ? `must have at most ${precision} digits` : null;
  if (digits.precision + scale - digits.scale <= precision) return null;
  return precision >= scale
    ? `must have at most ${precision - scale} digits before the decimal point`
    : `must be smaller than ${normalDecimal(`1e${precision - scale}`)}`;
}

/** `digits × 10^exponent` in canonical form. */
function placePoint(sign: string, digits: string, exponent: number): string {
  const at = digits.length + exponent;
  const whole = at <= 0 ? "" : digits.slice(0, at).padEnd(at, "0");
  const fraction = at < 0 ? "0".repeat(-at) + digits : digits.slice(at);
  // Loops, not /0+$/: that expression takes quadratic time on long inner runs of zeros.
  let first = 0;
  while (whole[first] === "0") first++;
  let last = fraction.length;
  while (fraction[last - 1] === "0") last--;
  const significant = whole.slice(first) || "0";
  if (last === 0) return significant === "0" ? "0" : sign + significant;
  return `${sign}${significant}.${fraction.slice(0, last)}`;
}

/** Both numbers as whole units of the smaller of their last places. */
function align(left: string, right: string): [bigint, bigint, number] {
  const scale = Math.max(placesOf(left), placesOf(right));
  return [toUnits(left, scale), toUnits(right, scale), scale];
}

const placesOf = (decimal: string): number => {
  const point = decimal.indexOf(".");
  return point < 0 ? 0 : decimal.length - point - 1;
};

const toUnits = (decimal: string, scale: number): bigint =>
  BigInt(decimal.replace(".", "") + "0".repeat(scale - placesOf(decimal)));

function fromUnits(units: bigint, scale: number): string {
  const negative = units < 0n;
  return placePoint(negative ? "-" : "", String(negative ? -units : units), -scale);
}
