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
import { markedRows } from "../../core/callers/visibility.ts";
import type { Logging, ToldColumn } from "../../core/query/logging.ts";
import type { Scalar } from "../../core/values/scalar.ts";
import type { Column } from "../../core/values/types/column.ts";
import type { Emitter } from "./emitter.ts";
import type { Key, KeyValue } from "../../core/values/types/key.ts";
import { comparisons, type Word, words } from "./words.ts";
import { emitCondition } from "./walk-conditions.ts";

export function emitInsert(statement: Insert, to: Emitter): void {
  const { table, key, returning, leavesTaken = false, logging } = statement;
  if (logging !== undefined)
    return emitLogged({ logging, returning, emitWrite: () => emitRows(statement, to) }, to);
  emitRows(statement, to);
  if (leavesTaken) to.unlessTaken(key);
  to.returning(returning, table.insertsReturn);
}

function emitRows({ table, columns, rows }: Insert, to: Emitter): void {
  to.word(words.insertInto);
  to.table(table);
  to.word(words.blank);
  if (columns.length === 0) return to.defaultValues();
  to.word(words.open);
  emitEach(columns, (column) => to.name(column), to);
  to.word(words.close);
  to.rows(columns, rows);
}

export function emitUpdate(statement: UpdateOne, to: Emitter): void {
  const { key, keyValue, returning, logging } = statement;
  if (key.length === 0 || keyValue.length !== key.length || keyValue.includes(null))
    throw new Error("An UPDATE needs the key of its row");
  if (logging === undefined) {
    emitChange(statement, null, to);
    return to.returning(returning);
  }
  const emitBefore = (): void => emitLocked(statement, logging, to);
  emitLogged({ logging, returning, emitWrite: () => emitChange(statement, emitBefore, to) }, to);
}

/** `emitFrom`: a source beside the table. */
function emitChange(
  { table, set, key, keyValue, guard }: UpdateOne,
  emitFrom: (() => void) | null,
  to: Emitter,
): void {
  to.word(words.update);
  to.table(table);
  emitAssignments(words.set, set, to);
  emitFrom?.();
  to.word(words.where);
  emitKey(key, keyValue, to);
  emitGuard(guard, to);
}

/** The row as it is before its change. No column has the name of an earlier value, so none needs a qualifier. */
function emitLocked({ table, key, keyValue }: UpdateOne, logging: Logging, to: Emitter): void {
  to.word(words.fromSelect);
  const emitOld = ({ column, old }: ToldColumn): void => {
    to.name(column);
    to.word(words.as);
    to.name(old);
  };
  emitEach(earlier(logging), emitOld, to);
  to.word(words.from);
  to.table(table);
  to.word(words.where);
  emitKey(key, keyValue, to);
  to.rowLock();
  to.word(words.endBefore);
}

interface LoggedWrite {
  readonly logging: Logging;
  readonly returning: readonly Column[];
  /** The statement without what it returns. */
  emitWrite(): void;
}

/** Of an update, the columns whose earlier values are told. */
const earlier = ({ told, scoped }: Logging): readonly ToldColumn[] => [
  ...new Set([...told, ...scoped]),
];

/** One statement of two writes: that of the row, and that of the row which tells it. */
function emitLogged({ logging, returning, emitWrite }: LoggedWrite, to: Emitter): void {
  const { ledger, columns, values, told, key, scoped, marks, objects } = logging;
  const { before } = objects;
  const own = [...key, ...told, ...scoped].map(({ column }) => column);
  const all = [...returning, ...own, ...(marks === null ? [] : [marks.flag ?? marks.at!])];
  const named = new Map(all.map((column) => [column.name, column]));
  const old = before === null ? [] : earlier(logging).map((one) => one.old);
  to.word(words.withAfter);
  emitWrite();
  to.word(words.returning);
  emitEach([...named.values(), ...old], (column) => to.name(column), to);
  to.word(words.endWithLog);
  to.word(words.insertInto);
  to.table(ledger);
  to.word(words.open);
  const made = [
    objects.key,
    ...(before === null ? [] : [before]),
    objects.after,
    ...(scoped.length === 0 && marks === null ? [] : [objects.scope]),
  ];
  emitEach([...columns, ...made], (column) => to.name(column), to);
  to.word(words.endWithSelect);
  columns.forEach((column, at) => {
    to.value(column, values[at] ?? null);
    to.word(words.comma);
  });
  to.told(key, "is");
  if (before !== null) {
    to.word(words.comma);
    to.told(told, "before");
  }
  to.word(words.comma);
  to.told(told, before === null ? "is" : "after");
  emitScope(logging, to);
  to.word(words.fromAfter);
  if (before !== null) emitIfDifferent(told, to);
  to.word(words.endWithSelect);
  to.outputs(returning);
  to.word(words.fromAfter);
}

function emitScope({ scoped, marks, objects }: Logging, to: Emitter): void {
  if (scoped.length === 0) {
    if (marks === null) return;
    to.word(words.nextIfMarked);
    emitCondition(markedRows(marks), to);
    return to.word(words.thenOnlyMarked);
  }
  to.word(words.scopeBefore);
  if (objects.before === null) to.word(words.scopeOfNothing);
  else to.told(scoped, "was");
  to.word(words.scopeAfter);
  to.told(scoped, "is");
  if (marks !== null) {
    to.word(words.ifMarked);
    emitCondition(markedRows(marks), to);
    to.word(words.thenMarked);
  }
  to.word(words.endScope);
}

function emitIfDifferent(told: readonly ToldColumn[], to: Emitter): void {
  told
    .filter(({ counts }) => counts)
    .forEach((column, at) => {
      to.word(at === 0 ? words.where : words.or);
      to.differs(column);
    });
}

function emitEach<T>(items: readonly T[], emit: (item: T) => void, to: Emitter): void {
  for (let at = 0; at < items.length; at++) {
    if (at > 0) to.separator(words.comma);
    emit(items[at]!);
  }
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
