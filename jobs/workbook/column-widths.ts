/** Widths of columns that a person likes: by the heading and by the first rows. */
import { patternOf } from "./cell-xml.ts";
import { type Batch, type TableColumn, cellText } from "./table-column.ts";

const widthMin = 8;
const widthMax = 60;
/** Room for the button of the autofilter. */
const margin = 3;
/** Looking at more rows would cost time and hardly change a width. */
const rowsLookedAt = 100;

/** In characters. A width that the column names itself stands. */
export function columnWidths(columns: readonly TableColumn[], rows: Batch): number[] {
  const sample = rows.slice(0, rowsLookedAt);
  return columns.map(({ heading, width, format }, at) => {
    if (width !== undefined) return Math.min(Math.max(width, 1), 255);
    const isDate = format?.type === "date" || format?.type === "datetime";
    const lengths = isDate
      ? [patternOf(format.type as "date", format.pattern).excelCode.length]
      : sample.map((row) => lengthOf(row[at]));
    const longest = Math.max(heading.length + margin, ...lengths);
    return Math.min(Math.max(longest + 1, widthMin), widthMax);
  });
}

function lengthOf(value: Batch[number][number] | undefined): number {
  if (value === null || value === undefined) return 0;
  const text = cellText(value);
  const lineEnd = text.indexOf("\n");
  return lineEnd < 0 ? text.length : lineEnd;
}
