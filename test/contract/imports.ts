/** Helpers for tests of imports: workbooks created at test time, and the steps from an upload to a commit. */
import { setTimeout as sleep } from "node:timers/promises";
import ExcelJS from "exceljs";
import type { Json } from "../../core/values/json.ts";
import { createTable } from "../../jobs/workbook/create-table.ts";
import type { ColumnFormat } from "../../jobs/workbook/table-column.ts";
import type { Answer, Fixture } from "./harness.ts";

/** An xlsx whose first row is the headings. `formats`: by heading. */
export async function workbookOf(
  [headings = [], ...rows]: readonly (readonly Json[])[],
  formats: Readonly<Record<string, ColumnFormat>> = {},
): Promise<Uint8Array<ArrayBuffer>> {
  const columns = headings.map((heading) => ({
    heading: String(heading),
    format: formats[String(heading)],
  }));
  const pieces: Uint8Array[] = [];
  for await (const piece of createTable("xlsx", { sheetName: "Data", columns }).write([rows]))
    pieces.push(piece);
  return new Uint8Array(Buffer.concat(pieces));
}

/** The sheets of a file that people fill in or correct, as exceljs finds them; that of its lists is the second. */
export async function sheetsOf(bytes: Uint8Array<ArrayBuffer>): Promise<ExcelJS.Worksheet[]> {
  const workbook = new ExcelJS.Workbook();
  await workbook.xlsx.load(bytes.buffer);
  return workbook.worksheets;
}

export type Importer = ReturnType<typeof importerOf>;

export function importerOf(fixture: Pick<Fixture, "request" | "post">) {
  const send = (endpoint: string, body: FormData): Promise<Answer> =>
    fixture.request(`/api/test/${endpoint}/import-upload`, { method: "POST", body });

  const sendFile = (
    endpoint: string,
    bytes: Uint8Array<ArrayBuffer>,
    { name = "rows.xlsx", type = "" } = {},
  ): Promise<Answer> => {
    const form = new FormData();
    form.append("file", new File([bytes], name, { type }));
    return send(endpoint, form);
  };

  /** The status of the job once it has ended. */
  async function ended(endpoint: string, jobId: string): Promise<Answer> {
    const giveUpAtMs = performance.now() + 25_000;
    for (;;) {
      const answer = await fixture.request(`/api/test/${endpoint}/import-status?job_id=${jobId}`);
      const { status } = answer.body;
      if (status !== "validating" && status !== "processing") return answer;
      if (performance.now() > giveUpAtMs) throw new Error(JSON.stringify(answer.body));
      await sleep(20);
    }
  }

  async function uploaded(
    endpoint: string,
    file: Uint8Array<ArrayBuffer>,
    as = {},
  ): Promise<string> {
    const answer = await sendFile(endpoint, file, as);
    if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
    return answer.body.upload_id;
  }

  /** The status of the preview of these rows, once it has ended. `as`: the file's name and type. */
  async function previewed(
    endpoint: string,
    file: Uint8Array<ArrayBuffer>,
    as = {},
  ): Promise<Answer> {
    const upload_id = await uploaded(endpoint, file, as);
    const { body } = await fixture.post(`${endpoint}/import-preview`, { upload_id });
    return ended(endpoint, body.job_id);
  }

  /** The status of the commit of these rows, once it has ended; rejects when the preview found something. */
  async function committed(
    endpoint: string,
    file: Uint8Array<ArrayBuffer>,
    as = {},
  ): Promise<Answer> {
    const preview = await previewed(endpoint, file, as);
    if (preview.body.status !== "preview_ok") throw new Error(JSON.stringify(preview.body));
    return commit(endpoint, preview.body.job_id);
  }

  async function commit(endpoint: string, preview_job_id: string): Promise<Answer> {
    const answer = await fixture.post(`${endpoint}/import-commit`, { preview_job_id });
    if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
    return ended(endpoint, answer.body.job_id);
  }

  return { send, sendFile, ended, uploaded, previewed, committed, commit };
}
