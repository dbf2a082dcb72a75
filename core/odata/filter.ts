/**
 * `$filter` -> the `where` of read. In OData, comparisons are true or false, also for null, and functions are null for
 * null; so each part is asked for what it must be: true or false, and whether null will do.
 */
import { invalidParameter } from "../values/errors.ts";
import type { Column } from "../values/types/column.ts";
import { valueOf } from "./edm.ts";
import {
  type CallExpression,
  type ComparisonName,
  type Expression,
  type Literal,
  notOffered,
  readExpression,
} from "./expressions.ts";
import { foundAt, type FoundName, type ODataPlace } from "./places.ts";

/** A condition or a group of read's `where`. */
export type Where =
  | { readonly logic: "AND" | "OR"; readonly conditions: readonly Where[] }
  | {
      readonly key: string;
      readonly operator: string;
      readonly value?: unknown;
      readonly sensitive?: boolean;
      readonly where?: Where;
    };

/** Rejects with Invalid parameter, Invalid field or `notImplemented`. */
export function whereOf(text: string, place: ODataPlace): Where {
  const where = conditionOf(readExpression(text, option), { scope: rootOf(place), ...wanted });
  return "logic" in where ? where : { logic: "AND", conditions: [where] };
}

const option = "$filter";
const wanted: Wish = { is: true, orNull: false };

/** What an expression must be. */
interface Wish {
  readonly is: boolean;
  readonly orNull: boolean;
}

/** Where names are looked up: those without a variable at `place`. */
interface Lookup {
  readonly place: ODataPlace;
  /** Of the innermost any or all; null: outside of them. */
  readonly variable: string | null;
  readonly outer: ReadonlySet<string>;
}

const rootOf = (place: ODataPlace): Lookup => ({ place, variable: null, outer: new Set() });

interface Asked extends Wish {
  readonly scope: Lookup;
}

function conditionOf(expression: Expression, asked: Asked): Where {
  switch (expression.kind) {
    case "and":
    case "or": {
      const isAll = (expression.kind === "and") === asked.is;
      const conditions = expression.members.map((member) => conditionOf(member, asked));
      return group(isAll ? "AND" : "OR", conditions);
    }
    case "not":
      return conditionOf(expression.of, { ...asked, is: !asked.is });
    case "compare":
      return comparisonOf(expression, asked);
    case "in":
      return membershipOf(expression, asked);
    case "any":
    case "all":
      return quantifiedOf(expression, asked);
    case "call":
      return callOf(expression, asked);
    case "path":
      return truthOf(expression, asked);
    case "literal":
      if (expression.form === "boolean") return constant(expression.value === asked.is, asked);
      throw invalidParameter(`A value in ${option} is no condition`);
  }
}

/** Groups of the same logic become one: their nesting is limited. */
function group(logic: "AND" | "OR", conditions: readonly Where[]): Where {
  const flat = conditions.flatMap((one) =>
    "logic" in one && one.logic === logic ? one.conditions : [one],
  );
  return flat.length === 1 ? flat[0]! : { logic, conditions: flat };
}

/** A path whose value is true or false. */
function truthOf(path: Expression & { kind: "path" }, { scope, is, orNull }: Asked): Where {
  const { key, column } = columnAt(path, scope);
  if (column.type !== "boolean")
    throw invalidParameter(`"${path.segments.join("/")}" in ${option} is no condition`);
  return orMissing(column, { key, operator: "=", value: is }, orNull);
}

/** `is`: the outcome for every record. */
function constant(is: boolean, { scope }: Asked): Where {
  const [first] = scope.place.columns.keys();
  if (is || first === undefined) return { logic: "AND", conditions: [] };
  return { key: first, operator: "IN", value: [] };
}

type FoundColumn = FoundName & { readonly kind: "column" };

function columnAt(path: Expression & { kind: "path" }, scope: Lookup): FoundColumn {
  const found = nameAt(path, scope);
  if (found.kind === "column") return found;
  throw invalidParameter(`"${path.segments.join("/")}" in ${option} is no value`);
}

function nameAt({ segments }: Expression & { kind: "path" }, scope: Lookup): FoundName {
  const { variable, outer, place } = scope;
  if (variable === null) return foundAt({ segments }, place, option);
  const [first, ...rest] = segments;
  if (first === variable && rest.length > 0) return foundAt({ segments: rest }, place, option);
  if (first === variable || outer.has(first!))
    throw notOffered(`"${first}" alone or of an outer any or all`);
  throw notOffered(`A property of an outer record within any or all`);
}

const withMissing = (column: Column, where: Where): Where =>
  column.nullable ? group("OR", [where, { key: column.name, operator: "IS NULL" }]) : where;

const orMissing = (column: Column, where: Where, orNull: boolean): Where =>
  orNull ? withMissing(column, where) : where;

const operators: Readonly<Record<ComparisonName, readonly [is: string, isNot: string]>> = {
  eq: ["=", "!="],
  ne: ["!=", "="],
  gt: [">", "<="],
  ge: [">=", "<"],
  lt: ["<", ">="],
  le: ["<=", ">"],
};

const turned: Readonly<Record<ComparisonName, ComparisonName>> = {
  eq: "eq",
  ne: "ne",
  gt: "lt",
  ge: "le",
  lt: "gt",
  le: "ge",
};

function comparisonOf(
  { operator, left, right }: Expression & { kind: "compare" },
  asked: Asked,
): Where {
  if (left.kind === "literal" && right.kind !== "literal")
    return comparisonOf(
      { kind: "compare", operator: turned[operator], left: right, right: left },
      asked,
    );
  if (right.kind === "path") nameAt(right, asked.scope);
  if (right.kind !== "literal") throw notOffered(`${operator} between two properties`);
  if (left.kind === "literal") throw notOffered(`${operator} between two values`);
  if (left.kind === "path") {
    const found = nameAt(left, asked.scope);
    return found.kind === "column"
      ? comparedColumn(found, { operator, literal: right }, asked)
      : comparedRelation(found, { operator, literal: right }, asked);
  }
  const isEquality = operator === "eq" || operator === "ne";
  if (left.kind === "call" && (left.name === "tolower" || left.name === "toupper"))
    return comparedText(left, { operator, literal: right }, asked);
  const { scope, is } = asked;
  // Of null, the function is null and so the comparison false, or for `ne` true.
  const wish = (mustHold: boolean): Asked => ({
    scope,
    is: is === mustHold,
    orNull: (operator === "ne") === is,
  });
  // `contains(name,'a') eq true`
  if (isEquality && right.form === "boolean")
    return conditionOf(left, wish(right.value === (operator === "eq")));
  const isFound = left.kind === "call" ? foundBy(left, operator, right) : null;
  if (left.kind === "call" && isFound !== null)
    return callOf({ ...left, name: "contains" }, wish(isFound));
  if (left.kind === "call") throw notOffered(`${left.name} in ${option}`);
  throw invalidParameter(`A condition in ${option} can only be compared with true or false`);
}

/** `indexof(name,'a') ge 0`: whether the text must be found; null for other comparisons and other functions. */
function foundBy(
  { name }: CallExpression,
  operator: ComparisonName,
  literal: Literal,
): boolean | null {
  if (name !== "indexof" || literal.form !== "number") return null;
  const comparison = `${operator} ${literal.value}`;
  if (["eq -1", "lt 0", "le -1"].includes(comparison)) return false;
  return ["ne -1", "ge 0", "gt -1"].includes(comparison) ? true : null;
}

interface Compared {
  readonly operator: ComparisonName;
  readonly literal: Literal;
}

/** A comparison with null is true or false, never null. */
function comparedColumn(
  { key, column }: FoundColumn,
  { operator, literal }: Compared,
  { is, scope, ...wish }: Asked,
): Where {
  if (literal.form === "null") {
    if (operator !== "eq" && operator !== "ne") return constant(!is, { is, scope, ...wish });
    return { key, operator: (operator === "eq") === is ? "IS NULL" : "IS NOT NULL" };
  }
  const value = valueOf(literal, column);
  const where = { key, operator: operators[operator][is ? 0 : 1], value };
  // Of null, `ne` is true, and all others are false.
  return (operator === "ne") === is ? withMissing(column, where) : where;
}

/** Whether there is a related record. */
function comparedRelation(
  { key, relation }: FoundName & { kind: "relation" },
  { operator, literal }: Compared,
  { is }: Asked,
): Where {
  if (relation.isMany || literal.form !== "null" || (operator !== "eq" && operator !== "ne"))
    throw invalidParameter(
      `"${key.replaceAll(".", "/")}" in ${option} can only be compared with null`,
    );
  return { key, operator: (operator === "eq") === is ? "NONE" : "ANY" };
}

/** `tolower(name) eq 'ada'`: the same text in any case, if the function can give the text at all. */
function comparedText(call: CallExpression, { operator, literal }: Compared, asked: Asked): Where {
  if (operator !== "eq" && operator !== "ne") throw notOffered(`${operator} of ${call.name}`);
  const found = textOperand(call, asked.scope);
  if (literal.form === "null") return comparedColumn(found, { operator, literal }, asked);
  const mustBe = (operator === "eq") === asked.is;
  const text = textIn(literal);
  const { key, column } = found;
  const canBe = text === cased(call.name, text);
  if (!canBe) return constant(!mustBe, asked);
  const like = {
    key,
    operator: mustBe ? "LIKE" : "NOT LIKE",
    value: escaped(text),
    sensitive: false,
  };
  return mustBe ? like : withMissing(column, like);
}

const cased = (name: string, text: string): string =>
  name === "tolower" ? text.toLowerCase() : text.toUpperCase();

function membershipOf(
  { of, values }: Expression & { kind: "in" },
  { scope, is, ...wish }: Asked,
): Where {
  if (of.kind === "call" && (of.name === "tolower" || of.name === "toupper")) {
    const members = values.map((right): Expression => ({
      kind: "compare",
      operator: "eq",
      left: of,
      right,
    }));
    return conditionOf({ kind: "or", members }, { scope, is, ...wish });
  }
  if (of.kind !== "path") throw notOffered(`in of other than a property`);
  const { key, column } = columnAt(of, scope);
  const value = values.map((one) => (one.form === "null" ? null : valueOf(one, column)));
  const where = { key, operator: is ? "IN" : "NOT IN", value };
  return is || value.includes(null) ? where : withMissing(column, where);
}

function quantifiedOf(
  { kind, path, variable, where: inner }: Expression & { kind: "any" | "all" },
  { scope, is }: Asked,
): Where {
  const found = nameAt(path, scope);
  if (found.kind === "column")
    throw invalidParameter(`"${path.segments.join("/")}" in ${option} leads to no records`);
  const { key, relation, place } = found;
  if (!relation.isMany)
    throw invalidParameter(
      `"${path.segments.join("/")}" in ${option} leads to one record, and ${kind} is for many`,
    );
  if (inner === null) return { key, operator: is ? "ANY" : "NONE" };
  const outer = new Set(scope.outer);
  if (scope.variable !== null) outer.add(scope.variable);
  const within: Lookup = { place, variable, outer };
  const isAny = kind === "any";
  // `all` is true unless the condition of some record is false or null.
  const wish: Wish = isAny ? { is: true, orNull: false } : { is: false, orNull: true };
  const condition = conditionOf(inner, { scope: within, ...wish });
  const where: Where = "logic" in condition ? condition : { logic: "AND", conditions: [condition] };
  return { key, operator: isAny === is ? "ANY" : "NONE", where };
}

/** How much of a text a function compares. */
const patterns: Readonly<Record<string, readonly [before: string, behind: string]>> = {
  contains: ["%", "%"],
  startswith: ["", "%"],
  endswith: ["%", ""],
};

/** Of null, a function is null. */
function callOf(call: CallExpression, { scope, is, orNull }: Asked): Where {
  const pattern = Object.hasOwn(patterns, call.name) ? patterns[call.name] : undefined;
  if (pattern === undefined) throw notOffered(`${call.name} in ${option}`);
  const [left, right] = call.operands;
  if (call.operands.length !== 2 || left === undefined || right === undefined)
    throw invalidParameter(`${call.name} in ${option} needs a property and a text`);
  const sought = foldedText(right);
  const { key, column } = textOperand(
    left.kind === "call" ? left : { kind: "call", name: "tolower", operands: [left] },
    scope,
  );
  if (
    sought.name !== null ||
    left.kind !== "call" ||
    sought.text === cased(left.name, sought.text)
  ) {
    const [before, behind] = pattern;
    const value = `${before}${escaped(sought.text)}${behind}`;
    const like = { key, operator: is ? "LIKE" : "NOT LIKE", value, sensitive: false };
    return orMissing(column, like, orNull);
  }
  // No text in lower case has a letter in upper case.
  return constant(!is, { scope, is, orNull });
}

/** A text, or `tolower('Text')`. */
function foldedText(expression: Expression): {
  readonly text: string;
  readonly name: string | null;
} {
  if (expression.kind === "literal") return { text: textIn(expression), name: null };
  if (expression.kind === "call" && /^to(?:lower|upper)$/.test(expression.name)) {
    const [only] = expression.operands;
    if (only?.kind === "literal" && expression.operands.length === 1)
      return { text: cased(expression.name, textIn(only)), name: expression.name };
  }
  throw notOffered(`A search for other than a text in ${option}`);
}

/** The column of `tolower(name)`. */
function textOperand(call: CallExpression, scope: Lookup): FoundColumn {
  const [only] = call.operands;
  if (!/^to(?:lower|upper)$/.test(call.name)) throw notOffered(`${call.name} in ${option}`);
  if (only === undefined || call.operands.length !== 1)
    throw invalidParameter(`${call.name} in ${option} needs one property`);
  if (only.kind === "call") return textOperand(only, scope);
  if (only.kind !== "path") throw notOffered(`${call.name} of other than a property`);
  return columnAt(only, scope);
}

function textIn(literal: Literal): string {
  if (literal.form === "text") return literal.value;
  if (literal.form === "null" || literal.form === "boolean")
    throw invalidParameter(`A text in ${option} stands between quotation marks`);
  return literal.value;
}

const escaped = (text: string): string => text.replace(/[\\%_]/g, "\\$&");
