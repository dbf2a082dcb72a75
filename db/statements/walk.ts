/**
 * A statement, piece by piece in the order of its SQL. Both the key of a statement and its text come from this walk, so each kind of statement
 * is written here once.
 */
import type { Source } from "../../core/values/column.ts";
import type {
  Aggregate,
  Condition,
  Count,
  Join,
  Native,
  Select,
  Sort,
  Statement,
} from "../../core/query/statement.ts";
import type { Emitter } from "./emitter.ts";
import { comparisons, joins, words } from "./words.ts";
import { emitCondition } from "./walk-conditions.ts";
import {
  emitCalculate,
  emitDelete,
  emitInsert,
  emitUpdate,
  emitUpdateMany,
} from "./walk-writes.ts";

/** All but the operator's own SQL, which is printed already. */
export type Printable = Exclude<Statement, Native>;

/** Throws for an UPDATE without a key and a DELETE whose condition holds for every row. */
export function emitStatement(statement: Printable, to: Emitter): void {
  switch (statement.kind) {
    case "select":
      return emitSelect(statement, to);
    case "count":
      to.qualifyColumns();
      to.word(words.selectCountAs);
      to.identifier("count");
      return emitRows(statement, to);
    case "estimate":
      to.qualifyColumns();
      to.explain();
      to.word(words.selectOne);
      return emitRows(statement, to);
    case "sample":
      to.qualifyColumns();
      to.sampled();
      emitCondition(statement.where, to);
      return to.sample(statement.source, statement.halvings);
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
  to.qualifyColumns();
  to.word(words.select);
  to.outputs(statement.columns);
  emitRows(statement, to);
  emitSort(statement.sort, to);
  emitPage(statement.limit, statement.offset, to);
  const { source } = statement;
  if (statement.lock && !(source.kind === "table" && source.locksRows === false)) to.rowLock();
}

function emitRows({ source, where }: Pick<Count, "source" | "where">, to: Emitter): void {
  to.word(words.from);
  to.source(source, "source");
  emitFilter(where, to);
}

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
 * The groups are a subquery with names of our own (`v0`, `v1`), so that HAVING and the sort are plain conditions
 * and terms over columns, and no alias of a client gets into the text.
 */
function emitAggregate(statement: Aggregate, to: Emitter): void {
  const { outputs } = statement;
  const results = outputs.map(({ result }) => result);
  to.qualifyColumns();
  statement.joins.forEach(({ columns }, at) => to.qualify(columns, `join${at}`));
  to.qualify(results, "groups");
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
  emitFilter(statement.where, to);
  emitGroups(outputs, to);
  to.word(words.endSelectAs);
  to.identifier("groups");
  emitFilter(statement.having, to);
  emitSort(statement.sort, to);
  emitPage(statement.limit, 0, to);
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

/** The rows that take part in a join. Narrowed before it, so that an outer join has no row more or less than without them. */
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
  // Labels of two enumerated types are equal as texts alone.
  const isPlain = left.labels === null && right.labels === null;
  if (isPlain) return to.joined(left, right);
  to.textOf(left);
  to.word(comparisons["="]);
  to.textOf(right);
}
