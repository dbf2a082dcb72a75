/**
 * Soft delete as part of a scope: deleted rows, or rows that are not deleted, are left out of every statement of an
 * action or job, like the rows that its caller may not see. So actions need not know about it.
 */
import type { Entity } from "../plans/entity.ts";
import {
  type MarkColumns,
  type MarkNames,
  markNames,
  type SeenRows,
} from "../plans/soft-delete.ts";
import { allOf, type Condition } from "../query/statement.ts";
import { compares } from "../query/key-conditions.ts";
import type { Column, Columns } from "../values/types/column.ts";
import { columnTypes } from "../values/types/column-types.ts";
import type { Json } from "../values/json.ts";
import type { Scope } from "./scope.ts";

/** The scope with the rows that the action sees; the scope itself if no table has marks. */
export function withVisibility(scope: Scope, entity: Entity, action: string): Scope {
  const { visibility } = entity;
  if (visibility === null) return scope;
  return seeing(scope, entity, visibility.seen.get(action) ?? "all");
}

/** The same scope, but of the entity's own rows only those that `seen` allows. */
export function seeing(scope: Scope, { visibility }: Entity, seen: SeenRows): Scope {
  if (visibility === null) return scope;
  const { own, ownIdentities, details, tables } = visibility;

  /** What is seen of the table or query, and by which marks; null = all. */
  function marksOf(identity: string | undefined): { which: SeenRows; names: MarkNames } | null {
    if (identity === undefined || ownIdentities.has(identity))
      return own && { which: seen, names: own };
    const marked = tables.get(identity);
    if (marked === undefined) return null;
    const isDetail = own !== null && details.has(identity);
    return { which: isDetail ? seen : "active", names: markNames(marked.marks) };
  }

  return {
    ...scope,
    hides: true,
    visibleRows(source) {
      const isTable = source.kind === "table";
      // A table that was not looked up in the catalog has no marks.
      if (isTable && source.identity === undefined) return null;
      const known = marksOf(isTable ? source.identity : undefined);
      return known && rowsThatAre(known.which, known.names, source.columns);
    },
    seesRow({ identity }, row) {
      const known = marksOf(identity);
      if (known === null || known.which === "all") return true;
      const { flag, at } = known.names;
      const marked =
        flag !== null && row[flag] !== undefined
          ? isTrue(row[flag])
          : at !== null && row[at] != null;
      return marked === (known.which === "marked");
    },
    suffixedRows({ identity }) {
      const marked = tables.get(identity) ?? null;
      const isSeen = (marksOf(identity)?.which ?? "all") !== "active";
      return isSeen && marked !== null && marked.reusable.length > 0 ? marked : null;
    },
    referredRows(key) {
      const referred = scope.referredRows(key);
      const marked = tables.get(key.referencedIdentity);
      if (marked === undefined) return referred;
      const table = referred?.table ?? marked.table;
      const active = rowsThatAre("active", markNames(marked.marks), table.columns);
      const rows = allOf(referred?.rows ?? null, active);
      if (rows === null || referred?.besidePaths === undefined) return rows && { table, rows };
      return { table, rows, besidePaths: allOf(referred.besidePaths, active) };
    },
  };
}

/** Null: all rows. The names are looked up in `columns`; if they are missing, no row is marked. */
export function rowsThatAre(
  seen: SeenRows,
  { flag: flagName, at: atName }: MarkNames,
  columns: Columns,
): Condition | null {
  if (seen === "all") return null;
  const flag = flagName === null ? undefined : columns.get(flagName);
  if (flag && isFlag(flag)) return seen === "marked" ? isSet(flag) : isClear(flag);
  const at = atName === null ? undefined : columns.get(atName);
  return at ? { kind: "null", column: at, negated: seen === "marked" } : null;
}

/** Whether the column can be the flag: a boolean, or a whole number. */
export const isFlag = ({ type }: Column): boolean =>
  type === "boolean" || columnTypes[type].arithmetic?.isWhole === true;

/** What the flag stores for a marked row and for another. */
export const flagValue = ({ type }: Column, isMarked: boolean): boolean | bigint =>
  type === "boolean" ? isMarked : isMarked ? 1n : 0n;

const isSet = (flag: Column): Condition =>
  flag.type === "boolean" ? compares(flag, "=", true) : compares(flag, "!=", 0n);

function isClear(flag: Column): Condition {
  const clear = compares(flag, "=", flagValue(flag, false));
  if (!flag.nullable) return clear;
  return { kind: "or", members: [clear, { kind: "null", column: flag, negated: false }] };
}

/** That a row is marked. */
export const markedRows = ({ flag, at }: Pick<MarkColumns, "flag" | "at">): Condition =>
  flag === null ? { kind: "null", column: at!, negated: true } : isSet(flag);

/** Whether a row that was read with its marks is marked. */
export function isMarked(row: Readonly<Record<string, Json>>, { flag, at }: MarkColumns): boolean {
  if (flag === null) return at !== null && (row[at.name] ?? null) !== null;
  return isTrue(row[flag.name] ?? null);
}

/** Of a flag as answers show it. */
const isTrue = (flag: Json): boolean => flag !== null && flag !== false && Number(flag) !== 0;
