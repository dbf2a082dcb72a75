/** The names that the lookups of an import offer, where they are few enough for a list. */
import type { ReadQueries } from "../callers/session.ts";
import type { ImportLookup } from "../plans/entity.ts";
import { limits } from "../values/limits.ts";
import { sourceOf } from "../query/statement.ts";

export type Name = string | number;

/** Of rows that the caller may see; a lookup without names, or with more than `limits.importChoicesMax`, is left out. */
export async function readNames(
  queries: Pick<ReadQueries, "all">,
  lookups: readonly ImportLookup[],
): Promise<ReadonlyMap<ImportLookup, readonly Name[]>> {
  const names = new Map<ImportLookup, readonly Name[]>();
  for (const lookup of lookups) {
    const { table, name } = lookup;
    const rows = await queries.all({
      kind: "select",
      source: sourceOf(table),
      columns: [name],
      where: { kind: "null", column: name, negated: true },
      sort: [{ column: name, direction: "asc" }],
      limit: limits.importChoicesMax + 1,
      offset: 0,
      lock: false,
    });
    const offered = namesOf(rows.map((row) => row[name.name]));
    if (rows.length <= limits.importChoicesMax && offered.length > 0) names.set(lookup, offered);
  }
  return names;
}

/** A name that several rows have stands for none of them. */
function namesOf(values: readonly unknown[]): Name[] {
  const names = values.filter((value) => isName(value));
  return names.filter((value) => names.indexOf(value) === names.lastIndexOf(value));
}

const isName = (value: unknown): value is Name =>
  typeof value === "number" || (typeof value === "string" && value.trim() !== "");
