/** Names of tables and columns between quotes, as a statement's text holds them. */

export type Quote = '"' | "`";

/** Throws for a NUL character, which no engine takes. */
export function quoted(name: string, quote: Quote = '"'): string {
  if (name.includes("\0")) throw new Error("A name contains a NUL character");
  return quote + name.replaceAll(quote, quote + quote) + quote;
}

/** A table's name with its schema, if it is given one. */
export const quotedTable = (
  { schema, name }: { readonly schema: string | null; readonly name: string },
  quote: Quote = '"',
): string =>
  (schema === null ? [name] : [schema, name]).map((part) => quoted(part, quote)).join(".");
