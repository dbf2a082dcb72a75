/** Rows of a list to and from the clipboard, in the form of spreadsheets: tabs between columns, a line for each row. */
import { kindOf, textFor } from "../form-field.js";
import { textOf } from "../format.js";
import { linesOf } from "./rows.js";
import { readPasted, readTable, writeTable } from "./pasted-text.js";
import { t } from "../words.js";

/** @typedef {import("../types.d.ts").Entity} Entity */
/** @typedef {import("../types.d.ts").Field} Field */
/** @typedef {import("../types.d.ts").Row} Row */

/**
 * @typedef {object} ClipboardPlace
 * @property {Entity} entity
 * @property {import("./rights.js").Rights} rights
 * @property {HTMLTableElement} table
 * @property {(line: HTMLTableRowElement) => Row | null} rowIn
 * @property {() => Field[]} columns
 * @property {import("./changes.js").Changes} changes
 * @property {import("./selection.js").Selection} selection
 * @property {ReturnType<typeof import("./cell-grid.js").cellGrid>} grid
 */

/** The selected rows with the shown columns; without any, the cell with the focus. @param {ClipboardPlace} place */
export function copiedRows({ rights, table, rowIn, columns, changes, selection, grid }) {
  /** @param {Row} row @param {Field} field @param {HTMLTableCellElement | null} cell */
  const textIn = (row, field, cell) => {
    const change = changes.of(row, field.name);
    if (change?.text) return change.text;
    // The name of the other record, which another list knows.
    if (field.references && cell) return cell.querySelector(".none") ? "" : cell.innerText.trim();
    if (field.relation)
      return nameIn(/** @type {Row | null} */ (row[field.relation.name]), field.relation);
    const value = change ? change.value : row[field.name];
    if (field.type === "boolean" && typeof value === "boolean") return t(value ? "yes" : "no");
    const kind = kindOf(field, rights.schemas.get(field.name) ?? {});
    return textFor(kind, value, field.scale).replace(/^(\d{4}-\d\d-\d\d)T(?=\d\d:)/, "$1 ");
  };
  const lines = linesOf(table);
  if (selection.chosen.size === 0) {
    const { top, left } = grid.place();
    const cell = grid.focused();
    const field = columns()[left];
    const row = lines[top] && rowIn(lines[top]);
    return cell && field && row ? textIn(row, field, cell) : "";
  }
  const lineOf = (/** @type {Row} */ row) => lines.find((line) => rowIn(line) === row);
  return writeTable(
    [...selection.chosen.values()].map((row) => {
      const cells = lineOf(row)?.cells;
      return columns().map((field, at) => textIn(row, field, cells?.[at + 1] ?? null));
    }),
  );
}

/** @param {Row | null | undefined} other @param {NonNullable<Field["relation"]>} relation */
const nameIn = (other, { titleField }) => textOf(other?.[titleField], { type: "text" });

/**
 * Fills the cells from the focused one on with the rows of a spreadsheet.
 * @param {ClipboardPlace} place @param {string} text @returns {Promise<string>} what people have to know; may be empty
 */
export async function pasteInto({ entity, columns, changes, grid }, text) {
  const table = readTable(text);
  const { top, left } = grid.place();
  if (table.length === 0 || left < 0) return "";
  let cut = 0;
  /** @type {Set<string>} */
  const fixed = new Set();
  const cells = table.flatMap((line, down) =>
    line.flatMap((cell, right) => {
      const found = grid.editableAt(top + down, left + right);
      const field = columns()[left + right];
      if (found) return { ...found, cell };
      if (!field || grid.isPast(top + down)) cut += 1;
      else fixed.add(field.label);
      return [];
    }),
  );
  /** The same text is looked up once. @type {Map<string, ReturnType<typeof readPasted>>} */
  const known = new Map();
  const read = cells.map(async ({ row, cell, field, schema }) => {
    const name = `${field.name} ${cell}`;
    const reading = known.get(name) ?? readPasted(cell, { entity, field, schema });
    known.set(name, reading);
    return { row, field, ...(await reading) };
  });
  changes.set(await Promise.all(read));
  const told = [
    fixed.size > 0 && t("paste.fixed", { fields: [...fixed].join(", ") }),
    cut > 0 && t("paste.cut", { count: cut }),
  ];
  return told.filter(Boolean).join("; ");
}
