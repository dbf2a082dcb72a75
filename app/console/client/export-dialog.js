/** Exports the records of a grid with its filters and order; shows a progress bar, and then the file. */
import { download, post } from "./api.js";
import { fill, h } from "./dom.js";
import { sortMember, usualColumns, whereOf } from "./grid-state.js";
import { cancelJob, exportFile, keepJob, partDone, watchJob } from "./jobs.js";
import { openDialog, tellFault } from "./notices.js";
import { paramsForm, paramsIn } from "./params.js";
import { t } from "./words.js";

/** @import { Entity } from "./types.d.ts" */
/** @import { GridState } from "./grid-state.js" */

const formats = [
  ["xlsx", t("export.xlsx")],
  ["csv", t("export.csv")],
  ["jsonl", t("export.jsonl")],
];

/** The columns that an export can filter and sort by. @param {Entity} entity @returns {string[]} */
function exportColumns(entity) {
  const list = entity.deref(entity.body("export")?.properties?.["sort_columns"]);
  const item = entity.deref(list.items);
  const [first = item] = (item.anyOf ?? []).map(entity.deref);
  const names = entity.deref(first.properties?.["column"]).enum;
  return /** @type {string[]} */ (names ?? []);
}

/** The shown columns as an export names them; those that it does not have are left out. @param {Entity} entity @param {GridState} state @returns {string[]} */
function shownColumns(entity, { columns }) {
  const known = entity.deref(
    entity.deref(entity.body("export")?.properties?.["select"]).items,
  ).enum;
  return columns.map((column) => pathOf(entity, column)).filter((name) => known?.includes(name));
}

/** @param {Entity} entity @param {string} column */
function pathOf({ fields }, column) {
  const { name, titleField } = fields.get(column)?.relation ?? {};
  return titleField ? `${name}.${titleField}` : column;
}

/** The parts of the grid's state that an export can use, and those that it cannot. @param {Entity} entity @param {GridState} state */
async function exportRequest(entity, state) {
  const known = exportColumns(entity);
  const { where, isWhole } = await whereOf(entity, state, known);
  const sort = state.sort.filter(({ field }) => known.includes(field));
  return { isWhole, request: { ...(where && { where }), ...sortMember(sort) } };
}

/** @param {Entity} entity @param {GridState} state */
export async function exportDialog(entity, state) {
  const { request, isWhole } = await exportRequest(entity, state);
  const isFiltered = "where" in request;
  const stopping = new AbortController();
  await openDialog(t("export.of", { list: entity.title }), (close) => {
    const format = h(
      "select",
      { id: "export-format" },
      formats.map(([value, text]) => h("option", { value }, text)),
    );
    const shown = shownColumns(entity, state);
    const isUsual = state.columns.join() === usualColumns(entity).join();
    const columns = h(
      "select",
      { id: "export-columns" },
      h("option", { value: "" }, t("export.columnsUsual")),
      h("option", { value: "shown", selected: !isUsual }, t("export.columnsShown")),
    );
    const params = paramsForm(entity, state.params, null);
    const place = h("div");
    const start = h(
      "button.button.primary",
      { type: "button", onclick: () => void run() },
      t("export"),
    );

    async function run() {
      const entered = params ? params.entered() : state.params;
      if (!entered) return;
      start.disabled = true;
      fill(
        place,
        h("progress", { "aria-label": t("progress") }),
        h("p.quiet", { role: "status" }, t("starting")),
      );
      try {
        const { body } = await post(`${entity.path}/export`, {
          format: format.value,
          ...(columns.value && shown.length > 0 && { select: shown }),
          ...request,
          ...paramsIn(entity, entered),
        });
        const job = {
          id: body.job_id,
          kind: /** @type {const} */ ("export"),
          project: entity.project,
          endpoint: entity.endpoint,
        };
        keepJob(job);
        const end = await watchJob(
          job,
          (one) => showProgress(place, one, () => void cancelJob(job)),
          stopping.signal,
        );
        if (!end) return;
        if (end.status !== "completed") return showEnd(end.error ?? t("export.failed"));
        await download(exportFile(job));
        fill(
          place,
          h("p", { role: "status" }, t("export.ready")),
          h(
            "div.actions",
            h(
              "button.button",
              { type: "button", onclick: () => void download(exportFile(job)).catch(tellFault) },
              t("export.again"),
            ),
            h("button.button.primary", { type: "button", onclick: () => close(null) }, t("done")),
          ),
        );
      } catch (error) {
        if (params?.showFaults(error)) return showEnd("");
        showEnd(/** @type {Error} */ (error).message);
      }
    }

    /** @param {string} text */
    function showEnd(text) {
      fill(place, h("p.fault-text", { role: "alert" }, text), h("div.actions", start));
      start.disabled = false;
    }

    fill(place, h("div.actions", start));
    return [
      h("p", isFiltered ? t("export.some") : t("export.all")),
      !isWhole && h("p.quiet", t("export.leftOut")),
      params?.element,
      shown.length > 0 && h("div.field", h("label", { for: columns.id }, t("columns")), columns),
      h("div.field", h("label", { for: format.id }, t("export.format")), format),
      place,
    ];
  });
  stopping.abort();
}

/** @param {HTMLElement} place @param {import("./jobs.js").JobState} state @param {() => void} cancel */
function showProgress(place, state, cancel) {
  const part = partDone(state);
  const rows = state.progress?.processed_rows ?? 0;
  fill(
    place,
    h("progress", { "aria-label": t("progress"), max: "1", ...(part !== null && { value: part }) }),
    h(
      "p.quiet",
      { role: "status" },
      rows > 0 ? t("export.written", { count: rows }) : t("waiting"),
    ),
    h("div.actions", h("button.button", { type: "button", onclick: cancel }, t("cancel"))),
  );
}
