/**
 * One turn of `bench/workbook.ts`, as its own process: writes or reads a workbook with one library, and prints its time
 * and peak memory as JSON. Arguments: the task, the file, the number of rows.
 */
import { open } from "node:fs/promises";
import type ExcelJS from "exceljs";
import type { Json } from "../core/values/json.ts";
import { createTable } from "../jobs/workbook/create-table.ts";
import { openWorkbook } from "../jobs/workbook/open-workbook.ts";
import type { TableColumn } from "../jobs/workbook/table-column.ts";
import { peakMiB, type Turn } from "./turn.ts";

const [task, path, asked] = process.argv.slice(2) as [string, string, string];
const rowsAsked = Number(asked);
const firstDayMs = Date.UTC(2024, 0, 15);
const dayMs = 86_400_000;

/** Twelve columns: two dates, four texts, two decimals, two whole numbers, a boolean and a text that is mostly null. */
const columns: readonly TableColumn[] = [
  { heading: "created", format: { type: "date" } },
  { heading: "due", format: { type: "datetime", pattern: "DD/MM/YYYY HH:mm" } },
  ...["name", "city", "note", "code"].map((heading) => ({ heading })),
  { heading: "price", format: { type: "number", pattern: "#,##0.00" } },
  { heading: "rate", format: { type: "number" } },
  ...["quantity", "number", "active", "remark"].map((heading) => ({ heading })),
];
const excelFormats = ["yyyy-mm-dd", "dd/mm/yyyy hh:mm", "", "", "", "", "#,##0.00"];

const texts = (at: number): string[] => [
  `Customer ${at}`,
  `City ${at % 500}`,
  `Some note with the number ${(at * 7919) % 100_003}`,
  `C-${String(at).padStart(8, "0")}`,
];
const numbers = (at: number): number[] => [(at % 10_000) / 100, (at % 997) / 1000];
const rest = (at: number): (number | boolean | string | null)[] => [
  at % 1000,
  at,
  at % 3 === 0,
  at % 10 === 0 ? `Remark ${at}` : null,
];
const dates = (at: number): Date[] => [
  new Date(firstDayMs + (at % 3000) * dayMs),
  new Date(firstDayMs + at * 1000),
];

const tasks: Readonly<Record<string, () => Promise<number>>> = {
  "write with Rowgate": async () => {
    const file = await open(path, "w");
    const writer = createTable("xlsx", { sheetName: "Data", columns });
    for await (const bytes of writer.write(answers())) await file.write(bytes);
    await file.close();
    return rowsAsked;
  },
  "write with exceljs": async () => {
    const { stream } = await loadExceljs();
    const workbook = new stream.xlsx.WorkbookWriter({ filename: path, useStyles: true });
    const sheet = workbook.addWorksheet("Data");
    sheet.columns = columns.map(({ heading }, at) => {
      const numFmt = excelFormats[at];
      return { header: heading, width: 15, ...(numFmt ? { style: { numFmt } } : {}) };
    });
    for (let at = 0; at < rowsAsked; at++) {
      sheet.addRow([...dates(at), ...texts(at), ...numbers(at), ...rest(at)]).commit();
      if (at % 1000 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    sheet.commit();
    await workbook.commit();
    return rowsAsked;
  },
  "read with Rowgate": async () => {
    let count = 0;
    for await (const { values } of (await openWorkbook(path)).rows())
      if (values.length > 0) count++;
    return count;
  },
  "read with exceljs": async () => {
    let count = -1;
    const { stream } = await loadExceljs();
    const reader = new stream.xlsx.WorkbookReader(path, {});
    for await (const sheet of reader)
      for await (const row of sheet) if ((row.values as unknown[]).length > 0) count++;
    return count;
  },
};

/** Loaded only for its own tasks, because it takes about 40 MB. */
const loadExceljs = async (): Promise<typeof ExcelJS> => (await import("exceljs")).default;

/** The rows as in answers, in batches as from a cursor. */
function* answers(): Generator<Json[][]> {
  for (let from = 0; from < rowsAsked; from += 1000) {
    yield Array.from({ length: Math.min(1000, rowsAsked - from) }, (_, row) => {
      const at = from + row;
      const [created, due] = dates(at).map((date) => date.toISOString()) as [string, string];
      const decimals = numbers(at).map(String);
      return [created.slice(0, 10), due, ...texts(at), ...decimals, ...rest(at)];
    });
  }
}

const startMs = performance.now();
const rows = await tasks[task]!();
const turn: Turn = { rows, ms: performance.now() - startMs, peakMiB: peakMiB() };
console.log(JSON.stringify(turn));
