/** The parameters of an endpoint whose own SQL takes values: their inputs, their place in the address and in requests. */
import { ApiError } from "./api.js";
import { h } from "./dom.js";
import { formField } from "./form-field.js";
import { sentence } from "./format.js";
import { exactNumber } from "./json.js";
import { fieldOf } from "./model.js";
import { t } from "./words.js";

/** @import { Entity, Schema } from "./types.d.ts" */
/** Texts as the address has them, by parameter. @typedef {Map<string, string>} Params */

const actions = ["datatables", "read", "aggregate", "export", "first"];
/** Shorter than a text that gets several lines. */
const lengthMax = 100;

/** The schemas of the parameters that requests can send, and the names of the required ones. @param {Entity} entity */
function described(entity) {
  /** @type {Map<string, Schema>} */
  const schemas = new Map();
  const needed = new Set();
  for (const action of actions) {
    const { properties = {}, required = [] } = entity.deref(
      entity.body(action)?.properties?.["params"],
    );
    for (const [name, schema] of Object.entries(properties))
      schemas.set(name, entity.deref(schema));
    for (const name of required) needed.add(name);
  }
  return { schemas, needed };
}

/** @param {Schema} schema */
const typesIn = ({ type, anyOf = [] }) => [type ?? [], anyOf.map((one) => one.type ?? [])].flat(2);

const byFormat = { date: "date", "date-time": "timestamp", time: "time", uuid: "uuid" };

/** The type that a field with this schema would have. @param {Schema} schema */
function typeOf(schema) {
  const formats = [schema.format, ...(schema.anyOf ?? []).map(({ format }) => format)];
  const format = formats.find((one) => one !== undefined && one in byFormat);
  const types = typesIn(schema);
  if (format) return byFormat[/** @type {"date"} */ (format)];
  if (types.includes("boolean")) return "boolean";
  if (types.includes("integer")) return "integer";
  return types.includes("number") ? "decimal" : "text";
}

/** @param {Entity} entity @param {URLSearchParams} query @returns {Params} */
export const readParams = (entity, query) =>
  new Map(
    [...described(entity).schemas.keys()].flatMap((name) => {
      const text = query.get(`p.${name}`) ?? "";
      return text === "" ? [] : [[name, text]];
    }),
  );

/** As the address has them. @param {Params} params */
export const paramQuery = (params) =>
  new URLSearchParams([...params].map(([name, text]) => [`p.${name}`, text]));

/** The member of a request that has them. @param {Entity} entity @param {Params} params @returns {{ params?: Record<string, unknown> }} */
export function paramsIn(entity, params) {
  if (params.size === 0) return {};
  const { schemas } = described(entity);
  const valueOf = (/** @type {string} */ name, /** @type {string} */ text) => {
    const type = typeOf(schemas.get(name) ?? {});
    if (type === "boolean") return text === "true";
    const isNumber = (type === "integer" || type === "decimal") && /^-?\d+(\.\d+)?$/.test(text);
    return isNumber ? exactNumber(text) : text;
  };
  const values = [...params].map(([name, text]) => [name, valueOf(name, text)]);
  return { params: Object.fromEntries(values) };
}

/**
 * Their inputs; null: the endpoint takes none.
 * @param {Entity} entity @param {Params} params to begin with @param {((params: Params) => void) | null} onShow is called with those that are entered; null: there is no button
 */
export function paramsForm(entity, params, onShow) {
  const { schemas, needed } = described(entity);
  if (schemas.size === 0) return null;
  const inputs = [...schemas].map(([name, schema]) =>
    formField(fieldOf(name, { type: typeOf(schema) }), {
      entity,
      schema: { ...schema, maxLength: Math.min(schema.maxLength ?? lengthMax, lengthMax) },
      isNeeded: needed.has(name),
      value: params.has(name) ? startOf(entity, params, name) : (schema.default ?? null),
      onInput: () => {},
    }),
  );

  /** Null: some are missing or wrong, which their inputs say. @returns {Params | null} */
  function entered() {
    let isRight = true;
    /** @type {Params} */
    const texts = new Map();
    for (const input of inputs.toReversed()) {
      const value = input.value() ?? null;
      const isMissing = needed.has(input.name) && value === null;
      const fault = input.fault() || (isMissing ? t("params.missing") : "");
      input.showFaults([fault].filter(Boolean));
      if (fault !== "") input.focus();
      if (fault !== "") isRight = false;
      else if (value !== null) texts.set(input.name, String(value));
    }
    return isRight ? texts : null;
  }

  /** @param {Event} event */
  function submit(event) {
    event.preventDefault();
    const texts = entered();
    if (texts) onShow?.(texts);
  }

  const fields = inputs.map(({ element }) => element);
  return {
    element:
      onShow === null
        ? h("div.params", { role: "group", "aria-label": t("params") }, fields)
        : h(
            "form.params",
            { "aria-label": t("params"), novalidate: true, onsubmit: submit },
            fields,
            h("button.button", { type: "submit" }, t("params.show")),
          ),
    entered,
    /** Whether a required one has neither a value nor a default. @param {Params} texts */
    isMissing: (texts) =>
      [...needed].some((name) => !texts.has(name) && (schemas.get(name)?.default ?? null) === null),
    /** Shows messages such as those of `params.from` at the inputs; false: there are others. @param {unknown} error */
    showFaults(error) {
      const errors = error instanceof ApiError ? error.errors : {};
      const messages = (/** @type {string} */ name) => errors[`params.${name}`] ?? [];
      for (const input of inputs) input.showFaults(messages(input.name).map(sentence));
      const own = inputs.filter(({ name }) => messages(name).length > 0);
      return own.length > 0 && own.length === Object.keys(errors).length;
    },
  };
}

/** @param {Entity} entity @param {Params} params @param {string} name */
const startOf = (entity, params, name) => paramsIn(entity, params).params?.[name];
