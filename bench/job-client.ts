/** A client of exports and imports that times the jobs, from the request to the answer that the job is done. */
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

/** Interval between requests for a job's state, in milliseconds; it limits the precision of a job's time. */
const askEveryMs = 20;
const giveUpAfterMs = 300_000;

export interface DoneJob {
  readonly id: string;
  readonly ms: number;
}

export function jobClient(origin: string) {
  const at = (action: string): string => `${origin}/api/bench/items/${action}`;

  async function call(action: string, init?: RequestInit): Promise<Record<string, unknown>> {
    const response = await fetch(at(action), init);
    const body = (await response.json()) as Record<string, unknown>;
    if (response.status !== 200) throw new Error(`${action}: ${JSON.stringify(body)}`);
    return body;
  }

  const post = (action: string, body: object) =>
    call(action, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });

  /** Starts a job and waits for its end; rejects unless that is one of `ends`. */
  async function run(
    action: string,
    body: object,
    { ask, ends }: { ask: string; ends: readonly string[] },
  ): Promise<DoneJob> {
    const startMs = performance.now();
    const { job_id: id } = (await post(action, body)) as { job_id: string };
    for (;;) {
      const answer = await call(`${ask}?job_id=${id}`);
      const ms = performance.now() - startMs;
      if (ends.includes(String(answer["status"]))) return { id, ms };
      const isOver = !["pending", "processing", "validating"].includes(String(answer["status"]));
      if (isOver || ms > giveUpAfterMs) throw new Error(`${action}: ${JSON.stringify(answer)}`);
      await sleep(askEveryMs);
    }
  }

  return {
    post,
    exportAll: (body: object = {}) =>
      run("export", body, { ask: "export-status", ends: ["completed"] }),
    async untilProcessing(id: string): Promise<void> {
      const isWaiting = async () =>
        (await call(`export-status?job_id=${id}`))["status"] === "pending";
      while (await isWaiting()) await sleep(askEveryMs);
    },
    cancelExport: (job_id: string) => post("export-cancel", { job_id }),
    /** The id of the upload. */
    async upload(path: string): Promise<string> {
      const form = new FormData();
      form.append("file", new File([await readFile(path)], "rows.xlsx"));
      const { upload_id: id } = await call("import-upload", { method: "POST", body: form });
      return String(id);
    },
    preview: (upload_id: string) =>
      run("import-preview", { upload_id }, { ask: "import-status", ends: ["preview_ok"] }),
    commit: (preview_job_id: string) =>
      run("import-commit", { preview_job_id }, { ask: "import-status", ends: ["completed"] }),
  };
}

export type JobClient = ReturnType<typeof jobClient>;
