/** The statements that change rows, piece by piece in the order of their SQL. */
import type {
  Assignment,
  Calculate,
  Condition,
  Delete,
  Insert,
  UpdateMany,
  UpdateOne,
} from "../../core/query/statement.ts";
import type { Scalar } from "../../core/values/scalar.ts";
import type { Emitter } from "./emitter.ts";
import type { Key, KeyValue } from "../../core/values/types/key.ts";
import { comparisons, type Word, words } from "./words.ts";
import { emitCondition } from "./walk-conditions.ts";

export function emitInsert(statement: Insert, to: Emitter): void {
  const { table, key, columns, rows, returning, leavesTaken = false } = statement;
  to.word(words.insertInto);
  to.table(table);
  to.word(words.blank);
  if (columns.length === 0) {
    to.defaultValues();
  } else {
    to.word(words.open);
    for (let at = 0; at < columns.length; at++) {
      if (at > 0) to.separator(words.comma);
      to.name(columns[at]!);
    }
    to.word(words.close);
    to.rows(columns, rows);
  }
  if (leavesTaken) to.unlessTaken(key);
  to.returning(returning, table.insertsReturn);
}

export function emitUpdate(statement: UpdateOne, to: Emitter): void {
  const { table, set, key, keyValue, guard, returning } = statement;
  if (key.length === 0 || keyValue.length !== key.length || keyValue.includes(null))
    throw new Error("An UPDATE needs the key of its row");
  to.word(words.update);
  to.table(table);
  emitAssignments(words.set, set, to);
  to.word(words.where);
  emitKey(key, keyValue, to);
  emitGuard(guard, to);
  to.returning(returning);
}

/**
 * Joins lists of values where the engine takes them: one statement of few parameters for any number of rows. Elsewhere
 * it uses CASE, which takes type and collation from its column; a joined list lacks one of them on some engines.
 */
export function emitUpdateMany(statement: UpdateMany, to: Emitter): void {
  const { table, key, columns, rows, set, guard } = statement;
  const [first] = key;
  if (first === undefined) throw new Error("An UPDATE needs the key of its rows");
  const lists = rows.map(({ keyValue, values }) => [...keyValue, ...values]);
  if (to.takesLists([...key, ...columns], lists)) return emitUpdateFromLists(statement, lists, to);
  const isSingle = key.length === 1;
  to.word(words.update);
  to.table(table);
  columns.forEach((column, at) => {
    to.word(at === 0 ? words.set : words.comma);
    to.name(column);
    to.word(comparisons["="]);
    to.word(words.caseOf);
    if (isSingle) {
      to.comparand(first);
      to.word(words.blank);
    }
    to.repeat(rows.length, words.blank, (row) => {
      const { keyValue, values } = rows[row]!;
      to.word(words.whenKey);
      if (isSingle) to.compared(first, keyValue[0]!);
      else emitKey(key, keyValue, to);
      to.word(words.thenValue);
      to.value(column, values[at] ?? null);
    });
    to.word(words.else);
    to.name(column);
    to.word(words.end);
  });
  emitAssignments(columns.length === 0 ? words.set : words.comma, set, to);
  to.word(words.where);
  if (isSingle) {
    to.comparand(first);
    to.word(words.in);
    to.repeat(rows.length, words.comma, (row) => to.compared(first, rows[row]!.keyValue[0]!));
    to.word(words.close);
  } else {
    to.word(words.openTwice);
    to.repeat(rows.length, words.orNext, (row) => emitKey(key, rows[row]!.keyValue, to));
    to.word(words.closeTwice);
  }
  emitGuard(guard, to);
}

function emitUpdateFromLists(
  { table, key, columns, set, guard }: UpdateMany,
  lists: readonly (readonly Scalar[])[],
  to: Emitter,
): void {
  const listed = [...key, ...columns];
  const emitListed = (at: number): void => {
    to.identifier("changed_by_rowgate");
    to.word(words.dot);
    to.identifier(`list_${at}`);
  };
  to.word(words.update);
  to.table(table);
  columns.forEach((column, at) => {
    to.word(at === 0 ? words.set : words.comma);
    to.name(column);
    to.word(comparisons["="]);
    emitListed(key.length + at);
  });
  emitAssignments(columns.length === 0 ? words.set : words.comma, set, to);
  to.word(words.fromOpen);
  to.rows(listed, lists);
  to.word(words.endSelectAs);
  to.identifier("changed_by_rowgate");
  to.word(words.open);
  listed.forEach((_, at) => {
    if (at > 0) to.separator(words.comma);
    to.identifier(`list_${at}`);
  });
  to.word(words.close);
  key.forEach((column, at) => {
    to.word(at === 0 ? words.where : words.and);
    to.comparand(column);
    to.word(comparisons["="]);
    emitListed(at);
  });
  emitGuard(guard, to);
}

/** `a = ? and b = ?`, the condition that names one row. */
function emitKey(key: Key, value: KeyValue, to: Emitter): void {
  for (let at = 0; at < key.length; at++) {
    if (at > 0) to.word(words.and);
    to.comparand(key[at]!);
    to.word(comparisons["="]);
    to.compared(key[at]!, value[at]!);
  }
}

export function emitCalculate(statement: Calculate, to: Emitter): void {
  to.word(words.update);
  to.table(statement.table);
  to.word(words.set);
  to.name(statement.column);
  to.word(comparisons["="]);
  to.formula(statement);
  to.word(words.where);
  emitCondition(statement.where, to);
}

export function emitDelete(statement: Delete, to: Emitter): void {
  mustNarrow(statement);
  to.word(words.deleteFrom);
  to.table(statement.table);
  to.word(words.where);
  emitCondition(statement.where, to);
  to.returning(statement.returning);
}

function emitGuard(guard: Condition | null, to: Emitter): void {
  if (guard === null) return;
  to.word(words.and);
  emitCondition(guard, to);
}

function emitAssignments(first: Word, set: readonly Assignment[], to: Emitter): void {
  for (let at = 0; at < set.length; at++) {
    const assignment = set[at]!;
    if (at === 0) to.word(first);
    else to.separator(words.comma);
    to.name(assignment.column);
    to.word(comparisons["="]);
    emitAssigned(assignment, to);
  }
}

function emitAssigned(assignment: Assignment, to: Emitter): void {
  switch (assignment.kind) {
    case "set":
      return to.value(assignment.column, assignment.value);
    case "keep":
      return to.name(assignment.column);
    case "add":
      return to.add(assignment.column, assignment.delta);
    case "stamp":
      return to.stamp(assignment.column, assignment.after, assignment.now);
  }
}

/** Refuses a DELETE of every row of a table: an empty condition is always a mistake. */
export function mustNarrow({ where }: Delete): void {
  if (holdsAlways(where)) throw new Error("A DELETE needs a condition");
}

/** Whether the condition matches every row, whatever the values are. */
const holdsAlways = (condition: Condition): boolean => {
  if (condition.kind === "and") return condition.members.every(holdsAlways);
  return condition.kind === "or" && condition.members.some(holdsAlways);
};
