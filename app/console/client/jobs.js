/** Exports and imports in the background: their progress, and the list of those that this tab started. */
import { ask, ApiError, post } from "./api.js";

/** @typedef {"export" | "preview" | "commit"} JobKind */
/** @typedef {{ id: string, kind: JobKind, project: string, endpoint: string, startedAt: string }} KeptJob */
/** @typedef {{ status: string, progress?: { processed_rows: number, total_rows: number }, file_url?: string, error?: string | null, summary?: Record<string, number>, changes?: Record<string, number>, result?: Record<string, number>, errors?: { rowIndex: number, rowData: Record<string, unknown>, messages: string[] }[] }} JobState */

const place = "rowgate.jobs";
const keptMax = 50;
const pauseMs = 400;
const pauseMsMax = 3000;

/** Newest first. @returns {KeptJob[]} */
export function keptJobs() {
  try {
    return JSON.parse(sessionStorage.getItem(place) ?? "[]");
  } catch {
    return [];
  }
}

/** @param {Omit<KeptJob, "startedAt">} job */
export function keepJob(job) {
  const all = [{ ...job, startedAt: new Date().toISOString() }, ...keptJobs()];
  sessionStorage.setItem(place, JSON.stringify(all.slice(0, keptMax)));
}

/** @param {string} id */
export const forgetJob = (id) =>
  sessionStorage.setItem(place, JSON.stringify(keptJobs().filter((one) => one.id !== id)));

/** @param {Pick<KeptJob, "project" | "endpoint">} job */
const pathOf = ({ project, endpoint }) => `api/${project}/${endpoint}`;
/** @param {JobKind} kind */
const groupOf = (kind) => (kind === "export" ? "export" : "import");

/** Rejects with ApiError. @param {Omit<KeptJob, "startedAt">} job @returns {Promise<JobState>} */
export async function jobState(job) {
  const { body } = await ask(`${pathOf(job)}/${groupOf(job.kind)}-status?job_id=${job.id}`, {
    quiet: true,
  });
  return body;
}

/** @param {JobState} state */
export const isRunning = ({ status }) =>
  ["pending", "processing", "validating", "queued"].includes(status);

/** @param {Omit<KeptJob, "startedAt">} job */
export const cancelJob = (job) =>
  post(`${pathOf(job)}/${groupOf(job.kind)}-cancel`, { job_id: job.id });

/** The address of the file of a finished export. @param {Omit<KeptJob, "startedAt">} job */
export const exportFile = (job) => `${pathOf(job)}/export-download?job_id=${job.id}`;

/** The rows of an import that were refused, as a workbook. @param {Omit<KeptJob, "startedAt">} job */
export const errorsFile = (job) => `${pathOf(job)}/import-errors?job_id=${job.id}`;

/**
 * Resolves to the final state; null: `signal` was aborted. Rejects with ApiError.
 * @param {Omit<KeptJob, "startedAt">} job @param {(state: JobState) => void} onState @param {AbortSignal} signal
 * @returns {Promise<JobState | null>}
 */
export async function watchJob(job, onState, signal) {
  for (let waitMs = pauseMs; !signal.aborted; waitMs = Math.min(waitMs * 1.3, pauseMsMax)) {
    const state = await jobState(job).catch((error) => {
      // The service could be restarting; the job continues.
      if (error instanceof ApiError && (error.status === 503 || error.status === 0)) return null;
      throw error;
    });
    if (signal.aborted) return null;
    if (state) onState(state);
    if (state && !isRunning(state)) return state;
    await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
  return null;
}

/** From 0 to 1; null: not known yet. @param {JobState} state */
export const partDone = ({ progress }) =>
  progress && progress.total_rows > 0 ? progress.processed_rows / progress.total_rows : null;
