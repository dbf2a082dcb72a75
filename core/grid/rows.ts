/**
 * The rows of the page as the library reads them: it reads a field `a.b` as the member `b` of `a`, so rows are nested
 * accordingly, and it uses `DT_RowId` as the id of the row's element.
 */
import type { GridPlan } from "../plans/entity.ts";
import type { Json } from "../values/json.ts";
import { joinedKey } from "../values/key.ts";
import type { Row } from "../plans/ports.ts";

/** Whether the grid shows rows as they are read: neither nested nor with an id of their own. */
export const showsRowsAsRead = ({ nestedNames, rowId }: GridPlan): boolean =>
  nestedNames.size === 0 && rowId.length === 0;

export function shownRows(rows: readonly Row[], { nestedNames, rowId }: GridPlan): Row[] {
  return rows.map((row) => {
    const isNamed = rowId.length > 0 && rowId.every(({ name }) => (row[name] ?? null) !== null);
    const shown: Row = isNamed ? { DT_RowId: joinedKey(row, rowId) } : {};
    for (const [name, value] of Object.entries(row))
      put(shown, nestedNames.get(name) ?? [name], value);
    return shown;
  });
}

/** No name is a prefix of another, so every object on the path was created here. */
function put(row: Row, path: readonly string[], value: Json): void {
  let within = row;
  for (const part of path.slice(0, -1)) within = (within[part] ??= {}) as Row;
  within[path.at(-1)!] = value;
}
