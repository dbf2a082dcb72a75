/** What is wrong with a row of a file, and where. */
export interface RowFault {
  /** As clients see it. */
  readonly text: string;
  /** The column of the sheet that it is about, from 0; null = the row, or a field that the file does not have. */
  readonly place: number | null;
}

export const textsOf = (faults: readonly RowFault[]): string[] => faults.map(({ text }) => text);
