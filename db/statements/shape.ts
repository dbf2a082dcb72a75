/**
 * The shape of a statement: a short text that is equal for all statements which print the same SQL, and the statement's
 * values in the order of this walk. `compile.ts` keeps printed texts by shape, because printing costs more than a
 * read by key. The walk of `print.ts` visits the values in the same order and checks that it does.
 */
import type { Column, Source, Table } from "../../core/values/column.ts";
import type { Formula } from "../../core/query/formula-tree.ts";
import type {
  Aggregate,
  Assignment,
  Comparison,
  Condition,
  ParameterQuery,
  Native,
  Sort,
  Statement,
  UpdateMany,
} from "../../core/query/statement.ts";
import type { Scalar } from "../../core/values/scalar.ts";
import { arithmeticOf } from "../../core/values/arithmetic.ts";

export interface Shape {
  readonly key: string;
  readonly values: Scalar[];
  /** The column that says how the value of the same place is bound; null = as it is. */
  readonly columns: (Column | null)[];
}

/** All but the operator's own SQL, which is printed already. */
export type Printable = Exclude<Statement, Native>;

/** Costs about a microsecond: no SQL is made. */
export function shapeOf(statement: Printable): Shape {
  const values: Scalar[] = [];
  const columns: (Column | null)[] = [];
  const shape = { key: "", values, columns };
  switch (statement.kind) {
    case "select":
      shape.key =
        `s${sourceKey(statement.source)}|${idsOf(statement.columns)}|${whereKey(statement.where, shape)}` +
        `|${sortKey(statement.sort)}${pageKey(statement.limit, statement.offset, shape)}${statement.lock ? "L" : ""}`;
      break;
    case "count":
    case "estimate":
      shape.key = `${statement.kind === "count" ? "c" : "e"}${sourceKey(statement.source)}|${whereKey(statement.where, shape)}`;
      break;
    case "aggregate":
      shape.key = aggregateKey(statement, shape);
      break;
    case "insert":
      shape.key = `i${idOf(statement.table)}|${idsOf(statement.columns)}|${statement.rows.length}|${idsOf(statement.returning)}`;
      for (const row of statement.rows) {
        for (let at = 0; at < statement.columns.length; at++)
          add(shape, statement.columns[at]!, row[at] ?? null);
      }
      break;
    case "update": {
      let set = "";
      for (const assignment of statement.set) set += assignmentKey(assignment, shape);
      add(shape, statement.key, statement.keyValue);
      const guard = whereKey(statement.guard, shape);
      shape.key = `u${idOf(statement.table)}|${set}|${idOf(statement.key)}|${guard}|${idsOf(statement.returning)}`;
      break;
    }
    case "calculate":
      shape.key = `f${idOf(statement.table)}|${idOf(statement.column)}|${idOf(statement.formula)}|${whereKey(statement.where, shape)}`;
      break;
    case "ask":
      shape.key = `q${idOf(statement.query)}`;
      for (let at = 1; at < statement.query.texts.length; at++)
        add(shape, statement.query.parameter, statement.value);
      break;
    case "updateMany":
      shape.key = updateManyKey(statement, shape);
      break;
    case "delete":
      shape.key = `d${idOf(statement.table)}|${whereKey(statement.where, shape)}|${idsOf(statement.returning)}`;
  }
  return shape;
}

/** Each column has a CASE over the keys of all rows. */
function updateManyKey(statement: UpdateMany, shape: Shape): string {
  const { table, key, columns, rows, set, guard } = statement;
  for (let at = 0; at < columns.length; at++) {
    for (const { keyValue, values } of rows) {
      add(shape, key, keyValue);
      add(shape, columns[at]!, values[at] ?? null);
    }
  }
  let alike = "";
  for (const assignment of set) alike += assignmentKey(assignment, shape);
  for (const { keyValue } of rows) add(shape, key, keyValue);
  return `m${idOf(table)}|${idOf(key)}|${idsOf(columns)}|${rows.length}|${alike}|${whereKey(guard, shape)}`;
}

function aggregateKey(statement: Aggregate, shape: Shape): string {
  let key = `g${sourceKey(statement.source)}|${whereKey(statement.rows, shape)}|`;
  for (const { type, source, left, right, rows } of statement.joins)
    key += `${type}${sourceKey(source)}${idOf(left)}${idOf(right)}${whereKey(rows, shape)}`;
  key += "|";
  for (const output of statement.outputs)
    key += `${output.function ?? "by"} ${output.column === null ? "*" : idOf(output.column)}`;
  key += `|${whereKey(statement.where, shape)}|${whereKey(statement.having, shape)}`;
  return `${key}|${sortKey(statement.sort)}${pageKey(statement.limit, 0, shape)}`;
}

/** How many values an IN of `count` values prints: the next power of two, so that lists of all lengths share few texts. */
export function paddedCount(count: number): number {
  let padded = 1;
  while (padded < count) padded *= 2;
  return padded;
}

/** `%`, `_` and the escape character itself stand for themselves. */
export const literalPattern = (text: string): string => `%${text.replace(/[\\%_]/g, "\\$&")}%`;

export const isAscii = (text: string): boolean => {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 127) return false;
  return true;
};

/** The value that `add` binds: in the form of the column's own type. */
export const deltaOf = (column: Column, delta: string): Scalar =>
  arithmeticOf(column).fromDigits(delta);

function add(shape: Shape, column: Column | null, value: Scalar): void {
  shape.values.push(value);
  shape.columns.push(column);
}

function whereKey(condition: Condition | null, shape: Shape): string {
  if (condition === null) return "";
  switch (condition.kind) {
    case "and":
    case "or": {
      let key = condition.kind === "and" ? "&(" : "/(";
      for (const member of condition.members) key += whereKey(member, shape);
      return `${key})`;
    }
    case "compare":
      add(shape, condition.column, condition.value);
      return comparisonKeys[condition.operator] + idOf(condition.column);
    case "null":
      return (condition.negated ? "n!" : "n") + idOf(condition.column);
    case "in": {
      const { values } = condition;
      if (values.length === 0) return (condition.negated ? "e!" : "e") + idOf(condition.column);
      const count = paddedCount(values.length);
      for (let at = 0; at < count; at++) {
        add(shape, condition.column, values[Math.min(at, values.length - 1)]!);
      }
      return `${condition.negated ? "i!" : "i"}${idOf(condition.column)}:${count}`;
    }
    case "between":
      add(shape, condition.column, condition.low);
      add(shape, condition.column, condition.high);
      return (condition.negated ? "b!" : "b") + idOf(condition.column);
    case "like":
      add(shape, null, condition.pattern);
      return `l${condition.negated ? "!" : ""}${condition.ignoreCase ? "i" : ""}${isAscii(condition.pattern) ? "a" : ""}${idOf(condition.column)}`;
    case "contains":
      add(shape, null, literalPattern(condition.text));
      return (isAscii(condition.text) ? "ta" : "t") + idOf(condition.column);
  }
}

/** One letter or two per operator, none of them the beginning of another kind of condition's key. */
const comparisonKeys: Readonly<Record<Comparison, string>> = {
  "=": "=",
  "!=": "!=",
  "<": "<",
  "<=": "<=",
  ">": ">",
  ">=": ">=",
};

function assignmentKey(assignment: Assignment, shape: Shape): string {
  const { column } = assignment;
  switch (assignment.kind) {
    case "set":
      add(shape, column, assignment.value);
      return `s${idOf(column)}`;
    case "add":
      add(shape, column, deltaOf(column, assignment.delta));
      return `a${idOf(column)}`;
    case "stamp":
      add(shape, column, assignment.now);
      return `t${idOf(column)}${assignment.after === null ? "" : `,${idOf(assignment.after)}`}`;
  }
}

function sortKey(sort: readonly Sort[]): string {
  let key = "";
  for (const term of sort) key += (term.direction === "asc" ? "+" : "-") + idOf(term.column);
  return key;
}

/** A read of one row: its LIMIT is part of the text, as SQLite plans a statement anew for each LIMIT that is bound. */
export const isFirstRow = (limit: number | null, offset: number): boolean =>
  limit === 1 && offset === 0;

/** An offset of 0 is a value too where there is a limit, so that the first page shares the text of all others. */
function pageKey(limit: number | null, offset: number, shape: Shape): string {
  if (limit === null && offset === 0) return "";
  if (isFirstRow(limit, offset)) return "|1";
  // BigInts: SQLite takes a number for a floating point value, and has to convert it.
  if (limit !== null) add(shape, null, BigInt(limit));
  add(shape, null, BigInt(offset));
  return limit === null ? "|o" : "|p";
}

const ids = new WeakMap<object, string>();
let lastId = 0;

/** A short name for a frozen object. Ends in a blank, so that ids can stand side by side. */
function idOf(object: Column | Table | Source | Formula | ParameterQuery): string {
  let id = ids.get(object);
  if (id === undefined) {
    id = `${++lastId} `;
    ids.set(object, id);
  }
  return id;
}

function idsOf(columns: readonly Column[]): string {
  let key = "";
  for (const column of columns) key += idOf(column);
  return key;
}

/** Table sources are made anew for each statement; names cannot hold the NUL that parts them here. */
const sourceKey = (source: Source): string =>
  source.kind === "query" ? idOf(source) : `${source.schema ?? "\0"}\0${source.name}\0`;
