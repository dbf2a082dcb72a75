/** A caller's scope as conditions: the row rules of its roles, with the caller's claims inserted. */
import type { RowRule, RulePath } from "../plans/access-rules.ts";
import { type Caller, claimAt } from "../plans/caller.ts";
import { allOf, type Condition, noRow, type Quantified } from "../query/statement.ts";
import { condition } from "../query/where.ts";
import type { Column, Columns, Source, Table } from "../values/types/column.ts";
import { accept } from "../values/types/accept.ts";
import { columnTypes } from "../values/types/column-types.ts";
import { digitsOf } from "../values/decimal.ts";
import { AppError } from "../values/errors.ts";
import { ExactNumber, type Json } from "../values/json.ts";
import { jsonNumber } from "../values/types/numbers.ts";
import type { Scalar } from "../values/scalar.ts";
import type { TableRights } from "./access.ts";
import { type LineUse, noFills, type Scope } from "./scope.ts";

type Rows = readonly (readonly RowRule[])[] | null;

/** What a caller sees of a table through the endpoints that show it. */
export interface ScopedTable {
  /** False: the caller may read none of the endpoints. */
  readonly isReadable: boolean;
  /** A row must match all rules of at least one member; null = all rows. */
  readonly rows: Rows;
  /** Null: all columns that the endpoints show. */
  readonly fields: TableRights | null;
  /** Null: the endpoints show a view. */
  readonly table: Table | null;
}

/** The rules for lines of a document, by what is done with them. */
export type ScopedLines = Readonly<Record<LineUse, Rows>>;

export interface RowScopeOptions {
  /** Identities of the entity's own tables and views; its queries count as its own, too. */
  readonly own: ReadonlySet<string>;
  /** Rules for the entity's own rows. */
  readonly rows: Rows;
  /** Other tables that its statements may use, by identity. Tables in neither list are not restricted. */
  readonly others: ReadonlyMap<string, ScopedTable>;
  /** Tables of the entity's details, by identity. Those that are not there are not restricted. */
  readonly lines: ReadonlyMap<string, ScopedLines>;
  readonly claims: Caller["claims"];
}

/** A rule with its claim put in; undefined: the claim is none that could match. */
interface Resolved {
  readonly rule: RowRule;
  readonly value: Json | undefined;
}

export function createRowScope({ own, rows, others, lines, claims }: RowScopeOptions): Scope {
  const resolveAll = (alternatives: Rows): readonly (readonly Resolved[])[] | null =>
    alternatives && alternatives.map((rules) => rules.map((rule) => resolved(rule, claims)));
  const ownRows = resolveAll(rows);
  const kept = new WeakMap<Source, Condition | null>();
  const keptOfTables = new Map<string, Condition | null>();

  function conditionFor(source: Source): Condition | null {
    const identity = source.kind === "table" ? source.identity : null;
    if (identity === null || (identity !== undefined && own.has(identity)))
      return anyOf(ownRows, source.columns);
    // A table that was not looked up in the catalog: nothing is known about its rows.
    if (identity === undefined) return noRow;
    const other = others.get(identity);
    if (other === undefined) return null;
    return other.isReadable ? anyOf(resolveAll(other.rows), source.columns) : noRow;
  }

  return {
    key: JSON.stringify(ownRows?.map((rules) => rules.map(keyOfRule)) ?? null),
    isWhole: false,
    hides: false,
    visibleRows: () => null,
    seesRow: () => true,
    suffixedRows: () => null,
    rowsOf(source) {
      // Sources of tables are created for each statement.
      if (source.kind === "table" && source.identity !== undefined)
        return remembered(keptOfTables, source.identity, () => conditionFor(source));
      return remembered(kept, source, () => conditionFor(source));
    },
    referredRows({ referencedIdentity }) {
      const other = others.get(referencedIdentity);
      // If no endpoint restricts the caller, only the database decides.
      if (!other?.isReadable || other.rows === null || other.table === null) return null;
      const { table } = other;
      const resolvedThere = resolveAll(other.rows)!;
      const rowsThere = anyOf(resolvedThere, table.columns);
      if (rowsThere === null || !resolvedThere.flat().some(isPath))
        return rowsThere && { table, rows: rowsThere };
      const withoutPaths = resolvedThere.map((rules) => rules.filter((rule) => !isPath(rule)));
      return { table, rows: rowsThere, besidePaths: anyOf(withoutPaths, table.columns) };
    },
    refusedColumn(values) {
      const refused = (ownRows ?? []).map((rules) => refusedBy(rules, values));
      return refused.length > 0 && !refused.includes(null) ? refused[0]! : null;
    },
    fills: fillsOf(ownRows),
    linesOf(source, use) {
      const rules = source.kind === "table" ? lines.get(source.identity ?? "") : undefined;
      return rules === undefined ? null : anyOf(resolveAll(rules[use]), source.columns);
    },
    related: null,
    params: null,
    lineFills: ({ identity }) => fillsOf(resolveAll(lines.get(identity)?.write ?? null)),
  };
}

interface Memory<Key> {
  get(key: Key): Condition | null | undefined;
  set(key: Key, condition: Condition | null): unknown;
}

function remembered<Key>(
  memory: Memory<Key>,
  key: Key,
  create: () => Condition | null,
): Condition | null {
  let condition = memory.get(key);
  if (condition === undefined) {
    condition = create();
    memory.set(key, condition);
  }
  return condition;
}

function resolved(rule: RowRule, claims: Caller["claims"]): Resolved {
  if (rule.value.kind === "fixed") return { rule, value: rule.value.value };
  const found = claimAt(claims, rule.value.path);
  const value = Array.isArray(found) ? found.map(plainClaim) : plainClaim(found);
  const isUsable = value !== undefined && !(Array.isArray(value) && value.includes(undefined));
  return { rule, value: isUsable ? (value as Json) : undefined };
}

/** A claim as a value that a row can have, numbers in plain digits without an exponent; otherwise undefined. */
function plainClaim(value: Json | undefined): Json | undefined {
  if (typeof value === "string" || typeof value === "boolean") return value;
  const digits = jsonNumber(value);
  if (digits === null) return undefined;
  return String(value) === digits ? value : (new ExactNumber(digits) as unknown as Json);
}

/** The rows that meet all rules of one of the alternatives; null = all rows. */
function anyOf(
  alternatives: readonly (readonly Resolved[])[] | null,
  columns: Columns,
): Condition | null {
  if (alternatives === null) return null;
  const members = alternatives.map((rules) =>
    allOf(...rules.map((rule) => conditionOf(rule, columns))),
  );
  if (members.includes(null)) return null;
  return members.length === 1 ? members[0]! : { kind: "or", members: members as Condition[] };
}

const isPath = ({ rule }: Resolved): boolean => rule.path !== undefined;

/** What tells scopes apart; the records that a path leads to are those of the configuration. */
const keyOfRule = ({ rule, value }: Resolved): unknown => [
  rule.column,
  rule.operator,
  rule.value,
  value,
];

function conditionOf({ rule, value }: Resolved, own: Columns): Condition {
  const { path } = rule;
  if (path === undefined) return comparisonOf({ rule, value }, own);
  const there = comparisonOf({ rule, value }, new Map([[rule.column, path.column]]));
  return onRelated(there, path.steps);
}

/** The condition for the record at the end of the path; without such a record its columns count as null. */
function onRelated(condition: Condition, steps: RulePath["steps"]): Condition {
  if (!holdsForNull(condition)) return quantified("any", condition, steps);
  if ("members" in condition)
    return { ...condition, members: condition.members.map((one) => onRelated(one, steps)) };
  return quantified("none", { ...condition, negated: true } as Condition, steps);
}

const holdsForNull = (condition: Condition): boolean =>
  "members" in condition
    ? condition.members.some(holdsForNull)
    : condition.kind === "null" && !condition.negated;

function quantified(
  quantifier: Quantified["quantifier"],
  where: Condition,
  [first, ...rest]: RulePath["steps"],
): Condition {
  return {
    kind: "quantified",
    quantifier,
    steps: [first!.hop],
    where: rest.length === 0 ? where : quantified("any", where, rest),
    within: { steps: [first!], joins: [] },
  };
}

function comparisonOf({ rule, value }: Resolved, columns: Columns): Condition {
  const column = columns.get(rule.column);
  if (column === undefined || value === undefined) return noRow;
  const operator = operatorFor(rule, value);
  const compared = columnTypes[column.type].isText ? asTexts(value) : value;
  const listed = operator.endsWith("IN") && !Array.isArray(compared) ? [compared] : compared;
  try {
    return exactly(condition(columns).read({ key: rule.column, operator, value: listed }));
  } catch (error) {
    // A claim that the column cannot store matches no row.
    if (error instanceof AppError) return noRow;
    throw error;
  }
}

/** A list in a claim matches any of its members. */
function operatorFor({ operator }: RowRule, value: Json): string {
  if (!Array.isArray(value)) return operator;
  return operator === "=" ? "IN" : operator === "!=" || operator === "<>" ? "NOT IN" : operator;
}

/** Numbers and booleans of a claim as text, for a text column. */
const asTexts = (value: Json): Json =>
  Array.isArray(value) ? value.map(asTexts) : value === null ? null : String(value);

/** The same condition, independent of the collations of its columns. */
function exactly(condition: Condition): Condition {
  switch (condition.kind) {
    case "and":
    case "or":
      return { ...condition, members: condition.members.map(exactly) };
    case "compare": {
      const { column, operator, value } = condition;
      if (operator !== "=" && operator !== "!=") return condition;
      const negated = operator === "!=";
      if (!mayStore(column, value)) return { kind: "in", column, values: [], negated };
      return column.isLoose ? exactOne(condition, { column, values: [value], negated }) : condition;
    }
    case "in": {
      const { column, negated } = condition;
      const values = condition.values.filter((value) => mayStore(column, value));
      const among: Condition = { ...condition, values };
      return column.isLoose && values.length > 0
        ? exactOne(among, { column, values, negated })
        : among;
    }
    case "like":
      return condition.ignoreCase ? condition : { ...condition, isExact: true };
    default:
      return condition;
  }
}

/**
 * Whether the column can store exactly this value; otherwise the database would look for another one. A column of fixed
 * length drops trailing blanks, and a floating-point column (SQLite's decimals too) keeps a limited number of digits.
 */
function mayStore(column: Column, value: Scalar): boolean {
  const { type, fixedLength, precision, digitsKept = precision } = column;
  if (type === "float") return accept(column, value).ok;
  if (typeof value !== "string") return true;
  if (type === "decimal") return digitsKept === null || digitsOf(value).precision <= digitsKept;
  return !(fixedLength && columnTypes[type].isText && value.endsWith(" "));
}

/** Keeps the loose condition too, because it can use an index. */
const exactOne = (
  loose: Condition,
  about: { column: Column; values: readonly Scalar[]; negated: boolean },
): Condition => {
  const exact: Condition = { kind: "exact", ...about };
  return about.negated ? exact : { kind: "and", members: [loose, exact] };
};

/** The column of the first rule that the values certainly violate; null = none. */
function refusedBy(rules: readonly Resolved[], values: ReadonlyMap<Column, Scalar>): string | null {
  for (const one of rules) {
    if (isPath(one)) continue;
    const [column, value] = [...values].find(([{ name }]) => name === one.rule.column) ?? [];
    if (column === undefined || value === undefined) continue;
    const columns: Columns = new Map([[column.name, column]]);
    if (!mayMeet(conditionOf(one, columns), value)) return column.name;
  }
  return null;
}

/** Whether the value may match a condition on its column; true when only the database can decide. */
export function mayMeet(condition: Condition, value: Scalar): boolean {
  switch (condition.kind) {
    case "and":
      return condition.members.every((member) => mayMeet(member, value));
    case "or":
      return condition.members.some((member) => mayMeet(member, value));
    case "null":
      return (value === null) !== condition.negated;
    case "compare": {
      if (value === null) return false;
      const { column, operator, value: bound } = condition;
      const { fromMember, isAbove } = columnTypes[column.type];
      // One whole value is written in several ways.
      if (fromMember !== null) return true;
      if (operator === "=" || operator === "!=")
        return (String(bound) === String(value)) === (operator === "=");
      if (!isOrdered(column)) return true;
      const [left, right] = operator.startsWith(">") ? [value, bound] : [bound, value];
      return operator.endsWith("=") ? !isAbove(right, left) : isAbove(left, right);
    }
    case "between": {
      if (value === null) return false;
      const { column, low, high, negated } = condition;
      const { isAbove } = columnTypes[column.type];
      return !isOrdered(column) || (isAbove(low, value) || isAbove(value, high)) === negated;
    }
    case "in":
    case "exact":
      if (value === null) return false;
      return condition.values.map(String).includes(String(value)) !== condition.negated;
    default:
      return true;
  }
}

/**
 * Whether values compare here as in the database: texts do not, because of collations, nor 32-bit floats, which the
 * database rounds.
 */
const isOrdered = ({ type, isSingle }: Column): boolean =>
  !isSingle && (columnTypes[type].arithmetic !== null || columnTypes[type].bounds !== "number");

/** Columns that the service fills in a new row: those for which every alternative requires the same single value. */
function fillsOf(alternatives: readonly (readonly Resolved[])[] | null): ReadonlyMap<string, Json> {
  const [first, ...rest] = (alternatives ?? []).map(valuesIn);
  if (first === undefined) return noFills;
  return new Map(
    [...first].filter(([name, value]) => rest.every((one) => areSame(one.get(name), value))),
  );
}

/** Two values of a scope; numbers with many digits are objects. */
const areSame = (left: Json | undefined, right: Json): boolean =>
  typeof left === typeof right && String(left) === String(right);

const valuesIn = (rules: readonly Resolved[]): ReadonlyMap<string, Json> =>
  new Map(
    rules.flatMap((one) =>
      one.rule.operator === "=" &&
      !isPath(one) &&
      one.value !== undefined &&
      one.value !== null &&
      (typeof one.value !== "object" || one.value instanceof ExactNumber)
        ? [[one.rule.column, one.value] as const]
        : [],
    ),
  );
