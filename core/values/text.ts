/**
 * Measures of text. Characters are Unicode code points, as the databases count them, not UTF-16 units. They are
 * compared with the limits of columns and rules.
 */

/** Why no database could store the text unchanged; null if it can be stored. */
export function textFault(text: string): string | null {
  if (!text.isWellFormed()) return "must be well formed Unicode";
  return text.includes("\0") ? "must not hold a NUL character" : null;
}

/** Whether the text has more than `max` characters (code points, not UTF-16 units). */
export function isLonger(text: string, max: number): boolean {
  if (text.length <= max) return false;
  return text.length > max * 2 || characterCount(text) > max;
}

/** Characters (code points) of a text. */
export function characterCount(text: string): number {
  let count = text.length;
  for (let at = 0; at < text.length - 1; at++) {
    // Well formed text: each high surrogate has its low one.
    if ((text.charCodeAt(at) & 0xfc00) === 0xd800) count--;
  }
  return count;
}

/** Whether the text has a character above the code point, which is below 0x10000. */
export function hasAbove(text: string, codePoint: number): boolean {
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    // Surrogates are halves of characters from 0x10000 on.
    if (unit > codePoint || (unit & 0xf800) === 0xd800) return true;
  }
  return false;
}

/** Below 0: the first text comes first by its characters, as their bytes in UTF-8 order them; 0: they are the same. */
export function compareTexts(left: string, right: string): number {
  for (let at = 0; at < left.length && at < right.length; at++) {
    const difference = rankOf(left.charCodeAt(at)) - rankOf(right.charCodeAt(at));
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

/** Surrogates belong to the characters above all others, but units from 0xe000 on are greater than they. */
const rankOf = (unit: number): number => ((unit & 0xf800) === 0xd800 ? unit + 0x10000 : unit);

/** Bytes of a well formed text in UTF-8. */
export function utf8Length(text: string): number {
  let bytes = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    // Each half of a surrogate pair counts two of its four bytes.
    bytes += unit < 0x80 ? 1 : unit < 0x800 || (unit & 0xf800) === 0xd800 ? 2 : 3;
  }
  return bytes;
}

/** Case and outer blanks of a heading do not count. */
export const headingKey = (heading: string): string => heading.trim().toLowerCase();

const htmlEntities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** The text as HTML that shows it, between tags and in a quoted attribute. */
export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => htmlEntities[character]!);
/**
 * The text without the accents of its letters, `Ångström` as `Angstrom`: what Unicode writes as a letter and a mark
 * becomes the letter, and five letters with a stroke become the letter without it. Separate letters, such as `ß` and
 * `æ`, stay.
 */
export const withoutAccents = (text: string): string =>
  text
    .normalize("NFD")
    .replace(/[\u0300-\u036f]/g, "")
    .normalize("NFC")
    .replace(strokedLetters, (letter) => plainLetters[strokes.indexOf(letter)]!);

/**
 * Letters with a stroke, which Unicode does not write with a mark, and in the same order the letters that replace them.
 */
export const strokes = "\u00d8\u00f8\u0141\u0142\u0110\u0111\u0126\u0127\u00d0\u00f0";
export const plainLetters = "OoLlDdHhDd";
const strokedLetters = new RegExp(`[${strokes}]`, "g");
