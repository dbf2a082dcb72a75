/** An aggregate, piece by piece in the order of its SQL. */
import { isCounting } from "../../core/query/aggregate-results.ts";
import type { Source } from "../../core/values/types/column.ts";
import type { Aggregate, Condition, Join, Output } from "../../core/query/statement.ts";
import type { Emitter } from "./emitter.ts";
import { emitFilter, emitPage, emitSort, inFrame } from "./walk-rows.ts";
import { emitCondition, emitJoined } from "./walk-conditions.ts";
import { joins, words } from "./words.ts";

/**
 * The groups are a subquery with generated names (`v0`, `v1`), so that HAVING and the sort are plain conditions and
 * terms over columns, and no alias of a client gets into the text.
 */
export function emitAggregate(statement: Aggregate, to: Emitter): void {
  const { outputs, counted, filled } = statement;
  const results = outputs.map(({ result }) => result);
  statement.joins.forEach(({ columns }, at) => to.qualify(columns, `join${at}`));
  to.qualify(results, "groups");
  if (filled !== undefined) {
    to.word(words.withFigures);
    emitGroups(statement, to);
    to.word(words.endWithSelect);
  } else to.word(words.select);
  to.outputs(results);
  if (counted !== undefined) {
    to.separator(words.comma);
    to.word(words.countAllOver);
    to.word(words.as);
    to.identifier(counted.result.name);
  }
  to.word(words.fromSelect);
  if (filled === undefined) emitGroups(statement, to);
  else emitFilled(outputs, filled, to);
  to.word(words.endSelectAs);
  to.identifier("groups");
  emitFilter(statement.having, to);
  emitSort(statement.sort, to);
  emitPage(statement.limit, statement.offset ?? 0, to);
}

function emitGroups(statement: Aggregate, to: Emitter): void {
  const { outputs, paths } = statement;
  inFrame({ joins: paths }, to, () => {
    outputs.forEach((output, at) => {
      if (at > 0) to.separator(words.comma);
      const { where = null } = output;
      to.aggregate(output, where && (() => emitCondition(where, to)));
      to.word(words.as);
      to.identifier(output.result.name);
    });
    to.word(words.from);
    emitSource(statement.source, statement.rows, "source", to);
    statement.joins.forEach((join, at) => emitJoin(join, `join${at}`, to));
    for (const joined of paths ?? []) emitJoined(joined, to);
    emitFilter(statement.where, to);
    let before = words.groupBy;
    outputs.forEach((output, at) => {
      if (output.function !== null) return;
      to.word(before);
      to.position(at);
      before = words.comma;
    });
  });
}

/** A row for each of the values of the first output, and the one without a value. */
function emitFilled(outputs: readonly Output[], filled: string, to: Emitter): void {
  outputs.forEach(({ function: name, result }, at) => {
    if (at > 0) to.separator(words.comma);
    if (isCounting(name)) to.word(words.coalesce);
    emitQualified(at === 0 ? "filled" : "figures", result.name, to);
    if (isCounting(name)) to.word(words.orZero);
    to.word(words.as);
    to.identifier(result.name);
  });
  const { result: first } = outputs[0]!;
  to.word(words.from);
  to.filled(first, filled, "filled");
  to.word(words.leftJoinFigures);
  to.word(words.on);
  emitQualified("figures", first.name, to);
  to.word(words.equals);
  emitQualified("filled", first.name, to);
  to.word(words.unionAllSelect);
  outputs.forEach(({ result }, at) => {
    if (at > 0) to.separator(words.comma);
    to.identifier(result.name);
  });
  to.word(words.fromFigures);
  to.word(words.where);
  to.identifier(first.name);
  to.word(words.isNull);
}

function emitQualified(alias: string, name: string, to: Emitter): void {
  to.identifier(alias);
  to.word(words.dot);
  to.identifier(name);
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
