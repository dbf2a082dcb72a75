/** Common to forms of new and stored records: their part of a body, the place of faults, and leaving without saving. */
import { ApiError } from "../api.js";
import { fill } from "../dom.js";
import { sentence } from "../format.js";
import { fieldNamed } from "../model.js";
import { t } from "../words.js";

/** @import { Entity } from "../types.d.ts" */

/** The part of a request body that is the record itself. @param {Entity} entity @param {"create" | "update"} kind */
export function bodyOf(entity, kind) {
  const composite = `${kind}-composite`;
  const isDocument = entity.lines.length > 0 && entity.actions.has(composite);
  const action = isDocument ? composite : entity.actions.has(kind) ? kind : null;
  if (action === null) return null;
  const body = entity.body(action) ?? {};
  // In a composite body, the record is the member with the name of its table.
  const [member = null] = isDocument ? Object.keys(body.properties ?? {}) : [];
  const schema = member === null ? body : entity.deref(body.properties?.[member]);
  return { action, member, schema };
}

/** Whether the status of the record keeps it from being changed. @param {Pick<Entity, "status">} entity @param {import("../types.d.ts").Row} row */
export const isClosed = ({ status }, row) =>
  status?.closed?.includes(String(row[status.field])) ?? false;

/** The schema of a new line. @param {Entity} entity @param {string} name */
export function lineSchema(entity, name) {
  const body = bodyOf(entity, "update") ?? bodyOf(entity, "create");
  const list = entity.deref(body?.schema.properties?.[name]);
  const inserted = entity.deref(list.properties?.["insert"] ?? list);
  return entity.deref(inserted.items);
}

/**
 * The columns that people read and enter: without generated keys and audit columns, and without values that a query
 * adds of another record, which its drop-down shows.
 * @param {import("../types.d.ts").Lines} lines @param {string[]} properties
 * @param {{ isEditable: (name: string) => boolean, needed: ReadonlySet<string> }} about
 */
export function lineColumns(
  { shown, fields, key, foreignKey },
  properties,
  { isEditable, needed },
) {
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

/** @typedef {{ form: import("./record-form.js").RecordForm, lines: ReturnType<typeof import("./document-lines.js").documentLines>[], fault: HTMLElement }} EditingPlace */

/** @param {Pick<EditingPlace, "form" | "lines">} place */
const fieldsOf = ({ form, lines }) => [form, ...lines].flatMap((part) => part.fields());

/** Whether a form and its lines can be sent, once their files have arrived; shows what cannot be read. @param {EditingPlace} place */
export async function isReadable({ form, lines, fault }) {
  const arrived = await Promise.all(fieldsOf({ form, lines }).map((field) => field.arrived()));
  // A file that failed says so beside its field, which must not be cleared. People may have left meanwhile.
  const isRight =
    arrived.every(Boolean) &&
    form.element.isConnected &&
    // In reverse order, so that the first wrong field has the focus at the end.
    [...lines.toReversed(), form].map((part) => part.check()).every(Boolean);
  fault.hidden = isRight;
  fill(fault, isRight ? "" : someFields);
  return isRight;
}

const someFields = t("form.notSent");

/** @param {unknown} error @param {EditingPlace} place */
export function showFaults(error, { form, lines, fault }) {
  const errors = error instanceof ApiError ? error.errors : {};
  let rest = form.showFaults(errors);
  for (const one of lines) rest = one.showFaults(rest);
  const removed = (error instanceof ApiError && error.data?.removed_files) || [];
  for (const field of fieldsOf({ form, lines })) field.dropFiles(removed);
  const hasFields = Object.keys(errors).length > 0;
  const message = error instanceof Error ? error.message : String(error);
  fault.hidden = hasFields && rest.length === 0;
  fill(
    fault,
    hasFields ? t("form.refused") : message,
    rest.map(([name, messages]) => ` ${sentence(`${name}: ${messages.join(", ")}`)}`),
  );
}

/**
 * Lets nothing be typed into the element until the work is done, because its answer takes the place of what is there.
 * @template T @param {HTMLElement} element @param {() => Promise<T>} work @returns {Promise<T>}
 */
export async function withoutInput(element, work) {
  const focused = /** @type {HTMLElement | null} */ (document.activeElement);
  element.inert = true;
  try {
    return await work();
  } finally {
    element.inert = false;
    if (document.activeElement === document.body) focused?.focus();
  }
}

/** Of the forms and lists that are open. @type {Set<() => boolean>} */
const guarded = new Set();

/** Whether the page has changes that are not saved. */
export const hasUnsaved = () => [...guarded].some((isTouched) => isTouched());

/** Asks before changes are lost. @param {() => boolean} isTouched */
export function guard(isTouched) {
  const warn = (/** @type {Event} */ event) => isTouched() && event.preventDefault();
  addEventListener("beforeunload", warn);
  guarded.add(isTouched);
  return () => {
    if (isTouched() && !confirm(t("form.leave"))) return false;
    removeEventListener("beforeunload", warn);
    guarded.delete(isTouched);
    return true;
  };
}

/** Control and Enter sends a form from each of its fields. @param {KeyboardEvent} event */
export function sendByKeys(event) {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  /** @type {HTMLFormElement} */ (event.currentTarget).requestSubmit();
}
