/** The client's `select`: the columns that an answer shows. */
import { type Grammar, list, meaning, optional, text } from "../grammar/grammar.ts";
import { type Column, columnList, type Columns } from "../values/types/column.ts";
import { invalidPayload } from "../values/errors.ts";
import { orNull } from "../values/json-schema.ts";
import { unknownColumn } from "./comparisons.ts";
import { describedColumns, PathColumns } from "./paths.ts";

const fault = () => invalidPayload("select must be an array of column names");
const names = list(text(fault), { fault });

/**
 * The columns in the order of the request, each once; all own columns if it names none. Where there are relations, `*`
 * stands for these, and `customer.*` for all of a related record. `path`: to the record whose columns are named; absent
 * = the own ones. Rejects with Invalid payload or Invalid field (unknown column).
 */
export const selectColumns = (columns: Columns, path = ""): Grammar<readonly Column[]> =>
  meaning(
    optional(names, []),
    (sent) =>
      sent.length === 0
        ? allAt(path, columns)
        : [
            ...new Set(
              sent.flatMap((name) => {
                const found = selectedBy(name, columns, path);
                if (found !== null) return found;
                throw unknownColumn(path === "" ? name : `${path}.${name}`, columns, "select");
              }),
            ),
          ],
    () => orNull({ type: "array", items: { enum: selectableNames(columns) } }),
  );

/** The columns that a name of `select` stands for; null if it is unknown. `path`: as in `selectColumns`. */
export function selectedBy(name: string, columns: Columns, path = ""): readonly Column[] | null {
  if (!(columns instanceof PathColumns)) {
    const own = columns.get(name);
    return own === undefined ? null : [own];
  }
  const column = columns.behind(path, name);
  if (column !== undefined) return [column];
  if (name === "*") return allAt(path, columns);
  if (!name.endsWith(".*")) return null;
  return columns.all(`${path === "" ? "" : `${path}.`}${name.slice(0, -2)}`) ?? null;
}

const allAt = (path: string, columns: Columns): readonly Column[] =>
  path !== "" && columns instanceof PathColumns ? columns.all(path)! : columnList(columns);

const selectableNames = (columns: Columns): string[] => [
  ...new Set([
    ...describedColumns(columns).keys(),
    ...(columns instanceof PathColumns && columns.relationNames().length > 0
      ? ["*", ...columns.relationNames().flatMap((name) => (columns.all(name) ? `${name}.*` : []))]
      : []),
  ]),
];
