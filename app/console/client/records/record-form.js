/** A form for one record: a field for each member of the action's body, and the changed values. */
import { cellOf } from "../cells.js";
import { h } from "../dom.js";
import { formField } from "../form-field.js";
import { fieldNamed } from "../model.js";
import { editedFields } from "./edited-fields.js";

/** @import { Entity, Field, Row, Schema } from "../types.d.ts" */

/**
 * @typedef {object} FormOptions
 * @property {Schema} schema of the body, or of the part of it that the form is for
 * @property {Map<string, Field>} fields
 * @property {Pick<Entity, "project" | "deref" | "status" | "path" | "key">} entity
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
    return formField(fieldNamed(fields, name), {
      entity,
      schema: part,
      isNeeded: needed.has(name),
      value: stored ? stored[name] : part.default,
      files: { path: entity.path, key: entity.key, row: stored },
      onInput,
    });
  }

  const edited = editedFields({
    names: editableNames(schema, entity, without),
    row,
    make: inputFor,
    part: "element",
    show: (name, stored) => cellOf(stored[name], fieldNamed(fields, name), entity, { whole: true }),
    onChoice: onInput,
  });
  const { inputs } = edited;

  /** @param {Record<string, string[]>} errors @returns {[string, string[]][]} */
  function showFaults(errors) {
    const rest = new Map(Object.entries(errors));
    let isFocused = false;
    for (const input of inputs.values()) {
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
      [...inputs.values()].map(({ element }) => element),
    ),
    isChanged: () => edited.changed().length > 0,
    renew: edited.renew,
    /** The values of a new record, without empty fields. */
    all: () =>
      Object.fromEntries(
        [...inputs]
          .map(([name, input]) => [name, input.value()])
          .filter(([, value]) => value !== undefined),
      ),
    /** The changed values; an emptied field is null. @returns {Row} */
    changes: () =>
      Object.fromEntries(edited.changed().map((name) => [name, inputs.get(name)?.value() ?? null])),
    /** Whether all entered values can be sent; faults and questions stand beside their fields. */
    check() {
      const faults = edited.changed().map((name) => [name, inputs.get(name)?.fault() ?? ""]);
      const wrong = faults.filter(([, fault]) => fault !== "");
      const question = edited.question();
      question?.querySelector("button")?.focus();
      showFaults(Object.fromEntries(wrong.map(([name, fault]) => [name, [fault]])));
      return wrong.length === 0 && !question;
    },
    /** Shows the messages beside their fields; returns those without a field. */
    showFaults,
    fields: () => [...inputs.values()],
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
