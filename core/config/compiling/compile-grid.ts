/** The source of the grid: `datatablesQuery`, else the table's own fields; never the view. */
import { takesType } from "../../query/aggregate-results.ts";
import type { Column, Columns, Table } from "../../values/types/column.ts";
import type { Key } from "../../values/types/key.ts";
import type { GridPlan } from "../../plans/grid-plan.ts";
import { sourceOf } from "../../query/statement.ts";
import type { Dependencies } from "./cache-plan.ts";
import { keyAmong, type Keys } from "./key-plan.ts";
import { forEverybody } from "./plans.ts";
import type { TextIndexes } from "./full-text-plan.ts";
import { withPathsOf } from "./named-paths.ts";
import type { FoundQuery, Survey } from "./survey.ts";

/** Null if the endpoint has no query and no table for the grid. `shown`: columns of the table that answers show. */
export function gridOf(
  survey: Survey,
  {
    query,
    table,
    ...own
  }: {
    query: FoundQuery | null | undefined;
    table: Table | null;
    keys: Keys;
    shown: Columns;
    dependencies: Dependencies;
    indexes: TextIndexes;
  },
): GridPlan | null {
  const { payload } = survey;
  const reading =
    query === undefined ? table && { source: sourceOf(table), columns: table.columns } : query;
  if (!reading) return null;
  const hidden = new Set(forEverybody(payload.hiddenFields));
  const columns = query
    ? new Map([...query.columns].filter(([name]) => !hidden.has(name)))
    : own.shown;
  if (columns.size === 0 && payload.action["datatables"] === true)
    survey.fault(["hiddenFields"], { expected: "at least one column that is left for the grid" });
  const { rowId, length, errorMode, search } = payload.datatables ?? {};
  return {
    source: reading.source,
    columns,
    named: columns,
    fullText: own.indexes.ofGrid,
    searched: searchedBy(survey, columns),
    paneColumns: listedOf(survey, "searchPanes", columns),
    builderColumns: listedOf(survey, "searchBuilder", columns),
    listColumns: listedOf(survey, "columnControl", columns),
    nestedNames: nestedNamesOf(survey, columns),
    rowId: rowId ? rowIdOf(survey, columns, own.keys.names) : [],
    searchesWords: search === "words",
    clampsLength: length === "clamp",
    showsErrorsInline: errorMode === "inline",
    key: keyAmong(reading.columns, own.keys.ofLists),
    dependsOn: own.dependencies[query ? "ofQuery" : "ofTable"],
  };
}

function searchedBy({ payload }: Survey, columns: Columns): ReadonlySet<string> | null {
  const { datatablesWhere: names } = payload;
  return names ? new Set(names.filter((name) => columns.has(name) || name.includes("."))) : null;
}

/** The fields of one of the lists in `datatables`, each once. */
function listedOf(
  survey: Survey,
  extension: "searchPanes" | "searchBuilder" | "columnControl",
  columns: Columns,
): Column[] {
  const names = survey.payload.datatables?.[extension] ?? [];
  const path = ["datatables", extension];
  const listed = survey.columns(
    [...new Set(names)],
    withPathsOf(survey, columns),
    path,
    "what the grid shows",
  );
  for (const { name, type, via } of listed) {
    if (via !== undefined || takesType(null, type)) continue;
    survey.fault([...path, names.indexOf(name)], {
      found: `${JSON.stringify(name)}, a ${type} column`,
      expected: "a column whose distinct values can be listed",
    });
  }
  return listed;
}

function rowIdOf(survey: Survey, columns: Columns, names: readonly string[]): Key {
  const key = keyAmong(columns, names);
  if (key.length === 0) {
    survey.fault(["datatables", "rowId"], {
      expected:
        names.length > 1
          ? `a primaryKey whose columns (${names.join(", ")}) are all columns of the grid`
          : "a primaryKey that is one of the columns of the grid",
    });
  }
  return key;
}

/** The paths of names with dots. A field cannot be a value and hold other fields at the same time. */
function nestedNamesOf(survey: Survey, columns: Columns): Map<string, readonly string[]> {
  const nested = new Map<string, readonly string[]>();
  for (const name of columns.keys()) {
    const path = name.split(".");
    if (path.length > 1) nested.set(name, path);
  }
  if (survey.payload.action["datatables"] !== true) return nested;
  const property = survey.payload.datatablesQuery === undefined ? "tableName" : "datatablesQuery";
  for (const [name, path] of nested) {
    const above = path.slice(1).map((_, at) => path.slice(0, at + 1).join("."));
    const value = above.find((beginning) => columns.has(beginning));
    if (value === undefined && !path.includes("__proto__")) continue;
    survey.fault([property], {
      found: `the column ${name}${value === undefined ? "" : ` beside ${value}`}`,
      expected: "names that can be nested, because DataTables reads a.b as the member b of a",
    });
  }
  return nested;
}
