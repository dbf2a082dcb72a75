/**
 * What a request of aggregate may contain. Its parts are read in order: `joins` defines the available columns, then
 * `group_by` and `operations` name the results, which `having` and `sort_columns` use. The schema cannot list such
 * names and takes any text.
 */
import {
  type Grammar,
  list,
  meaning,
  object,
  optional,
  schemasOf,
  text,
  value,
  wholeNumber,
  word,
} from "../grammar/grammar.ts";
import type { AggregatePlan } from "../plans/aggregate-plan.ts";
import { aliasForm, functionNames, resultOf, takesType } from "../query/aggregate-results.ts";
import { columnOf } from "../query/comparisons.ts";
import { sortColumns, sortTermsSchema } from "../query/sort.ts";
import { type Aggregate, type Condition, type Output, type Sort } from "../query/statement.ts";
import { namedWhereSchema, treeOrPairs, where } from "../query/where.ts";
import type { Column, Columns } from "../values/types/column.ts";
import { AppError, validationError } from "../values/errors.ts";
import type { JsonSchema } from "../values/json-schema.ts";
import { anyOf, closedObject } from "../values/json-shapes.ts";
import { limits } from "../values/limits.ts";
import { joinsOf, namedJoinsSchema } from "./joins.ts";

/** Rejects with Validation error, and for names and values of columns as `where` does. */
export function aggregateGrammar(plan: AggregatePlan): Grammar<Aggregate> {
  const joins = joinsOf(plan);
  return {
    read(sent) {
      const { joins: joined } = object({ joins }).read(sent);
      const named = object(resultMembers(joined.columns)).read(sent);
      const outputs = outputsOf([...named.group_by, ...named.operations]);
      const groups = outputs.slice(0, named.group_by.length);
      const rest = object(filterMembers(joined.columns, outputs, groups)).read(sent);
      return {
        kind: "aggregate",
        source: plan.source,
        rows: null,
        joins: joined.joins,
        outputs,
        where: rest.where,
        having: rest.having,
        sort: rest.sort_columns,
        // A single row needs no limit.
        limit: groups.length > 0 ? rest.limit : null,
      };
    },
    schema() {
      const noJoins: JsonSchema = { type: ["array", "null"], maxItems: 0 };
      const alone = requestSchema({ ...schemasOf(membersOf(plan.columns)), joins: noJoins });
      const joinable = plan.joins.size + plan.tables.length;
      if (joinable === 0) return alone;
      const known = { ...membersOf(withJoined(plan)), joins };
      const isKnown = joinable <= limits.joinsDescribedMax;
      return {
        anyOf: [alone, isKnown ? requestSchema(schemasOf(known), ["joins"]) : joinedRequestSchema],
      };
    },
    unknownIn: object({ joins, ...membersOf(new Map()) }).unknownIn!,
  };
}

/** What decides about the results. */
const resultMembers = (columns: Columns) => ({
  group_by: groupBy(columns),
  operations: operations(columns),
});

const filterMembers = (
  columns: Columns,
  results: readonly Output[],
  groups: readonly Output[],
) => ({
  where: treeOrPairs(columns, { single: true }),
  having: having(results, groups.length > 0),
  sort_columns: order(results, groups),
  limit: optional(wholeNumber({ min: 1, max: limitMax }, notALimit), limitMax),
});

const membersOf = (columns: Columns) => ({
  ...resultMembers(columns),
  ...filterMembers(columns, [], []),
});

function requestSchema(
  members: Record<string, JsonSchema>,
  required: readonly string[] = [],
): JsonSchema {
  const isGrouped: JsonSchema = {
    required: ["group_by"],
    properties: { group_by: { type: "array", minItems: 1 } },
  };
  const isPlain: JsonSchema = { properties: { having: { type: "null" } } };
  return { ...closedObject(members, required), anyOf: [isPlain, isGrouped] };
}

/** A value in the answer, before its place among the results is known. */
type Asked = Omit<Output, "result">;

const limitMax = limits.aggregateLimitMax;
const fault = (message: string) => () => validationError(message);
const notALimit = fault(`limit must be a whole number from 1 to ${limitMax}`);
const notNames = fault("group_by must be an array of column names");

const groupBy = (columns: Columns): Grammar<readonly Asked[]> =>
  optional(
    meaning(
      list(
        text(notNames, () => ({ enum: groupable(columns) })),
        {
          fault: notNames,
          max: limits.aggregateGroupsMax,
          tooMany: fault(`group_by takes at most ${limits.aggregateGroupsMax} columns`),
        },
      ),
      (names) =>
        [...new Set(names)].map((name) => {
          const column = columnOf(name, columns, "group_by");
          if (!takesType(null, column.type)) throw validationError(`"${name}" cannot be grouped`);
          return { alias: name, function: null, column };
        }),
    ),
    [],
  );

const groupable = (columns: Columns): string[] =>
  [...columns].flatMap(([name, { type }]) => (takesType(null, type) ? [name] : []));

const notAFunction = fault("function must be one of: count, sum, avg, min, max");

const alias = value(
  (sent): sent is string => typeof sent === "string" && aliasForm.test(sent),
  fault("alias must be at most 63 letters, digits and underscores, and not begin with a digit"),
  () => ({ type: "string", pattern: aliasForm.source }),
);

const operationParts = object(
  {
    function: word(functionNames, notAFunction),
    field: text(fault("Each operation needs a field, a column name or *")),
    alias: optional(alias, null),
  },
  { fault: notAFunction, required: ["function", "field"] },
);

const countAll: Asked = { alias: "count_*", function: "count", column: null };

const operations = (columns: Columns): Grammar<readonly Asked[]> =>
  meaning(
    optional(
      list(operation(columns), {
        fault: fault("operations must be an array of {function, field, alias}"),
        max: limits.aggregateOperationsMax,
        tooMany: fault(`operations takes at most ${limits.aggregateOperationsMax} items`),
      }),
      [],
    ),
    (asked) => (asked.length === 0 ? [countAll] : asked),
  );

/** Operations without groups, each with the column of its result. */
export const figuresOf = (columns: Columns): Grammar<readonly Output[]> =>
  meaning(operations(columns), outputsOf);

const operation = (columns: Columns): Grammar<Asked> =>
  meaning(
    operationParts,
    ({ function: name, field, alias: own }) => {
      const column = field === "*" ? null : columnOf(field, columns, "operations");
      if (column === null && name !== "count")
        throw validationError(`"*" can only be used with count; ${name} needs a column`);
      if (column !== null && !takesType(name, column.type))
        throw validationError(`${name} cannot be used with "${field}", a ${column.type} column`);
      return { alias: own ?? `${name}_${field}`, function: name, column };
    },
    () => anyOf(operationSchemas(columns)),
  );

/** One branch for functions that take the same columns. */
function operationSchemas(columns: Columns): JsonSchema[] {
  const fieldsOf = (name: (typeof functionNames)[number]): string[] => [
    ...(name === "count" ? ["*"] : []),
    ...[...columns].flatMap(([field, { type }]) => (takesType(name, type) ? [field] : [])),
  ];
  const byFields = Map.groupBy(functionNames, (name) => JSON.stringify(fieldsOf(name)));
  const { properties, ...parts } = operationParts.schema();
  return [...byFields].flatMap(([fields, functions]) =>
    fields === "[]"
      ? []
      : {
          ...parts,
          properties: {
            ...properties,
            function: { enum: functions },
            field: { enum: JSON.parse(fields) as string[] },
          },
        },
  );
}

/** Each with the column that represents its result. */
function outputsOf(asked: readonly Asked[]): Output[] {
  const seen = new Set<string>();
  return asked.map((one, position) => {
    const { alias, function: name, column } = one;
    if (seen.has(alias))
      throw validationError(`Two columns of the answer are named "${alias}"; give an alias`);
    seen.add(alias);
    return { ...one, result: resultOf(name, column, position) };
  });
}

const having = (outputs: readonly Output[], isGrouped: boolean): Grammar<Condition | null> =>
  optional(isGrouped ? byAlias(outputs, "having", where) : noHaving, null, namedWhereSchema);

const noHaving: Grammar<Condition | null> = {
  ...where(new Map()),
  read() {
    throw validationError("having can only be used with group_by");
  },
};

/** Ends with the grouped columns, so that the order is total. */
const order = (outputs: readonly Output[], groups: readonly Output[]): Grammar<Sort[]> =>
  meaning(
    byAlias(outputs, "sort_columns", sortColumns),
    (sort) => {
      const rest = groups.filter(({ result }) => !sort.some(({ column }) => column === result));
      return [
        ...sort,
        ...rest.map(({ result }) => ({ column: result, direction: "asc" as const })),
      ];
    },
    () => sortTermsSchema({ type: "string" }),
  );

/** A grammar of `read` over the results. Its messages use the names that the client sent. */
function byAlias<T>(
  outputs: readonly Output[],
  place: string,
  of: (results: Columns) => Grammar<T>,
): Grammar<T> {
  const grammar = of(new Map(outputs.map(({ alias, result }) => [alias, result] as const)));
  return {
    ...grammar,
    read(sent) {
      try {
        return grammar.read(sent);
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        const isShape = error.kind === "invalidPayload" || place === "sort_columns";
        const kind = isShape && error.kind !== "invalidField" ? "validationError" : error.kind;
        throw new AppError(kind, inOwnWords(error.message, outputs, place));
      }
    },
  };
}

const inOwnWords = (message: string, outputs: readonly Output[], place: string): string =>
  message.replace(/(?<!")\bwhere\b(?!")/, place).replace(/(?<=column )"(v\d+)"/i, (whole, name) => {
    const output = outputs.find(({ result }) => result.name === name);
    return output ? `"${output.alias}"` : whole;
  });

/** The columns of the entity and of all possible joins, under the names that a request uses. */
function withJoined({ columns, joins, tables }: AggregatePlan): Columns {
  const all = new Map<string, Column>();
  const add = (table: string, fields: Columns): void => {
    for (const [name, column] of fields) {
      all.set(`${table}.${name}`, column);
      all.set(name, column);
    }
  };
  for (const { name, columns: fields } of tables) add(name, fields);
  for (const [name, { fields }] of joins) add(name, fields);
  return new Map([...all, ...columns]);
}

const named: JsonSchema = { type: "string" };
const namedPair = closedObject({ key: named, value: {}, operator: { const: "=" } }, [
  "key",
  "value",
]);
const namedPairs: JsonSchema = {
  type: "array",
  items: namedPair,
  maxItems: limits.whereConditionsMax,
};

/**
 * A request with joins if there are too many tables to list their names: otherwise the schema of each endpoint would
 * name the columns of all others.
 */
export const joinedRequestSchema: JsonSchema = requestSchema(
  {
    ...schemasOf(membersOf(new Map())),
    group_by: { ...groupBy(new Map()).schema(), items: named },
    operations: { ...operations(new Map()).schema(), items: operationParts.schema() },
    where: { anyOf: [namedWhereSchema(), namedPair, namedPairs] },
    joins: namedJoinsSchema,
  },
  ["joins"],
);
