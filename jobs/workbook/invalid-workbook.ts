/**
 * The one error of an uploaded workbook that cannot be read: damaged, hostile, encrypted, too large, or not a workbook
 * at all. The reader (`open-workbook.ts` and the files that it uses) throws no other error about the contents of the
 * file.
 */

/** `message` is a sentence for the client; `cause` is only logged. */
export class InvalidWorkbook extends Error {
  override readonly name = "InvalidWorkbook";
}
