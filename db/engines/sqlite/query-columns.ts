/**
 * The columns of a query or view. SQLite names the table's column behind one that is passed on unchanged. It reports no
 * type for an expression: that comes from its text (`expression-types.ts`), else from its values, or without any from
 * the columns that it reads, else from a rule.
 * For a compound query, it reports the columns of one part, whatever the others give.
 */
import { quoted } from "../../statements/quoted.ts";
import type { ColumnDefinition, Database } from "better-sqlite3";
import type { Column, ColumnType } from "../../../core/values/types/column.ts";
import { type DeclaredType, expressionTypes } from "./expression-types.ts";
import type { Place } from "./forms/sample-values.ts";
import { fits, sampleColumns, sampledType } from "./sampled-types.ts";
import { computedForm, formTypeOf, type StoredForms } from "./forms/stored-forms.ts";
import { notationOf, typeFacts } from "./types.ts";

interface Description {
  readonly database: Database;
  readonly forms: StoredForms;
  /** The SELECT whose list gives the columns. */
  readonly select: string;
  /** What reads the rows. */
  readonly text: string;
}

/** Nothing is known of defaults, and everything may be null. Throws for two columns of one name. */
export function describeQuery(
  columns: readonly ColumnDefinition[],
  { database, forms, select, text }: Description,
): readonly Column[] {
  const seen = new Set<string>();
  const isPassed = passesColumns(database, text);
  const isSilent = columns.some(({ type }) => type === null);
  const written = isSilent ? expressionTypes(select, columns.length) : null;
  const isUnknown = !isPassed || columns.some(({ type }, at) => type === null && !written?.[at]);
  const samples = isUnknown ? sampleColumns(database, text) : null;
  const declared = isUnknown && isPassed ? declaredType(database) : null;
  const supposed = declared && expressionTypes(select, columns.length, declared);
  return columns.map((column, at) => {
    const { name } = column;
    if (seen.has(name)) throw new Error(`The query returns two columns named "${name}"`);
    seen.add(name);
    const rest = { name, nullable: true, hasDefault: false, generated: "none" } as const;
    const values = samples?.get(name) ?? [];
    const facts = typeFacts(column.type);
    if (column.type === null || (!isPassed && !fits(facts.type, values))) {
      const type = written?.[at] ?? heldType(supposed?.[at] ?? null, values);
      return { ...rest, ...computedFacts(type), ...(!written?.[at] && { isSampled: true }) };
    }
    const type = formTypeOf(facts.type);
    // SQLite does not report the collation of a column.
    if (type === null)
      return { ...rest, ...facts, ...notationOf(facts, false), isLoose: facts.type === "text" };
    const origin = isPassed ? originOf(column) : null;
    const looked = origin && { ...origin, type, byDefault: null };
    return { ...rest, ...facts, stored: looked ? forms.recall(database, looked) : computedForm };
  });
}

/** The supposed type if there are no values, or the values have a form of it; otherwise theirs. */
function heldType(supposed: ColumnType | null, values: readonly unknown[]): ColumnType | null {
  const isForm = supposed !== null && formTypeOf(supposed) !== null;
  return values.length === 0 || (isForm && fits(supposed, values)) ? supposed : sampledType(values);
}

/** SQLite itself finds the column, in whatever table, join or subquery it is. */
const declaredType =
  (database: Database): DeclaredType =>
  (select) => {
    try {
      const [column] = database.prepare(select).columns();
      const { type } = typeFacts(column?.type ?? null);
      return type === "decimal" ? "float" : type in typicalWords ? type : null;
    } catch {
      return null;
    }
  };

export function describeView(
  database: Database,
  forms: StoredForms,
  { schema, table }: { schema: string; table: string },
): readonly Column[] {
  const text = `select * from ${quoted(schema)}.${quoted(table)}`;
  const definition = database
    .prepare<[string], unknown>(
      `select sql from ${quoted(schema)}.sqlite_schema where type = 'view' and name = ?`,
    )
    .pluck()
    .get(table);
  const select = String(definition ?? "");
  return describeQuery(database.prepare(text).columns(), { database, forms, select, text });
}

/** Any rule can set the type of an expression; its values are then read in any form. */
function computedFacts(
  type: ColumnType | null,
): Omit<Column, "name" | "nullable" | "hasDefault" | "generated"> {
  const facts = typeFacts(type === null ? null : (typicalWords[type] ?? null));
  return {
    ...facts,
    native: "",
    isLoose: type === "text",
    precision: null,
    stored: computedForm,
    ruleTypes: computedRuleTypes,
  };
}

const typicalWords: Partial<Record<ColumnType, string>> = {
  text: "TEXT",
  integer: "INTEGER",
  float: "REAL",
  boolean: "BOOLEAN",
  date: "DATE",
  timestamp: "TIMESTAMP",
  time: "TIME",
  uuid: "UUID",
  bytes: "BLOB",
};

const computedRuleTypes: readonly ColumnType[] = [
  "text",
  "integer",
  "decimal",
  "float",
  "boolean",
  "date",
  "timestamp",
  "time",
  "uuid",
  "json",
];

const originOf = ({ database, table, column }: ColumnDefinition): Place | null =>
  database !== null && table !== null && column !== null
    ? { schema: database, table, column }
    : null;

/** Of a compound query, SQLite names the columns of only one part. */
function passesColumns(database: Database, text: string): boolean {
  const plan = database.prepare<[], { detail: string }>(`explain query plan ${text}`).all();
  return !plan.some(({ detail }) => /COMPOUND|UNION|EXCEPT|INTERSECT|MERGE|RECURSIVE/.test(detail));
}
