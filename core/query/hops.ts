/** The related records that a statement names, by its columns and by its conditions on many. */
import type { Column, Hop } from "../values/types/column.ts";
import type { Condition, Select } from "./statement.ts";

/** Adds the hops to the column, each after the one before it. */
export function addHops(column: Column, hops: Set<Hop>): void {
  const { via, markOf, exactOf, foldedOf, derived, parts = [] } = column;
  if (via !== undefined) addHop(via.hop, hops);
  if (markOf !== undefined) addHops(markOf, hops);
  if (exactOf !== undefined) addHops(exactOf, hops);
  if (foldedOf !== undefined) addHops(foldedOf, hops);
  if (derived?.kind === "bucket") addHops(derived.of, hops);
  if (derived?.kind === "formula") for (const operand of derived.operands) addHops(operand, hops);
  for (const part of parts) if (typeof part !== "string") addHops(part, hops);
}

export function addHop(hop: Hop, hops: Set<Hop>): void {
  if (hop.before !== null) addHop(hop.before, hops);
  hops.add(hop);
}

/** What names related records; `steps`: those that lead to the statement's own records. */
export interface RelatedNames extends Pick<Select, "where" | "columns" | "sort"> {
  readonly steps?: readonly Hop[];
}

/**
 * The cache versions of the answer to these statements: the own ones, and those of all related records that they name.
 * Those of the condition come first, so that lists with the same condition agree on them and can share their counts.
 */
export function relatedDependencies(
  own: readonly string[],
  ...statements: readonly RelatedNames[]
): readonly string[] {
  const hops = new Set<Hop>();
  for (const { where, columns, sort, steps = [] } of statements) {
    for (const step of steps) addHop(step, hops);
    if (where !== null) addHopsOf(where, hops);
    for (const column of columns) addHops(column, hops);
    for (const { column } of sort) addHops(column, hops);
  }
  if (hops.size === 0) return own;
  return [...new Set([...own, ...[...hops].flatMap(({ dependsOn }) => dependsOn)])];
}

function addHopsOf(condition: Condition, hops: Set<Hop>): void {
  if ("members" in condition) {
    for (const member of condition.members) addHopsOf(member, hops);
  } else if (condition.kind === "quantified") {
    for (const step of condition.steps) addHop(step, hops);
    if (condition.where !== null) addHopsOf(condition.where, hops);
  } else if (condition.kind !== "fulltext") addHops(condition.column, hops);
}
