/** The list of all column types. A new type needs a file in this folder and a line here. */
import type { ColumnType } from "./column.ts";
import { createArrayType } from "./array-type.ts";
import { booleanType } from "./boolean-type.ts";
import { bytesType } from "./bytes-type.ts";
import { dateType } from "./date-type.ts";
import { decimalType } from "./decimal-type.ts";
import { fileType } from "./file-type.ts";
import { floatType } from "./float-type.ts";
import { integerType } from "./integer-type.ts";
import { jsonType } from "./json-types.ts";
import { otherType } from "./other-type.ts";
import { textType } from "./text-type.ts";
import { timeType } from "./time-type.ts";
import { timestampType } from "./timestamp-type.ts";
import type { TypeDefinitions } from "./type-definition.ts";
import { uuidType } from "./uuid-type.ts";

export const columnTypes: TypeDefinitions = {
  text: textType,
  integer: integerType,
  decimal: decimalType,
  float: floatType,
  boolean: booleanType,
  date: dateType,
  timestamp: timestampType,
  time: timeType,
  uuid: uuidType,
  json: jsonType,
  bytes: bytesType,
  array: createArrayType(({ type }) => columnTypes[type]),
  file: fileType,
  other: otherType,
};

/** What `fieldValidation` calls the types. */
export const ruleTypes: ReadonlyMap<string, ColumnType> = new Map(
  Object.entries(columnTypes).flatMap(([type, { ruleNames }]) =>
    ruleNames.map((name) => [name, type as ColumnType] as const),
  ),
);
