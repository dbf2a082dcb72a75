/** The lines of a document as a table of inputs: what was added, changed and removed, and what others changed. */
import { cellOf } from "../cells.js";
import { fill, h, iconButton } from "../dom.js";
import { formField } from "../form-field.js";
import { isNumber } from "../format.js";
import { idOf } from "../grid/rows.js";
import { jsonText } from "../json.js";
import { fieldNamed } from "../model.js";
import { t } from "../words.js";
import { editedFields, questionOf, toldNote } from "./edited-fields.js";
import { attachLineKeys, focusIn } from "./line-keys.js";
import { lineColumns } from "./record-editing.js";
import { totalsPreview } from "./totals-preview.js";

/** @import { Entity, Lines, Row, Schema } from "../types.d.ts" */
/** @import { FormField } from "../form-field.js" */

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
 * @property {() => string[]} changed names of the inputs that differ from the row
 * @property {import("./edited-fields.js").EditedFields} edited
 * @property {HTMLElement | null} question whether a line that was removed here or there stays
 * @property {boolean} isRemoved
 * @property {boolean} isLost others deleted it
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
  const columns = lineColumns(lines, Object.keys(properties), { isEditable, needed });
  const body = h("tbody");
  const totals = totalsPreview(entity, lines);
  /** @type {Line[]} */
  const all = [];

  /** @param {Row | null} row @param {Row} [start] values that a new line begins with @returns {Line} */
  function lineOf(row, start = {}) {
    // A stored line is identified by its key.
    const names = columns
      .map(({ name }) => name)
      .filter((name) => isEditable(name) && (row === null || !lines.key.includes(name)));
    const edited = editedFields({
      names,
      row,
      make: (name, stored) => inputOf(name, stored, start[name]),
      part: "control",
      show: (name, stored) => cellOf(stored[name], fieldNamed(lines.fields, name), entity),
      onChoice: changedHere,
    });
    const { inputs, changed } = edited;
    const cells = new Map();
    const element = h("tr");
    for (const field of columns) {
      const cell = h("td", { class: isNumber(field) ? "number" : "" });
      const input = inputs.get(field.name);
      if (!input) cells.set(field.name, cell);
      fill(cell, input?.control ?? cellOf(row?.[field.name], field, entity));
      element.append(cell);
    }
    const line = {
      row,
      edited,
      inputs,
      changed,
      cells,
      element,
      question: null,
      isRemoved: false,
      isLost: false,
      isOffered: false,
    };
    if (canEdit)
      element.append(
        h(
          "td",
          iconButton("trash", t("lines.remove"), { compact: true, onclick: () => remove(line) }),
        ),
      );
    return line;
  }

  /** @param {string} name @param {Row | null} row @param {unknown} start */
  function inputOf(name, row, start = startOf(name)) {
    const field = fieldNamed(lines.fields, name);
    const input = formField(field, {
      entity,
      schema: properties[name] ?? {},
      isNeeded: needed.has(name),
      value: row ? row[name] : start,
      fallback: row ? otherTexts(row) : "",
      files: lines.endpoint
        ? { path: entity.path.replace(/[^/]+$/, lines.endpoint), key: lines.key, row }
        : null,
      onInput: changedHere,
    });
    input.control.querySelector("input, select, textarea")?.setAttribute("aria-label", field.label);
    return input;
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
    close(line);
    if (line.row === null || line.isLost) drop(line);
    else mark(line, !line.isRemoved);
    changedHere();
    if (!hadFocus) return;
    const next = all[all.includes(line) ? at + 1 : at] ?? all.at(-1);
    if (next) focusIn(next);
    else adding.focus();
  }

  /** @param {Line} line */
  function drop(line) {
    line.element.remove();
    all.splice(all.indexOf(line), 1);
  }

  /** @param {Line} line @param {boolean} isRemoved */
  function mark(line, isRemoved) {
    line.isRemoved = isRemoved;
    line.element.classList.toggle("removed", isRemoved);
  }

  /** @param {Line} line */
  function append(line) {
    all.push(line);
    body.append(line.element);
    return line;
  }

  function add() {
    const line = append(lineOf(null));
    changedHere();
    return line;
  }

  /** Begins with the first field that has no value yet. @param {{ isOffered: boolean }} how */
  function addAndFocus({ isOffered }) {
    const line = Object.assign(add(), { isOffered });
    const [name] = [...line.inputs].find(([, input]) => input.text() === "") ?? [];
    setTimeout(() => focusIn(line, name));
  }

  const isUntouched = (/** @type {Line} */ line) => line.isOffered && line.changed().length === 0;
  const keyOf = (/** @type {Row} */ row) =>
    Object.fromEntries(
      lines.key
        .filter((name) => name !== lines.foreignKey || lines.key.length === 1)
        .map((name) => [name, row[name]]),
    );
  const added = () => all.filter((line) => line.row === null && !isUntouched(line));
  const kept = () => all.filter(({ row, isRemoved }) => row !== null && !isRemoved);
  const changed = () => kept().filter((line) => line.changed().length > 0);
  const removed = () => all.filter(({ isRemoved }) => isRemoved);
  const isChanged = () => added().length + changed().length + removed().length > 0;
  const valuesOf = (/** @type {Line} */ { inputs }) =>
    Object.fromEntries(
      [...inputs]
        .map(([name, input]) => [name, input.value()])
        .filter(([, value]) => value !== undefined),
    );

  function changedHere() {
    showTotals();
    onInput();
  }

  const showTotals = () =>
    totals.show([...kept(), ...added()], {
      touched: new Set([...added(), ...changed()]),
      isChanged: isChanged(),
    });

  const idIn = (/** @type {Row} */ row) =>
    (lines.key.length > 0 && idOf(lines, row)) || jsonText(row);

  /** @param {Line} line */
  function close(line) {
    line.question?.remove();
    line.question = null;
  }

  /** @param {Line} line @param {any} text @param {{ mine: () => void, theirs: () => void }} choice */
  function ask(line, text, { mine, theirs }) {
    close(line);
    const chosen = (/** @type {() => void} */ act) => () => {
      close(line);
      act();
      changedHere();
    };
    line.question = questionOf(text, { mine: chosen(mine), theirs: chosen(theirs) });
    line.element.firstElementChild?.append(/** @type {HTMLElement} */ (line.question));
  }

  /** Others changed the line. @param {Line & { row: Row }} line @param {Row} row @param {string} by */
  function update(line, row, by) {
    if (line.isLost) close(line);
    line.isLost = false;
    if (jsonText(line.row) === jsonText(row)) return;
    line.edited.renew(line.row, row, by);
    line.row = row;
    for (const [name, cell] of line.cells)
      fill(cell, cellOf(row[name], fieldNamed(lines.fields, name), entity));
    if (line.isRemoved) ask(line, by, { mine() {}, theirs: () => mark(line, false) });
  }

  /** Others deleted the line. What was typed in it can become a new line. @param {Line} line */
  function lose(line) {
    if (line.isRemoved || line.changed().length === 0) return drop(line);
    line.isLost = true;
    ask(line, t("lines.deleted"), {
      mine() {
        const other = lineOf(null, { ...line.row, ...valuesOf(line) });
        line.element.replaceWith(other.element);
        all.splice(all.indexOf(line), 1, other);
      },
      theirs: () => drop(line),
    });
  }

  /**
   * Takes what others changed. A line that was typed in keeps what was typed.
   * @param {Row} stored the header @param {Row[]} fresh its lines @param {(row: Row) => string} byOf who changed a record
   */
  function renew(stored, fresh, byOf) {
    const active = /** @type {HTMLElement | null} */ (document.activeElement);
    const known = new Map(all.flatMap((line) => (line.row ? [[idIn(line.row), line]] : [])));
    const shown = fresh.map((row) => {
      const id = idIn(row);
      const line = known.get(id);
      known.delete(id);
      if (line) update(/** @type {any} */ (line), row, byOf(row));
      const added = line ?? lineOf(row);
      if (!line) added.element.firstElementChild?.append(toldNote(byOf(row)));
      return added;
    });
    for (const line of known.values()) lose(line);
    // In the order of the service; what is not stored follows.
    all.splice(0, all.length, ...shown, ...all.filter((line) => !shown.includes(line)));
    for (const [at, { element: row }] of all.entries())
      if (body.children[at] !== row) body.insertBefore(row, body.children[at] ?? null);
    // A line that is moved loses the focus.
    if (active?.isConnected && active !== document.activeElement) active.focus();
    totals.renew(stored, fresh);
    showTotals();
  }

  attachLineKeys(body, {
    lines: () => all,
    begin() {
      const last = all.at(-1);
      if (!last || !isUntouched(last)) addAndFocus({ isOffered: true });
    },
    remove,
  });
  const adding = iconButton("plus", t("lines.add"), {
    onclick: () => addAndFocus({ isOffered: false }),
  });
  const table = h(
    "table.plain.lines",
    { "aria-label": t("lines") },
    h(
      "thead",
      h(
        "tr",
        columns.map((field) =>
          h("th", { scope: "col", class: isNumber(field) ? "number" : "" }, field.label),
        ),
        canEdit && h("th", h("span.unseen", t("remove"))),
      ),
    ),
    body,
  );
  for (const row of rows) append(lineOf(row));
  totals.renew(record, rows);
  showTotals();
  const element = h(
    "div",
    h("div.lines-head", h("h2", t("lines")), h("span.grow"), canEdit && adding),
    h("div.table-holder", { tabindex: "0", role: "region", "aria-label": t("lines") }, table),
    totals.element,
    canEdit && h("p.lines-keys", t("lines.keys")),
  );

  return {
    name: lines.name,
    element,
    add,
    renew,
    isChanged,
    /** Of a new document. */
    list: () => added().map(valuesOf),
    /** As update-composite takes them; only what there is. */
    operations() {
      const insert = added().map(valuesOf);
      const update = changed().map((line) => ({
        ...keyOf(/** @type {Row} */ (line.row)),
        ...Object.fromEntries(
          line.changed().map((name) => [name, line.inputs.get(name)?.value() ?? null]),
        ),
      }));
      const gone = removed().map(({ row }) => keyOf(/** @type {Row} */ (row)));
      return {
        ...(insert.length > 0 && { insert }),
        ...(update.length > 0 && { update }),
        ...(gone.length > 0 && { delete: gone }),
      };
    },
    fields: () => all.flatMap(({ inputs }) => [...inputs.values()]),
    /** Whether all entered values can be sent; faults and questions stand beside their inputs. */
    check() {
      const sent = [...added(), ...changed()].flatMap(({ inputs }) => [...inputs.values()]);
      for (const input of sent) input.showFaults([input.fault()].filter(Boolean));
      const wrong = sent.filter((input) => input.fault() !== "");
      const [question] = [
        ...all.flatMap((line) => line.question ?? []),
        ...changed().flatMap((line) => line.edited.question() ?? []),
      ];
      question?.querySelector("button")?.focus();
      wrong[0]?.focus();
      return wrong.length === 0 && !question;
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
