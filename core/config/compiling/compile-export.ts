/** What the export writes: the exportQuery, else the fields of the table, else the view or query of read. */
import type { Column, Columns, Table } from "../../values/types/column.ts";
import { exportColumn, type ExportPlan } from "../../plans/export-plan.ts";
import type { ReadPlan } from "../../plans/read-plan.ts";
import { allOf, type Condition, sourceOf } from "../../query/statement.ts";
import { withPathsOf } from "./named-paths.ts";
import { keyAmong, type Keys } from "./key-plan.ts";
import { forEverybody, type Reading, scopeCondition } from "./plans.ts";
import { type FoundQuery, isAtFault, type Survey } from "./survey.ts";

/** Null if the endpoint has nothing to export. `shown`: the table's columns that answers show. */
export function exportOf(
  survey: Survey,
  {
    query,
    table,
    reading,
    ...own
  }: {
    query: FoundQuery | null | undefined;
    table: Table | null;
    reading: Reading | null;
    read: ReadPlan | null;
    keys: Keys;
    shown: Columns;
  },
): ExportPlan | null {
  const { payload } = survey;
  const origin = query === undefined ? originOf(table, reading) : query;
  if (!origin) return null;
  const isTable = query === undefined && table !== null;
  const hidden = new Set(forEverybody(payload.hiddenFields));
  const visible = new Map([...origin.columns].filter(([name]) => !hidden.has(name)));
  const columns = isTable ? own.shown : visible;
  const exported = exportedOf(survey, visible, isTable);
  const isNamed = !isAtFault(survey, "fieldName", "exportColumns");
  if (exported.length === 0 && isNamed && payload.action["export"] === true)
    survey.fault(["hiddenFields"], { expected: "at least one column that is left to export" });
  const shown = {
    headings: new Map(Object.entries(payload.fieldLabels ?? {})),
    formats: new Map(Object.entries(payload.columnFormats ?? {})),
  };
  return {
    source: origin.source,
    columns,
    named: columns,
    exported: exported.map((column) => exportColumn(column, shown)),
    ...shown,
    csvFormulas: payload.csvFormulas,
    key: keyAmong(origin.columns, own.keys.ofLists),
    scope: origin.source === own.read?.source ? own.read.scope : scopeOver(survey, origin.columns),
  };
}

/** The same object as the source of read when they are equal. */
function originOf(table: Table | null, reading: Reading | null): FoundQuery | null {
  if (!table || reading?.property === "tableName") return reading;
  return { source: sourceOf(table), columns: table.columns };
}

/** What a file holds, unless a request selects columns. Paths are looked up later. */
function exportedOf(survey: Survey, visible: Columns, isTable: boolean): readonly Column[] {
  const { fieldName, exportColumns: names } = survey.payload;
  if (names !== undefined) {
    const known = withPathsOf(survey, visible);
    return survey.columns([...new Set(names)], known, ["exportColumns"], "what the export reads");
  }
  return isTable ? fieldsOf(fieldName, visible) : [...visible.values()];
}

/** The configured fields in their order; all columns without such a list. */
function fieldsOf(names: readonly string[] | undefined, columns: Columns): Column[] {
  if (names === undefined) return [...columns.values()];
  return [...new Set(names)].flatMap((name) => columns.get(name) ?? []);
}

/** The conditions of read's scope on columns of the source; the others cannot be checked. */
function scopeOver(survey: Survey, columns: Columns): Condition | null {
  const { payload } = survey;
  if (payload.action["export"] !== true) return null;
  const names = Object.keys(payload.defaultScope?.read ?? {});
  const missing = names.filter((name) => !columns.has(name));
  for (const name of missing)
    survey.notice(
      `the export has no column ${name}, so defaultScope.read.${name} does not count there`,
    );
  const known = names.filter((name) => columns.has(name));
  return allOf(
    ...known.map((name) =>
      scopeCondition(survey, ["read", name], { columns, label: "the export" }),
    ),
  );
}
