/** One record: its fields in a form, its lines, its next statuses, and what refers to it. */
import { ApiError, post } from "../api.js";
import { cellOf, statusBadge } from "../cells.js";
import { documentLines } from "../document-lines.js";
import { fill, h, icon } from "../dom.js";
import { textOf } from "../format.js";
import { fieldOf, loadEntity, titleField } from "../model.js";
import { tell, tellFault } from "../notices.js";
import { conflictChoice, recordActions } from "../record-actions.js";
import { recordForm } from "../record-form.js";
import { lockHolder, recordLock } from "../record-lock.js";
import { relatedLinks } from "../related.js";
import { addressOf, go, recordParts } from "../router.js";

/** @typedef {import("../types.d.ts").Entity} Entity */
/** @typedef {import("../types.d.ts").Row} Row */

/** @type {import("../types.d.ts").View} */
export async function show(place, { parts, query }) {
  const [project = "", endpoint = "", view, ...keys] = parts;
  const entity = await loadEntity(project, endpoint);
  if (!entity) throw new Error("You may not use this list, or it does not exist");
  if (view === "new") return showNew(place, entity, Object.fromEntries(query));
  const shown = await loadRecord(entity, keys);
  if (!shown) {
    fill(
      place,
      crumb(entity),
      h(
        "div.empty",
        null,
        h("h1", null, "This record is not there"),
        h("p", null, "It was removed, or you may not see it."),
      ),
    );
    return;
  }
  return showRecord(place, entity, shown);
}

/** @typedef {{ row: Row, etag: string | null }} Shown */

/** @param {Entity} entity @param {string[]} keys @returns {Promise<Shown | null>} */
async function loadRecord({ path, key, actions, lines }, keys) {
  const where = key.map((name, at) => ({ key: name, value: keys[at] ?? "" }));
  const action = lines.length > 0 && actions.has("read-composite") ? "read-composite" : "first";
  const { body, etag } = await post(`${path}/${action}`, { where });
  return body.data && { row: body.data, etag };
}

/** @param {Entity} entity */
const crumb = ({ project, endpoint, title }) =>
  h("p.crumb", null, h("a", { href: addressOf([project, endpoint]) }, icon("back"), title));

/** What of a body is the record itself, and what its lines are. @param {Entity} entity @param {"create" | "update"} kind */
function bodyOf(entity, kind) {
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
function lineSchema(entity, name) {
  const body = bodyOf(entity, "update") ?? bodyOf(entity, "create");
  const list = entity.deref(body?.schema.properties?.[name]);
  const inserted = entity.deref(list.properties?.["insert"] ?? list);
  return entity.deref(inserted.items);
}

/** @param {HTMLElement} place @param {Entity} entity @param {Record<string, string>} given values to begin with */
function showNew(place, entity, given) {
  document.title = `New – ${entity.title} – Rowgate`;
  const body = bodyOf(entity, "create");
  if (!body) {
    fill(place, crumb(entity), h("p.note", null, "You may not create records here."));
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
            rows: [],
            canEdit: true,
            onInput: () => void (isTouched = true),
          }),
        );
  const fault = h("div.banner.fault", { role: "alert", hidden: true });
  const save = h("button.button.primary", { type: "submit" }, "Create");

  /** @param {Event} event */
  async function submit(event) {
    event.preventDefault();
    fault.hidden = true;
    save.disabled = true;
    const record = {
      ...form.all(),
      ...Object.fromEntries(lineNames.map((name, at) => [name, lines[at]?.list() ?? []])),
    };
    const sent = member === null ? form.all() : { [member]: record };
    try {
      const { body: answer } = await post(`${entity.path}/${action}`, sent, {
        headers: { "Idempotency-Key": idempotencyKey },
      });
      isTouched = false;
      tell("Created");
      go(
        opensRecords(entity) ? recordParts(entity, answer.data) : [entity.project, entity.endpoint],
      );
    } catch (error) {
      idempotencyKey = crypto.randomUUID?.() ?? String(Math.random());
      showFaults(error, { form, lines, fault });
    } finally {
      save.disabled = false;
    }
  }
  // A second click, or a lost answer, must not create the record twice.
  let idempotencyKey = crypto.randomUUID?.() ?? String(Math.random());

  fill(
    place,
    h("div.head", null, crumb(entity), h("h1", null, `New: ${entity.title.toLowerCase()}`)),
    fault,
    h(
      "form",
      { onsubmit: submit, novalidate: true },
      h("div.sheet", null, form.element),
      lines.map(({ element }) => h("div.sheet", null, element)),
      h(
        "div.save-bar",
        null,
        save,
        h("a.button", { href: addressOf([entity.project, entity.endpoint]) }, "Cancel"),
      ),
    ),
  );
  lines[0]?.add();
  isTouched = false;
  setTimeout(() => form.inputs[0]?.focus());
  return guard(() => isTouched);
}

/** @param {Entity} entity */
const opensRecords = ({ actions, key }) =>
  key.length > 0 && (actions.has("first") || actions.has("read-composite"));

/** @param {HTMLElement} place @param {Entity} entity @param {Shown} shown */
async function showRecord(place, entity, shown) {
  const { row } = shown;
  let { etag } = shown;
  const body = bodyOf(entity, "update");
  const lock = recordLock(entity, row);
  const banner = h("div.banner", { role: "status", hidden: true });
  const fault = h("div.banner.fault", { role: "alert", hidden: true });
  const save = h("button.button.primary", { type: "submit" }, "Save");
  const undo = h("button.button", { type: "button", onclick: () => void again() }, "Discard");
  const saveBar = h(
    "div.save-bar",
    { hidden: true },
    save,
    undo,
    h("span.quiet", null, "Not saved yet"),
  );
  const lineNames = entity.lines.map(({ name }) => name);
  const statusField = entity.actions.has("change-status") ? entity.status?.field : undefined;
  const form =
    body &&
    recordForm({
      schema: body.schema,
      fields: entity.fields,
      entity,
      row,
      needed: bodyOf(entity, "create")?.schema.required ?? [],
      without: [...lineNames, ...entity.key, ...(statusField ? [statusField] : [])],
      onInput: changed,
    });
  const inForm = new Set(form?.inputs.map(({ name }) => name));
  const lines = entity.lines.flatMap((one) => {
    const rows = row[one.name];
    if (!Array.isArray(rows)) return [];
    const canEdit = body !== null && body.member !== null;
    return documentLines({
      entity,
      lines: one,
      schema: lineSchema(entity, one.name),
      rows,
      canEdit,
      onInput: changed,
    });
  });
  const isTouched = () => (form?.isChanged() ?? false) || lines.some((one) => one.isChanged());

  async function changed() {
    saveBar.hidden = !isTouched();
    if (saveBar.hidden) return;
    const holder = await lock.take();
    if (holder) showHolder(holder);
  }

  /** @param {{ owner: string, seconds: number }} holder */
  function showHolder({ owner }) {
    banner.hidden = false;
    fill(
      banner,
      icon("lock"),
      `${owner} is editing this record. Your changes may be refused until they have finished.`,
    );
  }

  /** Shows the record as it is now. */
  async function again() {
    isDone = true;
    await lock.release();
    const fresh = await loadRecord(
      entity,
      entity.key.map((name) => String(row[name])),
    );
    stop();
    if (!fresh) return go([entity.project, entity.endpoint]);
    stop = await showRecord(place, entity, fresh);
  }

  /** @param {Event} [event] */
  async function submit(event) {
    event?.preventDefault();
    if (!body || !form) return;
    fault.hidden = true;
    save.disabled = true;
    const keys = Object.fromEntries(entity.key.map((name) => [name, row[name]]));
    const record = { ...keys, ...form.changes() };
    for (const [at, name] of lineNames.entries()) {
      const operations = lines[at]?.operations() ?? {};
      if (Object.keys(operations).length > 0) record[name] = operations;
    }
    const headers = { ...(etag !== null && { "If-Match": etag }), ...lock.headers() };
    try {
      await post(
        `${entity.path}/${body.action}`,
        body.member === null ? record : { [body.member]: record },
        { headers },
      );
      tell("Saved");
      await again();
    } catch (error) {
      if (error instanceof ApiError && error.status === 412) await settleConflict(form.changes());
      else showFaults(error, { form, lines, fault });
    } finally {
      save.disabled = false;
    }
  }

  /** @param {Row} mine */
  async function settleConflict(mine) {
    const fresh = await loadRecord(
      entity,
      entity.key.map((name) => String(row[name])),
    );
    const choice = await conflictChoice(entity, {
      mine,
      before: row,
      stored: fresh?.row ?? null,
      names: [...inForm],
    });
    if (choice === "stored") await again();
    if (choice === "mine" && fresh) {
      ({ etag } = fresh);
      await submit();
    }
  }

  const title = titleOf(entity, row);
  document.title = `${title} – ${entity.title} – Rowgate`;
  const totals = entity.lines.flatMap((one) => one.totals);
  // A drop-down shows the name of the other record already.
  const chosen = form?.inputs
    .map(({ name }) => entity.fields.get(name))
    .filter((field) => field?.references);
  const isRepeated = (/** @type {string} */ name) =>
    chosen?.some((field) => field?.label === entity.fields.get(name)?.label) ?? false;
  fill(
    place,
    h(
      "div.head",
      null,
      crumb(entity),
      h("h1", { dir: "auto" }, title),
      entity.status && row[entity.status.field]
        ? statusBadge(String(row[entity.status.field]))
        : null,
      h("span.grow"),
      recordActions(entity, row, { etag: () => etag, lock, again }),
    ),
    banner,
    fault,
    h(
      "form",
      { onsubmit: submit, novalidate: true },
      h(
        "div.sheet",
        null,
        form?.element,
        valuesOf(
          entity,
          row,
          (name) => !inForm.has(name) && !totals.includes(name) && !isRepeated(name),
        ),
      ),
      lines.map(({ element }, at) =>
        h("div.sheet", null, element, at === 0 && totalsOf(entity, row, totals)),
      ),
      saveBar,
    ),
    await relatedLinks(entity, row),
  );
  void lockHolder(entity, row).then((holder) => holder && showHolder(holder), tellFault);
  let isDone = false;
  const leave = guard(() => !isDone && isTouched());
  let stop = () => {
    void lock.release();
    return leave();
  };
  return () => stop();
}

/** @param {Entity} entity @param {Row} row */
function titleOf(entity, row) {
  const name = titleField(entity);
  const text = name === null ? "" : textOf(row[name], { type: "text" });
  return (text || entity.key.map((one) => String(row[one])).join(" · ")).slice(0, 120);
}

/** Fields that are shown and not edited; who changed the record, and when, at the end. @param {Entity} entity @param {Row} row @param {(name: string) => boolean} isWanted */
function valuesOf(entity, row, isWanted) {
  const isFact = (/** @type {string} */ name) =>
    entity.key.includes(name) || /^(created|updated|deleted)_(at|by)$/.test(name);
  const names = entity.shown.filter(
    (name) => name in row && isWanted(name) && name !== entity.status?.field,
  );
  const fieldNamed = (/** @type {string} */ name) =>
    entity.fields.get(name) ?? fieldOf(name, { type: "text" });
  const plain = names.filter((name) => !isFact(name));
  const facts = names.filter((name) => isFact(name) && row[name] !== null);
  return [
    plain.length > 0 &&
      h(
        "div.fields.values",
        null,
        plain.map((name) =>
          h(
            "div.field",
            null,
            h("span.label", null, fieldNamed(name).label),
            h("div.value", null, cellOf(row[name], fieldNamed(name), entity, { whole: true })),
          ),
        ),
      ),
    facts.length > 0 &&
      h(
        "div.facts",
        null,
        facts.map((name) =>
          h(
            "span",
            null,
            `${fieldNamed(name).label}: `,
            cellOf(row[name], fieldNamed(name), entity, { whole: true }),
          ),
        ),
      ),
  ];
}

/** @param {Entity} entity @param {Row} row @param {readonly string[]} names */
function totalsOf(entity, row, names) {
  if (names.length === 0) return null;
  return h(
    "dl.totals",
    { "aria-label": "Totals" },
    names.map((name) => {
      const field = entity.fields.get(name) ?? fieldOf(name, { type: "decimal" });
      return h(
        "div",
        null,
        h("dt", null, field.label),
        h("dd", { "data-total": name }, textOf(row[name], field)),
      );
    }),
  );
}

/**
 * @param {unknown} error
 * @param {{ form: import("../record-form.js").RecordForm, lines: ReturnType<typeof documentLines>[], fault: HTMLElement }} place
 */
function showFaults(error, { form, lines, fault }) {
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
function guard(isTouched) {
  const warn = (/** @type {Event} */ event) => isTouched() && event.preventDefault();
  addEventListener("beforeunload", warn);
  return () => {
    if (isTouched() && !confirm("Leave without saving?")) return false;
    removeEventListener("beforeunload", warn);
    return true;
  };
}
