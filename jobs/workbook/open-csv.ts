/**
 * The csv reader: commas, semicolons or tabs, detected in the heading row; UTF-8, or UTF-16 with a byte order mark.
 * Limits: those of the xlsx reader, and the length of a row. Removes the apostrophes that `csv.ts` adds before
 * formulas.
 */
import { createReadStream } from "node:fs";
import { open, stat } from "node:fs/promises";
import { limits as serviceLimits } from "../../core/values/limits.ts";
import { isEscaped } from "./csv.ts";
import { InvalidWorkbook } from "./invalid-workbook.ts";
import type { SheetRow } from "./sheet-rows.ts";

/** The largest size of the file, and how it was written. */
export interface UploadReading {
  /** Of the file as it is stored. */
  readonly bytesMax: number;
  readonly rowsMax: number;
  readonly columnsMax: number;
  /** Of csv. `keep`: an apostrophe in front is a part of the text. */
  readonly formulas: "escape" | "keep";
}

/** All rows with a value, headings first; empty lines count. Rejects with `InvalidWorkbook`, even after some rows. */
export async function* csvRows(
  path: string,
  reading: UploadReading,
): AsyncGenerator<readonly SheetRow[]> {
  const { size } = await stat(path);
  if (size > reading.bytesMax)
    throw new InvalidWorkbook(`The file has more than ${reading.bytesMax} bytes`);
  const { rowsMax, columnsMax, formulas } = reading;
  let columns = 0;
  let cellsLeft: number = serviceLimits.workbookCellsMax;
  let rowIndex = 0;
  for await (const cells of records(textOf(path), columnsMax)) {
    rowIndex += 1;
    if (rowIndex > rowsMax + 1) throw new InvalidWorkbook(`The file has more than ${rowsMax} rows`);
    while (cells.at(-1) === "") cells.pop();
    if (cells.length === 0) continue;
    if (columns === 0) columns = cells.length;
    if (cells.length > columns)
      throw new InvalidWorkbook(`Row ${rowIndex} has more cells than the headings`);
    cellsLeft -= cells.length;
    if (cellsLeft < 0) throw new InvalidWorkbook("The file has too many cells");
    const plain = (text: string): string =>
      formulas === "escape" && isEscaped(text) ? text.slice(1) : text;
    yield [{ rowIndex, values: cells.map((text) => (text === "" ? null : plain(text))) }];
  }
}

/** By the mark at its beginning; without one it is UTF-8. */
async function* textOf(path: string): AsyncGenerator<string> {
  const file = await open(path);
  const mark = Buffer.alloc(2);
  await file.read(mark, 0, 2, 0).finally(() => file.close());
  const marks = new Map([
    ["fffe", "utf-16le"],
    ["feff", "utf-16be"],
  ]);
  const encoding = marks.get(mark.toString("hex")) ?? "utf-8";
  const decoder = new TextDecoder(encoding, { fatal: true });
  const decode = (bytes?: Uint8Array): string => {
    try {
      return bytes ? decoder.decode(bytes, { stream: true }) : decoder.decode();
    } catch (cause) {
      throw new InvalidWorkbook("The file is not text in UTF-8; save it as CSV UTF-8", { cause });
    }
  };
  for await (const bytes of createReadStream(path)) {
    const text = decode(bytes as Uint8Array);
    if (text.includes("\0")) throw new InvalidWorkbook("The file contains a NUL character");
    yield text;
  }
  yield decode();
}

/** The cells of each line; line ends in quotes belong to a cell. */
async function* records(
  texts: AsyncIterable<string>,
  columnsMax: number,
): AsyncGenerator<string[]> {
  let rest = "";
  let reader: RegExp | null = null;
  let line = 0;
  let scan: Scan = { at: 0, isQuoted: false };
  const take = function* (isLast: boolean): Generator<string[]> {
    let at = 0;
    for (;;) {
      const end = recordEnd(rest, scan, { from: at, isLast });
      if (end === null) break;
      const record = rest.slice(at, end.at);
      if (record !== "") reader ??= cellPattern(record);
      if (line > 0 || !separatorLine.test(record)) {
        line += 1;
        yield record === "" ? [] : cellsOf(record, { reader: reader!, line, columnsMax });
      }
      at = end.next;
      scan = { at, isQuoted: false };
      if (at >= rest.length && isLast) break;
    }
    rest = rest.slice(at);
    scan.at -= at;
  };
  for await (const text of texts) {
    rest += text;
    yield* take(false);
    if (rest.length > serviceLimits.csvRowLengthMax)
      throw new InvalidWorkbook(
        `Row ${line + 1} is longer than ${serviceLimits.csvRowLengthMax} characters; perhaps a quote is not closed`,
      );
  }
  if (rest !== "") yield* take(true);
}

/** The first line of files for Excel, which counts it as no row. */
const separatorLine = /^sep=[,;\t]$/i;

/** How far a record was searched for its end, so that a long one is not searched again with each piece of text. */
interface Scan {
  at: number;
  isQuoted: boolean;
}

/** Where the record that begins at `from` ends, and where the next one begins. Null: not yet known. Moves `scan` on. */
function recordEnd(
  text: string,
  scan: Scan,
  { from, isLast }: { from: number; isLast: boolean },
): { at: number; next: number } | null {
  const marks = /["\r\n]/g;
  marks.lastIndex = scan.at;
  for (let match = marks.exec(text); match !== null; match = marks.exec(text)) {
    const [mark] = match;
    if (mark === '"') scan.isQuoted = !scan.isQuoted;
    else if (!scan.isQuoted) {
      // A line feed can follow in the next piece.
      if (mark === "\r" && match.index === text.length - 1 && !isLast) {
        scan.at = match.index;
        return null;
      }
      const isPair = mark === "\r" && text[match.index + 1] === "\n";
      return { at: match.index, next: match.index + (isPair ? 2 : 1) };
    }
  }
  scan.at = text.length;
  if (!isLast || from >= text.length) return null;
  if (scan.isQuoted) throw new InvalidWorkbook("A quote is not closed at the end of the file");
  return { at: text.length, next: text.length };
}

/**
 * Matches a cell and its end, with the separator that occurs most often between the headings. Only a cell in quotes has
 * line ends: elsewhere, `recordEnd` took two quotes within cells, as of `5"`, for the ends of a quoted one.
 */
function cellPattern(headings: string): RegExp {
  const bare = headings.replaceAll(/"(?:[^"]|"")*"/g, "");
  const count = (mark: string): number => bare.split(mark).length;
  const mark = [",", ";", "\t"].reduce((best, one) => (count(one) > count(best) ? one : best));
  return new RegExp(`(?:"((?:[^"]|"")*)"|([^"${mark}\\r\\n][^${mark}\\r\\n]*|))(${mark}|$)`, "y");
}

function cellsOf(
  record: string,
  { reader, line, columnsMax }: { reader: RegExp; line: number; columnsMax: number },
): string[] {
  const cells: string[] = [];
  reader.lastIndex = 0;
  for (;;) {
    const match = reader.exec(record);
    if (match === null) throw new InvalidWorkbook(`Row ${line} has a quote in a wrong place`);
    const [, quoted, bare = "", end] = match;
    cells.push(quoted === undefined ? bare : quoted.replaceAll('""', '"'));
    if (cells.length > columnsMax)
      throw new InvalidWorkbook(`Row ${line} has more than ${columnsMax} cells`);
    if (end === "") return cells;
  }
}
