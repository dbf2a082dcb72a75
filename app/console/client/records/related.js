/** The records that belong to one: a tab for each relation to many, and links to others that refer to it. */
import { post } from "../api.js";
import { cellIn } from "../cells.js";
import { fill, h, icon } from "../dom.js";
import { isNumber, textOf } from "../format.js";
import { keyConditions } from "../grid/rows.js";
import { pathsOf, usualColumns } from "../grid-state.js";
import { fieldNamed, loadEntity, mayOpen, mayUse, titleOfEndpoint, wordsOf } from "../model.js";
import { tellFault } from "../notices.js";
import { recordHistory } from "./record-history.js";
import { addressOf, currentRoute, go, keepInAddress, recordParts } from "../router.js";
import { t } from "../words.js";

/** @import { Entity, Field, Relation, Row } from "../types.d.ts" */

const rowsMax = 10;
const columnsMax = 7;
/** Of one request. */
const relationsMax = 10;

/** The name of the tab of the history; no relation can have it. */
const historyTab = "-history";

/** Null: nothing belongs to the record. @param {Entity} entity @param {Row} row @param {import("./record-actions.js").RecordPlace} place */
export async function relatedRecords(entity, row, place) {
  const relations = tabbedRelations(entity, row);
  const [counts, links] = await Promise.all([
    countRelated(entity, row, relations),
    relatedLinks(entity, row),
  ]);
  const tabs = relations.map((relation) => ({
    name: relation.name,
    label: wordsOf(relation.name),
    count: counts[relation.name] ?? 0,
    open: () => panelOf({ entity, row, relation, count: counts[relation.name] ?? 0 }),
  }));
  const history = {
    name: historyTab,
    label: t("history"),
    count: null,
    open: () => recordHistory(entity, row, place),
  };
  const all = entity.actions.has("history") ? [...tabs, history] : tabs;
  if (all.length === 0 && links.length === 0) return null;
  return h(
    "section.related",
    { "aria-label": t("related") },
    all.length > 0 && (await tabsOf(entity, row, all)),
    links.length > 0 && h("nav.related-links", { "aria-label": t("related.more") }, links),
  );
}

/** Without the lines of a document, which have their own place. @param {Entity} entity @param {Row} row */
const tabbedRelations = ({ relations, lines, actions }, row) =>
  [...relations.values()].filter(
    ({ many, endpoint, columns, through }) =>
      many &&
      ["first", "read-composite"].some((action) => actions.has(action)) &&
      Object.keys(columns).every((name) => (row[name] ?? null) !== null) &&
      !lines.some(
        (one) =>
          !through &&
          one.name in row &&
          one.endpoint === endpoint &&
          one.foreignKey === Object.values(columns)[0],
      ),
  );

/** The record with what `expand` adds. @param {Entity} entity @param {Row} row @param {Record<string, object>} expand */
async function expanded({ path, key, actions }, row, expand) {
  const where = keyConditions({ key }, row);
  const isPlain = actions.has("first");
  const select = isPlain ? { select: key } : {};
  const action = isPlain ? "first" : "read-composite";
  const { body } = await post(`${path}/${action}`, { where, ...select, expand });
  return body.data ?? {};
}

/** By relation. @param {Entity} entity @param {Row} row @param {Relation[]} relations @returns {Promise<Record<string, number>>} */
async function countRelated(entity, row, relations) {
  const operations = [{ function: "count", field: "*", alias: "n" }];
  const asked = relations.map(({ name }) => /** @type {const} */ ([name, { operations }]));
  const parts = [];
  for (let at = 0; at < asked.length; at += relationsMax)
    parts.push(expanded(entity, row, Object.fromEntries(asked.slice(at, at + relationsMax))));
  const found = Object.assign({}, ...(await Promise.all(parts)));
  return Object.fromEntries(relations.map(({ name }) => [name, found[name]?.n ?? 0]));
}

/** `count` null: the tab shows no number. @typedef {{ name: string, label: string, count: number | null, open: () => Promise<any> }} Tab */

/** With the tab that the address names, or the first that has records. @param {Entity} entity @param {Row} row @param {Tab[]} tabs */
async function tabsOf(entity, row, tabs) {
  const panel = h("div.tab-panel", { id: "related-panel", role: "tabpanel" });
  const buttons = tabs.map((tab) =>
    h(
      "button.tab",
      {
        type: "button",
        role: "tab",
        id: `related-${tab.name}`,
        "aria-controls": panel.id,
        onclick: () => void choose(tab).catch(tellFault),
        onkeydown: move,
      },
      tab.label,
      tab.count !== null && h("span.count", textOf(tab.count, { type: "integer" })),
    ),
  );

  /** As the arrow keys move through tabs. @param {KeyboardEvent} event */
  function move({ key, target }) {
    const step = key === "ArrowRight" ? 1 : key === "ArrowLeft" ? -1 : 0;
    const at = buttons.indexOf(target) + step;
    if (step === 0) return;
    const next = buttons.at(at % buttons.length);
    next.focus();
    next.click();
  }

  /** @param {Tab} tab */
  async function show(tab) {
    for (const button of buttons) {
      const isChosen = button.id === `related-${tab.name}`;
      button.setAttribute("aria-selected", String(isChosen));
      button.tabIndex = isChosen ? 0 : -1;
    }
    panel.setAttribute("aria-labelledby", `related-${tab.name}`);
    panel.setAttribute("aria-busy", "true");
    const content = await tab.open();
    const isLate = panel.getAttribute("aria-labelledby") !== `related-${tab.name}`;
    if (isLate) return;
    fill(panel, content);
    panel.removeAttribute("aria-busy");
  }

  /** @param {Tab} tab */
  async function choose(tab) {
    const query = new URLSearchParams({ tab: tab.name });
    keepInAddress(recordParts(entity, row), query);
    await show(tab);
  }

  const named = currentRoute().query.get("tab");
  const first =
    tabs.find(({ name }) => name === named) ??
    tabs.find(({ count }) => (count ?? 0) > 0) ??
    tabs[0];
  if (first) await show(first).catch(tellFault);
  return [
    h("div.tabs", { role: "tablist", "aria-label": t("related") }, buttons),
    h("div.sheet", panel),
  ];
}

/** @typedef {{ entity: Entity, row: Row, relation: Relation, count: number }} Panel */

/** @param {Panel} panel */
async function panelOf({ entity, row, relation, count }) {
  const { project } = entity;
  const other = await loadEntity(project, relation.endpoint);
  if (!other) return h("p.quiet", t("related.hidden"));
  const fields = fieldsIn(other, entity, relation);
  const sorted = fields.find(isTime) ?? [...other.fields.values()].find(isCreation);
  const names = fields.map(({ name }) => name);
  const own = fields.flatMap(({ name, relation: named }) => (named ? [] : [name]));
  const options = {
    select: [...new Set([...other.key, ...own, ...pathsOf(other, names)])],
    ...(sorted && { sort_columns: [{ column: sorted.name, direction: "DESC" }] }),
    limit: rowsMax,
  };
  const rows =
    count === 0 ? [] : (await expanded(entity, row, { [relation.name]: options }))[relation.name];
  const list = wholeList(entity, row, { relation, other });
  return [
    rows.length === 0
      ? h("p.quiet", t("related.none"))
      : h(
          "div.table-holder",
          { tabindex: "0", role: "region", "aria-label": wordsOf(relation.name) },
          tableOf(other, rows, { fields, sorted }),
        ),
    h(
      "div.button-row",
      list && count > 0 && h("a.button", { href: list }, t("related.open"), icon("next")),
      newLink(entity, row, relation),
    ),
  ];
}

/** @param {Field} field */
const isTime = ({ type }) => type === "timestamp" || type === "date";
/** @param {Field} field */
const isCreation = (field) => isTime(field) && /^created_(at|on)$/.test(field.name);

/** What a tab shows: the usual columns, without those that say the same in each row. @param {Entity} other @param {Entity} entity @param {Relation} relation */
function fieldsIn(other, entity, { columns, through }) {
  const readable = other.read.length > 0 ? other.read : other.shown;
  const foreign = through ? [] : Object.values(columns);
  const isConstant = (/** @type {string} */ name) => {
    const back = other.fields.get(name)?.relation;
    return back?.endpoint === entity.endpoint
      ? Object.keys(back.columns).join() === foreign.join()
      : foreign.includes(name);
  };
  const known = other.columns.filter(
    (name) => (other.fields.get(name)?.relation || readable.includes(name)) && !isConstant(name),
  );
  const usual = usualColumns({ ...other, columns: known.length > 0 ? known : readable });
  return usual.slice(0, columnsMax).map((name) => fieldNamed(other.fields, name));
}

/** @param {Entity} other @param {Row[]} rows @param {{ fields: Field[], sorted: Field | undefined }} shown */
function tableOf(other, rows, { fields, sorted }) {
  const opens = other.key.length > 0 && mayOpen(other.project, other.endpoint);
  const classOf = (/** @type {Field} */ field) => (isNumber(field) ? "number" : "");
  return h(
    "table.grid",
    h(
      "thead",
      h(
        "tr",
        fields.map((field) =>
          h(
            "th",
            { scope: "col", class: classOf(field), "aria-sort": field === sorted && "descending" },
            field.label,
          ),
        ),
      ),
    ),
    h(
      "tbody",
      rows.map((row) => {
        const parts = recordParts(other, row);
        const cells = fields.map((field, at) => {
          const cell = cellIn(row, field, other);
          const isLink = at === 0 && opens && cell.tagName !== "A";
          return h(
            "td",
            { class: classOf(field) },
            isLink ? h("a.open", { href: addressOf(parts) }, cell) : cell,
          );
        });
        const open = (/** @type {any} */ { target }) =>
          !target.closest("a") && String(getSelection() ?? "") === "" && go(parts);
        return h("tr", opens ? { onclick: open } : { class: "still" }, cells);
      }),
    ),
  );
}

/** The address of the list of all these records; null: there is none. @param {Entity} entity @param {Row} row @param {{ relation: Relation, other: Entity }} way */
function wholeList({ project, endpoint, key }, row, { relation, other }) {
  if (!["read", "datatables"].some((action) => other.actions.has(action))) return null;
  const { columns, through } = relation;
  if (!through) {
    const isKnown = Object.values(columns).every((name) => other.fields.has(name));
    return isKnown ? listAddress(other, columns, row) : null;
  }
  const back = [...other.relations.values()].find(
    (one) => one.endpoint === endpoint && one.through?.endpoint === through.endpoint,
  );
  const [only = "", second] = key;
  return back && second === undefined && back.key.join() === only
    ? addressOf([project, other.endpoint], { [`f.${back.name}`]: String(row[only]) })
    : null;
}

/** @param {Entity} other @param {Record<string, string>} columns the own ones, and those that have their values there @param {Row} row */
const listAddress = (other, columns, row) =>
  addressOf(
    [other.project, other.endpoint],
    Object.fromEntries(
      Object.entries(columns).map(([own, name]) => {
        const { type, references } = other.fields.get(name) ?? {};
        // As the filter of a column finds the whole value.
        const isText = type === "text" && !references;
        return [`f.${name}`, `${isText ? "=" : ""}${row[own]}`];
      }),
    ),
  );

/** A form of a new record that belongs to this one. @param {Entity} entity @param {Row} row @param {Relation} relation */
function newLink({ project }, row, { name, endpoint, columns, through }) {
  const place = through?.endpoint ?? endpoint;
  if (!["create", "create-composite"].some((action) => mayUse(project, place, action))) return null;
  const given = Object.entries(columns).map(([own, other]) => [other, String(row[own])]);
  const href = addressOf([project, place, "new"], Object.fromEntries(given));
  const what = h("span.unseen", `: ${wordsOf(name).toLowerCase()}`);
  return h("a.button", { href }, icon("plus"), h("span", t("new"), what));
}

/** Links to lists of records that refer to this one, where no relation says so. @param {Entity} entity @param {Row} row */
async function relatedLinks({ project, referencedBy, relations, key }, row) {
  const [only, second] = key;
  if (only === undefined || second !== undefined) return [];
  const isShown = (/** @type {{ endpoint: string, field: string }} */ { endpoint, field }) =>
    [...relations.values()].some(
      (one) => (one.through ?? one).endpoint === endpoint && one.columns[only] === field,
    );
  const others = referencedBy.filter((one) => !isShown(one));
  const links = await Promise.all(
    others.map(async ({ endpoint, field }) => {
      const isRead = mayUse(project, endpoint, "read");
      const isTwice = others.filter((one) => one.endpoint === endpoint).length > 1;
      const other = isRead && !isTwice ? null : await loadEntity(project, endpoint);
      if (!isRead && !other?.listed.includes(field)) return null;
      const by = isTwice ? ` (${other?.fields.get(field)?.label ?? field})` : "";
      const href = addressOf([project, endpoint], { [`f.${field}`]: String(row[only]) });
      return h("a.button", { href }, titleOfEndpoint(project, endpoint) + by, icon("next"));
    }),
  );
  return links.filter((link) => link !== null);
}
