/**
 * The tables on which an endpoint's lists depend, so that the cache knows which writes invalidate them: the table
 * itself, or any table for a view or query unless `cacheDependsOn` names its tables.
 */
import { dependenciesOf } from "../../cache/cache.ts";
import type { Table } from "../../values/types/column.ts";
import type { Survey } from "./survey.ts";

export interface Dependencies {
  /** Dependencies of reads from the table itself. */
  readonly ofTable: readonly string[];
  /** Dependencies of reads through a view or query. */
  readonly ofQuery: readonly string[];
}

export async function dependenciesFor(survey: Survey, table: Table | null): Promise<Dependencies> {
  const names = survey.payload.cacheDependsOn ?? [];
  const named = await Promise.all(
    names.map((name, index) => survey.table(name, ["cacheDependsOn", index])),
  );
  const tables = [table, ...named].filter((one) => one !== null);
  const known = tables.every(({ kind }) => kind === "table") ? tables : null;
  // What a policy of the database reads is known only from the files.
  const isOwnAlone = !survey.hasPolicies || named.length > 0;
  return {
    ofTable: dependenciesOf(isOwnAlone ? known : null),
    ofQuery: dependenciesOf(named.length > 0 ? known : null),
  };
}
