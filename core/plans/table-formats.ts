/** File formats of tables. A format's name is also its file extension and names its writer in `jobs/workbook`. */

/** What each format is called in HTTP. */
export const tableMediaTypes = {
  xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  csv: "text/csv; charset=utf-8",
  jsonl: "application/x-ndjson; charset=utf-8",
} as const;

export type TableFormat = keyof typeof tableMediaTypes;

export const tableFormats = Object.keys(tableMediaTypes) as readonly TableFormat[];

/** Those that an import reads. */
export const uploadFormats = ["xlsx", "csv"] as const satisfies readonly TableFormat[];
export type UploadFormat = (typeof uploadFormats)[number];
