/** The bytes of a workbook with headings and no rows, and nothing more. For runtimes without threads: exceljs is too large for them. */
import type { Workbooks } from "../../core/plans/workbooks-port.ts";
import { createTable } from "../workbook/create-table.ts";

export const blankWorkbook: Workbooks["blank"] = async (sheetName, columns) => {
  const plain = columns.map(({ heading }) => ({ heading }));
  const table = createTable("xlsx", { sheetName, columns: plain });
  const pieces: Uint8Array[] = [];
  for await (const piece of table.write([])) pieces.push(piece);
  return new Uint8Array(Buffer.concat(pieces));
};
