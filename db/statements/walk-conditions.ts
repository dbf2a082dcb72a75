/** A condition, piece by piece in the order of its SQL. */
import type { Condition, JoinedHop, Quantified } from "../../core/query/statement.ts";
import type { Column, Hop, Source } from "../../core/values/types/column.ts";
import type { Scalar } from "../../core/values/scalar.ts";
import type { Emitter, Frame } from "./emitter.ts";
import { comparisons, groups, joins, words } from "./words.ts";

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
    case "notMember":
      to.word(words.not);
      to.holds(condition.column, condition.value);
      return to.word(words.close);
    case "contains":
      return to.like(condition.column, literalPattern(condition.text), containing);
    case "fulltext":
      return to.fullText(condition.search);
    case "quantified":
      return emitQuantified(condition, to);
  }
}

/** The aliases of joined sources, in the order in which they are joined. */
export const frameOf = (
  joins: readonly JoinedHop[],
  to: Pick<Emitter, "newAlias">,
): ReadonlyMap<Hop, string> => new Map(joins.map(({ hop }) => [hop, to.newAlias()]));

/** The record to which a hop leads, or nulls. Its rows are narrowed in the ON, so that the others count as missing. */
export function emitJoined(joined: JoinedHop, to: Emitter): void {
  const { hop, rows } = joined;
  const alias = to.aliasOf(hop) ?? "";
  to.word(joins.left);
  const firstBy = hop.onceBy ?? (hop.isUnique ? null : hop.on.map(({ right }) => right));
  if (firstBy === null) to.source(sourceOf(joined), alias);
  else emitFirstRows(joined, { alias, firstBy }, to);
  to.word(words.on);
  emitLink(hop, alias, to);
  if (firstBy === null) return emitNarrowing(rows, alias, to);
  to.word(words.and);
  to.identifier(alias);
  to.word(words.isFirst);
}

const sourceOf = ({ hop, source }: JoinedHop): Source => source ?? hop.source;

/** Of rows with the same key only one, where the database does not see to that. */
function emitFirstRows(
  joined: JoinedHop,
  { alias, firstBy }: { readonly alias: string; readonly firstBy: readonly Column[] },
  to: Emitter,
): void {
  const { rows } = joined;
  to.within({ alias: "source", hops: noHops }, () => {
    to.word(words.selectNumbered);
    firstBy.forEach((column, at) => {
      if (at > 0) to.separator(words.comma);
      to.name(column);
    });
    to.word(words.numberedFrom);
    to.source(sourceOf(joined), "source");
    if (rows === null) return;
    to.word(words.where);
    emitCondition(rows, to);
  });
  to.word(words.endSelectAs);
  to.identifier(alias);
}

/** `left = right`, for each pair of columns. */
function emitLink(hop: Hop, alias: string, to: Emitter): void {
  emitPairs(hop, [to.aliasOf(hop.before), alias], to);
}

/** The key is on the left: some engines compare as that side does, and only as the key does it names one record. */
function emitPairs(
  { on, isUnique }: Hop,
  [outer, inner]: readonly [string | null, string],
  to: Emitter,
): void {
  on.forEach(({ left, right }, at) => {
    if (at > 0) to.word(words.and);
    if (isUnique) to.linked(right, left, [inner, outer]);
    else to.linked(left, right, [outer, inner]);
  });
}

function emitNarrowing(rows: Condition | null, alias: string, to: Emitter): void {
  if (rows === null) return;
  to.word(words.and);
  to.within({ alias, hops: noHops }, () => emitCondition(rows, to));
}

const noHops: Frame["hops"] = new Map();

/**
 * A subquery over the related records, so that no row is multiplied. What is not true counts as false, so ALL looks for
 * a record for which the condition is false or null.
 */
function emitQuantified({ quantifier, steps, where, within }: Quantified, to: Emitter): void {
  if (within === undefined) throw new Error("Related records did not pass the caller's scope");
  to.word(quantifier === "any" ? words.exists : words.notExists);
  const aliases = steps.map(() => to.newAlias());
  const [alias] = aliases as [string];
  to.source(sourceOf(within.steps[0]!), alias);
  steps.slice(1).forEach((hop, at) => {
    to.word(joins.inner);
    to.source(sourceOf(within.steps[at + 1]!), aliases[at + 1]!);
    to.word(words.on);
    emitPairs(hop, [aliases[at]!, aliases[at + 1]!], to);
    emitNarrowing(within.steps[at + 1]!.rows, aliases[at + 1]!, to);
  });
  const hops = frameOf(within.joins, to);
  to.within({ alias: aliases.at(-1)!, hops }, () => {
    for (const joined of within.joins) emitJoined(joined, to);
  });
  to.word(words.where);
  emitLink(steps[0]!, alias, to);
  emitNarrowing(within.steps[0]!.rows, alias, to);
  if (where !== null) {
    to.word(words.and);
    if (quantifier === "all") to.word(words.open);
    to.within({ alias: aliases.at(-1)!, hops }, () => emitCondition(where, to));
    if (quantifier === "all") to.word(words.isNotTrue);
  }
  to.word(words.close);
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
 * The values that an IN prints, filled up to the next power of two, so that lists of all lengths share few texts. The
 * filler is null, which equals no row and adds no expected rows; for NOT IN, where null excludes every row, the last
 * value.
 */
function paddedList(values: readonly Scalar[], negated: boolean): readonly Scalar[] {
  let length = 1;
  while (length < values.length) length *= 2;
  const filler = negated ? values.at(-1)! : null;
  return Array.from({ length }, (_, at) => (at < values.length ? values[at]! : filler));
}

/** Doubles an unpaired final backslash: PostgreSQL refuses it, SQLite finds nothing, MySQL takes it literally. */
function wholePattern(pattern: string): string {
  if (!pattern.endsWith("\\")) return pattern;
  const backslashes = pattern.length - pattern.search(/(?<!\\)\\+$/);
  return backslashes % 2 === 0 ? pattern : `${pattern}\\`;
}

/** `%`, `_` and the escape character itself stand for themselves. */
const literalPattern = (text: string): string => `%${text.replace(/[\\%_]/g, "\\$&")}%`;
