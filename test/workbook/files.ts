/** Writes tables to files in a temporary folder and reads them back. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Json } from "../../core/values/json.ts";
import { createTable } from "../../jobs/workbook/create-table.ts";
import type { TableFormat } from "../../core/plans/table-formats.ts";
import type { UploadReading } from "../../jobs/workbook/open-csv.ts";
import { openWorkbook } from "../../jobs/workbook/open-workbook.ts";
import type { CellValue } from "../../jobs/workbook/sheet-cells.ts";
import type { ColumnFormat, TableOptions } from "../../jobs/workbook/table-column.ts";

let folder: string | null = null;
let count = 0;

/** The path of a new file with these bytes, which is there until the test ends. */
export async function fileOf(bytes: Uint8Array | string): Promise<string> {
  const path = join(folder ?? (await openFolder()), `${++count}.xlsx`);
  await writeFile(path, bytes);
  return path;
}

async function openFolder(): Promise<string> {
  const opened = await mkdtemp(join(tmpdir(), "rowgate-workbook-"));
  folder = opened;
  onTestFinished(async () => {
    folder = null;
    await rm(opened, { recursive: true, force: true });
  });
  return opened;
}

/** The bytes of a table whose rows come in one batch. */
export async function bytesOf(
  rows: readonly (readonly Json[])[],
  options: Partial<TableOptions> & { format?: TableFormat } = {},
): Promise<Buffer> {
  const columns = (rows[0] ?? [null]).map((_, at) => ({ heading: `column ${at + 1}` }));
  const writer = createTable(options.format ?? "xlsx", { sheetName: "Data", columns, ...options });
  const pieces: Uint8Array[] = [];
  for await (const piece of writer.write([rows])) pieces.push(piece);
  return Buffer.concat(pieces);
}

export async function rowsOf(
  path: string,
  limits?: Partial<UploadReading>,
): Promise<{ headings: readonly (string | null)[]; rows: (readonly [number, ...CellValue[]])[] }> {
  const workbook = await openWorkbook(path, limits);
  const rows: (readonly [number, ...CellValue[]])[] = [];
  for await (const { rowIndex, values } of workbook.rows()) rows.push([rowIndex, ...values]);
  return { headings: workbook.headings, rows };
}

/** Writes one value in a column of that format and returns what is read back. */
export async function roundTrip(value: Json, format?: ColumnFormat): Promise<CellValue> {
  const columns = [{ heading: "before" }, { heading: "value", format }];
  const path = await fileOf(await bytesOf([["x", value]], { columns }));
  const { rows } = await rowsOf(path);
  return rows[0]![2] ?? null;
}
