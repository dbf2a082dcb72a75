/** A new record, or a new document with its first line, in a form. */
import { crumb } from "../crumb.js";
import { post } from "../api.js";
import { documentLines } from "../records/document-lines.js";
import { fill, h } from "../dom.js";
import { loadEntity } from "../model.js";
import { tell } from "../notices.js";
import {
  bodyOf,
  guard,
  isReadable,
  lineSchema,
  sendByKeys,
  showFaults,
  withoutInput,
} from "../records/record-editing.js";
import { recordForm } from "../records/record-form.js";
import { addressOf, cameFrom, goBack, recordParts, replaceView } from "../router.js";
import { t, titled } from "../words.js";

/** @import { Entity } from "../types.d.ts" */

/** @type {import("../types.d.ts").View} */
export async function show(place, { parts, query }) {
  const [project = "", endpoint = ""] = parts;
  const entity = await loadEntity(project, endpoint);
  if (!entity) throw new Error(t("list.noRight"));
  return showNew(place, entity, Object.fromEntries(query));
}

/** @param {HTMLElement} place @param {Entity} entity @param {Record<string, string>} given values to begin with */
function showNew(place, entity, given) {
  document.title = titled(t("new"), entity.title);
  const body = bodyOf(entity, "create");
  if (!body) {
    fill(place, crumb(entity), h("p.note", t("new.noRight")));
    return;
  }
  const { action, member, schema } = body;
  const required = schema.required ?? [];
  const lineNames = entity.lines.map(({ name }) => name);
  const status = entity.status?.field;
  const defaults = Object.fromEntries(
    Object.entries(schema.properties ?? {}).map(([name, part]) => [
      name,
      entity.deref(part).default,
    ]),
  );
  const form = recordForm({
    schema,
    fields: entity.fields,
    entity,
    row: { ...defaults, ...given },
    without: [
      ...lineNames,
      ...entity.key.filter((name) => !required.includes(name)),
      ...(status && !required.includes(status) ? [status] : []),
    ],
    onInput: () => void (isTouched = true),
  });
  let isTouched = false;
  const lines =
    member === null
      ? []
      : entity.lines.map((one) =>
          documentLines({
            entity,
            lines: one,
            schema: lineSchema(entity, one.name),
            record: null,
            rows: [],
            canEdit: true,
            onInput: () => void (isTouched = true),
          }),
        );
  const fault = h("div.banner.fault", { role: "alert", hidden: true });
  const save = h("button.button.primary", { type: "submit" }, t("new.create"));

  /** @param {Event} event */
  async function submit(event) {
    event.preventDefault();
    if (save.disabled) return;
    save.disabled = true;
    if (!(await isReadable({ form, lines, fault }))) return void (save.disabled = false);
    const record = {
      ...form.all(),
      ...Object.fromEntries(lines.map((one) => [one.name, one.list()])),
    };
    try {
      const sent = member === null ? filledIn(record, required) : { [member]: record };
      const headers = { "Idempotency-Key": idempotencyKey };
      const { body: answer } = await withoutInput(element, () =>
        post(`${entity.path}/${action}`, sent, { headers }),
      );
      isTouched = false;
      tell(t("new.done"));
      replaceView(
        opensRecords(entity) ? recordParts(entity, answer.data) : [entity.project, entity.endpoint],
      );
    } catch (error) {
      idempotencyKey = crypto.randomUUID?.() ?? String(Math.random());
      showFaults(error, { form, lines, fault });
      save.disabled = false;
    }
  }
  // A second click, or a lost answer, must not create the record twice.
  let idempotencyKey = crypto.randomUUID?.() ?? String(Math.random());

  const element = h(
    "form",
    { onsubmit: submit, onkeydown: sendByKeys, novalidate: true },
    h("div.sheet", form.element),
    lines.map((one) => h("div.sheet", one.element)),
    h("div.save-bar", save, h("a.button", cancelling(entity), t("cancel"))),
  );
  fill(
    place,
    h("div.head", crumb(entity), h("h1", t("new.of", { list: entity.title }))),
    fault,
    element,
  );
  lines[0]?.add();
  isTouched = false;
  setTimeout(() => [...form.inputs.values()][0]?.focus(true));
  return guard(() => isTouched);
}

/**
 * The record. If nothing is filled in, the required fields as empty ones, for the service to name all of them.
 * @param {import("../types.d.ts").Row} record @param {readonly string[]} required
 */
function filledIn(record, required) {
  if (Object.keys(record).length > 0) return record;
  if (required.length === 0) throw new Error(t("new.empty"));
  return Object.fromEntries(required.map((name) => [name, null]));
}

/** @param {Entity} entity */
function cancelling({ project, endpoint }) {
  const origin = cameFrom();
  return origin
    ? { href: origin.address, onclick: goBack }
    : { href: addressOf([project, endpoint]) };
}

/** @param {Entity} entity */
const opensRecords = ({ actions, key }) =>
  key.length > 0 && (actions.has("first") || actions.has("read-composite"));
