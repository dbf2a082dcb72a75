/**
 * The csv writer: RFC 4180 (commas, CRLF, quotes doubled) in UTF-8 with a byte order mark, without which Excel assumes
 * another encoding. Dates follow their pattern, booleans their labels. Numbers are plain digits for every program.
 *
 * Spreadsheets run a text as a formula if it begins with `=`, `@`, a tab or a line break, or with a sign before more
 * than a number; some take the wide forms of these, too. Unless `formulas` is `keep`, such a text gets an apostrophe in
 * front. As that changes the text, xlsx is the better format for spreadsheets: texts are safe there.
 */
import type { AnsweredTable } from "../../core/plans/export-plan.ts";
import type { Json } from "../../core/values/json.ts";
import { labelOf, patternOf } from "./cell-xml.ts";
import { msOf } from "./serial-date.ts";
import {
  type Batch,
  type ColumnFormat,
  type TableOptions,
  type TableWriter,
  cellText,
} from "./table-column.ts";

/** A writer of one csv file. */
export function createCsv(options: TableOptions): TableWriter {
  const { heading, lines } = csvText(options);
  return {
    textsCut: 0,
    async *write(batches) {
      yield Buffer.from(heading);
      for await (const batch of batches) {
        const text = lines(batch);
        if (text !== "") yield Buffer.from(text);
      }
    },
  };
}

/** The whole text of a small csv file. */
export function csvOf({ columns, rows, csvFormulas: formulas }: AnsweredTable): string {
  const shown = columns.map(({ heading, format }) => ({ heading, format: format ?? undefined }));
  const { heading, lines } = csvText({ columns: shown, formulas });
  return heading + lines(rows);
}

/** The parts of a csv file as texts; `heading` begins with the byte order mark. */
function csvText({ columns, formulas = "escape" }: Pick<TableOptions, "columns" | "formulas">): {
  readonly heading: string;
  readonly lines: (batch: Batch) => string;
} {
  const safe = formulas === "escape" ? escaped : asWritten;
  const quoted = (text: string): string => inQuotes(safe(text.toWellFormed()));
  const fields = columns.map(({ format }) => fieldWriter(format, quoted));
  return {
    heading: `\ufeff${columns.map(({ heading }) => quoted(heading)).join(",")}\r\n`,
    lines(batch) {
      let text = "";
      for (const row of batch) {
        text += fields.map((field, at) => field(row[at] ?? null)).join(",");
        text += "\r\n";
      }
      return text;
    },
  };
}

function fieldWriter(
  format: ColumnFormat | undefined,
  quoted: (text: string) => string,
): (value: Json) => string {
  // JSON and numbers cannot begin like a formula, except with the minus of a number.
  const asItIs = (value: Json): string => {
    if (value === null) return "";
    return typeof value === "string" ? quoted(value) : inQuotes(cellText(value));
  };
  switch (format?.type) {
    case "boolean":
      return (value) => (value === null ? "" : asItIs(labelOf(value, format)));
    case "date":
    case "datetime": {
      // Without a pattern ISO 8601 stays, which every program reads.
      if (format.pattern === undefined) return asItIs;
      const pattern = patternOf(format.type, format.pattern);
      return (value) => {
        const ms = typeof value === "string" ? msOf(value) : null;
        return ms === null ? asItIs(value) : quoted(pattern.format(ms));
      };
    }
    default:
      return asItIs;
  }
}

/** Also behind apostrophes, to recognize an added one. Signs of numbers, dates and telephone numbers do not count. */
const isFormula = /^'*(?:[=@＝＠\t\r\n]|[+＋－-](?![\d ()./,:-]*$))/;
/** Programs that guess the separator may take semicolons and tabs, and a formula behind one would be a cell of its own. */
const needsQuotes = /[",;\t\r\n]|^\s|\s$/;

/** Whether the writer has put an apostrophe in front of the text. */
export const isEscaped = (text: string): boolean => text.startsWith("'") && isFormula.test(text);

const escaped = (text: string): string => (isFormula.test(text) ? `'${text}` : text);
const asWritten = (text: string): string => text;

const inQuotes = (text: string): string =>
  needsQuotes.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
