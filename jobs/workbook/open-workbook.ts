/**
 * The xlsx reader. It goes from the archive's directory to the first visible sheet, keeps what is small and returns the
 * rows as a stream, with a limit on everything that a file can make large.
 */
import { type FileHandle, open } from "node:fs/promises";
import { limits as serviceLimits } from "../../core/values/limits.ts";
import { csvRows, type UploadReading } from "./open-csv.ts";
import { readDateStyles } from "./date-styles.ts";
import { InvalidWorkbook } from "./invalid-workbook.ts";
import { readSharedStrings } from "./shared-strings.ts";
import { type SheetReading, type SheetRow, sheetRows } from "./sheet-rows.ts";
import { mapWorkbook } from "./workbook-map.ts";
import { readDirectory } from "./zip-directory.ts";

/** A workbook whose first sheet can be read. */
export interface OpenWorkbook {
  readonly sheetName: string;
  /** The first row with a value, by column and without blanks around; null where a column has no heading. */
  readonly headings: readonly (string | null)[];
  /** The number of the heading row, from 1. */
  readonly headingIndex: number;
  /**
   * The rows below the headings that have a value; each call reads the file again. Rejects with `InvalidWorkbook`,
   * even after some rows, as the file is only checked completely at its end.
   */
  rows(): AsyncGenerator<SheetRow>;
}

/**
 * Opens the xlsx file (or csv, by its extension) at `path`, which must stay there unchanged while rows are read. Needs
 * no closing. Rejects with `InvalidWorkbook` if it is not a workbook, is damaged or beyond the limits, or has no
 * headings or a heading twice.
 */
export async function openWorkbook(
  path: string,
  limits: Partial<UploadReading> = {},
): Promise<OpenWorkbook> {
  const { formulas, bytesMax, ...sheetLimits } = { ...defaultLimits, ...limits };
  if (path.endsWith(".csv"))
    return opened("csv", () => csvRows(path, { formulas, bytesMax, ...sheetLimits }));
  const { sheet, reading } = await withFile(path, (file) =>
    readParts(file, { bytesMax, sheetLimits }),
  );
  return opened(sheet, async function* () {
    const file = await open(path);
    try {
      const directory = await readDirectory(file, serviceLimits.workbookPartsMax);
      yield* sheetRows({ file, directory }, reading);
    } finally {
      await file.close();
    }
  });
}

async function opened(
  sheetName: string,
  allRows: () => AsyncGenerator<readonly SheetRow[]>,
): Promise<OpenWorkbook> {
  const first = (await firstOf(allRows()))?.[0];
  if (!first) throw new InvalidWorkbook("The sheet is empty: its first row must hold the headings");
  return {
    sheetName,
    headings: headingsOf(first),
    headingIndex: first.rowIndex,
    async *rows() {
      for await (const rows of allRows())
        for (const row of rows) if (row.rowIndex > first.rowIndex) yield row;
    },
  };
}

const defaultLimits: UploadReading = {
  bytesMax: serviceLimits.workbookBytesMax,
  rowsMax: serviceLimits.workbookRowsMax,
  columnsMax: serviceLimits.workbookColumnsMax,
  formulas: "escape",
};

const ratioMax = serviceLimits.workbookInflateRatioMax;

/** Everything but the rows: where the sheet is, and what is needed to read its cells. */
async function readParts(
  file: FileHandle,
  {
    bytesMax,
    sheetLimits,
  }: { bytesMax: number; sheetLimits: Omit<UploadReading, "bytesMax" | "formulas"> },
): Promise<{ sheet: string; reading: SheetReading }> {
  const { size } = await file.stat();
  if (size > bytesMax) throw new InvalidWorkbook(`The file has more than ${bytesMax} bytes`);
  const directory = await readDirectory(file, serviceLimits.workbookPartsMax);
  const archive = { file, directory };
  const small = { bytesMax: serviceLimits.workbookPartBytesMax, ratioMax };
  const texts = { bytesMax: serviceLimits.workbookTextsBytesMax, ratioMax };
  const map = await mapWorkbook(archive, small);
  const { styles, strings, is1904 } = map;
  const context = {
    dateStyles:
      styles === null ? [] : await readDateStyles(archive, { path: styles, limits: small }),
    strings:
      strings === null ? [] : await readSharedStrings(archive, { path: strings, limits: texts }),
    is1904,
  };
  const limits = {
    ...sheetLimits,
    bytesMax: serviceLimits.workbookSheetBytesMax,
    cellsMax: serviceLimits.workbookCellsMax,
    ratioMax,
  };
  return { sheet: map.sheetName, reading: { path: map.sheet, context, limits } };
}

async function withFile<T>(path: string, work: (file: FileHandle) => Promise<T>): Promise<T> {
  const file = await open(path);
  try {
    return await work(file);
  } finally {
    await file.close();
  }
}

async function firstOf<T>(items: AsyncGenerator<T>): Promise<T | null> {
  for await (const item of items) return item;
  return null;
}

function headingsOf({ values }: SheetRow): (string | null)[] {
  const headings = values.map((value) => {
    if (value === null || typeof value === "object") return null;
    return String(value).trim() || null;
  });
  const seen = new Set<string>();
  for (const heading of headings) {
    if (heading === null) continue;
    if (seen.has(heading))
      throw new InvalidWorkbook(`The heading "${heading.slice(0, 80)}" appears twice`);
    seen.add(heading);
  }
  return headings;
}
