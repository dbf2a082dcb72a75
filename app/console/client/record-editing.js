/** What forms for new and for stored records share: the part of a body that they fill in, where faults go, and leaving without saving. */
import { ApiError } from "./api.js";
import { fill } from "./dom.js";

/** @typedef {import("./types.d.ts").Entity} Entity */

/** What of a body is the record itself, and what its lines are. @param {Entity} entity @param {"create" | "update"} kind */
export function bodyOf(entity, kind) {
  const composite = `${kind}-composite`;
  const isDocument = entity.lines.length > 0 && entity.actions.has(composite);
  const action = isDocument ? composite : entity.actions.has(kind) ? kind : null;
  if (action === null) return null;
  const body = entity.body(action) ?? {};
  // A document stands under the name of its table.
  const [member = null] = isDocument ? Object.keys(body.properties ?? {}) : [];
  const schema = member === null ? body : entity.deref(body.properties?.[member]);
  return { action, member, schema };
}

/** The schema of a new line. @param {Entity} entity @param {string} name */
export function lineSchema(entity, name) {
  const body = bodyOf(entity, "update") ?? bodyOf(entity, "create");
  const list = entity.deref(body?.schema.properties?.[name]);
  const inserted = entity.deref(list.properties?.["insert"] ?? list);
  return entity.deref(inserted.items);
}

/**
 * @param {unknown} error
 * @param {{ form: import("./record-form.js").RecordForm, lines: ReturnType<typeof import("./document-lines.js").documentLines>[], fault: HTMLElement }} place
 */
export function showFaults(error, { form, lines, fault }) {
  const errors = error instanceof ApiError ? error.errors : {};
  let rest = form.showFaults(errors);
  for (const one of lines) rest = one.showFaults(rest);
  const hasFields = Object.keys(errors).length > 0;
  const lock =
    error instanceof ApiError && error.data?.locked_by
      ? ` ${error.data.locked_by} holds it for ${error.data.ttl_remaining} more seconds.`
      : "";
  const message = error instanceof Error ? error.message : String(error);
  fault.hidden = hasFields && rest.length === 0;
  fill(
    fault,
    hasFields ? "Some fields need another look." : message + lock,
    rest.map(([name, messages]) => ` ${name}: ${messages.join(", ")}.`),
  );
}

/** Asks before changes are lost. @param {() => boolean} isTouched */
export function guard(isTouched) {
  const warn = (/** @type {Event} */ event) => isTouched() && event.preventDefault();
  addEventListener("beforeunload", warn);
  return () => {
    if (isTouched() && !confirm("Leave without saving?")) return false;
    removeEventListener("beforeunload", warn);
    return true;
  };
}
