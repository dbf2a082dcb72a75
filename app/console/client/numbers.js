/** Numbers in forms and filters, in the language of the browser: `1.234,5` for some people is `1,234.5` for others. */
import { locale, t } from "./words.js";

const formatted = new Intl.NumberFormat(locale).formatToParts(-12345678.9);
/** @param {string} type @param {string} other */
const signOf = (type, other) => formatted.find((part) => part.type === type)?.value ?? other;
const point = signOf("decimal", ".");
const group = signOf("group", ",");
/** From 0 to 9. */
const digits = [...new Intl.NumberFormat(locale, { useGrouping: false }).format(9876543210)]
  .toReversed()
  .slice(0, 10);

/** @param {string} text */
const literal = (text) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
const grouped = new RegExp(
  `^(-?\\d{1,3}(?:${literal(group)}\\d{2,3})*${literal(group)}\\d{3})(?:${literal(point)}(\\d+))?$`,
);
const plain = new RegExp(`^(-?\\d*)(?:(?:${literal(point)}|[.,])(\\d*))?$`);

/**
 * The number as in JSON, `-1234.5`, with all its digits; null: not a number. The other languages' decimal separator is
 * accepted where it cannot be a thousands separator.
 * @param {string} text
 */
export function readNumber(text) {
  const sent = [...text.trim()]
    .map((letter) => (digits.includes(letter) ? String(digits.indexOf(letter)) : letter))
    .join("")
    .replaceAll(/[\u200e\u200f\u061c]/g, "")
    .replace(/^\+/, "")
    .replace(/^[−‒–]/, "-")
    // Spaces and apostrophes as thousands separators, in every language.
    .replaceAll(/(?<=\d)[\s'’](?=\d{3}(?!\d))/g, "");
  if (/^-?\d+(\.\d+)?e[+-]?\d+$/i.test(sent)) return sent;
  const [, whole = "", fraction = ""] = grouped.exec(sent) ?? plain.exec(sent) ?? [];
  if (!/\d/.test(whole + fraction)) return null;
  const units = whole.replaceAll(/[^-\d]/g, "").replace(/^(-?)0*(?=\d)/, "$1");
  return `${/\d/.test(units) ? units : `${units}0`}${fraction && `.${fraction}`}`;
}

/** For an input: without thousands separators. @param {string} text a number as JSON has it */
export const writeNumber = (text) =>
  text.replaceAll(/[\d.]/g, (letter) => (letter === "." ? point : (digits[Number(letter)] ?? "")));

/** The message for a text that is not a number. */
export const numberFault = t("fault.number", { example: writeNumber("1234.5") });
