/**
 * Text as the XML of a workbook contains it. As in Excel, characters that XML cannot represent are written as
 * `_xHHHH_`, so that nothing is lost in either direction.
 */

/** Most UTF-16 units in a cell of Excel. */
export const cellLengthMax = 32_767;

/**
 * The text for use between tags or in double quotes: markup, carriage returns and control characters escaped, a real
 * `_x0041_` as `_x005F_x0041_`, half surrogates as U+FFFD.
 */
export function escapeText(text: string): string {
  if (!needsEscape.test(text)) return text;
  return text.toWellFormed().replace(escapable, escapeOne);
}

/** The same without escaping markup: exceljs does that itself, but drops or changes the other characters. */
export const escapeCharacters = (text: string): string =>
  text.toWellFormed().replace(unwritable, escapeOne);

/** The text with `_xHHHH_` turned into its characters. */
export function unescapeText(text: string): string {
  if (!text.includes("_x")) return text;
  return text.replace(escaped, (_, code: string) => String.fromCharCode(parseInt(code, 16)));
}

/** The text, cut to what a cell holds and never inside a character. */
export function cutText(text: string): string {
  const isWithinPair = (text.charCodeAt(cellLengthMax - 1) & 0xfc00) === 0xd800;
  return text.slice(0, isWithinPair ? cellLengthMax - 1 : cellLengthMax);
}

// oxlint-disable no-control-regex -- they are what is looked for
const needsEscape = /[&<>"\0-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff]|_x[\dA-Fa-f]{4}_/;
const escapable = /[&<>"\0-\x08\x0b-\x1f\ufffe\uffff]|_(?=x[\dA-Fa-f]{4}_)/g;
const unwritable = /[\0-\x08\x0b-\x1f\x7f\ufffe\uffff]|_(?=x[\dA-Fa-f]{4}_)/g;
const escaped = /_x([\dA-Fa-f]{4})_/g;
const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
};

function escapeOne(character: string): string {
  const code = character.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0");
  return entities[character] ?? `_x${code}_`;
}
