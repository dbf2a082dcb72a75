/** Requests of read, first and export, and what the lists answer, as JSON Schemas of one entity. */
import type { Entity, ExportPlan, ReadPlan } from "../plans/entity.ts";
import { type JsonSchema, orNull } from "../values/json-schema.ts";
import { absent, closedObject } from "../values/json-shapes.ts";
import { limits } from "../values/limits.ts";
import { selectedRecordSchema } from "./shown-schema.ts";
import { exportFormats } from "./export-list.ts";
import { onlyPage } from "./order.ts";
import {
  askedPageSchema,
  countModeSchema,
  cursorPaginationSchema,
  limitSchema,
  numberedPaginationSchema,
  perPageSchema,
  searchSchemas,
  selectSchema,
  sortSchema,
} from "./list-schema.ts";
import { equalitiesSchema, equalitySchema, whereSchema } from "./where-schema.ts";

/** A list: a page by its number, up to a limit, or from a cursor on. */
export function readSchema(plan: ReadPlan, { settings }: Entity): JsonSchema {
  const { columns, key } = plan;
  const request = closedObject({
    page: askedPageSchema(settings),
    per_page: perPageSchema,
    limit: limitSchema,
    count: countModeSchema,
    cursor: cursorSchema,
    select: selectSchema(columns),
    ...searchSchemas(columns),
    sort_columns: sortSchema(columns),
    where: whereSchema(columns),
  });
  const noCursor = { properties: { cursor: { enum: [false, null] } } } satisfies JsonSchema;
  const byCursor: JsonSchema = { properties: { page: absent, limit: absent } };
  if (onlyPage(plan) !== null)
    return { ...request, anyOf: [{ properties: { ...noCursor.properties, page: { const: 1 } } }] };
  const hasCursor = key.every(({ name }) => columns.has(name));
  return { ...request, anyOf: hasCursor ? [noCursor, byCursor] : [noCursor] };
}

const cursorSchema: JsonSchema = {
  type: ["boolean", "string", "null"],
  pattern: "^[A-Za-z0-9_-]+$",
  maxLength: limits.cursorLengthMax,
  description: "true begins; the next_cursor of an answer goes on.",
};

export const readAnswerSchema = ({ columns }: ReadPlan, { settings }: Entity): JsonSchema =>
  closedObject(
    {
      data: { type: "array", items: selectedRecordSchema(columns, settings) },
      count: { type: "integer", minimum: 0 },
      pagination: { anyOf: [numberedPaginationSchema, cursorPaginationSchema] },
    },
    ["data", "count"],
  );

/** The record that the conditions name. */
export const firstSchema = ({ columns }: ReadPlan): JsonSchema =>
  closedObject(
    {
      where: { anyOf: [equalitySchema(columns), equalitiesSchema(columns)] },
      select: selectSchema(columns),
    },
    ["where"],
  );

export const firstAnswerSchema = ({ columns }: ReadPlan, { settings }: Entity): JsonSchema =>
  closedObject({ data: orNull(selectedRecordSchema(columns, settings)) }, ["data"]);

/** All rows of an export, and the form of its file. */
export const exportSchema = ({ columns }: ExportPlan): JsonSchema =>
  closedObject({
    format: { enum: [...exportFormats, null], default: "xlsx" },
    where: whereSchema(columns),
    sort_columns: sortSchema(columns, ["direction", "order"]),
  });
