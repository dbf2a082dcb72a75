/**
 * Paths to related records that an endpoint's file names: in the text of lookup, in lists of the grid, as columns of
 * exports and in `rowScope`. Relations are known only after all endpoints are compiled, so these paths are looked up in
 * a second step.
 */
import { takesType } from "../../query/aggregate-results.ts";
import type { ReadPlan } from "../../plans/read-plan.ts";
import type { Entity } from "../../plans/entity.ts";
import { describedColumns, emptyPath, foundAmong, isEmptyPath } from "../../query/paths.ts";
import type { Column, Columns } from "../../values/types/column.ts";
import { columnTypes } from "../../values/types/column-types.ts";
import { didYouMean } from "../reading/did-you-mean.ts";
import { checkViewCondition, viewPath } from "./console-views.ts";
import { withPaths } from "./compile-relations.ts";
import type { Path } from "../reading/faults.ts";
import type { Survey } from "./survey.ts";

/** The columns; of an endpoint with relations, every name with a dot counts as a path that is looked up later. */
export const withPathsOf = ({ payload }: Survey, columns: Columns): Columns =>
  payload.relations === undefined ? columns : new PathsOrColumns(columns);

class PathsOrColumns extends Map<string, Column> {
  override get(name: string): Column | undefined {
    return super.get(name) ?? (name.includes(".") ? emptyPath(name) : undefined);
  }
}

/** Adds a fault for each path that leads nowhere, or to a column that the place does not take. */
export function checkNamedPaths(
  compiled: readonly { readonly survey: Survey; readonly entity: Entity }[],
  related: ReadonlyMap<Entity, Entity["relations"]>,
): void {
  const entities = new Map(
    compiled.map(({ entity }) => [entity.name, { ...entity, relations: related.get(entity)! }]),
  );
  for (const { survey, entity } of compiled) {
    // Of a label, paths that lead nowhere are left out then.
    const label = entity.lookup?.text ?? null;
    checkPaths(survey, withPaths(entities.get(entity.name)!, entities), label);
  }
}

type Named = Pick<ReadPlan, "source" | "named">;

function checkPaths(survey: Survey, entity: Entity, label: Column | null): void {
  const { read, lookup, grid, export: exported } = entity;
  const { payload } = survey;
  /** The fault is that of the relation, or of the endpoint to which it leads. */
  const isOfFaultyRelation = ({ name }: Column): boolean => {
    const relation = name.split(".", 1)[0]!;
    const declared = new Map(Object.entries(payload.relations ?? {})).get(relation) ?? false;
    return declared !== false && !entity.relations.has(relation);
  };
  const check = (column: Column, path: Path, takes: (column: Column) => boolean): void => {
    if (column.via === undefined || (!isEmptyPath(column) && takes(column))) return;
    if (isOfFaultyRelation(column)) return;
    const kind = isEmptyPath(column) ? "" : `, a ${column.type} column`;
    // A source of its own may lack the columns of a path that others can follow.
    const known = [...describedColumns(read?.named ?? grid?.named ?? new Map()).keys()].filter(
      (name) => name !== column.name,
    );
    survey.fault(path, {
      hint: isEmptyPath(column) ? didYouMean(column.name, known) : undefined,
      found: `${JSON.stringify(column.name)}${kind}`,
      expected: isEmptyPath(column)
        ? "a column, or a path over relations to one that ends with a column"
        : "a column of a type that is possible here",
    });
  };
  for (const part of label === null ? [] : (label.parts ?? [label]))
    if (typeof part !== "string")
      check(
        foundAmong(part, lookup!.named),
        ["fieldNameLookup", "text"],
        ({ type }) => columnTypes[type].hasText,
      );
  for (const [property, columns] of [
    ["searchPanes", grid?.paneColumns],
    ["searchBuilder", grid?.builderColumns],
    ["columnControl", grid?.listColumns],
  ] as const)
    columns?.forEach((column, at) => {
      check(column, ["datatables", property, at], ({ type }) => takesType(null, type));
    });
  exported?.exported.forEach(({ column }, at) => {
    check(column, ["exportColumns", at], () => true);
  });
  const named = (
    name: string,
    path: Path,
    plan: Named | null,
    takes: (column: Column) => boolean = () => true,
  ): void => {
    if (plan && name.includes(".") && !plan.source.columns.has(name))
      check(foundAmong(emptyPath(name), plan.named), path, takes);
  };
  payload.datatablesWhere?.forEach((name, at) => named(name, ["datatablesWhere", at], grid));
  for (const property of ["fieldLabels", "columnFormats"] as const)
    for (const name of Object.keys(payload[property] ?? {}))
      if (![read, grid, exported].some((plan) => plan?.source.columns.has(name)))
        named(name, [property, name], exported ?? read);
  if (payload.relations === undefined) return;
  const listing = payload.action["datatables"] === true ? grid : read;
  const { console: shown } = entity;
  const lists = (shown?.views ?? []).map((view) => ({ list: view, path: viewPath(view) }));
  for (const { list, path } of shown ? [{ list: shown, path: ["console"] }, ...lists] : []) {
    list.columns.forEach((name, at) => named(name, [...path, "columns", at], listing));
    list.order.forEach(({ name }, at) =>
      named(name, [...path, "order", at], listing, ({ type }) => columnTypes[type].isSorted),
    );
  }
  for (const view of shown?.views ?? [])
    view.where.forEach((condition, at) => {
      const path = [...viewPath(view), "where", at];
      const column = listing?.named.get(condition.key);
      named(condition.key, [...path, "key"], listing);
      if (column?.via !== undefined) checkViewCondition(survey, { column, condition, path });
    });
}
