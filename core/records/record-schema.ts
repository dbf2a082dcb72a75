/** What the writing actions answer of their records, as JSON Schemas of one entity. */
import { recordSchema } from "../lists/shown-schema.ts";
import type { Columns } from "../values/types/column.ts";
import type { Entity } from "../plans/entity.ts";
import type { JsonSchema } from "../values/json-schema.ts";
import { wholeObject } from "../values/json-shapes.ts";
import type { InsertingPlan, RecordPlan } from "./record.ts";

/**
 * The record that a write answers: as read through the view, plus the table's columns that the view lacks. If the view
 * omits the row, the record of the table.
 */
export function writtenSchema(
  { write, read }: InsertingPlan,
  schemaOf: (columns: Columns) => JsonSchema,
): JsonSchema {
  return write.readBack
    ? { anyOf: [schemaOf(new Map([...write.shown, ...read.columns])), schemaOf(write.shown)] }
    : schemaOf(write.shown);
}

/** The record in the answer of a write. */
export const recordAnswerSchema = (plan: InsertingPlan, { settings }: Entity): JsonSchema =>
  writtenSchema(plan, (columns) => recordSchema(columns, settings));

/** Answers of create, update and adjust; `done`: what they did with the record. */
export const writeAnswerSchema = (
  plan: InsertingPlan,
  entity: Entity,
  done: "added" | "updated" | "adjusted",
): JsonSchema =>
  wholeObject({ message: doneSchema(entity, done), data: recordAnswerSchema(plan, entity) });

/** The message of a write: `suppliers data successfully added`. */
export const doneSchema = (
  { name }: Pick<Entity, "name">,
  done: "added" | "updated" | "deleted" | "restored" | "adjusted" | "stored",
): JsonSchema => ({ const: `${name} data successfully ${done}` });

/** Answers of delete and restore; `done`: what they did with the records. */
export const recordsAnswerSchema = (
  { write }: RecordPlan,
  entity: Entity,
  done: "deleted" | "restored",
): JsonSchema =>
  wholeObject({
    message: doneSchema(entity, done),
    data: wholeObject({
      [`${done}_count`]: { type: "integer", minimum: 1 },
      [`${done}_items`]: { type: "array", items: recordSchema(write.shown, entity.settings) },
    }),
  });
