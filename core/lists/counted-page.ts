/**
 * A page with a number, and the count of all rows of its list, with as little reading as possible. A cached count is
 * reused. A page that ends the list gives the count. A page near the end is read from there, in reverse order.
 */
import type { TextForm } from "../query/list-text.ts";
import type { Column } from "../values/types/column.ts";
import { limits } from "../values/limits.ts";
import type { Condition, Select, Sort } from "../query/statement.ts";
import type { ReadQueries, ReadSession } from "../query/session.ts";
import { type CountMode, countRows, type RowCount } from "./count.ts";
import { type PageBeginning, mustHaveEnded } from "./page.ts";

/** Rows in any form. */
interface Found {
  /** As in `ListText`. */
  readonly found: number;
}

export interface CountedPageRequest<Rows extends Found> extends PageBeginning {
  /** Reads rows; the page shows as many as the form allows. */
  readRows(queries: ReadQueries, select: Select, form: TextForm): Promise<Rows>;
  /** The list without its page. Its order is total, if there is a second page. */
  readonly list: Select;
  /** The columns that identify its rows. */
  readonly key: readonly Column[];
  readonly size: number;
  readonly countMode: CountMode;
  /** The cached count of the list, which all of its pages share; otherwise caches the result of `make`. */
  keepCount(make: () => Promise<RowCount>): Promise<RowCount>;
}

/** Of a page whose count is not cached. */
export type PageRequest<Rows extends Found> = Omit<CountedPageRequest<Rows>, "keepCount">;

/** The parts of a request that select the rows of the page. */
type Sized = Pick<CountedPageRequest<Found>, "size" | "offset" | "countMode">;

export interface CountedPage<Rows> {
  /** At most `size` rows, plus one if the count is not exact, to detect a next page. */
  readonly rows: Rows;
  readonly count: RowCount;
}

/** Rejects as `mustHaveEnded` does. */
export async function readCountedPage<Rows extends Found>(
  session: ReadSession,
  request: CountedPageRequest<Rows>,
): Promise<CountedPage<Rows>> {
  const { list, tooFar, countMode, keepCount } = request;
  await mustHaveEnded(session, list, tooFar);
  if (countMode === "none")
    return { rows: await forward(session, request), count: { total: null, isEstimate: false } };
  const made: Promise<CountedPage<Rows>>[] = [];
  const count = await keepCount(() => {
    const page = readAndCount(session, request);
    made.push(page);
    // Other pages may wait for this count, so it must not fail with this page.
    return page.then(
      (read) => read.count,
      () => countRows(session, countOf(request), countMode),
    );
  });
  return made[0] ?? readKnowing(session, request, count);
}

const countOf = ({ list: { source, where } }: Pick<CountedPageRequest<Found>, "list">) =>
  ({ kind: "count", source, where }) as const;

/**
 * A page without a cached count. In the order of the key, a page with many matches is quick, and one with few ends the
 * list and so gives the count. Any other order makes the database read all rows before the first one, so the count runs
 * at the same time.
 */
async function readAndCount<Rows extends Found>(
  session: ReadSession,
  request: CountedPageRequest<Rows>,
): Promise<CountedPage<Rows>> {
  const { list, key, offset, countMode } = request;
  const count = () => countRows(session, countOf(request), countMode);
  if (offset < limits.deepOffsetMin) {
    const isByKey = list.sort[0]?.column === key[0];
    const [rows, counted] = await Promise.all([
      forward(session, request),
      isByKey ? null : count(),
    ]);
    return { rows, count: countTold(rows.found, request) ?? counted ?? (await count()) };
  }
  if (countMode === "exact") return readInSnapshot(session, request);
  return readKnowing(session, request, await count());
}

/** A page that is not full ends the list. An empty one only shows that the list is not longer than the offset. */
function countTold(found: number, request: Sized): RowCount | null {
  const { offset } = request;
  if (found === limitOf(request) || (found === 0 && offset > 0)) return null;
  return { total: offset + found, isEstimate: false };
}

async function readKnowing<Rows extends Found>(
  session: ReadSession,
  request: CountedPageRequest<Rows>,
  count: RowCount,
): Promise<CountedPage<Rows>> {
  if (isNearerToEnd(request, count.total) && !comparesTexts(request.list.where))
    return readInSnapshot(session, request);
  const rows = await forward(session, request);
  return { rows, count: countTold(rows.found, request) ?? count };
}

/**
 * Counts, and reads the page from the nearer end. Both see one snapshot: otherwise the position of the page, counted
 * from the end, would shift with every insert and delete in between.
 */
function readInSnapshot<Rows extends Found>(
  session: ReadSession,
  request: CountedPageRequest<Rows>,
): Promise<CountedPage<Rows>> {
  return session.snapshot((queries) => readExactly(queries, request));
}

async function readExactly<Rows extends Found>(
  queries: ReadQueries,
  request: PageRequest<Rows>,
): Promise<CountedPage<Rows>> {
  const total = await queries.count(countOf(request));
  const rows = isNearerToEnd(request, total)
    ? await backward(queries, request, total)
    : await forward(queries, request);
  return { rows, count: { total, isEstimate: false } };
}

/** The same inside of a snapshot, where everything is of one moment; counts are not cached. */
export async function readCountedNow<Rows extends Found>(
  queries: ReadQueries,
  request: PageRequest<Rows>,
): Promise<CountedPage<Rows>> {
  const { list, tooFar, countMode, offset } = request;
  await mustHaveEnded(queries, list, tooFar);
  const isExact = countMode === "exact";
  if (isExact && offset >= limits.deepOffsetMin) return readExactly(queries, request);
  const rows = await forward(queries, request);
  const told = isExact ? countTold(rows.found, request) : null;
  return { rows, count: told ?? (await countRows(queries, countOf(request), countMode)) };
}

/** Whether fewer rows follow the page than precede it. Near the beginning that does not matter. */
function isNearerToEnd(request: Sized, total: number | null): boolean {
  const { offset } = request;
  return (
    total !== null && offset >= limits.deepOffsetMin && total - offset - limitOf(request) < offset
  );
}

/** Whether a search reads many texts: counting its rows again costs more than sorting them. */
function comparesTexts(where: Condition | null): boolean {
  if (where === null) return false;
  if ("members" in where) return where.members.some(comparesTexts);
  return where.kind === "contains" || where.kind === "like" || where.kind === "fulltext";
}

const limitOf = ({ size, countMode }: Sized): number => (countMode === "exact" ? size : size + 1);

const forward = <Rows extends Found>(
  queries: ReadQueries,
  request: PageRequest<Rows>,
): Promise<Rows> => {
  const { list, size, offset } = request;
  const select = { ...list, limit: limitOf(request), offset };
  return request.readRows(queries, select, { rowsMax: size });
};

function backward<Rows extends Found>(
  queries: ReadQueries,
  request: PageRequest<Rows>,
  total: number,
): Promise<Rows> {
  const { list, size, offset } = request;
  // 0 if the list ends before the page.
  const limit = Math.max(0, Math.min(limitOf(request), total - offset));
  const sort = list.sort.map(reversed);
  const select = { ...list, sort, limit, offset: Math.max(0, total - offset - limit) };
  return request.readRows(queries, select, { rowsMax: size, isReversed: true });
}

/** Nulls are the smallest values in both directions, so they change sides as well. */
const reversed = ({ direction, ...term }: Sort): Sort => ({
  ...term,
  direction: direction === "asc" ? "desc" : "asc",
});
