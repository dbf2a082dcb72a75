/**
 * The statements of a composite, inside its transaction: details go in with as few INSERTs as there are sets of
 * columns, computed columns and totals are worked out by the database from the rows as they are then.
 */
import type { Call, Write } from "../calls/action.ts";
import type { Answer } from "../calls/answer.ts";
import type { Column } from "../values/types/column.ts";
import {
  type ChangedDetail,
  type CompositeNeeds,
  type NamedDetail,
  type NewDetail,
  noSuchDetail,
} from "./composite.ts";
import { isRefusal, type Place, refusedAt, refusedComputation } from "./detail-errors.ts";
import type { DetailPlan } from "../plans/composite-plan.ts";
import { lineName, type LineName } from "../callers/seen-lines.ts";
import type { Queries } from "../query/session.ts";
import type { TotalsOf } from "../totals/settlement.ts";
import type { MarkedTable } from "../plans/soft-delete.ts";
import { markRows } from "../records/mark.ts";
import { parentsFirst } from "../records/parents-first.ts";
import { columnsOf, lockedSelect, thatAre } from "../records/marked-rows.ts";
import type { Json } from "../values/json.ts";
import type { Row } from "../values/row.ts";
import { allOf, type Condition, equals, sourceOf, selectFrom } from "../query/statement.ts";
import { keyBatches, keyIn, keyIs } from "../query/key-conditions.ts";
import type { Scalar } from "../values/scalar.ts";
import { columnTypes } from "../values/types/column-types.ts";
import { comparand, mayHold } from "../query/comparisons.ts";
import { accept, unlimited } from "../values/types/accept.ts";

/** The transaction, and the header that the details belong to. */
export interface DetailScope {
  /** The lines of the header, which was found within the scope of the caller. */
  readonly tx: Queries;
  /** In the form that the foreign key is compared in. */
  readonly headerKey: Scalar;
  /** Each detail gets a separate statement, so that a refusal shows which one it is about. */
  readonly oneByOne: boolean;
}

/** The database refused one of several details in the same INSERT. */
class RefusedTogether extends Error {}

/**
 * The work of a composite. If the database refuses one of several details of an INSERT, the work runs again with one
 * INSERT per detail, because no database tells which one it refused.
 */
export function placingRefusals(work: (tx: Queries, oneByOne: boolean) => Promise<Answer>): Write {
  const oneByOne: Write = { isOneStatement: false, run: (tx) => work(tx, true) };
  return {
    isOneStatement: false,
    run: (tx) => work(tx, false),
    instead: (failure) => (failure instanceof RefusedTogether ? oneByOne : null),
  };
}

/** What the totals of the document are to know of its request. */
export const aboutDocument = ({ write, composite: { details } }: CompositeNeeds): TotalsOf => ({
  document: write.table,
  refused(table, error) {
    const detail = details.find((one) => one.table.identity === table.identity);
    return detail && isRefusal(error) ? refusedComputation(detail, error) : error;
  },
});

/** The header's key, as answers show it, for its details. */
export const headerKeyFor = ({ foreignKey }: DetailPlan, shown: Json | undefined): Scalar =>
  comparand(foreignKey, shown);

/** Stores the details, and returns what identifies each within the header, in the same order. */
export async function insertDetails(
  detail: DetailPlan,
  details: readonly NewDetail[],
  scope: DetailScope,
): Promise<LineName[]> {
  const header = [detail.foreignKey, scope.headerKey] as const;
  const records = details.map(({ values }) => ({ values: new Map([...values, header]) }));
  const { order } = parentsFirst(records, detail.table) ?? { order: [...details.keys()] };
  const inOrder = order.map((place) => details[place]!);
  const stored: LineName[] = [];
  for (const group of groupsOf(detail, inOrder, scope))
    stored.push(...(await insertGroup(detail, group, scope)));
  const keys: LineName[] = [];
  for (const [at, place] of order.entries()) keys[place] = stored[at]!;
  return keys;
}

/** Details that go into the same columns. */
interface Group {
  readonly columns: readonly Column[];
  readonly details: NewDetail[];
}

/**
 * Splits the details in their order into groups with the same columns, each as long as possible, so that keys numbered
 * by the database follow the order. A column that would be null anyway is written as null if another detail has a value
 * for it.
 */
function groupsOf(
  detail: DetailPlan,
  details: readonly NewDetail[],
  { oneByOne }: DetailScope,
): Group[] {
  const named = new Set(details.flatMap(({ values }) => [...values.keys()]));
  const columns = [...detail.table.columns.values()].filter((column) => named.has(column));
  const groups: Group[] = [];
  for (const one of details) {
    const own = columns.filter((column) => one.values.has(column) || isNullByNature(column));
    const last = groups.at(-1);
    const isSame =
      last?.columns.length === own.length && own.every((column, at) => last.columns[at] === column);
    if (last && isSame && !oneByOne) last.details.push(one);
    else groups.push({ columns: own, details: [one] });
  }
  return groups;
}

const isNullByNature = ({ nullable, hasDefault, generated }: Column): boolean =>
  nullable && !hasDefault && generated === "none";

async function insertGroup(
  detail: DetailPlan,
  { columns, details }: Group,
  { tx, headerKey }: DetailScope,
): Promise<LineName[]> {
  const { table, key, lineKey, foreignKey } = detail;
  const rows = details.map(({ values }) => [
    headerKey,
    ...columns.map((column) => values.get(column) ?? null),
  ]);
  const givesKeys = lineKey.every(
    (column) => columns.includes(column) && columnTypes[column.type].isShownAsGiven,
  );
  const returning = givesKeys ? [] : lineKey;
  try {
    const stored = await tx.insert({
      kind: "insert",
      table,
      key,
      columns: [foreignKey, ...columns],
      rows,
      returning,
    });
    return givesKeys
      ? details.map(({ values }) =>
          JSON.stringify(lineKey.map((column) => String(values.get(column)))),
        )
      : stored.map((row) => lineName(row, detail));
  } catch (error) {
    if (!isRefusal(error)) throw error;
    if (details.length > 1) throw new RefusedTogether("", { cause: error });
    throw refusedAt(details[0]!.place, error);
  }
}

/** Rejects (404) when one of the details is not there, or is another header's. */
export async function updateDetails(
  details: readonly ChangedDetail[],
  { tx, headerKey }: DetailScope,
): Promise<void> {
  for (const { place, keyValue: named, set } of details) {
    const { table, key, lineKey, foreignKey } = place.detail;
    const keyValue = key.map((column) =>
      column === foreignKey ? headerKey : named[lineKey.indexOf(column)]!,
    );
    const header = key.includes(foreignKey) ? headerSent(place) : headerKey;
    const guard = header === null ? null : equals(foreignKey, header);
    try {
      const row =
        set.length > 0
          ? await tx.updateOne({ kind: "update", table, key, keyValue, guard, set, returning: [] })
          : await tx.one(oneRow(place.detail, allOf(keyIs(key, keyValue), guard)));
      if (!row) throw noSuchDetail(place.detail);
    } catch (error) {
      throw isRefusal(error) ? refusedAt(place, error) : error;
    }
  }
}

/**
 * Where the foreign key is a part of the key, a body may have the whole key: a detail of another header is not there. Null:
 * it has not.
 */
function headerSent({ detail, sent }: Place): Scalar {
  const { key, foreignKey } = detail;
  const value = key.includes(foreignKey) ? (sent[foreignKey.name] ?? null) : null;
  if (value === null) return null;
  const accepted = accept(unlimited(foreignKey), value);
  if (!accepted.ok || !mayHold(foreignKey, accepted.value)) throw noSuchDetail(detail);
  return accepted.value;
}

/** In how many ways a body may write the key of one header, such as in upper and lower case. */
const writingsMax = 10;

/** Rejects as `updateDetails` does. */
export async function deleteDetails(
  detail: DetailPlan,
  deleted: readonly NamedDetail[],
  { tx, headerKey, call }: DetailScope & { readonly call: Call },
): Promise<void> {
  const { lineKey, foreignKey, marking } = detail;
  const headers = new Set([headerKey, ...deleted.map(({ place }) => headerSent(place))]);
  headers.delete(null);
  if (headers.size > writingsMax) throw noSuchDetail(detail);
  const isOfHeader = allOf(...[...headers].map((header) => equals(foreignKey, header)));
  const keys = deleted.map(({ keyValue }) => keyValue);
  for (const values of keyBatches(lineKey, keys)) {
    const where = allOf(keyIn(lineKey, values), isOfHeader)!;
    const gone = await (marking
      ? markDetails(marking, where, { tx, call })
      : removeDetails(detail, where, tx));
    if (gone !== values.length) throw noSuchDetail(detail);
  }
}

async function removeDetails(
  { table, key }: DetailPlan,
  where: Condition,
  tx: Queries,
): Promise<number> {
  return (await tx.delete({ kind: "delete", table, key, where, returning: [] })).length;
}

/** Details of a table with soft delete are marked, as their own endpoint's delete would mark them. */
async function markDetails(
  marked: MarkedTable,
  where: Condition,
  { tx, call }: { tx: Queries; call: Call },
): Promise<number> {
  const select = lockedSelect(marked.table, columnsOf(marked), marked.key);
  const rows = await tx.all({ ...select, where: allOf(where, thatAre("active", marked)) });
  await markRows({ ...call, body: {} }, { marked, rows }, tx);
  return rows.length;
}

/** The details of these names, in this order, as the table has them. */
export async function detailsByKey(
  detail: DetailPlan,
  names: readonly LineName[],
  { tx, headerKey }: DetailScope,
): Promise<Row[]> {
  const { lineKey, shown, foreignKey } = detail;
  const rows = await tx.all(
    selectFrom(sourceOf(detail.table), {
      columns: [...new Set([...shown.values(), ...lineKey])],
      where: equals(foreignKey, headerKey),
    }),
  );
  const byName = new Map(rows.map((row) => [lineName(row, detail), row]));
  return names.map((name) => {
    const row = byName.get(name);
    if (!row) throw new Error(`A row that was just written to ${detail.table.name} is not there`);
    for (const column of lineKey) if (!shown.has(column.name)) delete row[column.name];
    return row;
  });
}

const oneRow = ({ table, key }: DetailPlan, where: Condition | null) =>
  selectFrom(sourceOf(table), { columns: key, where, limit: 1 });
