/** Which values a column calls equal, as far as that is known without the database. */
import type { Column } from "./column.ts";
import { toBase64 } from "../formats.ts";
import type { Scalar } from "../scalar.ts";

/** A text that is equal for values which the column calls equal, where its `alike` is no question to the database. */
export function equalText({ alike }: Pick<Column, "alike">, value: Scalar): string {
  if (value instanceof Uint8Array) return toBase64(value);
  if (typeof value !== "string" || typeof alike === "object") return String(value);
  switch (alike) {
    case "ascii case":
      return value.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
    case "blanks":
      return withoutBlanks(value);
    case "loosely": {
      const plain = value.normalize("NFKD").replace(/[\p{M}\p{C}]/gu, "");
      return withoutBlanks(plain.toUpperCase().toLowerCase());
    }
    default:
      return value;
  }
}

/** Not by a pattern, which takes quadratic time on blanks within a text. */
function withoutBlanks(text: string): string {
  let end = text.length;
  while (text[end - 1] === " ") end--;
  return text.slice(0, end);
}
