/**
 * Finds the rows of a file that the records to which they refer put outside the caller's rows (`rowScope` by path). The
 * session of the commit refuses them as well. What a row does not set, and records that the file itself may store, are
 * left to the commit.
 */
import { mayMeet } from "../../core/callers/row-scope.ts";
import { past } from "../../core/callers/scoped-session.ts";
import { findRows } from "../../core/query/find-rows.ts";
import type { Queries } from "../../core/query/session.ts";
import { allOf, type Condition, type Quantified, sourceOf } from "../../core/query/statement.ts";
import type { Scalar } from "../../core/values/scalar.ts";
import type { Table } from "../../core/values/types/column.ts";
import { keyText, type KeyValue } from "../../core/values/types/key.ts";
import { addScopeMessage, type StoredRow, type VerdictOptions, withNulls } from "./row-verdict.ts";

/** What a row sets, by name. */
type Values = ReadonlyMap<string, Scalar>;

/** Whether the row may meet the condition on the record that it refers to. */
type Meets = (path: Quantified, values: Values) => boolean;

type ScopeCheck = (queries: Queries, rows: readonly StoredRow[]) => Promise<void>;

/** Null if the caller's rows do not depend on related records. */
export function scopeCheck({ scope, plan }: VerdictOptions): ScopeCheck | null {
  const { write } = plan;
  const within = scope.rowsOf(sourceOf(write.table));
  const paths = within === null ? [] : pathsIn(within);
  if (within === null || paths.length === 0) return null;

  return async (queries, stored) => {
    // Of a record that the caller may not refer to, it is told no more than that.
    const rows = stored
      .filter(({ one }) => one.faults.length === 0)
      .map(({ one, verdict }) => {
        const values = verdict.kind === "new" ? withNulls(verdict.values, write) : verdict.values;
        return { one, values: new Map([...values].map(([{ name }, value]) => [name, value])) };
      });
    const sent = rows.map(({ values }) => values);
    const met = new Map<Quantified, ReadonlySet<string> | null>();
    for (const path of paths)
      met.set(path, isElsewhere(path, write.table) ? await metBy(queries, path, sent) : null);
    const meets: Meets = (path, values) => {
      const key = keyOf(path, values);
      if (key === undefined) return true;
      if (key === null) return path.quantifier === "none";
      const found = met.get(path);
      return !found || found.has(keyText(key)) === (path.quantifier === "any");
    };
    for (const { one, values } of rows) {
      const name = outsideBy(within, values, meets);
      if (name !== null) addScopeMessage(one, name, write);
    }
  };
}

const pathsIn = (condition: Condition): Quantified[] =>
  "members" in condition
    ? condition.members.flatMap(pathsIn)
    : condition.kind === "quantified"
      ? [condition]
      : [];

/** Whether the records of the path are in other tables: those of the same one may be stored or changed by the file. */
const isElsewhere = ({ steps, where }: Quantified, own: Table): boolean =>
  steps.every(
    ({ source }) => source.kind === "table" && !source.isView && source.identity !== own.identity,
  ) &&
  (where === null || pathsIn(where).every((path) => isElsewhere(path, own)));

/** The values that refer to the first record of the path: null where one is empty, undefined where one is not sent. */
function keyOf({ steps }: Quantified, values: Values): KeyValue | null | undefined {
  const key = steps[0]!.on.map(({ left }) => values.get(left.name));
  if (key.includes(null)) return null;
  return key.includes(undefined) ? undefined : (key as KeyValue);
}

/** The keys whose record meets the condition of the path. */
async function metBy(
  queries: Queries,
  path: Quantified,
  sent: readonly Values[],
): Promise<ReadonlySet<string>> {
  const [step] = path.within!.steps;
  const { hop, rows } = step!;
  const keys = sent.flatMap((values) => {
    const key = keyOf(path, values);
    return key ? [key] : [];
  });
  const search = {
    source: hop.source,
    by: hop.on.map(({ right }) => right),
    columns: [],
    lock: false,
    where: allOf(path.where, rows),
  };
  return new Set((await findRows(past(queries, "referredRows"), search, keys)).keys());
}

/** The name of a column whose value certainly puts the row outside; null: it may lie within. */
function outsideBy(condition: Condition, values: Values, meets: Meets): string | null {
  if ("members" in condition) {
    const names = condition.members.map((member) => outsideBy(member, values, meets));
    const isOutside = condition.kind === "and" || !names.includes(null);
    return isOutside ? (names.find((name) => name !== null) ?? null) : null;
  }
  if (condition.kind === "fulltext") return null;
  if (condition.kind === "quantified")
    return meets(condition, values) ? null : condition.steps[0]!.on[0]!.left.name;
  const { name } = condition.column;
  const value = values.get(name);
  return value === undefined || mayMeet(condition, value) ? null : name;
}
