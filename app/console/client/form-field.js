/** One field of a form: the input that fits its schema, its label, its fault, and the value that goes into a request. */
import { h, fill } from "./dom.js";
import { isNumber, labelText } from "./format.js";
import { remoteChoice } from "./remote-choice.js";

/** @typedef {import("./types.d.ts").Entity} Entity */
/** @typedef {import("./types.d.ts").Field} Field */
/** @typedef {import("./types.d.ts").Schema} Schema */

/**
 * @typedef {object} FormField
 * @property {string} name
 * @property {HTMLElement} element label, input and fault
 * @property {HTMLElement} control the input alone, with its fault
 * @property {() => unknown} value as a request has it; undefined: nothing was entered
 * @property {() => string} text as it stands in the input
 * @property {(messages: readonly string[]) => void} showFaults
 * @property {() => void} focus
 */

/**
 * @typedef {object} FieldOptions
 * @property {Pick<Entity, "project" | "deref">} entity
 * @property {Schema} schema
 * @property {boolean} isNeeded
 * @property {unknown} value
 * @property {string} [fallback] the label of a reference that the lookup does not have
 * @property {() => void} onInput
 */

/** Longer texts get several lines. */
const lineLengthMax = 160;
let count = 0;

/** @param {Field} field @param {FieldOptions} options @returns {FormField} */
export function formField(field, options) {
  const { entity, isNeeded, value, fallback, onInput } = options;
  const schema = entity.deref(options.schema);
  const id = `field-${++count}`;
  const fault = h("p.fault-text", { id: `${id}-fault`, role: "alert" });
  const kind = kindOf(field, schema);
  const input = inputOf(kind, { field, schema, isNeeded, value });
  for (const [name, text] of Object.entries({ id, name: field.name, "aria-describedby": fault.id }))
    input.setAttribute(name, text);
  if (isNeeded) input.setAttribute("aria-required", "true");
  input.addEventListener("input", changed);
  input.addEventListener("change", changed);
  // A drop-down over a lookup has its options later than its value.
  let chosen = textFor(kind, value);
  if (kind === "reference" && field.references) {
    const { references: reference } = field;
    setTimeout(() =>
      remoteChoice(input, {
        project: entity.project,
        reference,
        value: chosen,
        fallback: fallback ?? "",
        onChange(id) {
          chosen = id;
          changed();
        },
      }),
    );
  }

  function changed() {
    showFaults([]);
    onInput();
  }

  /** @param {readonly string[]} messages */
  function showFaults(messages) {
    fill(fault, messages.map((message) => sentence(message)).join(" "));
    input.setAttribute("aria-invalid", String(messages.length > 0));
  }

  const control = h("div", null, input, fault);
  const isBroad = kind === "long" || kind === "json";
  const label = h(
    "label",
    { for: id },
    field.label,
    isNeeded && h("span.needed", { "aria-hidden": "true" }, " *"),
  );
  return {
    name: field.name,
    element: h(`div.field${isBroad ? ".broad" : ""}`, { "data-field": field.name }, label, control),
    control,
    text: () =>
      kind === "reference" ? chosen : kind === "flag" ? String(input.checked) : input.value,
    value: () =>
      kind === "reference" ? chosen || undefined : valueOf(kind, input, { field, schema }),
    showFaults,
    focus: () => (input.tomselect ?? input).focus(),
  };
}

/** @typedef {"reference" | "choice" | "flag" | "maybe" | "date" | "moment" | "time" | "number" | "json" | "long" | "line"} Kind */

/** @param {Field} field @param {Schema} schema @returns {Kind} */
function kindOf(field, schema) {
  const takesNull = typesOf(schema).includes("null");
  if (field.references) return "reference";
  if (field.type === "boolean") return takesNull ? "maybe" : "flag";
  if (schema.enum?.some((one) => typeof one === "string")) return "choice";
  if (field.type === "date") return "date";
  if (field.type === "timestamp") return "moment";
  if (field.type === "time" && !schema.pattern?.includes("838")) return "time";
  if (isNumber(field)) return "number";
  if (field.type === "json" || field.type === "array") return "json";
  const isLong = field.type === "text" && (schema.maxLength ?? Infinity) > lineLengthMax;
  return isLong && !schema.pattern && !schema.format && !isShortName(field.name) ? "long" : "line";
}

/** Texts without a limit are often short all the same. @param {string} name */
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
    // A stored value that the rules no longer allow is shown all the same.
    const all = text === "" || values.includes(text) ? values : [text, ...values];
    return h(
      "select",
      null,
      (!isNeeded || text === "") && h("option", { value: "" }, ""),
      all.map((one) => h("option", { value: one, selected: one === text }, labelText(String(one)))),
    );
  }
  if (kind === "flag") return h("input", { type: "checkbox", checked: value === true });
  if (kind === "maybe")
    return h(
      "select",
      null,
      [
        ["", ""],
        ["true", "Yes"],
        ["false", "No"],
      ].map(([one, shown]) => h("option", { value: one, selected: one === text }, shown)),
    );
  if (kind === "json") return h("textarea.code", { rows: "4", value: text, spellcheck: "false" });
  if (kind === "long")
    return h("textarea", { rows: "3", value: text, dir: "auto", maxlength: schema.maxLength });
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
  const type = schema.format === "email" ? "email" : "text";
  return h("input", {
    type,
    dir: "auto",
    autocomplete: "off",
    maxlength: schema.maxLength,
    value: text,
  });
}

/** A stored value as the input has it. @param {Kind} kind @param {unknown} value @param {number} [scale] @returns {string} */
function textFor(kind, value, scale = 0) {
  if (value === null || value === undefined) return "";
  if (kind === "json") return JSON.stringify(value, null, 2);
  if (kind === "number" && typeof value === "number") return withScale(value, scale);
  if (kind === "moment") return localMoment(String(value));
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** With as many decimals as the column has: prices as `12.50`. @param {number} value @param {number} scale */
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

/** @param {Kind} kind @param {any} input @param {{ field: Field, schema: Schema }} place @returns {unknown} */
function valueOf(kind, input, { schema }) {
  if (kind === "flag") return input.checked;
  const text = input.value;
  if (text === "") return undefined;
  if (kind === "maybe") return text === "true";
  if (kind === "moment") return new Date(text).toISOString();
  if (kind === "json") {
    try {
      return JSON.parse(text);
    } catch {
      return text;
    }
  }
  if (kind !== "number") return text;
  const number = text.trim().replace(/^(-?\d+),(\d+)$/, "$1.$2");
  // A text keeps digits that a number would lose.
  if (typesOf(schema).includes("string")) return number;
  return Number.isNaN(Number(number)) ? text : Number(number);
}

/** @param {string} message */
const sentence = (message) => {
  const text = message.charAt(0).toUpperCase() + message.slice(1);
  return /[.!?]$/.test(text) ? text : `${text}.`;
};
