/** Which keys of a file are the same one for the database, whose collations may ignore case, accents or blanks. */
import { past } from "../../core/callers/scoped-session.ts";
import { batches, type Forms, formsBy } from "../../core/locks/lock-names.ts";
import { folded, foldedText } from "../../core/query/find-rows.ts";
import type { Queries } from "../../core/query/session.ts";
import type { AlikeText } from "../../core/values/types/column.ts";
import type { Key, KeyValue } from "../../core/values/types/key.ts";

/** A text for each key, equal for those that the columns call equal. Null for null. */
export type EqualTexts = (
  queries: Queries,
  keys: readonly (KeyValue | null)[],
) => Promise<(string | null)[]>;

/** For all keys of one file. */
export function createEqualTexts(columns: Key): EqualTexts {
  /** By column; a text that has only these characters need not be asked for. */
  const characters = columns.map((): ReadonlyMap<string, string> | null => null);
  const isKnown = columns.every(({ alike }) => typeof alike !== "object");
  /** Those of all rows are kept, so a text by itself stays what it is. */
  const textOf = (key: KeyValue): string => {
    const text = key.length === 1 ? folded(key[0]!, columns[0]) : null;
    return typeof text === "string" ? text : foldedText(key, columns);
  };
  return async (queries, keys) => {
    if (isKnown) return keys.map((key) => key && textOf(key));
    const forms = columns.map(() => new Map<string, string>());
    const asked: (AlikeText & { readonly at: number })[] = [];
    const db = formsBy((statement) => past(queries, "lockNames").native(statement));
    for (const [at, { alike }] of columns.entries()) {
      if (typeof alike !== "object") continue;
      if (alike.isByCharacter) characters[at] ??= await charactersOf(alike, db);
      const known = characters[at] ?? null;
      for (const text of new Set(keys.map((key) => key?.[at]))) {
        if (typeof text !== "string") continue;
        const form = known && joined(text, known);
        if (form === null) asked.push({ alike, text, at });
        else forms[at]!.set(text, form);
      }
    }
    for (const some of batches(asked))
      for (const [place, form] of (await db.equalForms(some, Infinity)).entries())
        forms[some[place]!.at]!.set(some[place]!.text, form);
    const formOf = (value: KeyValue[number], at: number) =>
      typeof value === "string" ? (forms[at]!.get(value) ?? value) : value;
    return keys.map((key) => key && textOf(key.map(formOf)));
  };
}

/** From the exclamation mark to the tilde. A blank at the end of a text may count as nothing. */
const printable = Array.from({ length: 94 }, (_, at) => String.fromCharCode(0x21 + at));

async function charactersOf(
  alike: AlikeText["alike"],
  db: Forms,
): Promise<ReadonlyMap<string, string>> {
  const texts = printable.map((text) => ({ alike, text }));
  const forms = await db.equalForms(texts, Infinity);
  return new Map(printable.map((text, at) => [text, forms[at]!]));
}

/** The forms of all its characters, one after the other; null when one of them is not known. */
function joined(text: string, characters: ReadonlyMap<string, string>): string | null {
  let form = "";
  for (let at = 0; at < text.length; at++) {
    const one = characters.get(text[at]!);
    if (one === undefined) return null;
    form += one;
  }
  return form;
}
