/** What actions and jobs need of workbooks: their cells, the summary of an uploaded one, and blank ones to fill in. */
/** The value of a cell: dates and times as ISO texts, numbers that a double would change as their digits. */
export type Cell = string | number | boolean | { readonly error: string } | null;

/** The summary of a workbook that import-upload answers. */
export interface WorkbookSketch {
  /** By column; null where a column has no heading. */
  readonly headings: readonly (string | null)[];
  readonly totalRows: number;
  /** The first rows, by column; fewer if they are very long. */
  readonly firstRows: readonly (readonly Cell[])[];
}

/** Workbooks for the actions of import; `jobs/` implements it. `share`: whose turn it is, as `shareOf` names it. */
export interface Workbooks {
  /**
   * Reads a whole file, outside of the requests' thread where there are threads. Rejects with `invalidFile` if it is
   * damaged, hostile, has no headings or takes too long, and with `notFound` if it no longer exists.
   */
  inspect(
    key: string,
    options: { rows: number; bytesMax: number; formulas: "escape" | "keep"; share: string },
  ): Promise<WorkbookSketch>;
  /** The bytes of a workbook with headings and no rows. Without threads it has no notes, lists or formats. */
  blank(
    sheetName: string,
    options: { columns: readonly GuidedColumn[]; share: string },
  ): Promise<Uint8Array<ArrayBuffer>>;
}

/** A column of a workbook to be filled in by a person, as plain data. */
export interface GuidedColumn {
  readonly heading: string;
  /** A description of the allowed values; null = nothing is known about the column. */
  readonly note: string | null;
  /** Every row needs a value. */
  readonly isRequired: boolean;
  /** The number format of its cells, as Excel writes it; null = Excel's own. */
  readonly format: string | null;
  /** Characters of a usual value; null = derived from its values. */
  readonly width: number | null;
  readonly choices: Choices | null;
}

/** Values that the cells of a column offer in a list; at least one. */
export interface Choices {
  readonly values: readonly (string | number)[];
  /** True: there are no others. False: a cell may hold another one, which its program asks about. */
  readonly isComplete: boolean;
}
