/** Finds the keys of the records that a file names, a batch of rows at a time. */
import type { ImportLookup } from "../../core/plans/import-plan.ts";
import { limits } from "../../core/values/limits.ts";
import type { Queries } from "../../core/query/session.ts";
import type { Json } from "../../core/values/json.ts";
import type { Cell } from "../../core/plans/workbooks-port.ts";
import { sourceOf } from "../../core/query/statement.ts";
import type { Scalar } from "../../core/values/scalar.ts";
import { accept, unlimited } from "../../core/values/types/accept.ts";
import { mayHold } from "../../core/query/comparisons.ts";
import { keyText } from "../../core/values/types/key.ts";
import { findRows } from "../../core/query/find-rows.ts";

/** The result for a name. */
export type Found =
  | { readonly kind: "key"; readonly key: Json }
  | { readonly kind: "none" }
  | { readonly kind: "several" };

/** Names of records, each looked up once. */
export interface Names {
  /** Looks up the names that are not known yet. */
  learn(queries: Queries, lookup: ImportLookup, cells: readonly Cell[]): Promise<void>;
  /** Of a name that was learned. */
  find(lookup: ImportLookup, cell: Cell): Found;
}

const none: Found = { kind: "none" };

/** Names of one run of a job. */
export function createNames(): Names {
  const byLookup = new Map<ImportLookup, Map<string, Found>>();
  const knownOf = (lookup: ImportLookup): Map<string, Found> => {
    const known = byLookup.get(lookup) ?? new Map<string, Found>();
    byLookup.set(lookup, known);
    return known;
  };

  return {
    async learn(queries, lookup, cells) {
      let known = knownOf(lookup);
      if (known.size > limits.importNamesMax) {
        known = new Map();
        byLookup.set(lookup, known);
      }
      const { table, name, id } = lookup;
      const keys = new Map<string, readonly [Scalar]>();
      for (const cell of cells) {
        const value = nameOf(lookup, cell);
        if (value !== null) keys.set(keyText([value]), [value]);
      }
      const unknown = [...keys].flatMap(([text, key]) => (known.has(text) ? [] : [key]));
      if (unknown.length === 0) return;
      const search = { source: sourceOf(table), by: [name], columns: [id], lock: false };
      const found = await findRows(queries, search, unknown);
      for (const key of unknown) {
        const rows = found.get(keyText(key)) ?? [];
        const [first] = rows;
        if (!first) known.set(keyText(key), none);
        else if (rows.length > 1) known.set(keyText(key), { kind: "several" });
        else known.set(keyText(key), { kind: "key", key: first[id.name] ?? null });
      }
    },
    find(lookup, cell) {
      const value = nameOf(lookup, cell);
      return (value === null ? undefined : knownOf(lookup).get(keyText([value]))) ?? none;
    },
  };
}

/** The cell in the form of the column that holds the names; null when no row can have it. */
function nameOf({ name }: ImportLookup, cell: Cell): Scalar {
  if (cell === null || typeof cell === "object") return null;
  const accepted = accept(unlimited(name), typeof cell === "string" ? cell.trim() : cell);
  return accepted.ok && mayHold(name, accepted.value) ? accepted.value : null;
}
