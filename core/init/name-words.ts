/** Names of tables and columns as words: their probable meaning, and headings made of them. */
import { auditFields } from "../plans/audit-columns.ts";
import type { Column, ColumnType } from "../values/types/column.ts";

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

/** Among the words of a name, or written without a gap between them. */
const secretNames: readonly RegExp[] = [
  /passw(or)?d|passwort|kennwort|senha|contraseña|motdepasse|passphrase|passcode/,
  /secret(?!ar)|credentials|securitystamp|(backup|recovery)codes?/,
  /(api|private|access|activation|encryption|signing)key|authkey/,
];
const secretWords: ReadonlySet<string> = new Set(["token", "hash", "salt", "pwd", "otp", "cvv"]);
/** Last words of names of what is only about a secret. */
const aboutWords: ReadonlySet<string> = new Set(["count", "type", "id"]);
const plainTypes: ReadonlySet<ColumnType> = new Set(["boolean", "date", "timestamp", "time"]);

/** Whether a column seems to hold secrets: passwords, tokens, secrets, hashes. */
export function looksSecret({ name, type }: Pick<Column, "name" | "type">): boolean {
  const words = wordsOf(name);
  const last = words.at(-1) ?? "";
  if (plainTypes.has(type) || aboutWords.has(last)) return false;
  const whole = words.join("");
  return (
    last === "pass" ||
    secretNames.some((one) => one.test(whole)) ||
    words.some((word) => secretWords.has(word))
  );
}

/** Columns that the service fills by itself. */
export const auditNames: ReadonlySet<string> = new Set(auditFields.map(({ name }) => name));
