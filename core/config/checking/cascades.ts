/** The ways on which the database itself changes rows of some tables, when rows of others are deleted. */
import type { Catalog } from "../../plans/database-catalog.ts";
import type { DatabaseCascade } from "../../plans/document-tables.ts";
import type { Table } from "../../values/types/column.ts";
import { keyAmong } from "../compiling/key-plan.ts";

const effectOf = { cascade: "delete", clear: "clear", refuse: null } as const;

interface Reaching {
  readonly catalog: Catalog;
  readonly effects: readonly DatabaseCascade["effect"][];
}

/** The foreign keys with such effects, by the identity of the table that they reference. */
export async function cascadesTo(
  tables: readonly Table[],
  { catalog, effects }: Reaching,
): Promise<ReadonlyMap<string, readonly DatabaseCascade[]>> {
  const cascades = new Map<string, DatabaseCascade[]>();
  const reached = new Map<string, Table>(tables.map((table) => [table.identity, table]));
  for (const child of reached.values()) {
    for (const name of new Set(child.foreignKeys.map(({ referencedTable }) => referencedTable))) {
      const parent = await catalog.table(name);
      if (parent === null) continue;
      for (const key of await catalog.referencesTo(parent)) {
        const effect = effectOf[key.onDelete];
        if (effect === null || !effects.includes(effect)) continue;
        if ((await catalog.table(key.table))?.identity !== child.identity) continue;
        const names = key.referencedColumns.length > 0 ? key.referencedColumns : parent.primaryKey;
        const columns = keyAmong(child.columns, key.columns);
        const referenced = keyAmong(parent.columns, names);
        if (columns.length === 0 || columns.length !== referenced.length) continue;
        const known = cascades.get(parent.identity) ?? [];
        cascades.set(parent.identity, [...known, { table: child, columns, referenced, effect }]);
        reached.set(parent.identity, parent);
      }
    }
  }
  return cascades;
}
