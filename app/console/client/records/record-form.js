/** A form for one record: a field for each member of the action's body, and the changed values. */
import { h } from "../dom.js";
import { formField } from "../form-field.js";
import { fieldOf } from "../model.js";

/** @typedef {import("../types.d.ts").Entity} Entity */
/** @typedef {import("../types.d.ts").Field} Field */
/** @typedef {import("../types.d.ts").Row} Row */
/** @typedef {import("../types.d.ts").Schema} Schema */

/**
 * @typedef {object} FormOptions
 * @property {Schema} schema of the body, or of the part of it that the form is for
 * @property {Map<string, Field>} fields
 * @property {Pick<Entity, "project" | "deref">} entity
 * @property {Row | null} row null: a new record
 * @property {readonly string[]} [needed] names of fields that must not be empty, beside those that the schema requires
 * @property {readonly string[]} without names of fields that have another place
 * @property {() => void} onInput
 */

/** @typedef {ReturnType<typeof recordForm>} RecordForm */

/** @param {FormOptions} options */
export function recordForm({ schema, fields, entity, row, needed: more = [], without, onInput }) {
  const needed = new Set([...(schema.required ?? []), ...more]);
  /** @param {string} name @param {Row | null} stored */
  function inputFor(name, stored) {
    const part = entity.deref(schema.properties?.[name]);
    const field = fields.get(name) ?? fieldOf(name, { type: "text" });
    return formField(field, {
      entity,
      schema: part,
      isNeeded: needed.has(name),
      value: stored ? stored[name] : part.default,
      onInput,
    });
  }

  const inputs = editableNames(schema, entity, without).map((name) => inputFor(name, row));
  const first = new Map(inputs.map((input) => [input.name, input.text()]));
  const isChanged = (/** @type {import("../form-field.js").FormField} */ input) =>
    input.text() !== first.get(input.name);

  /** @param {Record<string, string[]>} errors @returns {[string, string[]][]} */
  function showFaults(errors) {
    const rest = new Map(Object.entries(errors));
    let isFocused = false;
    for (const input of inputs) {
      const messages = rest.get(input.name) ?? [];
      rest.delete(input.name);
      input.showFaults(messages);
      if (messages.length > 0 && !isFocused) input.focus();
      isFocused ||= messages.length > 0;
    }
    return [...rest];
  }

  return {
    inputs,
    element: h(
      "div.fields",
      null,
      inputs.map(({ element }) => element),
    ),
    isChanged: () => inputs.some(isChanged),
    /** After these fields were changed elsewhere: what is typed here stays. @param {readonly string[]} names @param {Row} stored */
    renew(names, stored) {
      for (const [at, input] of inputs.entries()) {
        if (!names.includes(input.name)) continue;
        const other = inputFor(input.name, stored);
        if (!isChanged(input)) {
          input.element.replaceWith(other.element);
          inputs[at] = other;
        }
        first.set(input.name, other.text());
      }
    },
    /** The values of a new record, without empty fields. */
    all: () =>
      Object.fromEntries(
        inputs
          .map((input) => [input.name, input.value()])
          .filter(([, value]) => value !== undefined),
      ),
    /** The changed values; an emptied field is null. @returns {Row} */
    changes: () =>
      Object.fromEntries(
        inputs.filter(isChanged).map((input) => [input.name, input.value() ?? null]),
      ),
    /** Whether all entered values can be sent; faults are shown beside their fields. */
    check() {
      const faults = inputs.filter(isChanged).map((input) => [input.name, input.fault()]);
      const wrong = faults.filter(([, fault]) => fault !== "");
      showFaults(Object.fromEntries(wrong.map(([name, fault]) => [name, [fault]])));
      return wrong.length === 0;
    },
    /** Shows the messages beside their fields; returns those without a field. */
    showFaults,
  };
}

/** The names of the members of a body that people can change. @param {Schema} schema @param {Pick<Entity, "deref">} entity @param {readonly string[]} without */
export function editableNames({ properties = {} }, entity, without) {
  return Object.keys(properties).filter(
    (name) =>
      !without.includes(name) &&
      !/^(created|updated|deleted)_by$/.test(name) &&
      entity.deref(properties[name]).readOnly !== true,
  );
}
