/** The types of a query's columns by what its first rows give, where reading them costs little. */
import type { Database } from "better-sqlite3";
import type { ColumnType } from "../../../core/values/column.ts";

/** Rows of all tables that the query reads: a grouping or a sort looks at all of them before it gives the first one. */
const tableRowsMax = 100_000;
const rowsMax = 1_000;

/** By name; a column of which nothing can be told is missing. Null: the query may read too much. */
export function sampledTypes(
  database: Database,
  text: string,
): ReadonlyMap<string, ColumnType> | null {
  if (!isSmall(database, text)) return null;
  const rows = database
    .prepare<[], Record<string, unknown>>(`select * from (\n${text}\n) limit ${rowsMax}`)
    .safeIntegers()
    .all();
  const seen = new Map<string, Set<string>>();
  for (const row of rows) {
    for (const [name, value] of Object.entries(row)) {
      if (value === null) continue;
      const kinds = seen.get(name) ?? new Set();
      seen.set(name, kinds.add(kindOf(value)));
    }
  }
  return new Map(
    [...seen].flatMap(([name, kinds]) => {
      const type = typeOf(kinds);
      return type === null ? [] : [[name, type] as const];
    }),
  );
}

const kindOf = (value: unknown): string => (value instanceof Uint8Array ? "bytes" : typeof value);

function typeOf(kinds: ReadonlySet<string>): ColumnType | null {
  const isNumber = [...kinds].every((kind) => kind === "bigint" || kind === "number");
  if (isNumber) return kinds.has("number") ? "float" : "integer";
  if (kinds.size > 1) return null;
  return kinds.has("string") ? "text" : "bytes";
}

/** By the tables that the compiled query opens. One that may never end, or reads what has no row numbers, is not small. */
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
          .prepare<[], unknown>(`select max(rowid) from "${table.replaceAll('"', '""')}"`)
          .pluck()
          .get() ?? 0,
      ),
    );
    return rows.reduce((sum, one) => sum + one, 0) <= tableRowsMax;
  } catch {
    return false;
  }
}
