/** Importing a workbook, step by step: choose the file, preview each row, store the rows, see the result. */
import { crumb } from "../crumb.js";
import { ask, download, post } from "../api.js";
import { fill, h, icon } from "../dom.js";
import { counted } from "../format.js";
import { errorsFile, keepJob, partDone, watchJob } from "../jobs.js";
import { loadEntity } from "../model.js";
import { tellFault } from "../notices.js";
import { addressOf } from "../router.js";

/** @typedef {import("../types.d.ts").Entity} Entity */
/** @typedef {import("../jobs.js").JobState} JobState */

const steps = ["File", "Check", "Result"];
/** The service lists more; the file with the errors has them all. */
const shownErrorsMax = 100;

/** @type {import("../types.d.ts").View} */
export async function show(place, { parts }) {
  const [project = "", endpoint = ""] = parts;
  const entity = await loadEntity(project, endpoint);
  if (!entity?.actions.has("import-upload")) throw new Error("You may not import into this list");
  document.title = `Import – ${entity.title} – Rowgate`;
  const leaving = new AbortController();
  const stage = h("div");
  fill(
    place,
    h("div.head", null, crumb(entity), h("h1", null, `Import ${entity.title.toLowerCase()}`)),
    stage,
  );
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
      { "aria-label": "Steps" },
      steps.map((name, index) =>
        h("li", { "aria-current": index === at ? "step" : null }, `${index + 1}. ${name}`),
      ),
    ),
    h("div.sheet", null, content),
  );

/** @param {Entity} entity @param {Stage} place @param {string} [fault] */
function chooseFile(entity, place, fault = "") {
  const { stage } = place;
  const input = h("input.unseen", {
    type: "file",
    accept: ".xlsx,.csv",
    id: "import-file",
    "aria-label": "Workbook to import",
  });
  const drop = h(
    "div.drop",
    null,
    icon("up"),
    h("p", null, "Drop an Excel workbook (.xlsx) or a csv file here, or"),
    input,
    h("button.button.primary", { type: "button", onclick: () => input.click() }, "Choose a file"),
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
    h(
      "p",
      null,
      "The first row has the headings. Start from the template: it has them, with notes on what to write.",
    ),
    h(
      "p",
      null,
      h(
        "button.button",
        {
          type: "button",
          onclick: () => void download(`${entity.path}/import-template`).catch(tellFault),
        },
        icon("down"),
        h("span", null, "Download the template"),
      ),
    ),
    drop,
    h("p.fault-text", { role: "alert" }, fault),
  );
}

/** @param {Entity} entity @param {Stage} place @param {File} file */
async function upload(entity, place, file) {
  const { stage } = place;
  waitingFor(stage, 0, `Sending ${file.name} …`);
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
      (one) => showProgress(stage, 1, one, "Checking every row …"),
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
    h("progress", { "aria-label": "Progress" }),
    h("p.quiet", { role: "status" }, text),
  );

/** @param {HTMLElement} stage @param {number} step @param {JobState} state @param {string} text */
function showProgress(stage, step, state, text) {
  const part = partDone(state);
  showStep(
    stage,
    step,
    h("progress", { "aria-label": "Progress", max: "1", ...(part !== null && { value: part }) }),
    h(
      "p.quiet",
      { role: "status" },
      state.progress
        ? `${text} ${counted(state.progress.processed_rows, "row")} of ${state.progress.total_rows}`
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
    "Choose another file",
  );
  if (!["preview_ok", "preview_error"].includes(state.status)) {
    showStep(
      stage,
      1,
      h("p.fault-text", { role: "alert" }, state.error ?? "The file could not be checked."),
      h("div.actions", null, restart),
    );
    return;
  }
  const { insert = 0, update = 0, skip = 0, invalid = 0 } = state.summary ?? {};
  const ignored = uploaded.ignored_columns ?? [];
  const storing = insert + update;
  const commit = h(
    "button.button.primary",
    { type: "button", onclick: () => void store(entity, place, job) },
    `Store ${counted(storing, "row")}`,
  );
  showStep(
    stage,
    1,
    countsOf([
      ["New", insert],
      ["Changed", update],
      ["Skipped", skip],
      ["With errors", invalid],
    ]),
    ignored.length > 0 &&
      h(
        "p.note",
        null,
        `Columns that were not recognised, and are left out: ${ignored.join(", ")}.`,
      ),
    invalid > 0
      ? [
          h(
            "p.fault-text",
            { role: "alert" },
            `${counted(invalid, "row has", "rows have")} errors. Nothing is stored until all rows are right.`,
          ),
          errorsTable(state),
          h(
            "div.actions",
            null,
            restart,
            h(
              "button.button.primary",
              { type: "button", onclick: () => void download(errorsFile(job)).catch(tellFault) },
              icon("down"),
              h("span", null, "Download the rows with errors"),
            ),
          ),
        ]
      : [previewTable(uploaded.preview), h("div.actions", null, restart, storing > 0 && commit)],
  );
}

/** @param {[string, number][]} counts */
const countsOf = (counts) =>
  h(
    "dl.counts",
    null,
    counts.map(([name, count]) =>
      h("div", null, h("dt", null, name), h("dd", null, count.toLocaleString())),
    ),
  );

/** @param {JobState} state */
function errorsTable({ errors = [] }) {
  return h(
    "div.table-holder",
    { tabindex: "0", role: "region", "aria-label": "Rows with errors" },
    h(
      "table.plain",
      null,
      h(
        "thead",
        null,
        h(
          "tr",
          null,
          h("th", { scope: "col" }, "Row"),
          h("th", { scope: "col" }, "What is wrong"),
          h("th", { scope: "col" }, "What it says"),
        ),
      ),
      h(
        "tbody",
        null,
        errors.slice(0, shownErrorsMax).map(({ rowIndex, rowData, messages }) =>
          h(
            "tr",
            null,
            h("td", null, rowIndex),
            h(
              "td",
              null,
              messages.map((one) => h("div", null, one)),
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
    ),
    errors.length > shownErrorsMax &&
      h("p.quiet", null, `The first ${shownErrorsMax} rows; the file has them all.`),
  );
}

/** @param {Record<string, unknown>[]} rows */
function previewTable(rows) {
  const headings = Object.keys(rows[0] ?? {});
  return h(
    "div.table-holder",
    { tabindex: "0", role: "region", "aria-label": "First rows of the file" },
    h(
      "table.plain",
      null,
      h(
        "thead",
        null,
        h(
          "tr",
          null,
          headings.map((heading) => h("th", { scope: "col" }, heading)),
        ),
      ),
      h(
        "tbody",
        null,
        rows.map((row) =>
          h(
            "tr",
            null,
            headings.map((heading) => h("td", { dir: "auto" }, row[heading] ?? "")),
          ),
        ),
      ),
    ),
  );
}

/** @param {Entity} entity @param {Stage} place @param {Job} preview */
async function store(entity, place, preview) {
  const { stage, signal } = place;
  waitingFor(stage, 1, "Starting …");
  try {
    const { body } = await post(`${entity.path}/import-commit`, { preview_job_id: preview.id });
    const job = jobOf(entity, "commit", body.job_id);
    const state = await watchJob(job, (one) => showProgress(stage, 1, one, "Storing …"), signal);
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
    "Back to the list",
  );
  const restart = h(
    "button.button",
    { type: "button", onclick: () => chooseFile(entity, { stage, ...rest }) },
    "Import another file",
  );
  if (state.status !== "completed") {
    showStep(
      stage,
      2,
      h(
        "p.fault-text",
        { role: "alert" },
        `Nothing was stored: ${state.error ?? "the import failed"}`,
      ),
      h("div.actions", null, restart),
    );
    return;
  }
  showStep(
    stage,
    2,
    h("p", { role: "status" }, "The rows are stored."),
    countsOf([
      ["New", inserted],
      ["Changed", updated],
      ["Skipped", skipped],
      ["Refused", failed],
    ]),
    failed > 0 &&
      h(
        "button.button",
        { type: "button", onclick: () => void download(errorsFile(job)).catch(tellFault) },
        icon("down"),
        h("span", null, "Download the refused rows"),
      ),
    h("div.actions", null, restart, list),
  );
}
