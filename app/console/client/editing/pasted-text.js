/** Rows and columns of spreadsheets in the clipboard, and their cells as values of fields. */
import { kindOf, readText } from "../form-field.js";
import { labelText, readDay } from "../format.js";
import { lookup } from "../labels.js";
import { t } from "../words.js";

/** @import { Entity, Field, Schema } from "../types.d.ts" */

/**
 * @typedef {object} PastePlace
 * @property {Entity} entity
 * @property {() => Field[]} columns
 * @property {import("./changes.js").Changes} changes
 * @property {ReturnType<typeof import("./cell-grid.js").cellGrid>} grid
 */

/**
 * Fills the cells from the focused one on with the rows of a spreadsheet.
 * @param {PastePlace} place @param {string} text @returns {Promise<string>} what people have to know; may be empty
 */
export async function pasteInto({ entity, columns, changes, grid }, text) {
  const table = readTable(text);
  const start = grid.start();
  if (table.length === 0 || !start) return "";
  const { top, left } = start;
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

/** A cell is in quotes if it contains tabs, line breaks or quotes. */
const cellPattern = /("(?:[^"]|"")*"|[^\t\r\n]*)(\t|\r\n|[\r\n]|$)/y;

/** @param {string} text @returns {string[][]} */
function readTable(text) {
  /** @type {string[][]} */
  const rows = [];
  /** @type {string[]} */
  let row = [];
  cellPattern.lastIndex = 0;
  while (cellPattern.lastIndex < text.length || row.length > 0) {
    const [, cell = "", end = ""] = cellPattern.exec(text) ?? [];
    row.push(/^".*"$/s.test(cell) ? cell.slice(1, -1).replaceAll('""', '"') : cell);
    if (end === "\t") continue;
    rows.push(row);
    row = [];
    if (end === "") break;
  }
  return rows;
}

/**
 * @param {string} text @param {{ entity: Pick<Entity, "project">, field: Field, schema: Schema }} place
 * @returns {Promise<{ value?: unknown, text?: string, fault?: string }>} without a value: the text is blank
 */
async function readPasted(text, { entity, field, schema }) {
  const kind = kindOf(field, schema);
  const trimmed = text.trim();
  if (kind === "line" || kind === "long") return readText(kind, text, { schema, value: null });
  if (trimmed === "") return {};
  const found = await meant(kind, trimmed, { entity, field, schema });
  if (found.fault !== undefined) return { text, fault: found.fault };
  const read = readText(kind, found.text, { schema, value: null });
  return read.fault === undefined ? read : { text, fault: read.fault };
}

/**
 * The text as the input of this kind would have it.
 * @param {import("../form-field.js").Kind} kind @param {string} text
 * @param {{ entity: Pick<Entity, "project">, field: Field, schema: Schema }} place
 * @returns {Promise<{ text: string, fault?: string }>}
 */
async function meant(kind, text, { entity, field, schema }) {
  if (kind === "reference") return referenceMeant(text, { entity, field });
  if (kind === "choice") {
    const values = (schema.enum ?? []).map(String);
    const isSame = (/** @type {string} */ one) => one.toLowerCase() === text.toLowerCase();
    const found = values.find((one) => isSame(one) || isSame(labelText(one)));
    return { text: found ?? text };
  }
  if (kind === "flag" || kind === "maybe") {
    if (isOne(text, [t("yes"), "yes", "true", "1", "x"])) return { text: "true" };
    if (isOne(text, [t("no"), "no", "false", "0"])) return { text: "false" };
    return { text, fault: t("paste.flag", { yes: t("yes"), no: t("no") }) };
  }
  if (kind === "date") {
    const day = readDay(text);
    return day === null ? { text, fault: dayFault } : { text: day };
  }
  if (kind === "moment") {
    const [day = "", time = "00:00"] = text.split(/[T\s]+/);
    // With a time zone, as the API has it.
    const iso = /T.*(Z|[+-]\d\d:\d\d)$/.test(text) ? text : `${readDay(day) ?? day}T${time}`;
    return Number.isNaN(Date.parse(iso)) ? { text, fault: momentFault } : { text: iso };
  }
  return { text };
}

/** @param {string} text @param {readonly string[]} words */
const isOne = (text, words) => words.some((one) => one.toLowerCase() === text.toLowerCase());

const dayFault = t("paste.date");
const momentFault = t("paste.moment");

/** @param {string} text @param {{ entity: Pick<Entity, "project">, field: Field }} place */
async function referenceMeant(text, { entity, field }) {
  const place = `api/${entity.project}/${field.references?.endpoint}`;
  const found = await lookup(place, { search: text.slice(0, 100), limit: "50" }).catch(() => []);
  const named = found.filter((one) => one.text.toLowerCase() === text.toLowerCase());
  if (named.length === 1) return { text: String(named[0]?.id) };
  if (named.length > 1) return { text, fault: t("paste.several", { text }) };
  const [known] = await lookup(place, { ids: text }).catch(() => []);
  return known && String(known.id) === text ? { text } : { text, fault: t("paste.none", { text }) };
}
