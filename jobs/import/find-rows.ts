/**
 * Finds the rows of a table by the values of some columns, for many values at once.
 * What counts as equal is the database's matter: where its collation ignores case, `ACME` finds `Acme`.
 */
import type { Column, Source } from "../../core/values/column.ts";
import type { Queries } from "../../core/callers/session.ts";
import type { Row } from "../../core/plans/ports.ts";
import { keyBatches, keyIn, keyIs } from "../../core/query/key-conditions.ts";
import type { Condition } from "../../core/query/statement.ts";
import { type Key, keyText, type KeyValue } from "../../core/values/key.ts";
import type { Scalar } from "../../core/values/scalar.ts";
import { accept, unlimited } from "../../core/values/accept.ts";

/** Which rows are looked for, and what of them is read. */
export interface Search {
  readonly source: Source;
  /** The columns that a key has the values of, in their order. */
  readonly by: Key;
  /** What is wanted of the rows beside these. */
  readonly columns: readonly Column[];
  /** True: the rows are locked until the transaction ends. */
  readonly lock: boolean;
}

/** As `keyText`, where texts that differ in case alone are equal in the columns. */
export const foldedText = (key: KeyValue, columns: Key): string =>
  keyText(
    key.map((value, at) =>
      typeof value === "string" && columns[at]?.ignoresCase === true ? value.toLowerCase() : value,
    ),
  );

/** By `keyText`: the rows of each key that has some. */
export async function findRows(
  queries: Queries,
  search: Search,
  keys: readonly KeyValue[],
): Promise<Map<string, Row[]>> {
  const wanted = new Map(keys.map((key) => [keyText(key), key]));
  const found = new Map<string, Row[]>();
  for (const some of keyBatches(search.by, [...wanted.values()]))
    await findSome(queries, search, { keys: some, found });
  return found;
}

async function findSome(
  queries: Queries,
  search: Search,
  { keys, found }: { keys: readonly KeyValue[]; found: Map<string, Row[]> },
): Promise<void> {
  const rows = await select(queries, search, keyIn(search.by, keys));
  let isAnyOther = false;
  for (const row of rows) {
    const text = keyText(search.by.map((column) => scalarOf(column, row)));
    const known = found.get(text);
    if (known) known.push(row);
    else found.set(text, [row]);
  }
  const texts = new Set(keys.map(keyText));
  for (const text of found.keys()) isAnyOther ||= !texts.has(text);
  if (!isAnyOther) return;
  // The database found rows whose values differ from those that were asked for: which belongs to which, it alone can tell.
  for (const key of keys) {
    const text = keyText(key);
    if (found.has(text)) continue;
    const equal = await select(queries, search, keyIs(search.by, key));
    if (equal.length > 0) found.set(text, equal);
  }
}

const select = (queries: Queries, search: Search, where: Condition): Promise<Row[]> =>
  queries.all({
    kind: "select",
    source: search.source,
    columns: [...new Set([...search.by, ...search.columns])],
    where,
    sort: [],
    limit: null,
    offset: 0,
    lock: search.lock,
  });

/** A shown value as statements carry it. */
export function scalarOf(column: Column, row: Row): Scalar {
  const shown = row[column.name] ?? null;
  const accepted = accept(unlimited(column), shown);
  return accepted.ok ? accepted.value : String(shown);
}
