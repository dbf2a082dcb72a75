/**
 * Finds the rows of a table by the values of some columns, for many values at once.
 * What counts as equal is the database's matter: where its collation ignores case, `ACME` finds `Acme`.
 */
import type { Column, Source } from "../../core/values/column.ts";
import type { Queries } from "../../core/callers/session.ts";
import type { Row } from "../../core/plans/ports.ts";
import { allOf, type Condition, equals } from "../../core/query/statement.ts";
import type { Scalar } from "../../core/values/scalar.ts";
import { accept, unlimited } from "../../core/values/accept.ts";

/** Which rows are looked for, and what of them is read. */
export interface Search {
  readonly source: Source;
  /** The columns that a key has the values of, in their order. */
  readonly by: readonly Column[];
  /** What is wanted of the rows beside these. */
  readonly columns: readonly Column[];
  /** True: the rows are locked until the transaction ends. */
  readonly lock: boolean;
}

/** Values of the columns, none of them null. */
export type Key = readonly Scalar[];

/** Keys of one statement. Several columns make a chain of ANDs and ORs, which one engine takes no deeper than a thousand. */
const keysMax = { single: 1_000, several: 200 };

/** A text that is equal for equal keys. */
export const keyText = (key: Key): string =>
  JSON.stringify(key.map((value) => (typeof value === "bigint" ? String(value) : value)));

/** As `keyText`, where texts that differ in case alone are equal in the columns. */
export const foldedText = (key: Key, columns: readonly Column[]): string =>
  keyText(
    key.map((value, at) =>
      typeof value === "string" && columns[at]?.ignoresCase === true ? value.toLowerCase() : value,
    ),
  );

/** By `keyText`: the rows of each key that has some. */
export async function findRows(
  queries: Queries,
  search: Search,
  keys: readonly Key[],
): Promise<Map<string, Row[]>> {
  const wanted = new Map(keys.map((key) => [keyText(key), key]));
  const found = new Map<string, Row[]>();
  const all = [...wanted.values()];
  const size = search.by.length === 1 ? keysMax.single : keysMax.several;
  for (let at = 0; at < all.length; at += size)
    await findSome(queries, search, { keys: all.slice(at, at + size), found });
  return found;
}

async function findSome(
  queries: Queries,
  search: Search,
  { keys, found }: { keys: readonly Key[]; found: Map<string, Row[]> },
): Promise<void> {
  const rows = await select(queries, search, conditionOf(search.by, keys));
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
    const equal = await select(queries, search, conditionOf(search.by, [key]));
    if (equal.length > 0) found.set(text, equal);
  }
}

function conditionOf(by: readonly Column[], keys: readonly Key[]): Condition {
  const [only] = by;
  if (only && by.length === 1) {
    const values = keys.map(([value]) => value!);
    return { kind: "in", column: only, values, negated: false };
  }
  const members = keys.map((key) => allOf(...by.map((column, at) => equals(column, key[at]!)))!);
  return { kind: "or", members };
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
