/**
 * Walks a statement piece by piece in the order of its SQL. Both its key and its text come from this walk, so each
 * kind of statement is defined once.
 */
import type { Count, Native, Select, Statement } from "../../core/query/statement.ts";
import type { Emitter } from "./emitter.ts";
import { words } from "./words.ts";
import { emitAggregate } from "./walk-aggregate.ts";
import { emitCondition, emitJoined } from "./walk-conditions.ts";
import { emitFilter, emitPage, emitSort, inFrame } from "./walk-rows.ts";
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

function emitRows({ source, where, joins = [] }: RowsAsked, to: Emitter): void {
  to.word(words.from);
  to.source(source, "source");
  for (const joined of joins) emitJoined(joined, to);
  emitFilter(where, to);
}

type RowsAsked = Pick<Count, "source" | "where" | "joins">;
