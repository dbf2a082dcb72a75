/** Names of sheets that Excel takes. */

const lengthMax = 31;
const forbidden = /[[\]:*?/\\\p{Cc}\ufffe\uffff]/gu;

/**
 * The name of the sheet at `index`: the wish with a blank for what Excel forbids, cut to 31 characters, and ` 2`, ` 3` … from the
 * second sheet on. `Sheet` where nothing is left.
 */
export function sheetNameAt(index: number, wish: string): string {
  const suffix = index === 0 ? "" : ` ${index + 1}`;
  const plain = trimmed(wish.toWellFormed().replace(forbidden, " "));
  const name = trimmed(cut(plain, lengthMax - suffix.length)) || "Sheet";
  // Excel keeps the name History for itself.
  return (name.toLowerCase() === "history" ? `${name}_` : name) + suffix;
}

/** An apostrophe may stand within a name, not at its ends. */
const trimmed = (name: string): string => name.replace(/^[\s']+|[\s']+$/g, "");

function cut(name: string, length: number): string {
  const isWithinPair = (name.charCodeAt(length - 1) & 0xfc00) === 0xd800;
  return name.slice(0, isWithinPair ? length - 1 : length);
}
