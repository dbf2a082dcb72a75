/** Exports and imports that this tab started: their progress, their files, and a way to stop them. */
import { ApiError, download } from "../api.js";
import { statusBadge } from "../cells.js";
import { fill, h } from "../dom.js";
import { textOf } from "../format.js";
import {
  cancelJob,
  errorsFile,
  exportFile,
  forgetJob,
  isRunning,
  jobState,
  keptJobs,
  partDone,
} from "../jobs.js";
import { t, titled } from "../words.js";
import { titleOfEndpoint } from "../model.js";
import { tellFault } from "../notices.js";
import { addressOf } from "../router.js";

/** @import { JobState, KeptJob } from "../jobs.js" */

const pauseMs = 1500;
const kinds = { export: t("export"), preview: t("jobs.check"), commit: t("jobs.store") };

const headings = [t("jobs.job"), t("jobs.list"), t("jobs.started"), t("status"), t("progress"), ""];

/** @type {import("../types.d.ts").View} */
export function show(place) {
  document.title = titled(t("jobs"));
  let timer = 0;
  let isLeft = false;
  const body = h("tbody");
  const table = h(
    "table.plain",
    { "aria-label": t("jobs") },
    h(
      "thead",
      h(
        "tr",
        headings.map((text) => h("th", { scope: "col" }, text || h("span.unseen", t("actions")))),
      ),
    ),
    body,
  );
  const empty = h("p.note", t("jobs.none"));
  fill(
    place,
    h("div.head", h("h1", t("jobs"))),
    empty,
    h("div.sheet", h("div.table-holder", table)),
  );

  async function refresh() {
    clearTimeout(timer);
    const jobs = keptJobs();
    const states = await Promise.all(jobs.map((job) => jobState(job).catch(faultState)));
    if (isLeft) return;
    empty.hidden = jobs.length > 0;
    table.closest(".sheet")?.toggleAttribute("hidden", jobs.length === 0);
    fill(
      body,
      jobs.map((job, at) => rowOf(job, /** @type {JobState} */ (states[at]), refresh)),
    );
    if (states.some(isRunning)) timer = setTimeout(() => void refresh(), pauseMs);
  }

  void refresh();
  return () => {
    isLeft = true;
    clearTimeout(timer);
  };
}

/** @param {unknown} error @returns {JobState} */
const faultState = (error) => ({
  status: error instanceof ApiError && error.status === 404 ? "expired" : "unknown",
  error: error instanceof Error ? error.message : null,
});

/** @param {KeptJob} job @param {JobState} state @param {() => Promise<void>} refresh */
function rowOf(job, state, refresh) {
  const { id, kind, project, endpoint, startedAt } = job;
  const part = partDone(state);
  const button = (/** @type {string} */ text, /** @type {() => unknown} */ onclick) =>
    h("button.button", { type: "button", onclick }, text);
  const isBad =
    ["preview_error", "completed"].includes(state.status) &&
    kind !== "export" &&
    (state.summary?.["invalid"] ?? state.result?.["failed"] ?? 0) > 0;
  return h(
    "tr",
    h("td", kinds[kind]),
    h("td", h("a", { href: addressOf([project, endpoint]) }, titleOfEndpoint(project, endpoint))),
    h("td", textOf(startedAt, { type: "timestamp" })),
    h(
      "td",
      statusBadge(state.status, jobStatus(state.status)),
      state.error ? h("div.fault-text", state.error) : null,
    ),
    h(
      "td",
      isRunning(state)
        ? h("progress", {
            "aria-label": t("progress"),
            max: "1",
            ...(part !== null && { value: part }),
          })
        : outcomeOf(state),
    ),
    h(
      "td",
      h(
        "span.button-row",
        isRunning(state) && button(t("cancel"), () => void cancelJob(job).then(refresh, tellFault)),
        kind === "export" &&
          state.status === "completed" &&
          button(t("download"), () => void download(exportFile(job)).catch(tellFault)),
        isBad &&
          button(t("import.wrongRows"), () => void download(errorsFile(job)).catch(tellFault)),
        !isRunning(state) &&
          button(t("jobs.forget"), () => {
            forgetJob(id);
            void refresh();
          }),
      ),
    ),
  );
}

/** By the names that the service has for them. @type {Record<string, import("../words.js").TextName>} */
const statuses = {
  pending: "jobs.pending",
  queued: "jobs.pending",
  processing: "jobs.processing",
  validating: "jobs.validating",
  completed: "jobs.completed",
  preview_ok: "jobs.checked",
  preview_error: "jobs.wrong",
  failed: "jobs.failed",
  cancelled: "jobs.cancelled",
  expired: "jobs.expired",
  unknown: "jobs.unknown",
};

/** @param {string} status */
const jobStatus = (status) => (statuses[status] ? t(statuses[status]) : undefined);

/** By the names that the service has for them. @type {Record<string, import("../words.js").TextName>} */
const results = {
  insert: "jobs.inserted",
  inserted: "jobs.inserted",
  update: "jobs.updated",
  updated: "jobs.updated",
  skip: "jobs.skipped",
  skipped: "jobs.skipped",
  invalid: "jobs.invalid",
  failed: "jobs.refused",
  valid: "jobs.valid",
};

/** @param {string} name @param {number} count */
const resultText = (name, count) =>
  results[name] ? t(results[name], { count }) : `${count} ${name}`;

/** @param {JobState} state */
const outcomeOf = ({ summary, result }) =>
  Object.entries(result ?? summary ?? {})
    .filter(([, count]) => count > 0)
    .map(([name, count]) => resultText(name, count))
    .join(", ");
