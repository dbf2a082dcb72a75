/** A condition, piece by piece in the order of its SQL. */
import type { Condition } from "../../core/query/statement.ts";
import type { Scalar } from "../../core/values/scalar.ts";
import type { Emitter } from "./emitter.ts";
import { comparisons, groups, words } from "./words.ts";

type Members = Extract<Condition, { kind: "and" | "or" }>;
type In = Extract<Condition, { kind: "in" }>;
type Exact = Extract<Condition, { kind: "exact" }>;

export function emitCondition(condition: Condition, to: Emitter): void {
  switch (condition.kind) {
    case "and":
    case "or":
      return emitMembers(condition, to);
    case "compare":
      to.comparand(condition.column);
      to.word(comparisons[condition.operator]);
      return to.compared(condition.column, condition.value);
    case "null":
      to.name(condition.column);
      return to.word(condition.negated ? words.isNotNull : words.isNull);
    case "in":
      return emitIn(condition, to);
    case "exact":
      return emitExact(condition, to);
    case "between":
      to.comparand(condition.column);
      to.word(condition.negated ? words.notBetween : words.between);
      to.compared(condition.column, condition.low);
      to.word(words.and);
      return to.compared(condition.column, condition.high);
    case "like":
      return to.like(condition.column, wholePattern(condition.pattern), condition);
    case "member":
      return to.holds(condition.column, condition.value);
    case "contains":
      return to.like(condition.column, literalPattern(condition.text), containing);
  }
}

const containing = { negated: false, ignoreCase: true };

function emitMembers({ kind, members }: Members, to: Emitter): void {
  if (members.length === 0) return to.word(kind === "and" ? words.true : words.false);
  const { open, separator } = groups[kind];
  to.word(open);
  for (let at = 0; at < members.length; at++) {
    if (at > 0) to.separator(separator);
    emitCondition(members[at]!, to);
  }
  to.word(words.close);
}

function emitIn({ column, values, negated }: In, to: Emitter): void {
  if (values.length === 0) {
    if (!negated) return to.word(words.false);
    to.name(column);
    return to.word(words.isNotNull);
  }
  to.comparand(column);
  to.word(negated ? words.notIn : words.in);
  const padded = paddedList(values, negated);
  to.repeat(padded.length, words.comma, (at) => to.compared(column, padded[at]!));
  to.word(words.close);
}

function emitExact({ column, values, negated }: Exact, to: Emitter): void {
  to.exactly(column, paddedList(values, negated), negated);
}

/**
 * What an IN of these values prints: as many as the next power of two, so that lists of all lengths share few texts. The others are null, which
 * no row equals and for which no planner expects rows; for NOT IN, where null would exclude every row, the last value is repeated.
 */
function paddedList(values: readonly Scalar[], negated: boolean): readonly Scalar[] {
  let length = 1;
  while (length < values.length) length *= 2;
  const filler = negated ? values.at(-1)! : null;
  return Array.from({ length }, (_, at) => (at < values.length ? values[at]! : filler));
}

/** Escapes a backslash at the end that has nothing to escape: PostgreSQL refuses it, SQLite finds nothing, MySQL takes it for itself. */
function wholePattern(pattern: string): string {
  if (!pattern.endsWith("\\")) return pattern;
  const backslashes = pattern.length - pattern.search(/\\+$/);
  return backslashes % 2 === 0 ? pattern : `${pattern}\\`;
}

/** `%`, `_` and the escape character itself stand for themselves. */
const literalPattern = (text: string): string => `%${text.replace(/[\\%_]/g, "\\$&")}%`;
