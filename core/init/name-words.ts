/** Names of tables and columns as words: their probable meaning, and headings made of them. */
import { auditFields } from "../plans/audit-columns.ts";

/** `OrderLines`, `order_lines`, `ORDER LINES` -> `["order", "lines"]`. */
export const wordsOf = (name: string): string[] =>
  name
    .replace(/([a-z\d])([A-Z])/g, "$1 $2")
    .replace(/([A-Z]+)([A-Z][a-z])/g, "$1 $2")
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "")
    .map((word) => word.toLowerCase());

/** `order_lines` -> `Order lines`. */
export function headingOf(name: string): string {
  const text = wordsOf(name).join(" ");
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** The usual English singulars; other words stay as they are. */
export function singular(word: string): string {
  if (/(ss|us|is)$/.test(word)) return word;
  if (word.endsWith("ies") && word.length > 4) return `${word.slice(0, -3)}y`;
  if (/(ch|sh|x|z|s)es$/.test(word)) return word.slice(0, -2);
  return word.endsWith("s") && word.length > 2 ? word.slice(0, -1) : word;
}

/** The name without a final `id`: `category_id` -> `category`; otherwise unchanged. */
export const withoutId = (name: string): string =>
  name.length > 2 ? name.replace(/(?:_id|(?<=[a-z\d])I[dD]|(?<=[A-Z])_ID|_fk)$/, "") : name;

const secretWords: ReadonlySet<string> = new Set(["token", "hash", "salt", "pwd", "otp", "cvv"]);

/** Whether a column seems to hold secrets: passwords, tokens, secrets, hashes. */
export function looksSecret(name: string): boolean {
  const words = wordsOf(name);
  if (/passw(or)?d|passphrase|secret/.test(words.join(""))) return true;
  if (/(api|private|access)key/.test(words.join(""))) return true;
  const [last] = words.slice(-1);
  return words.some((word) => secretWords.has(word)) && last !== "count" && last !== "type";
}

/** Columns that the service fills by itself. */
export const auditNames: ReadonlySet<string> = new Set(auditFields.map(({ name }) => name));
