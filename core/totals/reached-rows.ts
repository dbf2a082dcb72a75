/** Rows that a write affects besides those that it names: cascades, headers, and the present values. */
import type { UnscopedQueries } from "../query/session.ts";
import type { DocumentTables, HeaderTable, LinesTable } from "../plans/document-tables.ts";
import type { Row } from "../values/row.ts";
import { keyBatches, keyIn } from "../query/key-conditions.ts";
import {
  type Delete,
  type Insert,
  sourceOf,
  type UpdateMany,
  type UpdateOne,
  selectFrom,
} from "../query/statement.ts";
import type { Table } from "../values/types/column.ts";
import type { Json } from "../values/json.ts";
import { type Key, keyText, type KeyValue } from "../values/types/key.ts";
import { visitCascades } from "./database-cascades.ts";
import { keyValueOf, shownScalar, union } from "./row-values.ts";
import type { Settlement } from "./settlement.ts";

/** The transaction, and what it owes. */
export interface Reaching {
  readonly queries: UnscopedQueries;
  readonly settlement: Settlement;
  readonly tables: DocumentTables;
}

/**
 * Owes totals for the lines that the database itself deletes or changes with the rows of the statement. Resolves with
 * what must follow it: only then it shows which defaults the lines got.
 */
export async function oweCascades(
  { queries, settlement, tables: { cascades, lines } }: Reaching,
  statement: Delete | UpdateOne | UpdateMany,
): Promise<() => Promise<void>> {
  const changed: { readonly own: LinesTable; readonly keys: readonly KeyValue[] }[] = [];
  await visitCascades({ cascades, queries }, statement, async ({ cascade, where, moved }) => {
    const { table, columns, effect } = cascade;
    const own = lines.get(table.identity);
    if (own === undefined) return;
    settlement.owe(own, await settlement.lockAbove(own, { table, where }));
    if (effect === "delete") return;
    const foreignKeys = own.headers.map(({ foreignKey }) => foreignKey);
    const read = union(union(own.key, columns), foreignKeys);
    const before = await queries.all(selectFrom(sourceOf(table), { columns: read, where }));
    const after = before.map(moved);
    // A header whose key changes is owed its totals by the new one.
    settlement.owe(own, after);
    const keys = [...before, ...after].flatMap((row) => keyValueOf(own.key, row));
    changed.push({ own, keys: [...new Map(keys.map((key) => [keyText(key), key])).values()] });
  });
  return async () => {
    for (const { own, keys } of changed) {
      if (own.key.length === 0) continue;
      for (const some of keyBatches(own.key, keys)) {
        const where = keyIn(own.key, some);
        settlement.owe(own, await settlement.lockAbove(own, { table: own.table, where }));
        await settlement.compute(own, where);
      }
    }
  };
}

/** The keys of headers that `keys` name. */
export async function headerKeys(
  header: HeaderTable,
  queries: UnscopedQueries,
  { table, key, keys }: { table: Table; key: Key; keys: readonly KeyValue[] },
): Promise<Json[]> {
  if (key.length === 1 && key[0]!.name === header.key.name)
    return keys.map(([value]) => shownScalar(value!));
  const found: Json[] = [];
  for (const some of keyBatches(key, keys)) {
    const where = keyIn(key, some);
    const rows = await queries.all(selectFrom(sourceOf(table), { columns: [header.key], where }));
    found.push(...rows.map((row) => row[header.key.name] ?? null));
  }
  return found;
}

/** The written rows as they are by now, in their order. */
export async function readAgain(
  { table, key, returning }: Insert | UpdateOne,
  rows: readonly Row[],
  queries: UnscopedQueries,
): Promise<Row[]> {
  if (returning.length === 0) return [...rows];
  const nameOf = (row: Row): string => JSON.stringify(key.map(({ name }) => row[name]));
  const found = new Map<string, Row>();
  const values = rows.flatMap((row) => keyValueOf(key, row));
  const columns = union(returning, key);
  for (const some of keyBatches(key, values)) {
    const where = keyIn(key, some);
    const now = await queries.all(selectFrom(sourceOf(table), { columns, where }));
    for (const row of now) found.set(nameOf(row), row);
  }
  return rows.map((row) => found.get(nameOf(row)) ?? row);
}
