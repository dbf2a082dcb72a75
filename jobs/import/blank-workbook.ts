/** The bytes of a workbook with headings and no rows. Called by both kinds of `Workbooks`. */
import { createTable } from "../workbook/create-table.ts";

export async function blankWorkbook(
  sheetName: string,
  headings: readonly string[],
): Promise<Uint8Array<ArrayBuffer>> {
  const columns = headings.map((heading) => ({ heading }));
  const table = createTable("xlsx", { sheetName, columns });
  const pieces: Uint8Array[] = [];
  for await (const piece of table.write([])) pieces.push(piece);
  return new Uint8Array(Buffer.concat(pieces));
}
