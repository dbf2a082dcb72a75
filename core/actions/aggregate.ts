/**
 * aggregate: computes counts, sums, averages and extremes over all rows or over groups. It reads the same source as
 * `read` but without defaultScope, and joins the tables that `joins.ts` allows.
 */
import { defineAction } from "../calls/action.ts";
import { aggregateFunctions, resultOf, takesType } from "../query/aggregate-results.ts";
import type { Columns } from "../values/column.ts";
import type { AggregatePlan } from "../plans/entity.ts";
import { AppError, validationError } from "../values/errors.ts";
import { parseJoins } from "../lists/joins.ts";
import { limits } from "../values/limits.ts";
import { parseSort } from "../query/sort.ts";
import {
  allOf,
  type AggregateFunction,
  type Condition,
  type Output,
  type Sort,
} from "../query/statement.ts";
import { columnOf, parseEqualities, parseWhere } from "../query/where.ts";
import { aggregateAnswerSchema, aggregateSchema } from "../lists/aggregate-schema.ts";

export const aggregate = defineAction<AggregatePlan>({
  name: "aggregate",
  summary: "Counts, sums and averages, of all rows or of groups.",
  mode: "reads",
  methods: ["POST"],
  requires: ["source"],
  errors: ["validationError", "invalidParameter", "invalidField"],
  showsColumns: true,
  takesOptions: false,
  takesEmptyBody: true,
  needs: (entity) => entity.aggregate,
  input: (plan) => aggregateSchema(plan),
  answer: () => ({ status: 200, schema: aggregateAnswerSchema }),

  async run({ body, session }, plan) {
    const { joins, columns } = parseJoins(body["joins"], plan);
    const groups = parseGroups(body["group_by"], columns);
    const outputs = withoutTwins([
      ...groups,
      ...parseOperations(body["operations"], columns, groups.length),
    ]);
    const isGrouped = groups.length > 0;
    const rows = await session.aggregate({
      kind: "aggregate",
      source: plan.source,
      rows: null,
      joins,
      outputs,
      where: parseFilter(body["where"], columns),
      having: parseHaving(body["having"], outputs, isGrouped),
      sort: parseOrder(body["sort_columns"], outputs, groups),
      limit: parseLimit(body["limit"], isGrouped),
    });
    return { status: 200, body: { data: isGrouped ? rows : rows[0] } };
  },
});

function parseGroups(groupBy: unknown, columns: Columns): Output[] {
  if (groupBy === undefined || groupBy === null) return [];
  if (!Array.isArray(groupBy) || !groupBy.every((name) => typeof name === "string"))
    throw validationError("group_by must be an array of column names");
  if (groupBy.length > limits.aggregateGroupsMax)
    throw validationError(`group_by takes at most ${limits.aggregateGroupsMax} columns`);
  return [...new Set<string>(groupBy)].map((alias, position) => {
    const column = columnOf(alias, columns, "group_by");
    if (!takesType(null, column.type)) throw validationError(`"${alias}" cannot be grouped`);
    return { alias, function: null, column, result: resultOf(null, column, position) };
  });
}

const countAll = [{ function: "count", field: "*" }];

function parseOperations(operations: unknown, columns: Columns, first: number): Output[] {
  const items = operations ?? countAll;
  if (!Array.isArray(items))
    throw validationError("operations must be an array of {function, field, alias}");
  if (items.length > limits.aggregateOperationsMax)
    throw validationError(`operations takes at most ${limits.aggregateOperationsMax} items`);
  return (items.length === 0 ? countAll : items).map((item: unknown, at) =>
    parseOperation(item, columns, first + at),
  );
}

function parseOperation(item: unknown, columns: Columns, position: number): Output {
  const { function: name, field, alias } = (item ?? {}) as Record<string, unknown>;
  if (typeof name !== "string" || !aggregateFunctions.has(name))
    throw validationError("function must be one of: count, sum, avg, min, max");
  if (typeof field !== "string")
    throw validationError("Each operation needs a field, a column name or *");
  const known = name as AggregateFunction;
  const column = field === "*" ? null : columnOf(field, columns, "operations");
  if (column === null && known !== "count")
    throw validationError(`"*" can only be used with count; ${known} needs a column`);
  if (column !== null && !takesType(known, column.type))
    throw validationError(`${known} cannot be used with "${field}", a ${column.type} column`);
  return {
    alias: parseAlias(alias, `${known}_${field}`),
    function: known,
    column,
    result: resultOf(known, column, position),
  };
}

const aliasForm = /^[A-Za-z_][A-Za-z0-9_]{0,62}$/;

function parseAlias(alias: unknown, byDefault: string): string {
  if (alias === undefined || alias === null) return byDefault;
  if (typeof alias === "string" && aliasForm.test(alias)) return alias;
  throw validationError(
    "alias must be at most 63 letters, digits and underscores, and not begin with a digit",
  );
}

function withoutTwins(outputs: Output[]): Output[] {
  const seen = new Set<string>();
  for (const { alias } of outputs) {
    if (seen.has(alias))
      throw validationError(`Two columns of the answer are named "${alias}"; give an alias`);
    seen.add(alias);
  }
  return outputs;
}

/** The filter grammar of `read` (a tree) or of `first` (pairs). */
function parseFilter(where: unknown, columns: Columns): Condition | null {
  const isPair = typeof where === "object" && where !== null && Object.hasOwn(where, "key");
  if (!Array.isArray(where) && !isPair) return parseWhere(where, columns);
  if (Array.isArray(where) && where.length === 0) return null;
  return allOf(...parseEqualities(where, columns, true));
}

function parseHaving(
  having: unknown,
  outputs: readonly Output[],
  isGrouped: boolean,
): Condition | null {
  if (having === undefined || having === null) return null;
  if (!isGrouped) throw validationError("having can only be used with group_by");
  return byAlias(outputs, "having", (results) => parseWhere(having, results));
}

/** The order ends with the grouped columns, so that it is total. */
function parseOrder(
  sortColumns: unknown,
  outputs: readonly Output[],
  groups: readonly Output[],
): Sort[] {
  const sort = byAlias(outputs, "sort_columns", (results) => parseSort(sortColumns, results));
  const rest = groups.filter(({ result }) => !sort.some(({ column }) => column === result));
  return [...sort, ...rest.map(({ result }) => ({ column: result, direction: "asc" as const }))];
}

/** Parses names of results. The grammar is shared with read; error messages use the names that the client sent. */
function byAlias<Value>(
  outputs: readonly Output[],
  place: string,
  parse: (results: Columns) => Value,
): Value {
  try {
    return parse(new Map(outputs.map(({ alias, result }) => [alias, result] as const)));
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const isShape = error.kind === "invalidPayload" || place === "sort_columns";
    const kind = isShape && error.kind !== "invalidField" ? "validationError" : error.kind;
    throw new AppError(kind, inOwnWords(error.message, outputs, place));
  }
}

const inOwnWords = (message: string, outputs: readonly Output[], place: string): string =>
  message.replace(/(?<!")\bwhere\b(?!")/, place).replace(/(?<=column )"(v\d+)"/i, (whole, name) => {
    const output = outputs.find(({ result }) => result.name === name);
    return output ? `"${output.alias}"` : whole;
  });

/** A single row needs no limit. Groups default to the largest limit. */
function parseLimit(limit: unknown, isGrouped: boolean): number | null {
  const most = limits.aggregateLimitMax;
  const asked = limit ?? most;
  if (typeof asked !== "number" || !Number.isInteger(asked) || asked < 1 || asked > most)
    throw validationError(`limit must be a whole number from 1 to ${most}`);
  return isGrouped ? asked : null;
}
