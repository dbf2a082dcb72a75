/** Audit columns: when a row was written, and by whom. One list defines how they are filled, shown and named. */
import type { Checked } from "../rules/compile-rules.ts";
import type { Column, Columns } from "../values/types/column.ts";

/** `property`: in the configuration; `name`: of the column, unless the configuration has another. */
export const auditFields = [
  { property: "createdAt", name: "created_at", when: "create", kind: "time" },
  { property: "createdBy", name: "created_by", when: "create", kind: "user" },
  { property: "updatedAt", name: "updated_at", when: "update", kind: "time" },
  { property: "updatedBy", name: "updated_by", when: "update", kind: "user" },
] as const;

export type AuditField = (typeof auditFields)[number];

/** The audit columns that the table really has. */
export type AuditColumns = readonly (Pick<AuditField, "when" | "kind"> & {
  readonly column: Column;
  /** Whether a body may not name the user: the column is in `readOnlyFields`. */
  readonly isReadOnly: boolean;
  /** The value of a user that a body names, by the column's rule. */
  check(sent: unknown): Checked;
})[];

/** The names that the configuration gives; false: there are none. */
type AuditNames = false | { readonly [Property in AuditField["property"]]?: string | undefined };

/** The column that the configuration, or else its usual name, makes the audit column. */
export const auditColumnIn = (
  columns: Columns,
  names: AuditNames,
  { property, name }: AuditField,
): Column | null => (names === false ? null : (columns.get(names[property] ?? name) ?? null));

/** Columns for who did it, as far as a body may name the user. */
export const actorsOf = (audit: AuditColumns, when: AuditField["when"]): Column[] =>
  audit.flatMap((one) =>
    one.kind === "user" && one.when === when && !one.isReadOnly ? one.column : [],
  );

/** Columns for when it was done. */
export const timesOf = (audit: AuditColumns, when: AuditField["when"]): Column[] =>
  audit.flatMap((one) => (one.kind === "time" && one.when === when ? one.column : []));
