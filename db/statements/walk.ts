/**
 * Walks a statement piece by piece in the order of its SQL. Both its key and its text come from this walk, so each
 * kind of statement is defined once.
 */
import type { Source } from "../../core/values/types/column.ts";
import type {
  Aggregate,
  Condition,
  Count,
  Join,
  JoinedHop,
  Native,
  Select,
  Sort,
  Statement,
} from "../../core/query/statement.ts";
import type { Emitter, Frame } from "./emitter.ts";
import { joins, words } from "./words.ts";
import { emitCondition, emitJoined, frameOf } from "./walk-conditions.ts";
import {
  emitCalculate,
  emitDelete,
  emitInsert,
  emitUpdate,
  emitUpdateMany,
} from "./walk-writes.ts";

/** All but the operator's own SQL, which is printed already. */
export type Printable = Exclude<Statement, Native>;

/** Throws for an UPDATE without a key, and for a DELETE whose condition is true for every row. */
export function emitStatement(statement: Printable, to: Emitter): void {
  switch (statement.kind) {
    case "select":
      return emitSelect(statement, to);
    case "count":
      return inFrame(statement, to, () => {
        to.word(words.selectCountAs);
        to.identifier("count");
        emitRows(statement, to);
      });
    case "estimate":
      return inFrame(statement, to, () => {
        to.explain();
        to.word(words.selectOne);
        emitRows(statement, to);
      });
    case "sample":
      return inFrame({}, to, () => {
        to.sampled();
        emitCondition(statement.where, to);
        to.sample(statement.source, statement.halvings);
      });
    case "aggregate":
      return emitAggregate(statement, to);
    case "ask":
      return to.parameterQuery(statement.query, statement.value);
    case "insert":
      return emitInsert(statement, to);
    case "update":
      return emitUpdate(statement, to);
    case "updateMany":
      return emitUpdateMany(statement, to);
    case "calculate":
      return emitCalculate(statement, to);
    case "delete":
      return emitDelete(statement, to);
  }
}

function emitSelect(statement: Select, to: Emitter): void {
  if (statement.perGroup !== undefined) return emitPerGroup(statement, statement.perGroup, to);
  inFrame(statement, to, () => {
    to.word(words.select);
    to.outputs(statement.columns);
    emitRows(statement, to);
    emitSort(statement.sort, to);
    emitPage(statement.limit, statement.offset, to);
    const { source } = statement;
    if (statement.lock && !(source.kind === "table" && source.locksRows === false)) to.rowLock();
  });
}

/** The rows are numbered in their groups, in the order of the statement; the number is an order of all of them too. */
function emitPerGroup(
  statement: Select,
  { by, rows }: NonNullable<Select["perGroup"]>,
  to: Emitter,
): void {
  inFrame(statement, to, () => {
    to.word(words.selectAllOf);
    to.outputs(statement.columns);
    to.word(words.rowNumberOver);
    by.forEach((column, at) => {
      if (at > 0) to.separator(words.comma);
      to.name(column);
    });
    emitSort(statement.sort, to);
    to.word(words.asRowNumber);
    emitRows(statement, to);
  });
  to.word(words.whereRowNumber);
  to.number(rows);
  to.word(words.orderByRowNumber);
  emitPage(statement.limit, statement.offset, to);
}

const noHops: Frame["hops"] = new Map();

/** The columns of the source, and those of the joined ones. */
function inFrame(
  { joins = [] }: { readonly joins?: readonly JoinedHop[] | undefined },
  to: Emitter,
  emit: () => void,
): void {
  to.within({ alias: "source", hops: joins.length === 0 ? noHops : frameOf(joins, to) }, emit);
}

function emitRows({ source, where, joins = [] }: RowsAsked, to: Emitter): void {
  to.word(words.from);
  to.source(source, "source");
  for (const joined of joins) emitJoined(joined, to);
  emitFilter(where, to);
}

type RowsAsked = Pick<Count, "source" | "where" | "joins">;

function emitFilter(condition: Condition | null, to: Emitter): void {
  if (condition === null) return;
  to.word(words.where);
  emitCondition(condition, to);
}

function emitSort(sort: readonly Sort[], to: Emitter): void {
  for (let at = 0; at < sort.length; at++) {
    const { column, direction } = sort[at]!;
    if (at === 0) to.word(words.orderBy);
    else to.separator(words.comma);
    to.sort(column, direction);
  }
}

/** An offset of 0 is a value too where there is a limit, so that the first page shares the text of all others. */
function emitPage(limit: number | null, offset: number, to: Emitter): void {
  if (limit === null && offset === 0) return;
  // A read of one row has its LIMIT in the text, as SQLite plans a statement again for each LIMIT that is bound.
  if (limit === 1 && offset === 0) return to.word(words.limitOne);
  to.limit(limit, offset);
}

/**
 * The groups are a subquery with generated names (`v0`, `v1`), so that HAVING and the sort are plain conditions and
 * terms over columns, and no alias of a client gets into the text.
 */
function emitAggregate(statement: Aggregate, to: Emitter): void {
  const { outputs } = statement;
  const results = outputs.map(({ result }) => result);
  statement.joins.forEach(({ columns }, at) => to.qualify(columns, `join${at}`));
  to.qualify(results, "groups");
  inFrame({ joins: statement.paths }, to, () => {
    to.word(words.select);
    to.outputs(results);
    to.word(words.fromSelect);
    outputs.forEach((output, at) => {
      if (at > 0) to.separator(words.comma);
      if (output.column === null) to.word(words.countAll);
      else to.aggregate(output, output.column);
      to.word(words.as);
      to.identifier(output.result.name);
    });
    to.word(words.from);
    emitSource(statement.source, statement.rows, "source", to);
    statement.joins.forEach((join, at) => emitJoin(join, `join${at}`, to));
    for (const joined of statement.paths ?? []) emitJoined(joined, to);
    emitFilter(statement.where, to);
    emitGroups(outputs, to);
    to.word(words.endSelectAs);
    to.identifier("groups");
    emitFilter(statement.having, to);
    emitSort(statement.sort, to);
    emitPage(statement.limit, 0, to);
  });
}

function emitGroups(outputs: Aggregate["outputs"], to: Emitter): void {
  let before = words.groupBy;
  for (const output of outputs) {
    if (output.function !== null || output.column === null) continue;
    to.word(before);
    to.aggregate(output, output.column);
    before = words.comma;
  }
}

/** The rows of a join, filtered before it: a filter in the join would change the number of rows of an outer join. */
function emitSource(source: Source, rows: Condition | null, alias: string, to: Emitter): void {
  if (rows === null) return to.source(source, alias);
  to.word(words.selectAllFrom);
  to.source(source, "source");
  to.word(words.where);
  emitCondition(rows, to);
  to.word(words.endSelectAs);
  to.identifier(alias);
}

function emitJoin({ type, source, left, right, rows }: Join, alias: string, to: Emitter): void {
  to.word(joins[type]);
  emitSource(source, rows, alias, to);
  to.word(words.on);
  to.joined(left, right);
}
