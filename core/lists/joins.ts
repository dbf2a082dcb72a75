/**
 * The client's `joins` -> tables beside the entity's own, and the names that they add. A name of a table from a request
 * is only looked up: among the joins that the configuration declares, and among the tables of the project's other
 * entities with the columns that those show.
 */
import type { Column, Columns } from "../values/column.ts";
import type { AggregatePlan, DeclaredJoin } from "../plans/entity.ts";
import { validationError } from "../values/errors.ts";
import { limits } from "../values/limits.ts";
import type { Join } from "../query/statement.ts";
import { columnTypes } from "../values/column-types.ts";

export interface Joined {
  readonly joins: readonly Join[];
  /** The entity's columns, and those of the joins: as `table.field`, and as `field` where that names one column only. */
  readonly columns: Columns;
}

const shape =
  "joins must be an array of declared names or of objects {tableName, joinType, sourceField, targetField, fields}";

/** Rejects with Validation error; what is not allowed and what does not exist get the same answer. */
export function parseJoins(joins: unknown, plan: AggregatePlan): Joined {
  if (joins === undefined || joins === null) return { joins: [], columns: plan.columns };
  if (!Array.isArray(joins)) throw validationError(shape);
  if (joins.length > limits.aggregateJoinsMax)
    throw validationError(`joins takes at most ${limits.aggregateJoinsMax} items`);
  const found = new Map<string, Resolved>();
  for (const item of joins) {
    const resolved = typeof item === "string" ? named(item, plan) : requested(item, plan);
    if (found.has(resolved.name))
      throw validationError(`"${resolved.name.slice(0, 100)}" is joined twice`);
    found.set(resolved.name, resolved);
  }
  const resolved = [...found.values()];
  const statements = resolved.map(({ join }) => join);
  if (new Set(statements.map(({ right }) => right)).size < statements.length)
    throw validationError("The same join is requested twice, by name and as an object");
  return { joins: statements, columns: allColumns(plan.columns, resolved) };
}

interface Resolved {
  /** What stands before the point in `table.field`. */
  readonly name: string;
  readonly join: Join;
  readonly fields: Columns;
}

function named(name: string, plan: AggregatePlan): Resolved {
  const declared = plan.joins.get(name);
  if (!declared) throw validationError(`Unknown join "${name.slice(0, 100)}"`);
  return { name, join: declared.join, fields: declared.fields };
}

interface Wanted {
  readonly tableName: string;
  readonly type: Join["type"];
  readonly sourceField: string;
  readonly targetField: string;
  readonly fields: readonly string[];
}

const joinTypes: ReadonlyMap<unknown, Join["type"]> = new Map([
  ["LEFT", "left"],
  ["INNER", "inner"],
  ["RIGHT", "right"],
]);

function requested(item: unknown, plan: AggregatePlan): Resolved {
  const wanted = readWanted(item);
  const { tableName: name, type, sourceField, targetField } = wanted;
  const declared = [...plan.joins.values()].find((one) => isSame(one, wanted));
  if (declared) return { name, join: declared.join, fields: only(declared.fields, wanted.fields) };
  const left = plan.columns.get(sourceField);
  const table = plan.tables.find(
    (one) =>
      one.name === name && [targetField, ...wanted.fields].every((field) => one.columns.has(field)),
  );
  const right = table?.columns.get(targetField);
  if (!left || !table || !right)
    throw validationError(
      "This join is not allowed: use a table and fields that another endpoint shows, or a declared join",
    );
  if (!canJoin(left, right))
    throw validationError(
      `"${sourceField}" and "${targetField}" cannot be compared: their types differ`,
    );
  const columns = [...table.columns.values()];
  const join = { type, source: table.source, columns, left, right, rows: null };
  return { name, join, fields: only(table.columns, wanted.fields) };
}

function readWanted(item: unknown): Wanted {
  if (typeof item !== "object" || item === null || Array.isArray(item))
    throw validationError(shape);
  const {
    tableName,
    joinType = "LEFT",
    sourceField,
    targetField,
    fields,
  } = item as Record<string, unknown>;
  const type = joinTypes.get(joinType);
  if (type === undefined) throw validationError("joinType must be LEFT, INNER or RIGHT");
  if (
    typeof tableName !== "string" ||
    typeof sourceField !== "string" ||
    typeof targetField !== "string" ||
    !Array.isArray(fields) ||
    fields.length === 0 ||
    !fields.every((field) => typeof field === "string")
  ) {
    throw validationError(
      "A join needs tableName, sourceField, targetField and fields, a non-empty array of column names",
    );
  }
  return { tableName, type, sourceField, targetField, fields };
}

const isSame = (declared: DeclaredJoin, wanted: Wanted): boolean =>
  declared.tableName === wanted.tableName &&
  declared.join.type === wanted.type &&
  declared.join.left.name === wanted.sourceField &&
  declared.join.right.name === wanted.targetField &&
  wanted.fields.every((field) => declared.fields.has(field));

/** Whether values of the two columns can be compared on every engine. */
export const canJoin = (left: Column, right: Column): boolean =>
  left.type === right.type && columnTypes[left.type].isJoined;

const only = (columns: Columns, names: readonly string[]): Columns =>
  new Map(names.map((name) => [name, columns.get(name)!]));

function allColumns(own: Columns, joined: readonly Resolved[]): Columns {
  const columns = new Map(own);
  const times = new Map<string, number>();
  for (const { fields } of joined)
    for (const name of fields.keys()) times.set(name, (times.get(name) ?? 0) + 1);
  for (const { name: table, fields } of joined) {
    for (const [name, column] of fields) {
      if (!own.has(`${table}.${name}`)) columns.set(`${table}.${name}`, column);
      if (!own.has(name) && times.get(name) === 1) columns.set(name, column);
    }
  }
  return columns;
}
