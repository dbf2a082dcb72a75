/**
 * The one error of an uploaded workbook that cannot be read: damaged, hostile, encrypted, too large, or no workbook at all. The reader
 * (`open-workbook.ts` and what stands behind it) throws nothing else for what is in the file.
 */

/** `message` is a sentence that is fit for the client; `cause` is for the log alone. */
export class InvalidWorkbook extends Error {
  override readonly name = "InvalidWorkbook";
}
