/** What actions and jobs need of workbooks: their cells, what is told of an uploaded one, and one for people to fill in. */
/** What a cell of a workbook says: dates and times as ISO texts, numbers that a double would change as their digits. */
export type Cell = string | number | boolean | { readonly error: string } | null;

/** What import-upload tells of a workbook. */
export interface WorkbookSketch {
  /** By column; null where a column has no heading. */
  readonly headings: readonly (string | null)[];
  readonly totalRows: number;
  /** The first rows, by column; fewer where they are very long. */
  readonly firstRows: readonly (readonly Cell[])[];
}

/** Workbooks for the actions of import; `jobs/` implements it. */
export interface Workbooks {
  /**
   * Looks through a whole file, apart from the requests. Rejects with `invalidFile` when it is damaged, hostile, has no headings
   * or takes too long, and with `notFound` when it is gone.
   */
  inspect(key: string, options: { rows: number; bytesMax: number }): Promise<WorkbookSketch>;
  /** The bytes of a workbook with headings and no rows. Where there are no threads it is without notes, lists and formats. */
  blank(sheetName: string, columns: readonly GuidedColumn[]): Promise<Uint8Array<ArrayBuffer>>;
}

/** A column of a workbook that a person is to fill in, as plain data. */
export interface GuidedColumn {
  readonly heading: string;
  /** What a cell may hold, in plain words; null = nothing is known of the column. */
  readonly note: string | null;
  /** Every row needs a value. */
  readonly isRequired: boolean;
  /** The number format of its cells, as Excel writes it; null = Excel's own. */
  readonly format: string | null;
  /** Characters of a usual value; null = its values say it. */
  readonly width: number | null;
  readonly choices: Choices | null;
}

/** Values that the cells of a column offer in a list; at least one. */
export interface Choices {
  readonly values: readonly (string | number)[];
  /** True: there are no others. False: a cell may hold another one, which its program asks about. */
  readonly isComplete: boolean;
}
