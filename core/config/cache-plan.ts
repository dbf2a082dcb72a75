/**
 * On which tables an endpoint's lists depend, so that the cache knows which writes make them old: the table itself, or
 * whatever there is under a view or query, unless `cacheDependsOn` says it.
 */
import { dependenciesOf } from "../cache/cache.ts";
import type { Table } from "../values/column.ts";
import type { Survey } from "./survey.ts";

export interface Dependencies {
  /** Of what is read from the table itself. */
  readonly ofTable: readonly string[];
  /** Of what is read through a view or query. */
  readonly ofQuery: readonly string[];
}

export async function dependenciesFor(survey: Survey, table: Table | null): Promise<Dependencies> {
  const names = survey.payload.cacheDependsOn ?? [];
  const named = await Promise.all(
    names.map((name, index) => survey.table(name, ["cacheDependsOn", index])),
  );
  const tables = [table, ...named].filter((one) => one !== null);
  const known = tables.every(({ kind }) => kind === "table") ? tables : null;
  // What a policy of the database looks at, the files alone can say.
  const isOwnAlone = !survey.hasPolicies || named.length > 0;
  return {
    ofTable: dependenciesOf(isOwnAlone ? known : null),
    ofQuery: dependenciesOf(named.length > 0 ? known : null),
  };
}
