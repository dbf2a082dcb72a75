/** What the export writes: the exportQuery, else the fields of the table, else the view or query of read. */
import type { Column, Columns, Source, Table } from "../values/column.ts";
import type { ExportColumn, ExportFormat, ExportPlan, ReadPlan } from "../plans/entity.ts";
import { allOf, type Condition, sourceOf } from "../query/statement.ts";
import { columnTypes } from "../values/column-types.ts";
import { keyAmong, type Keys } from "./key-plan.ts";
import { forEverybody, type Reading, scopeCondition } from "./plans.ts";
import type { Survey } from "./survey.ts";

/** The exportQuery and its columns. */
export interface ExportQuery {
  readonly source: Source;
  readonly columns: Columns;
}

/** Undefined without an exportQuery; null, and a fault, when the database refuses it. */
export async function exportQueryOf(survey: Survey): Promise<ExportQuery | null | undefined> {
  const { exportQuery } = survey.payload;
  if (exportQuery === undefined) return undefined;
  const query = await survey.query(exportQuery, ["exportQuery"]);
  if (!query) return null;
  const { text, columns } = query;
  return { source: { kind: "query", text, columns }, columns };
}

/** Null where the endpoint has nothing to export. `shown`: the table's columns that answers show. */
export function exportOf(
  survey: Survey,
  {
    query,
    table,
    reading,
    ...own
  }: {
    query: ExportQuery | null | undefined;
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
  const exported = isTable ? fieldsOf(payload.fieldName, visible) : [...visible.values()];
  if (exported.length === 0 && payload.action["export"] === true)
    survey.fault(["hiddenFields"], { expected: "at least one column that is left to export" });
  return {
    source: origin.source,
    columns,
    exported: exported.map((column) => exportColumn(survey, column)),
    csvFormulas: payload.csvFormulas,
    key: keyAmong(origin.columns, own.keys.ofLists),
    scope: origin.source === own.read?.source ? own.read.scope : scopeOver(survey, origin.columns),
  };
}

/** The same object as the source of read when they are equal. */
function originOf(table: Table | null, reading: Reading | null): ExportQuery | null {
  if (!table || reading?.property === "tableName") return reading;
  return { source: sourceOf(table), columns: table.columns };
}

/** The configured fields in their order; all columns without such a list. */
function fieldsOf(names: readonly string[] | undefined, columns: Columns): Column[] {
  if (names === undefined) return [...columns.values()];
  return [...new Set(names)].flatMap((name) => columns.get(name) ?? []);
}

/** The conditions of read's scope whose columns the source has; the others cannot be checked. */
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

function exportColumn({ payload }: Survey, column: Column): ExportColumn {
  const { name } = column;
  const labels = payload.fieldLabels ?? {};
  const heading = Object.hasOwn(labels, name) ? labels[name]! : name;
  return { column, heading, format: formatOf(payload.columnFormats, column) };
}

function formatOf(
  configured: Survey["payload"]["columnFormats"],
  column: Column,
): ExportFormat | null {
  const given =
    configured && Object.hasOwn(configured, column.name) ? configured[column.name] : undefined;
  const { exportedAs, isInstant } = columnTypes[column.type];
  if (!given) return exportedAs === null ? null : { type: exportedAs };
  if (given.type === "boolean") return given;
  const type = given.type === "date" && isInstant ? "datetime" : given.type;
  return { type, pattern: given.format };
}
