/** The ways on which the database itself changes rows of some tables, when rows of others are deleted or changed. */
import type { Catalog } from "../../plans/database-catalog.ts";
import type { DatabaseCascade } from "../../plans/document-tables.ts";
import type { Table } from "../../values/types/column.ts";
import { keyAmong } from "../compiling/key-plan.ts";

const deleting = { cascade: "delete", clear: "change", refuse: null } as const;
const updating = { cascade: "change", clear: "change", refuse: null } as const;

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
        const found = [
          { on: "delete", effect: deleting[key.onDelete] },
          { on: "update", effect: updating[key.onUpdate] },
        ] as const;
        const reaching = found.flatMap(({ on, effect }) =>
          effect !== null && effects.includes(effect) ? [{ on, effect }] : [],
        );
        if (reaching.length === 0) continue;
        if ((await catalog.table(key.table))?.identity !== child.identity) continue;
        const names = key.referencedColumns.length > 0 ? key.referencedColumns : parent.primaryKey;
        const columns = keyAmong(child.columns, key.columns);
        const referenced = keyAmong(parent.columns, names);
        if (columns.length === 0 || columns.length !== referenced.length) continue;
        const known = cascades.get(parent.identity) ?? [];
        cascades.set(parent.identity, [
          ...known,
          ...reaching.map((one) => ({ ...one, table: child, columns, referenced })),
        ]);
        reached.set(parent.identity, parent);
      }
    }
  }
  return cascades;
}
