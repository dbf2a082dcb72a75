/**
 * A statement with the conditions of a scope, on the rows of its source and on those of every related record that it
 * names. Each hop is narrowed to the rows that the caller would see at its endpoint; a compiler refuses hops that did
 * not come through here.
 */
import type { Column, Hop, Source } from "../values/types/column.ts";
import { addHop, addHops } from "../query/hops.ts";
import {
  allOf,
  type Condition,
  type JoinedHop,
  type Narrowed,
  noRow,
  type Output,
  type Quantified,
  type Sort,
} from "../query/statement.ts";
import { lacksClaim, withValues } from "../plans/query-params.ts";
import { invalidParameter } from "../values/errors.ts";
import { limits } from "../values/limits.ts";
import type { Scope } from "./scope.ts";

export const asNarrowed = <Statement>(statement: Statement): Narrowed<Statement> =>
  statement as Narrowed<Statement>;

interface Sourced {
  readonly source: Source;
  readonly where: Condition | null;
}

export function narrowTo<Asked extends Sourced>(scope: Scope, statement: Asked): Narrowed<Asked> {
  const where = allOf(statement.where, reachOf(scope, statement.source));
  return narrowRelated(scope, { ...statement, where });
}

/** The same for its related records alone. */
export function narrowRelated<Asked extends Sourced>(
  scope: Scope,
  statement: Asked,
): Narrowed<Asked> {
  const { params } = scope;
  const source = withValues(statement.source, params);
  const bound = source === statement.source ? statement : { ...statement, source };
  return asNarrowed(
    scope.related === null ? bound : { ...bound, ...withRelated(bound, joinedRows(scope)) },
  );
}

/** The rows of a hop that the caller would see at its endpoint. */
const joinedRows =
  ({ related, params, answered = params }: Scope) =>
  (hop: Hop): Narrowed<JoinedHop> => {
    if (hop.isSeen) return joinedBy(hop, null, answered);
    const there = related!(hop.endpoint);
    return joinedBy(hop, reachOf(there, hop.source), there.params);
  };

function joinedBy(hop: Hop, rows: Condition | null, params: Scope["params"]): Narrowed<JoinedHop> {
  const source = withValues(hop.source, params);
  return asNarrowed(source === hop.source ? { hop, rows } : { hop, rows, source });
}

/** For the related records of the endpoint as those of a statement: what reading it would show the caller. */
export const scopeAt =
  (endpoint: string) =>
  (scope: Scope): Scope =>
    scope.related === null
      ? scope
      : { ...scope.related(endpoint), related: scope.related, answered: scope.params };

/** The rows that statements see and change: those of the caller that the call is about. */
export const reachOf = (scope: Scope, source: Source): Condition | null =>
  allOf(
    scope.rowsOf(source),
    scope.visibleRows(source),
    lacksClaim(source, scope.params) ? noRow : null,
  );

/** The parts of a statement that name columns. */
interface Naming {
  readonly where: Condition | null;
  readonly columns?: readonly Column[];
  readonly sort?: readonly Sort[];
  readonly outputs?: readonly Output[];
}

type Narrow = (hop: Hop) => Narrowed<JoinedHop>;

/**
 * The joins of the statement, if it names related records, and its condition with theirs. Throws Invalid parameter for
 * more joins than every engine takes.
 */
function withRelated(
  { where, columns = [], sort = [], outputs = [] }: Naming,
  narrow: Narrow,
): Pick<Naming, "where" | "outputs"> & { readonly joins?: readonly Narrowed<JoinedHop>[] } {
  const hops = new Set<Hop>();
  for (const column of columns) addHops(column, hops);
  for (const { column } of outputs) if (column !== null) addHops(column, hops);
  // The sort of groups names their results only.
  if (outputs.length === 0) for (const { column } of sort) addHops(column, hops);
  const whole = where && narrowedCondition(where, hops, narrow);
  const counted = outputs.map((output) =>
    output.where ? { ...output, where: narrowedCondition(output.where, hops, narrow) } : output,
  );
  if (hops.size > limits.joinedRelationsMax)
    throw invalidParameter(
      `The paths of one request lead over at most ${limits.joinedRelationsMax} relations`,
    );
  return {
    where: whole,
    ...(outputs.length > 0 && { outputs: counted }),
    ...(hops.size > 0 && { joins: [...hops].map(narrow) }),
  };
}

/** Whether the condition names columns of related records, or asks for such records. */
export function namesRelated(where: Condition | null): boolean {
  if (where === null) return false;
  if ("members" in where) return where.members.some(namesRelated);
  if (where.kind === "fulltext") return false;
  return where.kind === "quantified" || where.column.via !== undefined;
}

function narrowedCondition(condition: Condition, hops: Set<Hop>, narrow: Narrow): Condition {
  if ("members" in condition)
    return {
      ...condition,
      members: condition.members.map((member) => narrowedCondition(member, hops, narrow)),
    };
  if (condition.kind === "quantified") return narrowedQuantified(condition, hops, narrow);
  if (condition.kind !== "fulltext") addHops(condition.column, hops);
  return condition;
}

function narrowedQuantified(condition: Quantified, hops: Set<Hop>, narrow: Narrow): Quantified {
  // That of a row scope is the operator's, and narrowed already.
  if (condition.within !== undefined) return condition;
  const { steps, where } = condition;
  const [{ before }] = steps as [Hop];
  if (before !== null) addHop(before, hops);
  const inner = withRelated({ where }, narrow);
  return {
    ...condition,
    where: inner.where,
    within: { steps: steps.map(narrow), joins: inner.joins ?? [] },
  };
}
