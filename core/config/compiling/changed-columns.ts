/** What `numbers` and `files` make of columns, for every endpoint of their table. */
import type { Catalog } from "../../plans/database-catalog.ts";
import type { Column, Table } from "../../values/types/column.ts";
import type { EndpointConfig } from "../reading/read-config.ts";
import type { Payload } from "../reading/schema.ts";
import { nullUnlessAway } from "./survey.ts";

type Change = (column: Column) => Column;

/**
 * The same catalog with these columns changed. `endpoints`: all of the project. `changeOf`: the names of columns of an
 * endpoint's table, and what becomes of each.
 */
export function withChangedColumns(
  catalog: Catalog,
  endpoints: readonly EndpointConfig[],
  changeOf: (payload: Payload) => readonly [readonly string[], (column: Column) => Column],
): Catalog {
  const changing = endpoints.flatMap(({ payload }) => {
    const [names, change] = changeOf(payload);
    const { tableName } = payload;
    return names.length > 0 && tableName ? [{ tableName, names, change }] : [];
  });
  if (changing.length === 0) return catalog;
  const ofTables = Promise.all(
    changing.map(async ({ tableName, ...one }) => {
      const table = await catalog.table(tableName).catch(nullUnlessAway);
      return { identity: table?.identity, ...one };
    }),
  );
  // A failure is that of the first look-up.
  ofTables.catch(() => undefined);
  const changed = new WeakMap<Table, Table>();
  const known: Catalog = {
    ...catalog,
    together: () => known,
    async table(name) {
      const table = await catalog.table(name);
      if (table === null) return null;
      const own = (await ofTables).filter(({ identity }) => identity === table.identity);
      if (own.length === 0) return table;
      const changes = new Map<string, Change>(
        own.toReversed().flatMap(({ names, change }) => names.map((one) => [one, change] as const)),
      );
      const columns = [...table.columns].map(
        ([column, one]) => [column, changes.get(column)?.(one) ?? one] as const,
      );
      const made = changed.get(table) ?? { ...table, columns: new Map(columns) };
      changed.set(table, made);
      return made;
    },
  };
  return known;
}
