/** A search of a list: `search_value` in the column `search_by`, or in all of them. */
import { described, type Grammar, meaning, optional, value } from "../grammar/grammar.ts";
import { type Column, columnList, type Columns } from "../values/types/column.ts";
import { columnTypes } from "../values/types/column-types.ts";
import { invalidParameter } from "../values/errors.ts";
import { patternSchema } from "./condition-schema.ts";
import { columnOf, mustHaveText, patternText } from "./comparisons.ts";
import { describedColumns } from "./paths.ts";
import type { Condition } from "./statement.ts";

/** The text to search for; empty = no search. `name`: its name in the request. */
export const searchText = (name: string): Grammar<string> =>
  optional({ read: (sent) => patternText(sent, name), schema: () => patternSchema }, "");

/** The columns that are searched. Rejects with Invalid parameter or Invalid field (unknown column). */
export const searchBy = (columns: Columns): Grammar<readonly Column[]> =>
  meaning(
    described(
      optional(
        value(
          (sent) => typeof sent === "string",
          () => invalidParameter("search_by must be a column name or all"),
          () => ({ enum: [...new Set(["all", ...searchableNames(columns)])] }),
        ),
        "all",
      ),
      { default: "all" },
    ),
    (by) => {
      // A column named "all" takes precedence over the keyword.
      if (by === "all" && !columns.has(by)) return columnList(columns);
      const column = columnOf(by, columns, "search_by");
      mustHaveText(column);
      return [column];
    },
  );

/** Names of the columns that can be searched one by one. */
export const searchableNames = (columns: Columns): string[] =>
  [...describedColumns(columns)].flatMap(([name, { type }]) =>
    columnTypes[type].isCompared ? [name] : [],
  );

/** The text is found in one of the columns; null without a search. */
export const searchCondition = (text: string, columns: readonly Column[]): Condition | null =>
  text === ""
    ? null
    : { kind: "or", members: columns.map((column) => ({ kind: "contains", column, text })) };
