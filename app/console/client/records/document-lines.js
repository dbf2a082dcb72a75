/** The lines of a document as a table of inputs: what was added, changed and removed. */
import { cellOf } from "../cells.js";
import { fill, h, icon, iconButton } from "../dom.js";
import { formField } from "../form-field.js";
import { isNumber, textOf } from "../format.js";
import { fieldOf } from "../model.js";
import { t } from "../words.js";
import { attachLineKeys, focusIn } from "./line-keys.js";
import { lineFormulas } from "./line-totals.js";

/** @typedef {import("../types.d.ts").Entity} Entity */
/** @typedef {import("../types.d.ts").Lines} Lines */
/** @typedef {import("../types.d.ts").Row} Row */
/** @typedef {import("../types.d.ts").Schema} Schema */
/** @typedef {import("../form-field.js").FormField} FormField */

/**
 * @typedef {object} LinesOptions
 * @property {Entity} entity
 * @property {Lines} lines
 * @property {Schema} schema of one new line
 * @property {Row | null} record the header with its totals; null: a new one
 * @property {Row[]} rows
 * @property {boolean} canEdit
 * @property {() => void} onInput
 */

/**
 * A line in the table.
 * @typedef {object} Line
 * @property {Row | null} row
 * @property {Map<string, FormField>} inputs
 * @property {Map<string, string>} first
 * @property {boolean} isRemoved
 * @property {boolean} isOffered Enter in the last field began it; it counts once something is typed in it
 * @property {HTMLElement} element
 * @property {Map<string, HTMLElement>} cells of values that are not entered
 */

/** @param {LinesOptions} options */
export function documentLines({ entity, lines, schema, record, rows, canEdit, onInput }) {
  const properties = schema.properties ?? {};
  const isEditable = (/** @type {string} */ name) =>
    canEdit && name in properties && entity.deref(properties[name]).readOnly !== true;
  const needed = new Set(schema.required ?? []);
  const columns = columnsOf(lines, Object.keys(properties), { isEditable, needed });
  const body = h("tbody");
  /** @type {Line[]} */
  const all = rows.map((row) => lineOf(row));

  /** @param {Row | null} row @returns {Line} */
  function lineOf(row) {
    /** @type {Map<string, FormField>} */
    const inputs = new Map();
    /** @type {Line["cells"]} */
    const cells = new Map();
    const element = h("tr");
    for (const field of columns) {
      // A stored line is identified by its key.
      if (isEditable(field.name) && (row === null || !lines.key.includes(field.name))) {
        const input = formField(field, {
          entity,
          schema: properties[field.name] ?? {},
          isNeeded: needed.has(field.name),
          value: row ? row[field.name] : startOf(field.name),
          fallback: row ? otherTexts(row) : "",
          onInput: changedHere,
        });
        input.control
          .querySelector("input, select, textarea")
          ?.setAttribute("aria-label", field.label);
        inputs.set(field.name, input);
        element.append(h("td", { class: isNumber(field) ? "number" : "" }, input.control));
      } else {
        const cell = h(
          "td",
          { class: isNumber(field) ? "number" : "" },
          cellOf(row?.[field.name], field, entity),
        );
        cells.set(field.name, cell);
        element.append(cell);
      }
    }
    const first = new Map([...inputs].map(([name, input]) => [name, input.text()]));
    const line = { row, inputs, first, isRemoved: false, isOffered: false, element, cells };
    if (canEdit)
      element.append(
        h(
          "td",
          null,
          iconButton("trash", t("lines.remove"), { compact: true, onclick: () => remove(line) }),
        ),
      );
    body.append(element);
    return line;
  }

  /** The texts that a query adds of another record; they name it if the lookup does not. @param {Row} row */
  function otherTexts(row) {
    const texts = lines.shown.filter((name) => !lines.fields.has(name)).map((name) => row[name]);
    return texts.filter((text) => typeof text === "string").join(" - ");
  }

  /** The next number, where lines are numbered. @param {string} name */
  function startOf(name) {
    if (!/^(line_?(number|no)|position)$/i.test(name))
      return entity.deref(properties[name]).default;
    return Math.max(0, ...all.map(({ inputs }) => Number(inputs.get(name)?.text()) || 0)) + 1;
  }

  /** The focus goes to the line that follows. @param {Line} line */
  function remove(line) {
    const at = all.indexOf(line);
    const hadFocus = line.element.contains(document.activeElement);
    if (line.row === null) {
      line.element.remove();
      all.splice(all.indexOf(line), 1);
    } else {
      line.isRemoved = !line.isRemoved;
      line.element.classList.toggle("removed", line.isRemoved);
    }
    changedHere();
    if (!hadFocus) return;
    const next = all[line.row === null ? at : at + 1] ?? all.at(-1);
    if (next) focusIn(next);
    else adding.focus();
  }

  function add() {
    const line = lineOf(null);
    all.push(line);
    changedHere();
    return line;
  }

  /** Begins with the first field that has no value yet. @param {{ isOffered: boolean }} how */
  function addAndFocus({ isOffered }) {
    const line = Object.assign(add(), { isOffered });
    const [name] = [...line.inputs].find(([, input]) => input.text() === "") ?? [];
    setTimeout(() => focusIn(line, name));
  }

  const isUntouched = (/** @type {Line} */ line) =>
    line.isOffered && changedNames(line).length === 0;
  const changedNames = (/** @type {Line} */ { inputs, first }) =>
    [...inputs].filter(([name, input]) => input.text() !== first.get(name)).map(([name]) => name);
  const keyOf = (/** @type {Row} */ row) =>
    Object.fromEntries(
      lines.key
        .filter((name) => name !== lines.foreignKey || lines.key.length === 1)
        .map((name) => [name, row[name]]),
    );
  const added = () => all.filter((line) => line.row === null && !isUntouched(line));
  const kept = () => all.filter(({ row, isRemoved }) => row !== null && !isRemoved);
  const changed = () => kept().filter((line) => changedNames(line).length > 0);
  const removed = () => all.filter(({ isRemoved }) => isRemoved);
  const valuesOf = (/** @type {Line} */ { inputs }) =>
    Object.fromEntries(
      [...inputs]
        .map(([name, input]) => [name, input.value()])
        .filter(([, value]) => value !== undefined),
    );

  const isChanged = () => added().length + changed().length + removed().length > 0;

  function changedHere() {
    showTotals();
    onInput();
  }

  /** Amounts and totals as the service will store them, while lines are changed. */
  function showTotals() {
    const counted = [...kept(), ...added()];
    const isStale = isChanged();
    const results = isStale || record === null ? formulas?.computed(counted.map(typedIn)) : null;
    const touched = new Set([...added(), ...changed()]);
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
    fill(totals, totalsOf(results?.totals));
    totals.classList.toggle("preview", Boolean(results));
    totals.classList.toggle("stale", isStale && !results);
    note.hidden = !results || totals.childElementCount === 0;
  }

  /** @param {Record<string, unknown>} [previews] */
  const totalsOf = (previews = {}) =>
    lines.totals
      .filter((name) => name in { ...record, ...previews })
      .map((name) => {
        const field = fieldNamed(entity.fields, name);
        const value = name in previews ? previews[name] : record?.[name];
        const text = value === undefined ? "…" : textOf(value, field);
        return h("div", null, h("dt", null, field.label), h("dd", { "data-total": name }, text));
      });

  /** What cannot be read is no number. @param {Line} line */
  function typedIn(line) {
    const { row, inputs } = line;
    const names = changedNames(line);
    const values = [...inputs].map(([name, input]) => {
      if (row && !names.includes(name)) return [name, row[name]];
      return [name, input.fault() ? input.text() : (input.value() ?? (row ? null : undefined))];
    });
    return { row, values: Object.fromEntries(values), isChanged: !row || names.length > 0 };
  }

  attachLineKeys(body, {
    lines: () => all,
    begin() {
      const last = all.at(-1);
      if (!last || !isUntouched(last)) addAndFocus({ isOffered: true });
    },
    remove,
  });
  const adding = h(
    "button.button",
    { type: "button", onclick: () => addAndFocus({ isOffered: false }) },
    icon("plus"),
    h("span", null, t("lines.add")),
  );
  const table = h(
    "table.plain.lines",
    { "aria-label": t("lines") },
    h(
      "thead",
      null,
      h(
        "tr",
        null,
        columns.map((field) =>
          h("th", { scope: "col", class: isNumber(field) ? "number" : "" }, field.label),
        ),
        canEdit && h("th", null, h("span.unseen", null, t("remove"))),
      ),
    ),
    body,
  );
  const totals = h("dl.totals", { "aria-label": t("record.totals") });
  const note = h("p.totals-note", { hidden: true }, t("lines.preview"));
  const known = lines.calculation && lineFormulas(lines.calculation);
  const formulas = known && (record === null || known.areKept(record, rows)) ? known : null;
  const element = h("div");
  showTotals();
  fill(
    element,
    h("div.lines-head", null, h("h2", null, t("lines")), h("span.grow"), canEdit && adding),
    h("div.table-holder", { tabindex: "0", role: "region", "aria-label": t("lines") }, table),
    totals,
    note,
    canEdit && h("p.lines-keys", null, t("lines.keys")),
  );

  return {
    element,
    add,
    isChanged,
    /** Of a new document. */
    list: () => added().map(valuesOf),
    /** As update-composite takes them; only what there is. */
    operations() {
      const insert = added().map(valuesOf);
      const update = changed().map((line) => ({
        ...keyOf(/** @type {Row} */ (line.row)),
        ...Object.fromEntries(
          changedNames(line).map((name) => [name, line.inputs.get(name)?.value() ?? null]),
        ),
      }));
      const gone = removed().map(({ row }) => keyOf(/** @type {Row} */ (row)));
      return {
        ...(insert.length > 0 && { insert }),
        ...(update.length > 0 && { update }),
        ...(gone.length > 0 && { delete: gone }),
      };
    },
    /** Whether all entered values can be sent; faults are shown beside their inputs. */
    check() {
      const sent = [...added(), ...changed()].flatMap(({ inputs }) => [...inputs.values()]);
      for (const input of sent) input.showFaults([input.fault()].filter(Boolean));
      const wrong = sent.filter((input) => input.fault() !== "");
      wrong[0]?.focus();
      return wrong.length === 0;
    },
    /**
     * Shows messages with a path such as `stock_receipt_lines[0].product_id` beside their inputs. The number is the
     * index among the added or among the changed lines; if a request has both, each message names one:
     * `insert: is required`.
     * @param {[string, string[]][]} errors @returns {[string, string[]][]} those without an input here
     */
    showFaults(errors) {
      const lists = { insert: added(), update: changed() };
      for (const { inputs } of all) for (const input of inputs.values()) input.showFaults([]);
      return errors.flatMap(([path, messages]) => {
        const [, at = "", name = ""] = /\[(\d+)\]\.(\w+)$/.exec(path) ?? [];
        const rest = messages.filter((message) => {
          const [, kind, text = message] = /^(insert|update|delete): (.*)$/s.exec(message) ?? [];
          const usual = lists.insert.length > 0 ? "insert" : "update";
          const list = lists[/** @type {"insert" | "update"} */ (kind ?? usual)] ?? [];
          const input = list[Number(at)]?.inputs.get(name);
          input?.showFaults([text]);
          return input === undefined;
        });
        return rest.length > 0 ? [[path, rest]] : [];
      });
    },
  };
}

/**
 * The columns that people read and enter: without generated keys and audit columns, and without values that a query
 * adds of another record, which its drop-down shows.
 * @param {Lines} lines @param {string[]} properties
 * @param {{ isEditable: (name: string) => boolean, needed: ReadonlySet<string> }} about
 */
function columnsOf({ shown, fields, key, foreignKey }, properties, { isEditable, needed }) {
  const names = [
    ...shown,
    ...properties.filter((name) => isEditable(name) && !shown.includes(name)),
  ];
  const choosesOther = names.some((name) => fields.get(name)?.references && isEditable(name));
  const isLeftOut = (/** @type {string} */ name) =>
    name === foreignKey ||
    (key.includes(name) && /id$/i.test(name) && !needed.has(name)) ||
    /^(created|updated|deleted)_(at|by)$/.test(name) ||
    (choosesOther && !fields.has(name));
  return names.filter((name) => !isLeftOut(name)).map((name) => fieldNamed(fields, name));
}

/** @param {Map<string, import("../types.d.ts").Field>} fields @param {string} name */
const fieldNamed = (fields, name) => fields.get(name) ?? fieldOf(name, { type: "text" });
