/**
 * The answer of aggregate. Buckets in a time zone, empty buckets, pages and totals take more than one statement; all of
 * them see one moment.
 */
import { resultOf } from "../query/aggregate-results.ts";
import { bucketColumn } from "../query/derived-columns.ts";
import type { ReadQueries, ReadSession } from "../query/session.ts";
import { type Aggregate, allOf, type Condition, type Output } from "../query/statement.ts";
import { columnTypes } from "../values/types/column-types.ts";
import type { Column } from "../values/types/column.ts";
import { readTimestamp } from "../values/formats.ts";
import type { Json } from "../values/json.ts";
import { limits } from "../values/limits.ts";
import type { Row } from "../values/row.ts";
import {
  firstInstant,
  lastInstant,
  type Offset,
  offsetsWithin,
  type TimeStretch,
  yearStretch,
} from "../values/time-zones.ts";
import { validationError } from "../values/errors.ts";
import type { FiguresRequest } from "./aggregate-request.ts";
import { bucketsBetween } from "./buckets.ts";
import { type Pagination, paginationOf } from "./page.ts";

export interface Figures {
  readonly rows: Row[];
  readonly pagination?: Pagination;
  readonly total?: Row;
}

/** Rejects with Validation error when there are more buckets than the limit. */
export function readFigures(session: ReadSession, request: FiguresRequest): Promise<Figures> {
  const { page, withTotal, isFilled } = request;
  const isOneStatement = page === null && !withTotal && !isFilled && zonedIn(request).length === 0;
  return isOneStatement
    ? session.aggregate(request.statement).then((rows) => ({ rows }))
    : session.snapshot((queries) => figuresIn(queries, request));
}

async function figuresIn(queries: ReadQueries, request: FiguresRequest): Promise<Figures> {
  const { isFilled, page, withTotal } = request;
  const zoned = await withOffsets(queries, request);
  const statement = isFilled ? await withBuckets(queries, zoned) : zoned;
  const total = withTotal ? { total: await totalOf(queries, statement) } : {};
  if (page === null) return { rows: await queries.aggregate(statement), ...total };
  const { size, offset, page: number } = page;
  const counted = countedBy(statement);
  const rows = await queries.aggregate({ ...statement, limit: size, offset, counted });
  let [first] = rows;
  // Behind the last page there is no row that says how many there are.
  if (first === undefined && offset > 0)
    [first] = await queries.aggregate({ ...statement, limit: 1, counted });
  const count = Number(first?.[counted.alias] ?? 0);
  for (const row of rows) delete row[counted.alias];
  return { rows, pagination: paginationOf(number, size, count), ...total };
}

const countedBy = ({ outputs }: Aggregate): Output => ({
  alias: ".groups",
  function: "count",
  column: null,
  result: resultOf("count", null, outputs.length),
});

async function totalOf(queries: ReadQueries, statement: Aggregate): Promise<Row> {
  const { filled: _, ...asked } = statement;
  const outputs = asked.outputs.filter((output) => output.function !== null);
  const whole = { ...asked, outputs, having: null, sort: [], limit: null };
  const [row] = await queries.aggregate(whole);
  return row!;
}

/** The groups that depend on a time zone. */
const zonedIn = ({ statement, zone }: FiguresRequest): readonly Output[] =>
  zone === "UTC" ? [] : statement.outputs.filter(({ column }) => timeOf(column) !== null);

/** The column of instants that is grouped; null: it is something else. */
function timeOf(column: Column | null): Column | null {
  const derived = column?.derived;
  if (derived?.kind !== "bucket" || derived.bucket.kind === "bin") return null;
  return columnTypes[derived.of.type].isInstant ? derived.of : null;
}

async function withOffsets(queries: ReadQueries, request: FiguresRequest): Promise<Aggregate> {
  const { statement, zone } = request;
  const times = [...new Set(zonedIn(request).map(({ column }) => timeOf(column)!))];
  if (times.length === 0) return statement;
  const offsets = new Map<Column, readonly Offset[]>();
  const stretches = await stretchesOf(queries, statement, times);
  times.forEach((time, at) => offsets.set(time, offsetsWithin(zone, stretches[at]!)));
  const outputs = statement.outputs.map((output) => {
    const time = timeOf(output.column);
    return time === null
      ? output
      : { ...output, column: inZone(output.column!, offsets.get(time)!) };
  });
  return { ...statement, outputs };
}

function inZone(column: Column, offsets: readonly Offset[]): Column {
  const { derived } = column;
  if (derived?.kind !== "bucket" || derived.bucket.kind === "bin") return column;
  return bucketColumn(derived.of, { ...derived.bucket, offsets });
}

/** The time in which each column has values; usually from its first to its last one. */
async function stretchesOf(
  queries: ReadQueries,
  statement: Aggregate,
  times: readonly Column[],
): Promise<readonly (readonly TimeStretch[])[]> {
  const whole = await extremesOf(queries, statement, times);
  const stretches: (readonly TimeStretch[])[] = [];
  for (const [at, time] of times.entries()) {
    const found = instantsOf(whole[at]!) ?? (await usualExtremes(queries, statement, time));
    if (found === null) stretches.push([]);
    else if (yearsIn(found) <= limits.zoneYearsMax) stretches.push([found]);
    else stretches.push(await yearsOf(queries, statement, time));
  }
  return stretches;
}

type Extremes = readonly [min: Json, max: Json];

async function extremesOf(
  queries: ReadQueries,
  statement: Aggregate,
  columns: readonly Column[],
  where: Condition | null = null,
): Promise<readonly Extremes[]> {
  const outputs = columns.flatMap((column, at) =>
    (["min", "max"] as const).map((name, which): Output => {
      const position = at * 2 + which;
      const result = resultOf(name, column, position);
      return { alias: `.${position}`, function: name, column, result };
    }),
  );
  const [row] = await queries.aggregate(plainly(statement, outputs, where));
  return columns.map((_, at) => [row![`.${at * 2}`]!, row![`.${at * 2 + 1}`]!]);
}

const plainly = (
  { source, rows, joins, where }: Aggregate,
  outputs: readonly Output[],
  more: Condition | null,
): Aggregate => ({
  kind: "aggregate",
  source,
  rows,
  joins,
  outputs,
  where: allOf(where, more),
  having: null,
  sort: [],
  limit: null,
});

/** Null: one of the two is no instant of the years 1 to 9999, or there are none. */
function instantsOf(extremes: Extremes): TimeStretch | null {
  const [first, last] = extremes.map((shown) => {
    const instant = typeof shown === "string" ? readTimestamp(shown) : null;
    return instant === null ? null : Math.floor(Date.parse(instant.iso) / 1_000);
  });
  return typeof first === "number" && typeof last === "number" ? [first, last] : null;
}

/** The same of the values that are instants of these years: a database may hold infinity, or any text. */
async function usualExtremes(
  queries: ReadQueries,
  statement: Aggregate,
  column: Column,
): Promise<TimeStretch | null> {
  const isUsual = {
    kind: "between",
    column,
    low: isoOf(firstInstant),
    high: isoOf(lastInstant),
    negated: false,
  } as const;
  const [found] = await extremesOf(queries, statement, [column], isUsual);
  return instantsOf(found!);
}

const isoOf = (instant: number): string => new Date(instant * 1_000).toISOString();

const yearsIn = ([first, last]: TimeStretch): number => (last - first) / (365.25 * 86_400);

/** The years that have values: a few that are far off would add thousands of changes of the clocks. */
async function yearsOf(
  queries: ReadQueries,
  statement: Aggregate,
  time: Column,
): Promise<readonly TimeStretch[]> {
  const column = bucketColumn(time, { kind: "span", unit: "year", offsets: [] });
  const result = resultOf(null, column, 0);
  const year: Output = { alias: ".year", function: null, column, result };
  const sort = [{ column: result, direction: "asc" }] as const;
  const rows = await queries.aggregate({ ...plainly(statement, [year], null), sort });
  return rows.flatMap((row) => {
    const stretch = yearStretch(Number(String(row[".year"]).slice(0, 4)));
    return stretch === null ? [] : [stretch];
  });
}

/** The statement with the empty buckets between the first and the last one. */
async function withBuckets(queries: ReadQueries, statement: Aggregate): Promise<Aggregate> {
  const { column } = statement.outputs[0]!;
  const [[first, last] = [null, null]] = await extremesOf(queries, statement, [column!]);
  const max = statement.limit!;
  const filled = bucketsBetween(column!, { first, last, max });
  // The bucket without value is one as well.
  const isTooLong = filled?.length === max && (await hasNulls(queries, statement, column!));
  if (filled === null || isTooLong)
    throw validationError(
      `fill would make more than ${max} groups; raise the limit, or take larger ones`,
    );
  return filled.length === 0 ? statement : { ...statement, filled: JSON.stringify(filled) };
}

async function hasNulls(
  queries: ReadQueries,
  statement: Aggregate,
  column: Column,
): Promise<boolean> {
  const outputs = [null, column].map((counted, at): Output => {
    const result = resultOf("count", counted, at);
    return { alias: `.${at}`, function: "count", column: counted, result };
  });
  const [row] = await queries.aggregate(plainly(statement, outputs, null));
  return row![".0"] !== row![".1"];
}
