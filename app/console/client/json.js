/**
 * JSON in which numbers keep all their digits; `JSON.parse` rounds integers beyond 2^53 and long fractions. Such
 * numbers are replaced by texts with a random mark while JSON's own functions read and write the rest.
 */

const mark = `digits ${crypto.getRandomValues(new Uint32Array(4)).join("-")} `;
const marked = new RegExp(`"${mark}([^"]*)"`, "g");
const textOrNumber = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;
const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
/** A double keeps this many digits of any number. */
const doubleDigits = 15;

/** A number that JavaScript's own numbers would change. */
export class Digits {
  /** @param {string} text a number as JSON has it */
  constructor(text) {
    this.text = text;
  }
  toString() {
    return this.text;
  }
  /** The marked text that `jsonText` turns into the number. */
  toJSON() {
    return mark + this.text;
  }
}

/** @param {string} text a number as JSON has it @returns {number | Digits} */
export function exactNumber(text) {
  const value = Number(text);
  const isKept = Number.isFinite(value) && text.replaceAll(/\D/g, "").length <= doubleDigits;
  return isKept || String(value) === text ? value : new Digits(text);
}

/** Throws SyntaxError, whose message says where. @param {string} text @returns {any} */
export function parseJson(text) {
  if (!/[\d.]{16}|\d[eE][+-]?\d/.test(text)) return JSON.parse(text);
  const safe = text.replaceAll(textOrNumber, (part) =>
    number.test(part) && exactNumber(part) instanceof Digits ? `"${mark}${part}"` : part,
  );
  return JSON.parse(safe, (_, value) =>
    typeof value === "string" && value.startsWith(mark)
      ? new Digits(value.slice(mark.length))
      : value,
  );
}

/** @param {unknown} value @param {number} [indent] */
export const jsonText = (value, indent) =>
  JSON.stringify(value, null, indent).replaceAll(marked, "$1");
