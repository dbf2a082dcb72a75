/**
 * The rows that a job rejects, as a workbook with a column that says why. While they are few they are kept, and the
 * file marks the cells that are wrong and says in notes what they may hold; from `limits.importMarkedRowsMax` on the
 * file grows while the job runs, without marks.
 */
import type { ReadQueries } from "../../core/query/session.ts";
import { readGuide } from "../../core/jobs/import-guide.ts";
import { limits } from "../../core/values/limits.ts";
import type { Files } from "../../core/plans/files-port.ts";
import type { Cell } from "../../core/plans/workbooks-port.ts";
import type { JobContext } from "../job/job-context.ts";
import { cellLengthMax } from "../workbook/sheet-text.ts";
import type { TableOptions } from "../workbook/table-column.ts";
import { openRowFile, type RowFile } from "./row-file.ts";
import { type RowFault, textsOf } from "./row-fault.ts";
import type { UploadedRows } from "./uploaded-rows.ts";

const reasonHeadingInEnglish = "Import errors";

const cutReason = `is cut here, as a cell holds ${cellLengthMax} characters; take it from your own file`;

export interface RejectedRow {
  readonly values: readonly Cell[];
  readonly faults: readonly RowFault[];
}

export interface RejectedRows {
  /** Resolves when there is room for more. */
  add(rows: readonly RejectedRow[]): Promise<void>;
  /** Resolves when the file is there. Also without any row. `queries`: for the names that it offers. */
  finish(queries: Pick<ReadQueries, "all">): Promise<void>;
  /** Leaves no file. */
  abandon(): Promise<void>;
}

export function openRejectedRows(
  place: { readonly files: Files; readonly key: string },
  { context: { entity, language }, uploaded }: { context: JobContext; uploaded: UploadedRows },
): RejectedRows {
  const { messages } = entity.settings;
  const reasonHeading = messages.get(language ?? "")?.importErrors ?? reasonHeadingInEnglish;
  // A corrected file that is uploaded again still has this column, in any language; the import ignores it.
  const reasonHeadings = new Set<string | undefined>([
    reasonHeadingInEnglish,
    ...[...messages.values()].map(({ importErrors }) => importErrors),
  ]);
  const kept = uploaded.headings.flatMap((heading, at) =>
    heading === null || reasonHeadings.has(heading) ? [] : [{ heading, at }],
  );
  const headings = kept.map(({ heading }) => heading);
  const table: TableOptions = {
    sheetName: entity.name,
    columns: [...headings, reasonHeading].map((heading) => ({ heading })),
  };
  const valuesOf = ({ values }: RejectedRow): (string | number | boolean | null)[] =>
    kept.map(({ at }) => plainCell(values[at] ?? null));
  const whyOf = ({ values, faults }: RejectedRow): string =>
    [
      ...textsOf(faults),
      ...kept
        .filter(({ at }) => String(values[at] ?? "").length > cellLengthMax)
        .map(({ heading }) => `${heading}: ${cutReason}`),
    ].join("; ");

  let held: RejectedRow[] = [];
  let lengthLeft: number = limits.shownRowsLengthMax;
  let file: RowFile | null = null;

  async function writeOn(rows: readonly RejectedRow[]): Promise<void> {
    file ??= openRowFile(place, table);
    if (rows.length > 0) await file.add(rows.map((row) => [...valuesOf(row), whyOf(row)]));
  }

  async function writeMarked(queries: Pick<ReadQueries, "all">): Promise<void> {
    const { plan } = uploaded;
    const columns = await readGuide(queries, { plan, rules: entity.rules }, headings);
    const { writeGuided } = await import("../workbook/guided-workbook.ts");
    const rows = held.map((row) => ({
      values: valuesOf(row),
      marks: new Map(kept.map(({ at }, index) => [index, marksAt(row, at)] as const)),
      why: whyOf(row),
    }));
    const bytes = await writeGuided({ sheetName: table.sheetName, columns, rows, reasonHeading });
    await place.files.write(place.key, [bytes]);
  }

  return {
    async add(rows) {
      if (file !== null) return writeOn(rows);
      held.push(...rows);
      for (const row of rows) lengthLeft -= lengthOf(row);
      if (held.length <= limits.importMarkedRowsMax && lengthLeft >= 0) return;
      await writeOn(held);
      held = [];
    },
    async finish(queries) {
      if (file === null && held.length > 0) return writeMarked(queries);
      await writeOn([]);
      await file!.finish();
    },
    async abandon() {
      if (file !== null) await file.abandon();
      else await place.files.remove(place.key);
    },
  };
}

/** A cell as it goes into the new file; one with an error shows the error. */
const plainCell = (cell: Cell): string | number | boolean | null =>
  typeof cell === "object" && cell !== null ? cell.error : cell;

const marksAt = ({ faults }: RejectedRow, at: number): string[] =>
  textsOf(faults.filter(({ place }) => place === at));

/** Characters, about. */
const lengthOf = ({ values }: RejectedRow): number =>
  values.reduce<number>((sum, cell) => sum + (typeof cell === "string" ? cell.length : 8), 0);
