/** Totals below the lines of a document and computed values in them: as stored, or as the service will store them. */
import { cellOf } from "../cells.js";
import { fill, h } from "../dom.js";
import { textOf } from "../format.js";
import { fieldNamed } from "../model.js";
import { t } from "../words.js";
import { lineFormulas } from "./line-totals.js";

/** @import { Entity, Lines, Row } from "../types.d.ts" */
/** @import { Line } from "./document-lines.js" */

/** @param {Entity} entity @param {Lines} lines */
export function totalsPreview(entity, lines) {
  const totals = h("dl.totals", { "aria-label": t("record.totals") });
  const note = h("p.totals-note", { hidden: true }, t("lines.preview"));
  const known = lines.calculation ? lineFormulas(lines.calculation) : null;
  /** @type {typeof known} */
  let formulas = null;
  /** @type {Row | null} */
  let record = null;

  /** @param {Record<string, unknown>} [previews] */
  const contentOf = (previews = {}) =>
    lines.totals
      .filter((name) => name in { ...record, ...previews })
      .map((name) => {
        const field = fieldNamed(entity.fields, name);
        const value = name in previews ? previews[name] : record?.[name];
        const text = value === undefined ? "…" : textOf(value, field);
        return h("div", h("dt", field.label), h("dd", { "data-total": name }, text));
      });

  return {
    element: [totals, note],
    /** @param {Row | null} stored the header; null: a new document @param {readonly Row[]} rows */
    renew(stored, rows) {
      record = stored;
      formulas = known && (stored === null || known.areKept(stored, rows)) ? known : null;
    },
    /** @param {readonly Line[]} counted @param {{ touched: ReadonlySet<Line>, isChanged: boolean }} state */
    show(counted, { touched, isChanged }) {
      const isTyped = isChanged || record === null;
      const results = isTyped ? formulas?.computed(counted.map(typedIn)) : undefined;
      for (const [at, line] of counted.entries()) {
        const preview = touched.has(line) ? results?.lines[at] : undefined;
        for (const name of formulas?.columns ?? []) {
          const cell = line.cells.get(name);
          if (!cell) continue;
          const value = preview ? preview[name] : line.row?.[name];
          fill(cell, cellOf(value, fieldNamed(lines.fields, name), entity));
          cell.classList.toggle("preview", preview !== undefined);
        }
      }
      fill(totals, contentOf(results?.totals));
      totals.classList.toggle("preview", results !== undefined);
      totals.classList.toggle("stale", isChanged && !results);
      note.hidden = !results || totals.childElementCount === 0;
    },
  };
}

/** What cannot be read is no number. @param {Line} line */
function typedIn({ row, inputs, changed }) {
  const names = changed();
  const values = [...inputs].map(([name, input]) => {
    if (row && !names.includes(name)) return [name, row[name]];
    return [name, input.fault() ? input.text() : (input.value() ?? (row ? null : undefined))];
  });
  return { row, values: Object.fromEntries(values), isChanged: !row || names.length > 0 };
}
