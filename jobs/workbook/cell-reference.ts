/** Names of cells, such as `AB12`. The writer (`sheet-xml.ts`) makes them, the reader (`sheet-cells.ts`) reads them. */

/** Most rows of a sheet in Excel. */
export const sheetRowsMax = 1_048_576;
/** Most columns of a sheet in Excel. */
export const sheetColumnsMax = 16_384;

/** `A`, `Z`, `AA` … of the column at `index`, counted from 0. */
export function columnLetters(index: number): string {
  const last = String.fromCharCode(65 + (index % 26));
  return index < 26 ? last : columnLetters(Math.floor(index / 26) - 1) + last;
}

/**
 * The index of the column, counted from 0, of a reference in the row of that number. -1 when it names another row, or a
 * column that no sheet has.
 */
export function columnInRow(reference: string, rowNumber: string): number {
  const length = reference.length - rowNumber.length;
  if (length < 1 || length > 3 || !reference.endsWith(rowNumber)) return -1;
  let number = 0;
  for (let at = 0; at < length; at++) {
    const digit = reference.charCodeAt(at) - 64;
    if (digit < 1 || digit > 26) return -1;
    number = number * 26 + digit;
  }
  return number <= sheetColumnsMax ? number - 1 : -1;
}
