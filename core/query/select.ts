/** The client's `select`: the columns that an answer shows. */
import { type Grammar, list, meaning, optional, text } from "../grammar/grammar.ts";
import { type Column, columnList, type Columns } from "../values/types/column.ts";
import { invalidPayload } from "../values/errors.ts";
import { orNull } from "../values/json-schema.ts";
import { columnOf } from "./comparisons.ts";
import { describedColumns, PathColumns } from "./paths.ts";

const fault = () => invalidPayload("select must be an array of column names");
const names = list(text(fault), { fault });

/**
 * The columns in the order of the request, each once; all own columns if it names none. Where there are relations, `*`
 * stands for these, and `customer.*` for all of a related record. Rejects with Invalid payload or Invalid field (unknown column).
 */
export const selectColumns = (columns: Columns): Grammar<readonly Column[]> =>
  meaning(
    optional(names, []),
    (sent) =>
      sent.length === 0
        ? columnList(columns)
        : [
            ...new Set(
              sent.flatMap(
                (name) => selectedBy(name, columns) ?? columnOf(name, columns, "select"),
              ),
            ),
          ],
    () => orNull({ type: "array", items: { enum: selectableNames(columns) } }),
  );

/** The columns that a name of `select` stands for; null if it is unknown. */
export function selectedBy(name: string, columns: Columns): readonly Column[] | null {
  const column = columns.get(name);
  if (column !== undefined) return [column];
  if (!(columns instanceof PathColumns)) return null;
  if (name === "*") return columnList(columns);
  return (name.endsWith(".*") ? columns.all(name.slice(0, -2)) : null) ?? null;
}

const selectableNames = (columns: Columns): string[] => [
  ...new Set([
    ...describedColumns(columns).keys(),
    ...(columns instanceof PathColumns && columns.relationNames().length > 0
      ? ["*", ...columns.relationNames().flatMap((name) => (columns.all(name) ? `${name}.*` : []))]
      : []),
  ]),
];
