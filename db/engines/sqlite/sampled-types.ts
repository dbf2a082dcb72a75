/** The types of a query's columns by its first rows, if reading them is cheap. Stops at a row that cannot be read. */
import { quoted } from "../../statements/quoted.ts";
import type { Database } from "better-sqlite3";
import type { ColumnType } from "../../../core/values/types/column.ts";
import { columnTypes } from "../../../core/values/types/column-types.ts";
import { formTypeOf } from "./forms/stored-forms.ts";
import { readers } from "./forms/stored-values.ts";

/** Rows of all tables that the query reads: a grouping or a sort looks at all of them before it gives the first one. */
const tableRowsMax = 100_000;
const rowsMax = 1_000;

/** Values other than null by column name; a column without values is missing. Null: the query may read too much. */
export function sampleColumns(
  database: Database,
  text: string,
): ReadonlyMap<string, readonly unknown[]> | null {
  if (!isSmall(database, text)) return null;
  const rows = database
    .prepare<[], Record<string, unknown>>(`select * from (\n${text}\n) limit ${rowsMax}`)
    .safeIntegers();
  const seen = new Map<string, unknown[]>();
  try {
    for (const row of rows.iterate()) {
      for (const [name, value] of Object.entries(row)) {
        if (value === null) continue;
        const values = seen.get(name);
        if (values === undefined) seen.set(name, [value]);
        else values.push(value);
      }
    }
  } catch (error) {
    // An expression that fails on a row is a fault of the requests that read it.
    if (!isOfValues(error)) throw error;
  }
  return seen;
}

/** Whether an expression failed, and not the database. */
const isOfValues = (error: unknown): boolean =>
  ["SQLITE_ERROR", "SQLITE_TOOBIG", "SQLITE_MISMATCH"].includes(
    String((error as { code?: unknown }).code),
  );

/** The type that all these values have; null where they have none in common. */
export function sampledType(values: readonly unknown[]): ColumnType | null {
  const kinds = new Set(
    values.map((value) => (value instanceof Uint8Array ? "bytes" : typeof value)),
  );
  const isNumber = [...kinds].every((kind) => kind === "bigint" || kind === "number");
  if (isNumber) return kinds.has("number") ? "float" : "integer";
  if (kinds.size > 1) return null;
  return kinds.has("string") ? "text" : "bytes";
}

/** Whether a column of the type can hold these values. */
export function fits(type: ColumnType, values: readonly unknown[]): boolean {
  if (values.length === 0) return true;
  const found = sampledType(values);
  if (type === "boolean")
    return values.every((value) => /^([01tfyn]|true|false|yes|no)$/i.test(String(value)));
  const form = formTypeOf(type);
  if (form !== null)
    return values.every(
      (value) => readers[form](typeof value === "bigint" ? Number(value) : value, "size") !== null,
    );
  const { arithmetic } = columnTypes[type];
  if (arithmetic === null) return found === type || type === "other";
  return found === "integer" || (found === "float" && !arithmetic.isWhole);
}

/** Judged by the tables that the compiled query opens. Not small: recursion, virtual tables, no row numbers. */
function isSmall(database: Database, text: string): boolean {
  const plan = database.prepare<[], { detail: string }>(`explain query plan ${text}`).all();
  if (plan.some(({ detail }) => /RECURSIVE|VIRTUAL TABLE/.test(detail))) return false;
  const steps = database
    .prepare<[], { opcode: string; p2: number; p3: number }>(`explain ${text}`)
    .all();
  const opened = steps.filter(({ opcode }) => opcode === "OpenRead");
  if (opened.some(({ p3 }) => p3 !== 0)) return false;
  const tableAt = database
    .prepare<[number], unknown>("select tbl_name from sqlite_schema where rootpage = ?")
    .pluck();
  const tables = new Set(opened.map(({ p2 }) => String(tableAt.get(p2))));
  try {
    const rows = [...tables].map((table) =>
      Number(
        database
          .prepare<[], unknown>(`select max(rowid) from ${quoted(table)}`)
          .pluck()
          .get() ?? 0,
      ),
    );
    return rows.reduce((sum, one) => sum + one, 0) <= tableRowsMax;
  } catch {
    return false;
  }
}
