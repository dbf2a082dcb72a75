/**
 * What the columns of an uploaded sheet are for, by their headings, and how its rows are shown.
 */
import { headingKey } from "../values/text.ts";
import { closest } from "../values/closest.ts";
import type { Column } from "../values/types/column.ts";
import type { ImportLookup, ImportPlan } from "../plans/import-plan.ts";
import { invalidFile } from "../values/errors.ts";
import { limits } from "../values/limits.ts";
import type { Json } from "../values/json.ts";
import type { Cell } from "../plans/workbooks-port.ts";

/** A column of the sheet that the import reads. */
export interface FileColumn {
  /** Its place in a row, from 0. */
  readonly place: number;
  /** As the sheet has it. */
  readonly heading: string;
  /** The field that it fills. */
  readonly column: Column;
  /** Null: the cells are the field's own values. */
  readonly lookup: ImportLookup | null;
}

export interface FileColumns {
  readonly known: readonly FileColumn[];
  /** Headings that the import does nothing with. */
  readonly ignored: readonly string[];
}

type Headings = readonly (string | null)[];

/** Rejects with `invalidFile` if no heading is known, two refer to the same field, or a required one is missing. */
export function readHeadings(plan: ImportPlan, headings: Headings): FileColumns {
  const known: FileColumn[] = [];
  const ignored: string[] = [];
  for (const [place, heading] of headings.entries()) {
    if (heading === null) continue;
    const meant = plan.headings.get(headingKey(heading));
    if (meant === undefined) ignored.push(heading);
    else if ("target" in meant) known.push({ place, heading, column: meant.target, lookup: meant });
    else known.push({ place, heading, column: meant, lookup: null });
  }
  if (known.length === 0) {
    const near = closest(ignored[0] ?? "", plan.template);
    throw invalidFile(
      `No heading of the sheet is the name of a field${near ? `; did you mean "${near}"?` : ""}`,
    );
  }
  refuseTwice(known);
  const given = new Set(known.map(({ column }) => column));
  for (const column of [...plan.upsertKeys.values(), ...plan.required])
    if (!given.has(column)) throw invalidFile(`The sheet has no column for ${column.name}`);
  return { known, ignored };
}

function refuseTwice(known: readonly FileColumn[]): void {
  const byColumn = new Map<Column, string>();
  for (const { column, heading } of known) {
    const other = byColumn.get(column);
    if (other !== undefined)
      throw invalidFile(
        `The headings "${shortened(other)}" and "${shortened(heading)}" refer to the same field`,
      );
    byColumn.set(column, heading);
  }
}

const shortened = (text: string): string => text.slice(0, 80);

/** A row as clients see it, by heading. Long texts are cut. */
export function shownRow(headings: Headings, values: readonly Cell[]): Record<string, Json> {
  const row: [string, Json][] = [];
  for (const [place, heading] of headings.entries())
    if (heading !== null) row.push([heading, shownCell(values[place] ?? null)]);
  return Object.fromEntries(row);
}

/** What a cell shows; that of one with an error is the error. */
export function shownCell(cell: Cell): Json {
  const shown = typeof cell === "object" && cell !== null ? cell.error : cell;
  const isLong = typeof shown === "string" && shown.length > limits.shownCellLengthMax;
  return isLong ? `${shown.slice(0, limits.shownCellLengthMax)}…` : shown;
}
