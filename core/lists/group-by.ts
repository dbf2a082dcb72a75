/**
 * The client's `group_by`: columns by their names, and buckets of their values as objects: spans of time, parts of
 * dates, bins of numbers.
 */
import {
  choice,
  type Grammar,
  list,
  meaning,
  object,
  optional,
  text,
  value,
} from "../grammar/grammar.ts";
import { aliasForm, takesType } from "../query/aggregate-results.ts";
import { columnOf } from "../query/comparisons.ts";
import { bucketColumn } from "../query/derived-columns.ts";
import { describedColumns } from "../query/paths.ts";
import {
  type Bucket,
  type DatePart,
  dateParts,
  type SpanUnit,
  spanUnits,
} from "../values/types/bucket.ts";
import type { Column, Columns, ColumnType } from "../values/types/column.ts";
import { columnTypes } from "../values/types/column-types.ts";
import { jsonNumber } from "../values/types/numbers.ts";
import { digitsOf } from "../values/decimal.ts";
import { validationError } from "../values/errors.ts";
import { isObject } from "../values/json.ts";
import type { JsonSchema } from "../values/json-schema.ts";
import { anyOf, closedObject } from "../values/json-shapes.ts";
import { limits } from "../values/limits.ts";
import { alias, type AskedValue } from "./operations.ts";

const fault = (message: string) => () => validationError(message);
const notGroups = fault(
  "group_by must be an array of column names, or of objects {field, by, alias} or {field, part, alias}",
);
const notABucket = fault(
  `by must be one of ${spanUnits.join(", ")}, or a number above 0 with at most ${limits.binDigitsMax} digits before and ${limits.binFractionMax} behind the decimal point`,
);
const notAPart = fault(`part must be one of: ${dateParts.join(", ")}`);

/** Rejects with Validation error, and with Invalid field for an unknown column. */
export const groupBy = (columns: Columns): Grammar<readonly AskedValue[]> =>
  optional(
    meaning(
      list(group(columns), {
        fault: notGroups,
        max: limits.aggregateGroupsMax,
        tooMany: fault(`group_by takes at most ${limits.aggregateGroupsMax} columns`),
      }),
      withoutRepeated,
    ),
    [],
  );

/** A column that is named twice counts once; buckets have names of their own. */
const withoutRepeated = (asked: readonly AskedValue[]): readonly AskedValue[] =>
  asked.filter(
    (one, at) =>
      one.column!.derived !== undefined ||
      !asked
        .slice(0, at)
        .some(({ alias: own, column }) => own === one.alias && column === one.column),
  );

function group(columns: Columns): Grammar<AskedValue> {
  const plain = meaning(
    text(notGroups, () => ({ enum: namesOf(columns, (type) => takesType(null, type)) })),
    (name): AskedValue => {
      const column = columnOf(name, columns, "group_by");
      if (!takesType(null, column.type)) throw validationError(`"${name}" cannot be grouped`);
      return { alias: name, function: null, column };
    },
  );
  const bucket = meaning(
    bucketParts,
    (sent) => bucketOf(sent, columns),
    () => anyOf(bucketSchemas(columns)),
  );
  const { schema: names } = plain;
  return {
    ...choice([plain, bucket], (sent) => (isObject(sent) ? bucket : plain)),
    schema: () => anyOf([names(), ...bucketSchemas(columns)]),
  };
}

const bucketParts = object(
  {
    field: text(fault("Each object in group_by needs a field, a column name")),
    by: optional(
      value(
        (sent): sent is unknown => spanUnits.includes(sent as SpanUnit) || widthOf(sent) !== null,
        notABucket,
        () => ({}),
      ),
      null,
    ),
    part: optional(
      value(
        (sent): sent is DatePart => dateParts.includes(sent as DatePart),
        notAPart,
        () => ({ enum: dateParts }),
      ),
      null,
    ),
    alias: optional(alias, null),
  },
  { fault: notGroups, required: ["field"] },
);

interface SentBucket {
  readonly field: string;
  readonly by: unknown;
  readonly part: DatePart | null;
  readonly alias: string | null;
}

function bucketOf({ field, by, part, alias: own }: SentBucket, columns: Columns): AskedValue {
  if ((by === null) === (part === null))
    throw validationError("An object in group_by has either by or part");
  const column = columnOf(field, columns, "group_by");
  const bucket = bucketBy(by, part);
  if (!takesBucket(column.type, bucket))
    throw validationError(
      `"${field}", a ${column.type} column, cannot be grouped by ${part === null ? String(by) : `the ${part}`}`,
    );
  const name = own ?? (part === null ? `${field}_${String(by)}` : `${field}_part_${part}`);
  if (!aliasForm.test(name))
    throw validationError(`The group of "${field.slice(0, 100)}" needs an alias`);
  return { alias: name, function: null, column: bucketColumn(column, bucket) };
}

function bucketBy(by: unknown, part: DatePart | null): Bucket {
  if (part !== null) return { kind: "part", part, offsets: [] };
  const width = widthOf(by);
  return width === null
    ? { kind: "span", unit: by as SpanUnit, offsets: [] }
    : { kind: "bin", width };
}

/** Canonical digits of the width of a bin; null if it can be none. */
function widthOf(sent: unknown): string | null {
  const digits = jsonNumber(sent);
  if (digits === null || digits === "0" || digits.startsWith("-")) return null;
  const { precision, scale } = digitsOf(digits);
  const isFit = scale <= limits.binFractionMax && precision - scale <= limits.binDigitsMax;
  return isFit ? digits : null;
}

/** Dates have no hours. */
function takesBucket(type: ColumnType, bucket: Bucket): boolean {
  if (bucket.kind === "bin") return columnTypes[type].arithmetic !== null;
  const { spans } = columnTypes[type];
  const isHour = (bucket.kind === "span" ? bucket.unit : bucket.part) === "hour";
  return spans !== null && (spans === "hours" || !isHour);
}

const namesOf = (columns: Columns, takes: (type: ColumnType) => boolean): string[] =>
  [...describedColumns(columns)].flatMap(([name, { type }]) => (takes(type) ? [name] : []));

/** `{field, by}` and `{field, part}` of the columns that take each. */
export function bucketSchemas(columns: Columns): JsonSchema[] {
  const spans = Map.groupBy(spanUnits, (unit) =>
    JSON.stringify(
      namesOf(columns, (type) => takesBucket(type, { kind: "span", unit, offsets: [] })),
    ),
  );
  const parts = Map.groupBy(dateParts, (part) =>
    JSON.stringify(
      namesOf(columns, (type) => takesBucket(type, { kind: "part", part, offsets: [] })),
    ),
  );
  const numbers = namesOf(columns, (type) => takesBucket(type, { kind: "bin", width: "1" }));
  const fieldsIn = (names: string): JsonSchema => ({ enum: JSON.parse(names) as string[] });
  return [
    ...[...spans].flatMap(([names, units]) =>
      names === "[]" ? [] : bucketSchema(fieldsIn(names), "by", { enum: units }),
    ),
    ...[...parts].flatMap(([names, some]) =>
      names === "[]" ? [] : bucketSchema(fieldsIn(names), "part", { enum: some }),
    ),
    ...(numbers.length > 0 ? [bucketSchema({ enum: numbers }, "by", widthSchema)] : []),
  ];
}

const widthSchema: JsonSchema = {
  type: "number",
  exclusiveMinimum: 0,
  maximum: 10 ** limits.binDigitsMax - 1,
  description: `At most ${limits.binFractionMax} digits behind the decimal point.`,
};

const bucketSchema = (field: JsonSchema, name: "by" | "part", schema: JsonSchema): JsonSchema =>
  closedObject({ field, [name]: schema, alias: bucketParts.schema().properties!["alias"]! }, [
    "field",
    name,
  ]);

/** Groups whose columns any text names. */
export const namedGroupSchema = (): JsonSchema => {
  const field: JsonSchema = { type: "string" };
  return anyOf([
    field,
    bucketSchema(field, "by", { enum: spanUnits }),
    bucketSchema(field, "part", { enum: dateParts }),
    bucketSchema(field, "by", widthSchema),
  ]);
};

/** The column of a bucket that follows another one of its kind. */
export const isFillable = ({ derived }: Column): boolean =>
  derived?.kind === "bucket" && derived.bucket.kind !== "part";
