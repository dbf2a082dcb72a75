/**
 * Finds the rows of a table by the values of some columns, for many values at once. The database decides what is
 * equal: if its collation ignores case, `ACME` finds `Acme`.
 */
import type { Column, Source } from "../values/types/column.ts";
import type { ReadQueries } from "./session.ts";
import type { Row } from "../values/row.ts";
import { keyBatches, keyIn, keyIs } from "./key-conditions.ts";
import { allOf, type Condition, selectFrom } from "./statement.ts";
import { type Key, keyText, type KeyValue } from "../values/types/key.ts";
import type { Scalar } from "../values/scalar.ts";
import { accept, unlimited } from "../values/types/accept.ts";
import { equalText } from "../values/types/equal-text.ts";

/** The rows to find, and the columns to read. */
export interface Search {
  readonly source: Source;
  /** The columns of a key, in the order of its values. */
  readonly by: Key;
  /** Further columns to read. */
  readonly columns: readonly Column[];
  /** True: the rows are locked until the transaction ends, in the order of the key. */
  readonly lock: boolean;
  /** What else is true of the rows; null or absent: nothing. */
  readonly where?: Condition | null;
}

/** Like `keyText`, but equal for texts that the columns call equal, as far as that is known without the database. */
export const foldedText = (key: KeyValue, columns: Key): string =>
  keyText(key.map((value, at) => folded(value, columns[at])));

export function folded(value: Scalar, column: Column | undefined): Scalar {
  if (typeof value !== "string" || column === undefined) return value;
  const { alike, ignoresCase } = column;
  if (alike === "ascii case" || alike === "blanks") return equalText(column, value);
  return ignoresCase === true ? value.toLowerCase() : value;
}

/** The rows of each key that has some, by `keyText`. */
export async function findRows(
  queries: Pick<ReadQueries, "all">,
  search: Search,
  keys: readonly KeyValue[],
): Promise<Map<string, Row[]>> {
  const wanted = new Map<Scalar, KeyValue>();
  // Of most keys the value itself tells whether it is there twice.
  for (const key of keys) wanted.set(key.length === 1 ? key[0]! : keyText(key), key);
  const found = new Map<string, Row[]>();
  for (const some of keyBatches(search.by, [...wanted.values()]))
    await findSome(queries, search, { keys: some, found });
  return found;
}

async function findSome(
  queries: Pick<ReadQueries, "all">,
  search: Search,
  { keys, found }: { keys: readonly KeyValue[]; found: Map<string, Row[]> },
): Promise<void> {
  const rows = await select(queries, search, keyIn(search.by, keys));
  if (rows.length === 0) return;
  const texts = new Set(keys.map(keyText));
  const near = new Set<string>();
  let isAnyOther = false;
  for (const row of rows) {
    const key = search.by.map((column) => scalarOf(column, row));
    const text = keyText(key);
    isAnyOther ||= !texts.has(text);
    near.add(looseText(key));
    const known = found.get(text);
    if (known) known.push(row);
    else found.set(text, [row]);
  }
  const isLoose = search.by.some((column) => column.isLoose);
  // Rows with other values than those searched for, or with nearly the same as another key: only the database can tell
  // which keys they match.
  for (const key of keys) {
    const text = keyText(key);
    if (found.has(text) || !(isAnyOther || (isLoose && near.has(looseText(key))))) continue;
    const equal = await select(queries, search, keyIs(search.by, key));
    if (equal.length > 0) found.set(text, equal);
  }
}

/** Equal for keys that a loose collation may call equal. */
const looseText = (key: KeyValue): string =>
  keyText(key.map((value) => equalText({ alike: "loosely" }, value)));

const select = (
  queries: Pick<ReadQueries, "all">,
  search: Search,
  where: Condition,
): Promise<Row[]> =>
  queries.all(
    selectFrom(search.source, {
      columns: [...new Set([...search.by, ...search.columns])],
      where: allOf(where, search.where ?? null),
      lock: search.lock,
      sort: search.lock ? search.by.map((column) => ({ column, direction: "asc" })) : [],
    }),
  );

/** A shown value as statements carry it. */
export function scalarOf(column: Column, row: Row): Scalar {
  const shown = row[column.name] ?? null;
  const accepted = accept(unlimited(column), shown);
  return accepted.ok ? accepted.value : String(shown);
}
