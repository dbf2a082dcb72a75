/**
 * The rows of the page as the library reads them: a field `a.b` is what it looks for as `b` within `a`, so a row must be
 * nested that way; and `DT_RowId` becomes the id of the row's element.
 */
import type { GridPlan } from "../plans/entity.ts";
import type { Json } from "../values/json.ts";
import type { Row } from "../plans/ports.ts";

export function shownRows(rows: Row[], { nestedNames, rowId }: GridPlan): Row[] {
  if (nestedNames.size === 0 && rowId === null) return rows;
  return rows.map((row) => {
    const key = rowId === null ? null : (row[rowId.name] ?? null);
    const shown: Row = key === null ? {} : { DT_RowId: String(key as string | number) };
    for (const [name, value] of Object.entries(row))
      put(shown, nestedNames.get(name) ?? [name], value);
    return shown;
  });
}

/** No name is the beginning of another, so each object on the way is one that was made here. */
function put(row: Row, path: readonly string[], value: Json): void {
  let within = row;
  for (const part of path.slice(0, -1)) within = (within[part] ??= {}) as Row;
  within[path.at(-1)!] = value;
}
