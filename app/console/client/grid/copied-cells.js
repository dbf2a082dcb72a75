/** Cells of a list as the text that spreadsheets take: tabs between columns, a line for each row. */
import { valueIn } from "../cells.js";
import { kindOf, textFor } from "../form-field.js";
import { textOf } from "../format.js";
import { t } from "../words.js";
import { leadOf } from "./rows.js";

/** @import { Field, Row } from "../types.d.ts" */

/**
 * @typedef {object} CopyPlace
 * @property {(line: HTMLTableRowElement) => Row | null} rowIn
 * @property {() => Field[]} columns
 * @property {import("./cell-cursor.js").CellCursor} cursor
 * @property {HTMLTableElement} table
 * @property {import("../editing/list-editing.js").ListEditing | null} editing
 */

/** The selected range; without one the selected rows, or else the cell with the focus. Null: a heading or a box has it. @param {CopyPlace} place */
export function copiedCells(place) {
  const { cursor, editing } = place;
  const lead = leadOf(place.table);
  if (!cursor.isWide() && (editing?.chosen() ?? []).length > 0) return copiedRows(place);
  const { top, left, bottom, right } = cursor.range();
  if (top < 0 || right < lead) return null;
  const copied = cursor
    .lines()
    .slice(top, bottom + 1)
    .map((line) => {
      const row = place.rowIn(line);
      return [...line.cells]
        .slice(Math.max(lead, left), right + 1)
        .map((cell) => (row ? textIn(place, { row, at: cell.cellIndex - lead, cell }) : ""));
    });
  // The text of one cell has no quotes.
  return cursor.isWide() ? writeTable(copied) : (copied[0]?.[0] ?? "");
}

/** The selected rows, also those of other pages, with the shown columns. @param {CopyPlace} place */
export function copiedRows(place) {
  const lines = place.cursor.lines();
  const lead = leadOf(place.table);
  return writeTable(
    (place.editing?.chosen() ?? []).map((row) => {
      const cells = lines.find((line) => place.rowIn(line) === row)?.cells;
      return place
        .columns()
        .map((_, at) => textIn(place, { row, at, cell: cells?.[at + lead] ?? null }));
    }),
  );
}

/** @param {CopyPlace} place @param {{ row: Row, at: number, cell: HTMLTableCellElement | null }} of `cell`: null on another page */
function textIn({ columns, editing }, { row, at, cell }) {
  const field = columns()[at];
  if (!field) return "";
  const change = editing?.changeOf(row, field.name);
  if (change?.text) return change.text;
  // The name of the other record, which another list knows.
  if (field.references && cell) return cell.querySelector(".none") ? "" : cell.innerText.trim();
  if (field.relation)
    return nameIn(/** @type {Row | null} */ (row[field.relation.name]), field.relation);
  const value = change ? change.value : valueIn(row, field);
  if (field.type === "boolean" && typeof value === "boolean") return t(value ? "yes" : "no");
  const kind = kindOf(field, editing?.schemaOf(field.name) ?? {});
  return textFor(kind, value, field.scale).replace(/^(\d{4}-\d\d-\d\d)T(?=\d\d:)/, "$1 ");
}

/** @param {readonly (readonly string[])[]} rows */
const writeTable = (rows) =>
  rows
    .map((row) =>
      row
        .map((cell) => (/[\t\r\n"]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell))
        .join("\t"),
    )
    .join("\n");

/** @param {Row | null | undefined} other @param {NonNullable<Field["relation"]>} relation */
const nameIn = (other, { titleField }) => textOf(other?.[titleField], { type: "text" });
