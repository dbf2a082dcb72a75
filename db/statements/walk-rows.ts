/** The parts that reads of rows and aggregates share. */
import type { Condition, JoinedHop, Sort } from "../../core/query/statement.ts";
import type { Emitter, Frame } from "./emitter.ts";
import { emitCondition, frameOf } from "./walk-conditions.ts";
import { words } from "./words.ts";

const noHops: Frame["hops"] = new Map();

/** The columns of the source, and those of the joined ones. */
export function inFrame(
  { joins = [] }: { readonly joins?: readonly JoinedHop[] | undefined },
  to: Emitter,
  emit: () => void,
): void {
  to.within({ alias: "source", hops: joins.length === 0 ? noHops : frameOf(joins, to) }, emit);
}

export function emitFilter(condition: Condition | null, to: Emitter): void {
  if (condition === null) return;
  to.word(words.where);
  emitCondition(condition, to);
}

export function emitSort(sort: readonly Sort[], to: Emitter): void {
  for (let at = 0; at < sort.length; at++) {
    const { column, direction, search } = sort[at]!;
    if (at === 0) to.word(words.orderBy);
    else to.separator(words.comma);
    if (search === undefined) to.sort(column, direction);
    else to.rank(search, direction);
  }
}

/** An offset of 0 is a value too where there is a limit, so that the first page shares the text of all others. */
export function emitPage(limit: number | null, offset: number, to: Emitter): void {
  if (limit === null && offset === 0) return;
  // A read of one row has its LIMIT in the text, as SQLite plans a statement again for each LIMIT that is bound.
  if (limit === 1 && offset === 0) return to.word(words.limitOne);
  to.limit(limit, offset);
}
