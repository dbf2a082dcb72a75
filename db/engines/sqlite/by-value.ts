/** SQL for columns whose values are not all stored in one form: it compares, sorts and groups by what the values mean. */
import { sql, type SQL } from "drizzle-orm/sql/sql";
import type { Column } from "../../../core/values/column.ts";
import { columnTypes } from "../../../core/values/column-types.ts";
import type { NamedColumn } from "../../statements/dialect.ts";
import { computedForm, formTypeOf, type StoredForms } from "./stored-forms.ts";

/** The term that is compared: null where a value means nothing. The term itself where all values have one form. */
export function comparedTerm(forms: StoredForms, column: Column, term: SQL): SQL {
  const type = formTypeOf(column.type);
  if (type === null) return isComputedNumber(column) ? numberTerm(term) : term;
  const form = forms.of(column, type);
  return form.isUniform ? term : callOf("key", [type, form.unit], term);
}

/** The term that is sorted and grouped by: never null but where the value is. */
export function sortedTerm(forms: StoredForms, column: Column, term: SQL): SQL {
  const type = formTypeOf(column.type);
  if (type === null || forms.of(column, type).isUniform) return term;
  return sql`coalesce(${comparedTerm(forms, column, term)}, ${term})`;
}

/** The text that answers show. Null where the usual text of the type is right. */
export function shownTerm(forms: StoredForms, column: Column, term: SQL): SQL | null {
  const type = formTypeOf(column.type);
  if (type === null) return null;
  const form = forms.of(column, type);
  if (form.isUsual) return null;
  return sql`coalesce(${callOf("text", [type, form.unit], term)}, cast(${term} as text))`;
}

/** Null where both sides are stored in one form. */
export function joinedTerms(
  forms: StoredForms,
  left: NamedColumn,
  right: NamedColumn,
): readonly [SQL, SQL] | null {
  const type = formTypeOf(left.column.type);
  if (type === null || right.column.type !== type) return null;
  const [one, other] = [forms.of(left.column, type), forms.of(right.column, type)];
  if (one.isUniform && other.isUniform && one.words === other.words) return null;
  return [
    callOf("key", [type, one.unit], left.name),
    callOf("key", [type, other.unit], right.name),
  ];
}

/** A call of a function that `functions.ts` registers. */
const callOf = (name: "key" | "text", words: readonly string[], term: SQL): SQL =>
  sql`${sql.raw(`rowgate_${name}(${words.map((word) => `'${word}'`).join(", ")}, `)}${term})`;

/** An expression may give texts beside numbers, and SQLite takes every text for greater than a number. */
const numberTerm = (term: SQL): SQL =>
  sql`iif(typeof(${term}) in ('integer', 'real'), ${term}, null)`;

const isComputedNumber = ({ stored, type }: Column): boolean =>
  stored === computedForm && columnTypes[type].arithmetic !== null;
