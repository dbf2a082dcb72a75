/**
 * The parts of an entity that `compile-project.ts` assembles: where it reads, what it writes, and what adjust may
 * change. Each function returns null when the configuration does not contain the part, or when it has a fault, which is
 * then added to the survey.
 */
import { switchedOn } from "../../actions.ts";
import { compareDecimals, normalDecimal } from "../../values/decimal.ts";
import type { Column, Columns, Source, Table, TableRefusal } from "../../values/types/column.ts";
import {
  auditColumnIn,
  type AuditColumns,
  type AuditField,
  auditFields,
} from "../../plans/audit-columns.ts";
import type { AdjustField, AdjustPlan, WritePlan } from "../../plans/write-plan.ts";
import { AppError } from "../../values/errors.ts";
import { allOf, sourceOf, type Condition } from "../../query/statement.ts";
import { condition } from "../../query/where.ts";
import { columnTypes } from "../../values/types/column-types.ts";
import { hintAfter } from "../reading/did-you-mean.ts";
import type { Path } from "../reading/faults.ts";
import { byName, type Keys } from "./key-plan.ts";
import type { Survey } from "./survey.ts";
import type { Rules } from "../../rules/compile-rules.ts";

/** The source of rows, and all of its columns. */
export interface Reading {
  readonly source: Source;
  readonly columns: Columns;
  /** Its name in faults. */
  readonly label: string;
  /** Statements that the database refuses on it; unknown for a query. */
  readonly refusals: readonly TableRefusal[];
  /** The property that selects it. */
  readonly property: "viewName" | "viewQuery" | "tableName";
}

/** The view, else the query, else the table. */
export async function readingOf(survey: Survey, table: Table | null): Promise<Reading | null> {
  const { viewName, viewQuery } = survey.payload;
  if (viewName !== undefined) {
    const view = await survey.table(viewName, ["viewName"]);
    if (viewQuery !== undefined) await survey.query(viewQuery, ["viewQuery"]);
    return (
      view && {
        source: sourceOf(view),
        columns: view.columns,
        refusals: view.refusals ?? [],
        label: `the view ${viewName}`,
        property: "viewName",
      }
    );
  }
  if (viewQuery !== undefined) {
    const query = await survey.query(viewQuery, ["viewQuery"]);
    return query && { ...query, refusals: [], label: "the viewQuery", property: "viewQuery" };
  }
  return (
    table && {
      source: sourceOf(table),
      columns: table.columns,
      refusals: table.refusals ?? [],
      label: `the table ${table.name}`,
      property: "tableName",
    }
  );
}

const operatorsWithoutValue: readonly string[] = ["IS NULL", "IS NOT NULL"];

/** The scope for reads, or for lookups, as one condition. Any column of the source may be named, a hidden one too. */
export function scopeOf(
  survey: Survey,
  use: "read" | "lookup",
  { columns, label }: Reading,
): Condition | null {
  const conditions = Object.entries(survey.payload.defaultScope?.[use] ?? {}).map(([name]) =>
    scopeCondition(survey, [use, name], { columns, label }),
  );
  return allOf(...conditions);
}

/**
 * One condition of the scope; null, and a fault, when it does not fit `columns`. `label`: the source of the columns,
 * for faults.
 */
export function scopeCondition(
  survey: Survey,
  [use, name]: ["read" | "lookup", string],
  { columns, label }: Pick<Reading, "columns" | "label">,
): Condition | null {
  const path = ["defaultScope", use, name];
  const entry = survey.payload.defaultScope?.[use]?.[name];
  if (entry === undefined || survey.column(name, columns, path, label) === null) return null;
  const { operator, value } =
    typeof entry === "object" && entry !== null ? entry : { operator: "=", value: entry };
  if (value === undefined && !operatorsWithoutValue.includes(operator.toUpperCase())) {
    survey.fault(path, { expected: `a value for the operator ${operator}` });
    return null;
  }
  try {
    return condition(columns).read({ key: name, operator, value });
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    survey.fault(path, { expected: `a valid condition (${error.message})` });
    return null;
  }
}

/**
 * Columns of a table that answers show: its configured fields, the key and the audit columns without the hidden ones,
 * in the order of the table.
 */
export function shownColumns(
  { payload }: Survey,
  table: Table,
  keys: Keys,
  audit: AuditColumns,
): Columns {
  const wanted = new Set([
    ...(payload.fieldName ?? table.columns.keys()),
    ...audit.map(({ column }) => column.name),
    ...keys.names,
    ...keys.ofLists,
  ]);
  const hidden = new Set(forEverybody(payload.hiddenFields));
  return new Map([...table.columns].filter(([name]) => wanted.has(name) && !hidden.has(name)));
}

/** Apart: fields that a body may set, and the read-only ones, which only their rules' defaults fill. */
export function setBy(
  { readOnlyFields }: Survey["payload"],
  fields: readonly Column[],
): Pick<WritePlan, "readOnly" | "writable" | "presets"> {
  const readOnly = new Set(forEverybody(readOnlyFields));
  return {
    readOnly,
    writable: byName(fields.filter(({ name }) => !readOnly.has(name))),
    presets: byName(fields.filter(({ name }) => readOnly.has(name))),
  };
}

/** What the service writes into created_by and updated_by must fit. */
const actorLengthMin = "Update from API".length;

const timeLengthMin = "2026-01-31T10:00:00.000Z".length;

/** Whether the column can store the time of a change, as a timestamp or as text. */
export const keepsTimes = (column: Column): boolean =>
  columnTypes[column.type].isInstant || holdsText(column, timeLengthMin);

const holdsText = ({ type, lengthMax }: Column, length: number): boolean =>
  columnTypes[type].isText && (lengthMax ?? Infinity) >= length;

/**
 * Whether the service fills a column of that kind. `hasAuth`: with credentials it fills any for users, so that no body
 * can: a column that cannot hold a user's id stays empty.
 */
export function fitsAudit(kind: AuditField["kind"], column: Column, hasAuth: boolean): boolean {
  if (column.generated !== "none") return false;
  return kind === "time" ? keepsTimes(column) : hasAuth || holdsUsers(column);
}

/** Whether the column takes every id of a user, and what the service writes where there are no users. */
export const holdsUsers = (column: Column): boolean => holdsText(column, actorLengthMin);

/** The column that the service fills; `rules`: of its table. */
export function auditColumnOf(
  { payload: { readOnlyFields } }: Survey,
  field: AuditField,
  { column, rules }: { readonly column: Column; readonly rules: Rules },
): AuditColumns[number] {
  const isReadOnly = forEverybody(readOnlyFields).includes(column.name);
  return { ...field, column, isReadOnly, check: (sent) => rules.checkOne(column, sent) };
}

/** The audit columns that exist and can store what the service writes into them. */
export function auditOf(survey: Survey, columns: Columns, rules: Rules): AuditColumns {
  const { auditColumns: names, action } = survey.payload;
  const isFilled = switchedOn(action, ({ requires }) => requires.has("auditColumns")).length > 0;
  return auditFields.flatMap((field) => {
    const { property, kind } = field;
    const given = names === false ? undefined : names[property];
    const column = auditColumnIn(columns, names, field);
    if (column === null) {
      if (given !== undefined)
        survey.notice(
          `auditColumns.${property}: the table has no column ${given}; the setting is ignored${hintAfter(given, columns.keys())}`,
        );
      return [];
    }
    if (fitsAudit(kind, column, survey.hasAuth)) {
      if (kind === "user" && isFilled) noticeUsers(survey, column);
      return auditColumnOf(survey, field, { column, rules });
    }
    const expected =
      kind === "time"
        ? `a timestamp, or a text column that holds at least ${timeLengthMin} characters`
        : `a text column that holds at least ${actorLengthMin} characters`;
    if (given !== undefined) survey.fault(["auditColumns", property], { expected });
    else if (isFilled)
      survey.notice(`the service does not fill ${column.name}, because it is not ${expected}`);
    return [];
  });
}

/** Told where the column holds only some users. */
export function noticeUsers(survey: Survey, column: Column): void {
  if (holdsUsers(column)) return;
  const { isText } = columnTypes[column.type];
  survey.notice(
    isText
      ? `${column.name} keeps the first ${column.lengthMax} characters of a user's id`
      : `${column.name} holds only users whose id is a value of type ${column.type}, and stays empty for others`,
  );
}

/** The fields that adjust may change, with their minimum in exact digits. */
export function adjustOf(
  survey: Survey,
  { table, key, audit }: Pick<WritePlan, "table" | "key" | "audit">,
): AdjustPlan | null {
  const config = survey.payload.adjustConfig;
  if (config === undefined) return null;
  const fields = new Map<string, AdjustField>();
  if (Object.keys(config.fields).length === 0)
    survey.fault(["adjustConfig", "fields"], { expected: "at least one field" });
  for (const [name, { min, allowNegativeResult }] of Object.entries(config.fields)) {
    const path: Path = ["adjustConfig", "fields", name];
    const column = survey.column(name, table.columns, path, `the table ${table.name}`);
    if (column === null) continue;
    const isOwn =
      key.includes(column) ||
      audit.some((one) => one.column === column) ||
      column.generated === "computed";
    const { arithmetic } = columnTypes[column.type];
    if (arithmetic === null || isOwn) {
      const found = isOwn
        ? "a column that the service or the database fills"
        : `a ${column.type} column`;
      survey.fault(path, { found, expected: "a numeric column" });
      continue;
    }
    let least = min === undefined ? null : normalDecimal(String(min));
    if (arithmetic.isWhole && least?.includes(".")) {
      survey.fault([...path, "min"], {
        expected: "a whole number, because the column is an integer column",
      });
    }
    if (allowNegativeResult === false && (least === null || compareDecimals(least, "0") < 0))
      least = "0";
    fields.set(name, { column, min: least });
  }
  const hidden = forEverybody(survey.payload.hiddenFields);
  const shown = new Map(
    [...fields].flatMap(([name, { column }]) => (hidden.includes(name) ? [] : [[name, column]])),
  );
  return { reasonRequired: config.reasonRequired, fields, shown };
}

/** The list that applies to every caller; lists per role are part of the access rules. */
export const forEverybody = (
  list: readonly string[] | Record<string, string[]>,
): readonly string[] => (Array.isArray(list) ? list : []);
