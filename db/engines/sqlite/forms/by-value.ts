/** SQL for columns whose values are stored in several forms: values are compared, sorted and grouped by meaning. */
import { sql, type SQL } from "drizzle-orm/sql/sql";
import type { Column } from "../../../../core/values/types/column.ts";
import { columnTypes } from "../../../../core/values/types/column-types.ts";
import type { NamedColumn } from "../../../statements/dialect.ts";
import { computedForm, formTypeOf, type StoredForms } from "./stored-forms.ts";

/** The term to compare by, null for a value without meaning. The unchanged term if all values have one form. */
export function comparedTerm(forms: StoredForms, column: Column, term: SQL): SQL {
  const type = formTypeOf(column.type);
  if (type === null && column.stored === computedForm) return computedTerm(column, term);
  if (type === null) return term;
  const form = forms.of(column, type);
  return form.isUniform ? term : callOf("key", [type, form.unit], term);
}

/** The term to sort and group by: null only if the stored value is null. */
export function sortedTerm(forms: StoredForms, column: Column, term: SQL): SQL {
  const type = formTypeOf(column.type);
  if (type === null || forms.of(column, type).isUniform) return term;
  return sql`coalesce(${comparedTerm(forms, column, term)}, ${term})`;
}

/** The text that answers show. Null: the type's usual text is right. */
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

/**
 * An expression may give both texts and numbers, and SQLite sorts every text after every number. In a compound query,
 * one part's type would turn a number that another part is compared with into text: the expression `+x` has no type.
 */
function computedTerm({ type }: Column, term: SQL): SQL {
  if (columnTypes[type].arithmetic === null) return sql`+${term}`;
  return sql`iif(typeof(${term}) in ('integer', 'real'), ${term}, null)`;
}
