/**
 * Values of types whose texts only the database can read, such as inet and interval. A wrong one would make the search
 * for the records of all rows fail, so it is found first.
 */
import { past } from "../../core/callers/scoped-session.ts";
import type { FileColumn } from "../../core/jobs/import-columns.ts";
import { batches, type Forms, formsBy } from "../../core/locks/lock-names.ts";
import type { Queries } from "../../core/query/session.ts";
import { isUnavailable } from "../../core/values/errors.ts";
import type { AlikeText } from "../../core/values/types/column.ts";
import { addFault, type Case } from "./row-case.ts";

/** Adds a fault for each value that its column does not accept; such a row has no key. */
export async function refuseUnaccepted(
  queries: Queries,
  cases: readonly Case[],
  columns: readonly FileColumn[],
): Promise<void> {
  const db = formsBy((statement) => past(queries, "lockNames").native(statement));
  for (const { column, lookup } of columns) {
    const { alike, type, name } = column;
    if (lookup || type !== "other" || typeof alike !== "object") continue;
    const sent = cases.flatMap(({ body }) => (typeof body[name] === "string" ? [body[name]] : []));
    const texts = [...new Set(sent)].map((text): AlikeText => ({ alike, text }));
    const refused = new Set<unknown>();
    for (const some of batches(texts))
      for (const text of await unaccepted(some, db)) refused.add(text);
    for (const one of cases) {
      if (!refused.has(one.body[name])) continue;
      addFault(one, column, "has a value that the column cannot hold");
      one.key = null;
    }
  }
}

/** Halves of a list with a wrong value are asked for by themselves. Rejects with `unavailable`. */
async function unaccepted(texts: readonly AlikeText[], db: Forms): Promise<string[]> {
  try {
    await db.equalForms(texts, Infinity);
    return [];
  } catch (error) {
    if (isUnavailable(error)) throw error;
    if (texts.length === 1) return [texts[0]!.text];
    const half = Math.ceil(texts.length / 2);
    const first = await unaccepted(texts.slice(0, half), db);
    return [...first, ...(await unaccepted(texts.slice(half), db))];
  }
}
