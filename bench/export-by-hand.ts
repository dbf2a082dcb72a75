/**
 * A hand-written export: rows from a cursor of postgres.js into the stream of exceljs. Runs as its own process.
 * Arguments: the URL of the database, the file.
 */
import ExcelJS from "exceljs";
import postgres from "postgres";
import { columnNames } from "./job-table.ts";
import { peakMiB, type Turn } from "./turn.ts";

const [url, path] = process.argv.slice(2) as [string, string];
const formats: Readonly<Record<string, string>> = {
  created: "yyyy-mm-dd",
  due: "dd/mm/yyyy hh:mm",
  price: "#,##0.00",
};

const startMs = performance.now();
const sql = postgres(url, { max: 1 });
const workbook = new ExcelJS.stream.xlsx.WorkbookWriter({ filename: path, useStyles: true });
const sheet = workbook.addWorksheet("Data");
sheet.columns = columnNames.map((header) => {
  const numFmt = formats[header];
  return { header, width: 15, ...(numFmt ? { style: { numFmt } } : {}) };
});
let rows = 0;
for await (const batch of sql`select ${sql(columnNames)} from items order by number`.cursor(500)) {
  for (const row of batch) {
    const values = columnNames.map((name) => row[name] as unknown);
    // The driver gives decimals as texts.
    for (const at of [7, 8]) values[at] = Number(values[at]);
    sheet.addRow(values).commit();
    rows++;
  }
  await new Promise((resolve) => setImmediate(resolve));
}
sheet.commit();
await workbook.commit();
await sql.end();
const turn: Turn = { rows, ms: performance.now() - startMs, peakMiB: peakMiB() };
console.log(JSON.stringify(turn));
