/** One field of a form: an input according to its schema, its label, its fault, and its value for a request. */
import { sizeText } from "./bytes.js";
import { webAddress } from "./cells.js";
import { h, fill } from "./dom.js";
import { fileChoice, openLink, toolsOf } from "./field-parts.js";
import { isNumber, labelText, sentence } from "./format.js";
import { exactNumber, jsonFault, jsonText, parseJson } from "./json.js";
import { numberFault, readNumber, writeNumber } from "./numbers.js";
import { filesChoice } from "./record-files.js";
import { focusChoice, remoteChoice } from "./remote-choice.js";
import { t } from "./words.js";

/** @import { Entity, Field, Schema } from "./types.d.ts" */

/**
 * @typedef {object} FormField
 * @property {string} name
 * @property {HTMLElement} element label, input and fault
 * @property {HTMLElement} control the input alone, with its fault
 * @property {() => unknown} value as a request has it; undefined: nothing was entered, or nothing that `fault` lets pass
 * @property {() => string} fault why the input has no value that could be sent; empty: it has one
 * @property {() => string} text as it stands in the input
 * @property {(messages: readonly string[]) => void} showFaults
 * @property {() => Promise<boolean>} arrived once no file is being uploaded; false: the last one failed
 * @property {(ids: readonly string[]) => void} dropFiles takes out files that the service has removed
 * @property {(isQuiet?: boolean) => void} focus quiet: a drop-down does not open
 */

/**
 * @typedef {object} FieldOptions
 * @property {Pick<Entity, "project" | "deref">} entity
 * @property {Schema} schema
 * @property {boolean} isNeeded
 * @property {unknown} value
 * @property {import("./record-files.js").FilesPlace | null} [files] where files are uploaded
 * @property {string} [fallback] the label of a reference that the lookup does not have
 * @property {() => void} onInput
 */

/** Longer texts get several lines. */
const lineLengthMax = 160;
/** After the last letter. */
const checkPauseMs = 500;
let count = 0;

/** @param {Field} field @param {FieldOptions} options @returns {FormField} */
export function formField(field, options) {
  const { entity, isNeeded, value, fallback, onInput, files = null } = options;
  const schema = entity.deref(options.schema);
  const id = `field-${++count}`;
  const fault = h("p.fault-text", { id: `${id}-fault`, role: "alert" });
  let kind = kindOf(field, schema);
  let input = inputOf(kind, { field, schema, isNeeded, value });
  if (!isShown(kind, input, value)) {
    kind = kind === "line" ? "long" : "line";
    input = inputOf(kind, { field, schema, isNeeded, value });
  }
  for (const [name, text] of Object.entries({ id, name: field.name, "aria-describedby": fault.id }))
    input.setAttribute(name, text);
  // An input without a value is blank too.
  if (value === "" && (kind === "line" || kind === "long")) input.placeholder = t("empty");
  if (isNeeded) input.setAttribute("aria-required", "true");
  input.addEventListener("input", changed);
  input.addEventListener("change", () => {
    changed();
    const { fault: text } = read();
    if (text !== undefined) showFaults([text]);
  });
  // A drop-down over a lookup has its options later than its value; a file is read after it was chosen.
  let chosen = textFor(kind, value);
  let isQuiet = false;
  if (kind === "reference" && field.references) {
    const { references: reference } = field;
    setTimeout(async () => {
      const made = await remoteChoice(input, {
        project: entity.project,
        reference,
        value: chosen,
        fallback: fallback ?? "",
        onChange(id) {
          chosen = id;
          changed();
        },
      });
      if (made && document.activeElement === input) focusChoice(made, isQuiet);
    });
  }

  let timer = 0;
  function changed() {
    showFaults([]);
    onInput();
    if (kind !== "json") return;
    clearTimeout(timer);
    timer = setTimeout(() => input.isConnected && showFaults([read().fault ?? ""]), checkPauseMs);
  }

  /** @param {readonly string[]} messages */
  function showFaults(messages) {
    const shown = messages.filter(Boolean);
    fill(fault, shown.map((message) => sentence(message)).join(" "));
    input.setAttribute("aria-invalid", String(shown.length > 0));
  }

  const isChosen = kind === "reference" || kind === "bytes" || kind === "file";
  const text = () => (isChosen ? chosen : textIn(kind, input));
  const read = () => readText(kind, text(), { schema, value });

  const file =
    kind === "bytes" &&
    fileChoice(input, field, {
      start: chosen,
      onChange(base64) {
        chosen = base64;
        changed();
        const { fault: tooLarge } = read();
        if (tooLarge !== undefined) showFaults([tooLarge]);
      },
    });
  const uploads =
    kind === "file" &&
    filesChoice(input, field.name, {
      start: value,
      holdsMany: typesOf(schema).includes("array"),
      place: files,
      onChange(text) {
        chosen = text;
        changed();
      },
      onFault: (message) => showFaults([message]),
    });
  const address = kind === "line" || kind === "long" ? webAddress(value) : null;
  const control = h(
    "div",
    file || (uploads ? uploads.element : input),
    address && openLink(address),
    fault,
  );
  const broad = kind === "long" || kind === "json" ? kind : null;
  const label = h(
    "label",
    { for: id },
    field.label,
    isNeeded && h("span.needed", { "aria-hidden": "true" }, " *"),
  );
  return {
    name: field.name,
    element: h(
      `div.field${broad ? ".broad" : ""}`,
      { "data-field": field.name },
      label,
      control,
      broad && toolsOf(broad, input, { check: () => read().fault, changed, showFaults }),
    ),
    control,
    text,
    value: () => read().value,
    fault: () => read().fault ?? "",
    showFaults,
    arrived: async () => !uploads || uploads.arrived(),
    dropFiles(ids) {
      const gone = uploads ? uploads.drop(ids) : [];
      if (gone.length > 0)
        showFaults([t("files.again", { names: gone.map(({ name }) => name).join(", ") })]);
    },
    focus(quiet = false) {
      isQuiet = quiet;
      if (input.tomselect) focusChoice(input.tomselect, quiet);
      else input.focus();
    },
  };
}

/** @typedef {"reference" | "choice" | "flag" | "maybe" | "date" | "moment" | "time" | "number" | "json" | "bytes" | "file" | "long" | "line"} Kind */

/** The kind of input that a field has. @param {Field} field @param {Schema} schema @returns {Kind} */
export function kindOf(field, schema) {
  const takesNull = typesOf(schema).includes("null");
  if (field.references) return "reference";
  if (field.type === "boolean") return takesNull ? "maybe" : "flag";
  if (schema.enum?.some((one) => typeof one === "string")) return "choice";
  if (field.type === "date") return "date";
  if (field.type === "timestamp") return "moment";
  if (field.type === "time" && !schema.pattern?.includes("838")) return "time";
  if (isNumber(field)) return "number";
  if (field.type === "json" || field.type === "array") return "json";
  if (field.type === "bytes" || field.type === "file") return field.type;
  const isLong = field.type === "text" && (schema.maxLength ?? Infinity) > lineLengthMax;
  return isLong && !schema.pattern && !schema.format && !isShortName(field.name) ? "long" : "line";
}

/** Whether the name suggests a short text, although the schema has no limit. @param {string} name */
const isShortName = (name) => /(code|name|number|email|phone|url|city|title)$/i.test(name);

/** @param {Schema} schema */
const typesOf = ({ type, anyOf }) =>
  [type ?? [], (anyOf ?? []).map((one) => one.type ?? [])].flat(2);

/** @param {Kind} kind @param {{ field: Field, schema: Schema, isNeeded: boolean, value: unknown }} place @returns {any} */
function inputOf(kind, { field, schema, isNeeded, value }) {
  const text = textFor(kind, value, field.scale);
  if (kind === "reference") return h("select");
  if (kind === "choice") {
    const values = (schema.enum ?? []).filter((one) => typeof one === "string");
    // A stored value is shown even if the rules no longer allow it.
    const all = text === "" || values.includes(text) ? values : [text, ...values];
    return h(
      "select",
      (!isNeeded || text === "") && h("option", { value: "" }, ""),
      all.map((one) => h("option", { value: one, selected: one === text }, labelText(String(one)))),
    );
  }
  if (kind === "flag") return h("input", { type: "checkbox", checked: value === true });
  if (kind === "maybe")
    return h(
      "select",
      [
        ["", ""],
        ["true", t("yes")],
        ["false", t("no")],
      ].map(([one, shown]) => h("option", { value: one, selected: one === text }, shown)),
    );
  if (kind === "json") return h("textarea.code", { rows: "4", value: text, spellcheck: "false" });
  if (kind === "long") return h("textarea", { rows: "3", value: text, dir: "auto" });
  if (kind === "bytes" || kind === "file") return h("input", { type: "file" });
  if (kind === "date") return h("input", { type: "date", value: text });
  if (kind === "moment") return h("input", { type: "datetime-local", step: "1", value: text });
  if (kind === "time") return h("input", { type: "time", step: "1", value: text });
  if (kind === "number")
    return h("input", {
      type: "text",
      inputmode: field.type === "integer" ? "numeric" : "decimal",
      autocomplete: "off",
      value: text,
    });
  // Without `type` and `maxlength`, with which browsers silently change pasted text. The service reports values that do
  // not fit.
  return h("input", {
    type: "text",
    inputmode: schema.format === "email" ? "email" : null,
    dir: "auto",
    autocomplete: "off",
    value: text,
  });
}

/** A stored value as the text of its input. @param {Kind} kind @param {unknown} value @param {number} [scale] @returns {string} */
export function textFor(kind, value, scale = 0) {
  if (value === null || value === undefined) return "";
  if (kind === "json") return jsonText(value, 2);
  if (kind === "number")
    return writeNumber(typeof value === "number" ? withScale(value, scale) : String(value));
  if (kind === "moment") return localMoment(String(value));
  return typeof value === "object" ? jsonText(value) : String(value);
}

/** With the number of decimals of the column: prices as `12.50`. @param {number} value @param {number} scale */
function withScale(value, scale) {
  const text = scale > 0 && scale <= 8 ? value.toFixed(scale) : String(value);
  return Number(text) === value ? text : String(value);
}

/** In the browser's time zone, as its input for times has it. @param {string} iso */
function localMoment(iso) {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return "";
  const local = new Date(at.getTime() - at.getTimezoneOffset() * 60_000);
  return local.toISOString().replace(/(\.000)?Z$/, "");
}

/**
 * Whether the input shows the value unchanged. Browsers empty an input that cannot show its value, and remove line
 * breaks from a text; such a value is edited as plain text.
 * @param {Kind} kind @param {any} input @param {unknown} value
 */
function isShown(kind, input, value) {
  if (kind === "line") return input.value === textFor(kind, value);
  return !(kind in pickers) || input.value !== "" || textFor("line", value) === "";
}

const pickers = {
  date: t("fault.halfDate"),
  moment: t("fault.halfTime"),
  time: t("fault.halfTime"),
};

/** Stands for an incomplete date, for which the browser gives no text. */
const half = "\u0000";

/** @param {Kind} kind @param {any} input @returns {string} */
function textIn(kind, input) {
  if (kind === "flag") return String(input.checked);
  return input.validity.badInput ? half : input.value;
}

/**
 * The value or the fault of a text; neither if nothing was entered.
 * @param {Kind} kind @param {string} text @param {{ schema: Schema, value: unknown }} place `value`: the one before
 * @returns {{ value?: unknown, fault?: string }}
 */
export function readText(kind, text, { schema, value }) {
  if (kind === "flag" || kind === "maybe") return text === "" ? {} : { value: text === "true" };
  if (text === half) return { fault: pickers[/** @type {"date"} */ (kind)] };
  const isBlank = text === "" || ((kind === "json" || kind === "number") && text.trim() === "");
  if (isBlank) return {};
  if (kind === "moment") return { value: exactMoment(text, value) };
  if (kind === "file") return { value: parseJson(text) };
  if (kind === "json") return readJson(text);
  if (kind === "bytes" && text.length > (schema.maxLength ?? Infinity))
    return { fault: t("bytes.tooLarge", { size: sizeText(((schema.maxLength ?? 0) * 3) / 4) }) };
  if (kind === "number") {
    const number = readNumber(text);
    return number === null ? { fault: numberFault } : { value: exactNumber(number) };
  }
  // A reference to a numeric key, which rules can refuse as a text.
  const isNumber =
    kind === "reference" && /^-?\d+$/.test(text) && !typesOf(schema).includes("string");
  return { value: isNumber ? exactNumber(text) : text };
}

/** @param {string} text */
function readJson(text) {
  const found = jsonFault(text);
  if (found === null) return { value: parseJson(text) };
  const { line, column, need, sign } = found;
  const place = { line: String(line), column: String(column) };
  return { fault: t("fault.json", { ...place, reason: t(need, { sign }) }) };
}

/** Adds the hidden digits of the second from the value before, if the visible part is unchanged. @param {string} text @param {unknown} before */
function exactMoment(text, before) {
  const iso = new Date(text).toISOString();
  const [, shown = "", more = ""] = /(\.\d{3})(\d+)Z$/.exec(String(before)) ?? [];
  return more !== "" && iso.endsWith(`${shown}Z`) ? `${iso.slice(0, -1)}${more}Z` : iso;
}
