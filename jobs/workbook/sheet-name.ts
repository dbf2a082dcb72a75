/** Names of sheets that Excel accepts. */

const lengthMax = 31;
const forbidden = /[[\]:*?/\\\p{Cc}\ufffe\uffff]/gu;

/**
 * The name of the sheet at `index`: `wish` with blanks for characters that Excel forbids, cut to 31 characters. From
 * the second sheet on it ends in ` 2`, ` 3` … `Sheet` if nothing is left.
 */
export function sheetNameAt(index: number, wish: string): string {
  const suffix = index === 0 ? "" : ` ${index + 1}`;
  const plain = trimmed(wish.toWellFormed().replace(forbidden, " "));
  const name = trimmed(cut(plain, lengthMax - suffix.length)) || "Sheet";
  // Excel reserves the name History.
  return (name.toLowerCase() === "history" ? `${name}_` : name) + suffix;
}

/** Excel forbids apostrophes at the ends of a name, not within it. */
const trimmed = (name: string): string => name.replace(/^[\s']+|[\s']+$/g, "");

function cut(name: string, length: number): string {
  const isWithinPair = (name.charCodeAt(length - 1) & 0xfc00) === 0xd800;
  return name.slice(0, isWithinPair ? length - 1 : length);
}
