/** The client's `operations`: functions over columns or formulas, of all rows of a group or of some of them. */
import {
  type Grammar,
  list,
  meaning,
  object,
  optional,
  text,
  value,
  word,
} from "../grammar/grammar.ts";
import { aliasForm, functionNames, resultOf, takesType } from "../query/aggregate-results.ts";
import { columnOf } from "../query/comparisons.ts";
import { formulaColumn } from "../query/derived-columns.ts";
import { parseFormula } from "../query/formula.ts";
import { describedColumns } from "../query/paths.ts";
import type { AggregateFunction, Output } from "../query/statement.ts";
import { namedConditionSchema, namedWhereSchema, treeOrPairs } from "../query/where.ts";
import { isExact } from "../values/types/arithmetic.ts";
import type { Column, Columns } from "../values/types/column.ts";
import { validationError } from "../values/errors.ts";
import type { JsonSchema } from "../values/json-schema.ts";
import { anyOf, closedObject } from "../values/json-shapes.ts";
import { limits } from "../values/limits.ts";

/** A value in the answer, before its place among the results is known. */
export type AskedValue = Omit<Output, "result">;

const fault = (message: string) => () => validationError(message);

const notAFunction = fault(`function must be one of: ${functionNames.join(", ")}`);

export const alias = value(
  (sent): sent is string => typeof sent === "string" && aliasForm.test(sent),
  fault("alias must be at most 63 letters, digits and underscores, and not begin with a digit"),
  () => ({ type: "string", pattern: aliasForm.source }),
);

const needsField = fault("Each operation needs a field, a column name or *, or else a formula");

const named: JsonSchema = { type: "string" };

/** A `where` that names any columns, as a tree or as conditions and pairs. */
export const namedTreeOrPairsSchema = (): JsonSchema => {
  const pair = closedObject({ key: named, value: {} }, ["key", "value"]);
  const one = [pair, namedConditionSchema()];
  const listed = { type: "array", items: anyOf(one), maxItems: limits.whereConditionsMax } as const;
  return anyOf([namedWhereSchema(), ...one, listed]);
};

const operationParts = (columns: Columns) =>
  object(
    {
      function: word(functionNames, notAFunction),
      field: optional(text(needsField), null),
      formula: optional(text(fault("formula must be a text")), null),
      alias: optional(alias, null),
      where: treeOrPairs(columns, { single: true }),
    },
    { fault: notAFunction, required: ["function"] },
  );

const countAll: AskedValue = { alias: "count_*", function: "count", column: null };

export const operations = (columns: Columns): Grammar<readonly AskedValue[]> =>
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

const operation = (columns: Columns): Grammar<AskedValue> =>
  meaning(
    operationParts(columns),
    ({ function: name, field, formula, alias: own, where }) => {
      const counted = where === null ? {} : { where };
      if (formula !== null) {
        if (field !== null)
          throw validationError("An operation has a field or a formula, not both");
        if (own === null) throw validationError("An operation with a formula needs an alias");
        if (name === "count") throw validationError("count takes a field; it has no formula");
        return { alias: own, function: name, column: computed(formula, columns), ...counted };
      }
      if (field === null) throw needsField();
      const column = field === "*" ? null : columnOf(field, columns, "operations");
      if (column === null && name !== "count")
        throw validationError(`"*" can only be used with count; ${name} needs a column`);
      if (column !== null && !takesType(name, column.type))
        throw validationError(`${name} cannot be used with "${field}", a ${column.type} column`);
      return { alias: own ?? `${name}_${field}`, function: name, column, ...counted };
    },
    () => {
      const filter = treeOrPairs(columns, { single: true }).schema();
      return anyOf([...fieldSchemas(describedColumns(columns), filter), formulaSchema(filter)]);
    },
  );

/** Rejects with Validation error, and with Invalid field for an unknown column. */
function computed(sent: string, columns: Columns): Column {
  const parsed = parseFormula(sent);
  if (!parsed.ok) throw validationError(`A formula must be ${parsed.expected}`);
  const operands = parsed.formula.names.map((name) => columnOf(name, columns, "a formula"));
  const inexact = operands.find((one) => !isExact(one));
  if (inexact)
    throw validationError(
      `A formula takes only integers and decimals; "${inexact.name}" is a ${inexact.type} column`,
    );
  return formulaColumn(parsed.formula, operands);
}

/** One branch for functions that take the same columns. */
function fieldSchemas(columns: Columns, filter: JsonSchema): JsonSchema[] {
  const fieldsOf = (name: AggregateFunction): string[] => [
    ...(name === "count" ? ["*"] : []),
    ...[...columns].flatMap(([field, { type }]) => (takesType(name, type) ? [field] : [])),
  ];
  const byFields = Map.groupBy(functionNames, (name) => JSON.stringify(fieldsOf(name)));
  return [...byFields].flatMap(([fields, functions]) =>
    fields === "[]"
      ? []
      : partsSchema({
          function: functions,
          field: { enum: JSON.parse(fields) as string[] },
          where: filter,
        }),
  );
}

const formulaSchema = (filter: JsonSchema): JsonSchema =>
  partsSchema({
    function: functionNames.filter((name) => name !== "count"),
    formula: {
      type: "string",
      maxLength: limits.formulaLengthMax,
      description: "Columns of integers and decimals, numbers, + - * / and parentheses.",
      examples: ["1 + 2"],
    },
    where: filter,
  });

/** Operations on fields or formulas that any text names. */
export const namedOperationSchema = (): JsonSchema =>
  anyOf([
    partsSchema({ function: functionNames, field: named, where: namedTreeOrPairsSchema() }),
    formulaSchema(namedTreeOrPairsSchema()),
  ]);

function partsSchema(given: {
  readonly function: readonly AggregateFunction[];
  readonly field?: JsonSchema;
  readonly formula?: JsonSchema;
  readonly where: JsonSchema;
}): JsonSchema {
  const { alias: own } = operationParts(new Map()).schema().properties!;
  const isFormula = given.formula !== undefined;
  return closedObject(
    {
      function: { enum: given.function },
      ...(isFormula
        ? { formula: given.formula, alias: alias.schema() }
        : { field: given.field!, alias: own! }),
      where: given.where,
    },
    ["function", ...(isFormula ? ["formula", "alias"] : ["field"])],
  );
}

/** Each with the column that represents its result. */
export function outputsOf(asked: readonly AskedValue[]): Output[] {
  const seen = new Set<string>();
  return asked.map((one, position) => {
    const { alias: own, function: name, column } = one;
    if (seen.has(own))
      throw validationError(`Two columns of the answer are named "${own}"; give an alias`);
    seen.add(own);
    return { ...one, result: resultOf(name, column, position) };
  });
}
