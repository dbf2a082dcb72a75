/**
 * The statements of a composite, inside its transaction: details go in with as few INSERTs as there are sets of
 * columns, computed columns and totals are worked out by the database from the rows as they are then.
 */
import type { Answer, Call, Write } from "../calls/action.ts";
import type { Column } from "../values/column.ts";
import { type ChangedDetail, type NewDetail, noSuchDetail } from "./composite.ts";

import { divideDecimal, normalDecimal } from "../values/decimal.ts";
import { isRefusal, refusedAt, refusedComputation } from "./detail-errors.ts";
import type { DetailPlan, HeaderTotal } from "../plans/entity.ts";
import { validationFailed } from "../values/errors.ts";
import { limits } from "../values/limits.ts";
import type { Queries } from "../callers/session.ts";
import type { MarkedTable } from "../plans/soft-delete.ts";
import { markRows } from "../records/mark.ts";
import { columnsOf, lockedSelect, thatAre } from "../records/marked-rows.ts";
import type { Json } from "../values/json.ts";
import type { Row } from "../plans/ports.ts";
import { allOf, type Assignment, type Condition, equals, sourceOf } from "../query/statement.ts";
import { keyBatches, keyIn, keyIs } from "../query/key-conditions.ts";
import type { KeyValue } from "../values/key.ts";
import type { Scalar } from "../values/scalar.ts";
import { accept } from "../values/accept.ts";
import { isExact, scaleOf } from "../values/arithmetic.ts";
import { columnTypes } from "../values/column-types.ts";
import { comparand } from "../query/where.ts";

/** The transaction, and the header that the details belong to. */
export interface DetailScope {
  /** Past the scope of the caller: the header was found within it. */
  readonly tx: Queries;
  /** In the form that the foreign key is compared in. */
  readonly headerKey: Scalar;
  /** Each detail has a statement of its own, so that a refusal says which one it is about. */
  readonly oneByOne: boolean;
}

/** The database refused one of several details that went in together. */
class RefusedTogether extends Error {}

/**
 * The work of a composite; where the database refuses one of several details of an INSERT, it runs once more with one INSERT for
 * each, because no database tells which of them it was.
 */
export function placingRefusals(work: (tx: Queries, oneByOne: boolean) => Promise<Answer>): Write {
  const oneByOne: Write = { isOneStatement: false, run: (tx) => work(tx, true) };
  return {
    isOneStatement: false,
    run: (tx) => work(tx, false),
    instead: (failure) => (failure instanceof RefusedTogether ? oneByOne : null),
  };
}

/** The header's key, as answers show it, for its details. */
export const headerKeyFor = ({ foreignKey }: DetailPlan, shown: Json | undefined): Scalar =>
  comparand(foreignKey, shown);

/** Stores the details, and gives what names each within the header, in the same order. */
export async function insertDetails(
  detail: DetailPlan,
  details: readonly NewDetail[],
  scope: DetailScope,
): Promise<LineName[]> {
  const keys: LineName[] = [];
  for (const group of groupsOf(detail, details, scope))
    keys.push(...(await insertGroup(detail, group, scope)));
  return keys;
}

/** A text that is equal for equal values of the line's key, as answers show them. */
type LineName = string;

const lineName = (row: Row, { lineKey }: DetailPlan): LineName =>
  JSON.stringify(lineKey.map(({ name }) => String(row[name])));

/** Details that go into the same columns. */
interface Group {
  readonly columns: readonly Column[];
  readonly details: NewDetail[];
}

/**
 * The details in their order, each group as long as it can be: keys that the database numbers then follow the order too. A column that
 * would be null anyway is written as null where another detail has a value for it.
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
    const guard = key.includes(foreignKey) ? null : equals(foreignKey, headerKey);
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

/** Rejects as `updateDetails` does. */
export async function deleteDetails(
  detail: DetailPlan,
  keys: readonly KeyValue[],
  { tx, headerKey, call }: DetailScope & { readonly call: Call },
): Promise<void> {
  const { lineKey, foreignKey, marking } = detail;
  for (const values of keyBatches(lineKey, keys)) {
    const where = allOf(keyIn(lineKey, values), equals(foreignKey, headerKey))!;
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

/** Computes the columns of all details of the header. */
export async function computeDetails(detail: DetailPlan, { tx, headerKey }: DetailScope) {
  const { table } = detail;
  const where = equals(detail.foreignKey, headerKey);
  for (const { column, formula, operands } of detail.computed) {
    try {
      await tx.calculate({ kind: "calculate", table, column, formula, operands, where });
    } catch (error) {
      throw isRefusal(error) ? refusedComputation(detail, error) : error;
    }
  }
}

/** What the details make of the header's totals. */
export async function totalsOf(
  detail: DetailPlan,
  { tx, headerKey }: DetailScope,
): Promise<Assignment[]> {
  const { totals } = detail;
  if (totals.length === 0) return [];
  const [row] = await tx.aggregate({
    kind: "aggregate",
    source: sourceOf(detail.table),
    rows: null,
    joins: [],
    outputs: totals.flatMap(({ outputs }) => outputs),
    where: equals(detail.foreignKey, headerKey),
    having: null,
    sort: [],
    limit: null,
  });
  return totals.map((total) => {
    const { column } = total;
    const accepted = accept(column, totalOf(total, row!));
    if (!accepted.ok) throw validationFailed({ [column.name]: [accepted.message] });
    return { kind: "set", column, value: accepted.value };
  });
}

/** A sum of nothing is 0; the other functions make nothing of it. Rounded to the column's digits, halves away from zero. */
function totalOf({ column, function: name, outputs }: HeaderTotal, row: Row): Json {
  const [first, second] = outputs.map(({ alias }) => row[alias] ?? null);
  if (!isExact(column)) return first!;
  const digits = normalDecimal(String(first ?? (name === "sum" ? 0 : "")));
  if (digits === null) return null;
  const open = name === "avg" ? limits.quotientDigitsMax : null;
  const places = scaleOf(column) ?? open;
  return places === null ? digits : divideDecimal(digits, BigInt(String(second ?? 1)), places);
}

/** The details of these names, in this order, as the table has them. */
export async function detailsByKey(
  detail: DetailPlan,
  names: readonly LineName[],
  { tx, headerKey }: DetailScope,
): Promise<Row[]> {
  const { lineKey, shown, foreignKey } = detail;
  const rows = await tx.all({
    kind: "select",
    source: sourceOf(detail.table),
    columns: [...new Set([...shown.values(), ...lineKey])],
    where: equals(foreignKey, headerKey),
    sort: [],
    limit: null,
    offset: 0,
    lock: false,
  });
  const byName = new Map(rows.map((row) => [lineName(row, detail), row]));
  return names.map((name) => {
    const row = byName.get(name);
    if (!row) throw new Error(`A row that was just written to ${detail.table.name} is not there`);
    for (const column of lineKey) if (!shown.has(column.name)) delete row[column.name];
    return row;
  });
}

const oneRow = ({ table, key }: DetailPlan, where: Condition | null) =>
  ({
    kind: "select",
    source: sourceOf(table),
    columns: key,
    where,
    sort: [],
    limit: 1,
    offset: 0,
    lock: false,
  }) as const;
