/**
 * Columns of the page that are no fields for the caller: unknown names, hidden fields, paths that the caller may not
 * use. Rows have null there, because the library reports a missing member of a row with an alert.
 */
import type { GridPlan } from "../plans/grid-plan.ts";
import { isObject } from "../values/json.ts";
import { limits } from "../values/limits.ts";
import type { Row } from "../values/row.ts";
import type { SentColumn } from "./sent-columns.ts";

/** The names of the members that lead to a value in a row. */
export type MemberPath = readonly string[];

/** Where the library looks for these columns in a row. */
export function missingPaths(
  sent: readonly SentColumn[],
  { columns, named }: GridPlan,
): readonly MemberPath[] {
  const names = sent.flatMap(({ column, name }) =>
    column === null && name !== null && name.length <= limits.gridMissingNameLengthMax
      ? [name]
      : [],
  );
  return [...new Set(names)].slice(0, limits.gridMissingColumnsMax).flatMap((name) => {
    const path = pathOf(name);
    const beginnings = path.map((_, at) => path.slice(0, at + 1));
    // Members inside of a field's value, which may be JSON, are the value's.
    const field = beginnings.find((beginning) => named.has(beginning.join(".")));
    const isShown = field !== undefined && columns.has(field.join("."));
    return isShown || path.length === 0 ? [] : [field ?? path];
  });
}

/** As the library splits `a.b`; empty if it would call a function, look through a list, or find a prototype. */
function pathOf(name: string): string[] {
  const parts = name.split(/(?<!\\)\./).filter((part) => part !== "");
  const isOther = parts.some((part) => /\]$|\(\)$|^__proto__$/.test(part));
  return isOther ? [] : parts.map((part) => part.replaceAll("\\.", "."));
}

/** Where a member of the path is missing, it becomes null: the library reads null for all that is inside of it. */
export function addMissing(row: Row, path: MemberPath): void {
  let within: unknown = row;
  for (const part of path) {
    if (!isObject(within)) return;
    if (!Object.hasOwn(within, part)) within[part] = null;
    within = within[part];
  }
}
