/** Writes `exceljs.xlsx` beside it, with the same table as the files of make.py: `node make.ts`. */
import ExcelJS from "exceljs";
import { join } from "node:path";

const headings = "name born seen_at opens price code stock active double note broken".split(" ");
const numberFormats = [
  [2, "yyyy-mm-dd"],
  [3, "dd/mm/yyyy hh:mm"],
  [4, "hh:mm:ss"],
  [5, "#,##0.00"],
] as const;
/** As exceljs takes them; a time of day is one on the day from which a workbook counts. */
const at = (iso: string): Date => new Date(`${iso}Z`);
const doubled = (row: number, result: number): ExcelJS.CellValue => ({
  formula: `G${row}*2`,
  result,
});
const bold = { font: { bold: true } };
const rich = { richText: [{ text: "a " }, { text: "bold", ...bold }, { text: " end " }] };

const rows: readonly (readonly ExcelJS.CellValue[] | null)[] = [
  [
    "Ann",
    at("1999-12-31T00:00:00"),
    at("2024-02-29T12:34:56"),
    at("1899-12-30T08:30:00"),
    19.99,
    "007",
    5,
    true,
    doubled(2, 10),
    "plain",
  ],
  [
    "Bob & <Co>",
    at("1900-03-01T00:00:00"),
    at("2038-01-19T03:14:08"),
    at("1899-12-30T23:59:59"),
    0.1,
    "00",
    -3,
    false,
    doubled(3, -6),
    "two\nlines",
  ],
  null,
  [
    "Zoë 😀",
    at("9999-12-31T00:00:00"),
    at("1970-01-01T00:00:00"),
    at("1899-12-30T00:00:01"),
    123_456_789.012_345,
    "1e5",
    0,
    true,
    doubled(5, 0),
    rich,
    { formula: "1/0", result: { error: "#DIV/0!" } },
  ],
];

const workbook = new ExcelJS.Workbook();
workbook.addWorksheet("Hidden", { state: "hidden" }).addRow(["not this one"]);
const sheet = workbook.addWorksheet("Things");
sheet.addRow(headings).font = bold.font;
for (const [place, values] of rows.entries()) {
  if (values === null) continue;
  const row = sheet.getRow(place + 2);
  row.values = [...values];
  for (const [column, format] of numberFormats) row.getCell(column).numFmt = format;
}
// Formatted, but empty.
for (let number = 6; number < 21; number++) sheet.getRow(number).getCell(2).numFmt = "yyyy-mm-dd";
await workbook.xlsx.writeFile(join(import.meta.dirname, "exceljs.xlsx"));
