/** Importing a workbook, step by step: choose the file, preview each row, store the rows, see the result. */
import { crumb } from "../crumb.js";
import { ask, download, post } from "../api.js";
import { fill, h, icon, iconButton, plainTable } from "../dom.js";
import { textOf } from "../format.js";
import { errorsFile, keepJob, partDone, watchJob } from "../jobs.js";
import { loadEntity } from "../model.js";
import { tellFault } from "../notices.js";
import { addressOf } from "../router.js";
import { t, titled } from "../words.js";

/** @import { Entity } from "../types.d.ts" */
/** @import { JobState } from "../jobs.js" */

const steps = [t("import.file"), t("import.check"), t("import.result")];
/** The service lists more; the file with the errors has them all. */
const shownErrorsMax = 100;

/** @type {import("../types.d.ts").View} */
export async function show(place, { parts }) {
  const [project = "", endpoint = ""] = parts;
  const entity = await loadEntity(project, endpoint);
  if (!entity?.actions.has("import-upload")) throw new Error(t("import.noRight"));
  document.title = titled(t("import"), entity.title);
  const leaving = new AbortController();
  const stage = h("div");
  fill(place, h("div.head", crumb(entity), h("h1", t("import.of", { list: entity.title }))), stage);
  chooseFile(entity, { stage, signal: leaving.signal });
  return () => leaving.abort();
}

/** @typedef {{ stage: HTMLElement, signal: AbortSignal }} Stage */

/** @param {HTMLElement} stage @param {number} at @param {...any} content */
const showStep = (stage, at, ...content) =>
  fill(
    stage,
    h(
      "ol.steps",
      { "aria-label": t("import.steps") },
      steps.map((name, index) =>
        h("li", { "aria-current": index === at ? "step" : null }, `${index + 1}. ${name}`),
      ),
    ),
    h("div.sheet", content),
  );

/** @param {Entity} entity @param {Stage} place @param {string} [fault] */
function chooseFile(entity, place, fault = "") {
  const { stage } = place;
  const input = h("input.unseen", {
    type: "file",
    accept: ".xlsx,.csv",
    id: "import-file",
    // The button opens it, and shows that it has the focus.
    tabindex: "-1",
    "aria-label": t("import.workbook"),
  });
  const drop = h(
    "div.drop",
    icon("up"),
    h("p", t("import.drop")),
    input,
    h(
      "button.button.primary",
      { type: "button", onclick: () => input.click() },
      t("import.choose"),
    ),
  );
  const take = (/** @type {File | undefined} */ file) => file && void upload(entity, place, file);
  input.addEventListener("change", () => take(input.files?.[0]));
  for (const name of ["dragenter", "dragover"])
    drop.addEventListener(name, (/** @type {Event} */ event) => {
      event.preventDefault();
      drop.classList.add("over");
    });
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", (/** @type {DragEvent} */ event) => {
    event.preventDefault();
    take(event.dataTransfer?.files[0]);
  });
  showStep(
    stage,
    0,
    h("p", t("import.headings")),
    h(
      "p",
      iconButton("down", t("import.template"), {
        onclick: () => void download(`${entity.path}/import-template`).catch(tellFault),
      }),
    ),
    drop,
    h("p.fault-text", { role: "alert" }, fault),
  );
}

/** @param {Entity} entity @param {Stage} place @param {File} file */
async function upload(entity, place, file) {
  const { stage } = place;
  waitingFor(stage, 0, t("import.sending", { file: file.name }));
  const body = new FormData();
  body.set("file", file);
  try {
    const { body: uploaded } = await ask(`${entity.path}/import-upload`, { method: "POST", body });
    const { body: started } = await post(`${entity.path}/import-preview`, {
      upload_id: uploaded.upload_id,
    });
    const job = jobOf(entity, "preview", started.job_id);
    const state = await watchJob(
      job,
      (one) => showProgress(stage, 1, one, t("import.checking")),
      place.signal,
    );
    if (state) showPreview(entity, place, { state, job, uploaded });
  } catch (error) {
    chooseFile(entity, place, /** @type {Error} */ (error).message);
  }
}

/** @param {Entity} entity @param {"preview" | "commit"} kind @param {string} id */
function jobOf({ project, endpoint }, kind, id) {
  const job = { id, kind, project, endpoint };
  keepJob(job);
  return job;
}

/** @param {HTMLElement} stage @param {number} step @param {string} text */
const waitingFor = (stage, step, text) =>
  showStep(
    stage,
    step,
    h("progress", { "aria-label": t("progress") }),
    h("p.quiet", { role: "status" }, text),
  );

/** @param {HTMLElement} stage @param {number} step @param {JobState} state @param {string} text */
function showProgress(stage, step, state, text) {
  const part = partDone(state);
  showStep(
    stage,
    step,
    h("progress", { "aria-label": t("progress"), max: "1", ...(part !== null && { value: part }) }),
    h(
      "p.quiet",
      { role: "status" },
      state.progress
        ? `${text} ${t("import.done", { count: state.progress.processed_rows, total: state.progress.total_rows })}`
        : text,
    ),
  );
}

/** @typedef {ReturnType<typeof jobOf>} Job */

/** @param {Entity} entity @param {Stage} place @param {{ state: JobState, job: Job, uploaded: any }} preview */
function showPreview(entity, place, { state, job, uploaded }) {
  const { stage } = place;
  const restart = h(
    "button.button",
    { type: "button", onclick: () => chooseFile(entity, place) },
    t("import.chooseOther"),
  );
  if (!["preview_ok", "preview_error"].includes(state.status)) {
    showStep(
      stage,
      1,
      h("p.fault-text", { role: "alert" }, state.error ?? t("import.checkFailed")),
      h("div.actions", restart),
    );
    return;
  }
  const { skip = 0, invalid = 0 } = state.summary ?? {};
  const { insert = 0, update = 0 } = state.changes ?? {};
  const ignored = uploaded.ignored_columns ?? [];
  const storing = insert + update;
  const commit = h(
    "button.button.primary",
    { type: "button", onclick: () => void store(entity, place, job) },
    t("import.store", { count: storing }),
  );
  showStep(
    stage,
    1,
    countsOf([
      [t("import.new"), insert],
      [t("import.changed"), update],
      [t("import.skipped"), skip],
      [t("import.invalid"), invalid],
    ]),
    ignored.length > 0 && h("p.note", t("import.ignored", { columns: ignored.join(", ") })),
    invalid > 0
      ? [
          h("p.fault-text", { role: "alert" }, t("import.errors", { count: invalid })),
          errorsTable(state),
          h(
            "div.actions",
            restart,
            iconButton("down", t("import.downloadWrong"), {
              class: "primary",
              onclick: () => void download(errorsFile(job)).catch(tellFault),
            }),
          ),
        ]
      : [previewTable(uploaded.preview), h("div.actions", restart, storing > 0 && commit)],
  );
}

/** @param {[string, number][]} counts */
const countsOf = (counts) =>
  h(
    "dl.counts",
    counts.map(([name, count]) =>
      h("div", h("dt", name), h("dd", textOf(count, { type: "integer" }))),
    ),
  );

/** @param {JobState} state */
function errorsTable({ errors = [] }) {
  return h(
    "div.table-holder",
    { tabindex: "0", role: "region", "aria-label": t("import.wrongRows") },
    plainTable(
      [t("import.row"), t("import.fault"), t("import.content")],
      errors.slice(0, shownErrorsMax).map(({ rowIndex, rowData, messages }) =>
        h(
          "tr",
          h("td", rowIndex),
          h(
            "td",
            messages.map((one) => h("div", one)),
          ),
          h(
            "td.quiet",
            { dir: "auto" },
            Object.values(rowData)
              .filter((one) => one !== null && one !== "")
              .join(" · ")
              .slice(0, 300),
          ),
        ),
      ),
    ),
    errors.length > shownErrorsMax &&
      h("p.quiet", t("import.firstErrors", { count: shownErrorsMax })),
  );
}

/** @param {Record<string, unknown>[]} rows */
function previewTable(rows) {
  const headings = Object.keys(rows[0] ?? {});
  return h(
    "div.table-holder",
    { tabindex: "0", role: "region", "aria-label": t("import.firstRows") },
    plainTable(
      headings,
      rows.map((row) =>
        h(
          "tr",
          headings.map((heading) => h("td", { dir: "auto" }, row[heading] ?? "")),
        ),
      ),
    ),
  );
}

/** @param {Entity} entity @param {Stage} place @param {Job} preview */
async function store(entity, place, preview) {
  const { stage, signal } = place;
  waitingFor(stage, 1, t("starting"));
  try {
    const { body } = await post(`${entity.path}/import-commit`, { preview_job_id: preview.id });
    const job = jobOf(entity, "commit", body.job_id);
    const state = await watchJob(
      job,
      (one) => showProgress(stage, 1, one, t("import.storing")),
      signal,
    );
    if (state) showResult(entity, place, state, job);
  } catch (error) {
    showStep(stage, 2, h("p.fault-text", { role: "alert" }, /** @type {Error} */ (error).message));
  }
}

/** @param {Entity} entity @param {Stage} place @param {JobState} state @param {Job} job */
function showResult(entity, { stage, ...rest }, state, job) {
  const { inserted = 0, updated = 0, skipped = 0, failed = 0 } = state.result ?? {};
  const list = h(
    "a.button.primary",
    { href: addressOf([entity.project, entity.endpoint]) },
    t("backToList"),
  );
  const restart = h(
    "button.button",
    { type: "button", onclick: () => chooseFile(entity, { stage, ...rest }) },
    t("import.another"),
  );
  if (state.status !== "completed") {
    showStep(
      stage,
      2,
      h(
        "p.fault-text",
        { role: "alert" },
        state.error ? t("import.failedBecause", { reason: state.error }) : t("import.failed"),
      ),
      h("div.actions", restart),
    );
    return;
  }
  showStep(
    stage,
    2,
    h("p", { role: "status" }, t("import.stored")),
    countsOf([
      [t("import.new"), inserted],
      [t("import.changed"), updated],
      [t("import.skipped"), skipped],
      [t("import.refused"), failed],
    ]),
    failed > 0 &&
      iconButton("down", t("import.downloadRefused"), {
        onclick: () => void download(errorsFile(job)).catch(tellFault),
      }),
    h("div.actions", restart, list),
  );
}
