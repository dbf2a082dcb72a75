/** Which keys of a file are the same one for the database, whose collations may ignore case, accents or blanks. */
import { past } from "../../core/callers/scoped-session.ts";
import { batches, formsBy } from "../../core/locks/lock-names.ts";
import { foldedText } from "../../core/query/find-rows.ts";
import type { Queries } from "../../core/query/session.ts";
import type { AlikeText } from "../../core/values/types/column.ts";
import type { Key, KeyValue } from "../../core/values/types/key.ts";

/** A text for each key, equal for those that the columns call equal. Null for null. */
export async function equalTexts(
  queries: Queries,
  columns: Key,
  keys: readonly (KeyValue | null)[],
): Promise<(string | null)[]> {
  const asked = new Map<string, AlikeText>();
  for (const [at, { alike }] of columns.entries()) {
    if (typeof alike !== "object") continue;
    for (const key of keys) {
      const text = key?.[at];
      if (typeof text === "string") asked.set(`${at} ${text}`, { alike, text });
    }
  }
  const forms = new Map<string, string>();
  const db = formsBy((statement) => past(queries, "lockNames").native(statement));
  for (const some of batches([...asked])) {
    const texts = some.map(([, text]) => text);
    for (const [at, form] of (await db.equalForms(texts, Infinity)).entries())
      forms.set(some[at]![0], form);
  }
  return keys.map(
    (key) =>
      key &&
      foldedText(
        key.map((value, at) => forms.get(`${at} ${String(value)}`) ?? value),
        columns,
      ),
  );
}
