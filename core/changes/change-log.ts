/** The rows of the table `rowgate_changes`: one for each record that a request changed, in the order of its changes. */
import type { RecordedTable } from "../plans/change-tables.ts";
import { isMarked } from "../callers/visibility.ts";
import { ledgerColumns } from "../query/ledger-columns.ts";
import type { DbQueries, DbTransaction, Queries, UnscopedQueries } from "../query/session.ts";
import { allOf, type Condition, equals, selectFrom, sourceOf } from "../query/statement.ts";
import { compares, isOneOf } from "../query/key-conditions.ts";
import { deleteFrom, insertInto } from "../query/write-statements.ts";
import { hashOf } from "../values/hash.ts";
import { canonicalJson, isObject, type Json, parseOwnJson } from "../values/json.ts";
import { limits } from "../values/limits.ts";
import type { Row } from "../values/row.ts";
import type { Scalar } from "../values/scalar.ts";
import type { Table } from "../values/types/column.ts";
import { keyText, type KeyValue } from "../values/types/key.ts";
import { type RowChange, imageKey } from "./change-book.ts";
import { portionsOf } from "./portions.ts";

/** Who changes records, and by what. */
export interface Author {
  readonly endpoint: string;
  readonly action: string;
  /** Null: the project requires no credentials. */
  readonly by: string | null;
  readonly requestId: string;
  /** Why, as the request says; null: it does not. */
  readonly reason: string | null;
  readonly now: () => string;
  readonly newId: () => string;
}

/** `mark` and `restore`: of a record that is only marked as deleted. */
export type ChangeKind = "create" | "update" | "delete" | "mark" | "restore";

/** A change as it was recorded. */
export interface RecordedChange extends Omit<Author, "now" | "newId"> {
  /** Grows with each change of a record. */
  readonly id: string;
  readonly at: string;
  readonly kind: ChangeKind;
  /** By column. */
  readonly key: Row;
  /** The recorded values before; null: there was no record. Of an update, those that it changed. */
  readonly before: Row | null;
  readonly after: Row | null;
  /** The columns that scopes name, before and after. */
  readonly scoped: { readonly before: Row | null; readonly after: Row | null };
  /** The record was marked as deleted before the change, and is so after it, as far as there is one. */
  readonly isMarked: boolean;
}

const names = [
  "change_id",
  "seq",
  "write_id",
  "at",
  "table_name",
  "record_hash",
  "record_key",
  "endpoint",
  "action",
  "kind",
  "by_user",
  "reason",
  "request_id",
  "old_values",
  "new_values",
  "scope_values",
] as const;

export const logColumns = (ledger: Table) => ledgerColumns(ledger, names);

/** Records the changes, with the last statements of their transaction. */
export async function storeChanges(
  tx: DbTransaction,
  { ledger, changes, author }: { ledger: Table; changes: readonly RowChange[]; author: Author },
): Promise<void> {
  const { change_id: key, ...columns } = logColumns(ledger);
  const at = author.now();
  const write = author.newId();
  const rows = changes.flatMap((changed) => {
    const { isLive, isLogged } = changed.recorded;
    const values = isLogged ? valuesOf(changed, author) : null;
    return values === null ? [] : [[isLive ? null : 0n, isLive ? write : null, at, ...values]];
  });
  // No scope applies to the service's own table.
  const own = tx as unknown as UnscopedQueries;
  const store = (portion: readonly (readonly Scalar[])[]) =>
    own.insert(insertInto(ledger, { key: [key], columns: Object.values(columns), rows: portion }));
  const portions = portionsOf(rows);
  for (const portion of portions)
    await (portion === portions.at(-1) ? tx.last(() => store(portion)) : store(portion));
}

/** From the table's name on, in the order of the columns; null: nothing has changed. */
function valuesOf(
  { recorded, before, after, isCascade }: RowChange,
  author: Author,
): Scalar[] | null {
  const kind = changeKind(recorded, before, after);
  if (kind === null) return null;
  const isUpdate = kind === "update";
  const { kept, stamps } = recorded;
  const meant = isUpdate
    ? new Set([...kept].filter((name) => differs(name, before!, after!)))
    : kept;
  const isTold = [...meant].some((name) => !stamps.has(name));
  // Of an update of other columns, only clients of live lists are told.
  if (!isTold && isUpdate && !recorded.isLive) return null;
  const part = (image: Row | null): Row | null =>
    image && pick(image, (name) => isTold && meant.has(name));
  const old = kind === "create" || kind === "restore" ? null : part(before);
  const now = kind === "delete" || kind === "mark" ? null : part(after);
  const scoped = (image: Row | null) => image && pick(image, (name) => recorded.scoped.has(name));
  const image = (after ?? before)!;
  const { marks } = recorded;
  const marked = marks !== null && kind !== "mark" && kind !== "restore" && isMarked(image, marks);
  return [
    recorded.table.identity,
    hashOf(keyText(imageKey(recorded, image))),
    JSON.stringify(pick(image, (name) => recorded.key.some((column) => column.name === name))),
    author.endpoint,
    isCascade ? "delete" : author.action,
    kind,
    author.by,
    author.reason,
    author.requestId,
    old && JSON.stringify(old),
    now && JSON.stringify(now),
    recorded.scoped.size === 0 && !marked
      ? null
      : JSON.stringify({ before: scoped(before), after: scoped(after), ...(marked && { marked }) }),
  ];
}

/** Null: nothing but the time and the user of the last change differs. */
export function changeKind(
  { marks, columns, stamps }: RecordedTable,
  before: Row | null,
  after: Row | null,
): ChangeKind | null {
  if (before === null) return after === null ? null : "create";
  if (after === null) return "delete";
  const [was, is] = [before, after].map((image) => marks !== null && isMarked(image, marks));
  if (was !== is) return is ? "mark" : "restore";
  const isSame = columns.every(({ name }) => stamps.has(name) || !differs(name, before, after));
  return isSame ? null : "update";
}

/** An object with the same members in another order does not differ. */
export const differs = (name: string, before: Row, after: Row): boolean =>
  before[name] !== after[name] && canonicalJson(before[name]) !== canonicalJson(after[name]);

export const pick = (row: Row, isMeant: (name: string) => boolean): Row =>
  Object.fromEntries(Object.entries(row).filter(([name]) => isMeant(name)));

/** Where a table's changes are, or those of one of its records. */
export interface LogPlace {
  readonly ledger: Table;
  readonly recorded: RecordedTable;
  /** Null: all records of the table. */
  readonly key: KeyValue | null;
  readonly now: string;
}

/** The changes at the place that are kept and have values, on which further conditions can be put. */
export function changesAt({ ledger, recorded, key, now }: LogPlace): Condition {
  const { table_name, record_hash, at, kind, old_values: old } = logColumns(ledger);
  const since = keptSince(recorded, now);
  const hasEmpty = recorded.isLive && recorded.columns.some(({ name }) => !recorded.kept.has(name));
  return allOf(
    equals(table_name, recorded.table.identity),
    key && equals(record_hash, hashOf(keyText(key))),
    hasEmpty
      ? { kind: "or", members: [compares(kind, "!=", "update"), compares(old, "!=", "{}")] }
      : null,
    since === null ? null : compares(at, ">=", since),
  )!;
}

/** The time before which changes are as good as removed; null = they are kept for ever. */
export const keptSince = (
  { keepDays }: Pick<RecordedTable, "keepDays">,
  now: string,
): string | null =>
  keepDays === null ? null : new Date(Date.parse(now) - keepDays * dayMs).toISOString();

/**
 * Removes changes of the table that are older than it keeps them, the oldest first, some at most. Resolves with the place
 * of the last write among them; 0 = they have none, Infinity = one would still get its place.
 */
export async function removeOldChanges(
  queries: DbQueries,
  { ledger, recorded, now }: { ledger: Table; recorded: RecordedTable; now: string },
): Promise<number> {
  const since = keptSince(recorded, now);
  if (since === null) return 0;
  const { change_id: key, seq, at, table_name } = logColumns(ledger);
  const where = equals(table_name, recorded.table.identity);
  const own = queries as unknown as UnscopedQueries;
  const sort = [{ column: key, direction: "asc" }] as const;
  const limit = limits.inValuesMax;
  const columns = [key, seq, at];
  // No index knows the times, so a condition on them would look at the whole log of the table.
  const oldest = await own.all(selectFrom(sourceOf(ledger), { columns, where, sort, limit }));
  const rows = oldest.filter((row) => Date.parse(String(row["at"])) < Date.parse(since));
  if (rows.length === 0) return 0;
  const values = rows.map(({ change_id }) => BigInt(String(change_id)));
  await own.delete(deleteFrom(ledger, { key: [key], where: isOneOf(key, values) }));
  return Math.max(...rows.map((row) => Number(row["seq"] ?? Infinity)));
}

const dayMs = 86_400_000;

/** Newest first. */
export async function findChanges(
  queries: Pick<Queries, "all">,
  {
    ledger,
    where,
    limit,
    offset = 0,
  }: { ledger: Table; where: Condition; limit: number; offset?: number },
): Promise<RecordedChange[]> {
  const columns = logColumns(ledger);
  const rows = await queries.all(
    selectFrom(sourceOf(ledger), {
      columns: Object.values(columns),
      where,
      sort: [{ column: columns.change_id, direction: "desc" }],
      limit,
      offset,
    }),
  );
  return rows.map(changeOf);
}

export function changeOf(row: Row): RecordedChange {
  const text = (name: (typeof names)[number]): string | null =>
    (row[name] ?? null) === null ? null : String(row[name]);
  const image = (name: (typeof names)[number]): Row | null => {
    const json = text(name);
    return json === null ? null : (parseOwnJson(json) as Row);
  };
  const scoped: Json = image("scope_values");
  const side = (name: "before" | "after"): Row | null =>
    isObject(scoped) && isObject(scoped[name]) ? (scoped[name] as Row) : null;
  return {
    id: text("change_id")!,
    at: text("at")!,
    by: text("by_user"),
    endpoint: text("endpoint")!,
    action: text("action")!,
    kind: text("kind") as ChangeKind,
    reason: text("reason"),
    requestId: text("request_id")!,
    key: image("record_key")!,
    before: image("old_values"),
    after: image("new_values"),
    scoped: { before: side("before"), after: side("after") },
    isMarked: isObject(scoped) && scoped["marked"] === true,
  };
}
