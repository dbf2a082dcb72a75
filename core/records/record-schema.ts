/**
 * Bodies of create and update, and the record that a write answers, as JSON Schemas of one entity. A body may also hold what the answers
 * show and no body can set (`readOnly`): so a client can send back the record that it read.
 */
import { recordSchema } from "../lists/shown-schema.ts";
import type { Column, Columns } from "../values/column.ts";
import { acceptedSchema, comparedSchema } from "../values/schemas.ts";
import type { Entity } from "../plans/entity.ts";
import { type JsonSchema, orNull } from "../values/json-schema.ts";
import { closedObject, wholeObject } from "../values/json-shapes.ts";
import { equalitiesSchema } from "../lists/where-schema.ts";
import { hasHandlers } from "./events.ts";
import type { Rules } from "../rules/compile-rules.ts";
import { columnTypes } from "../values/column-types.ts";
import type { Key } from "../values/key.ts";
import type { InsertingPlan, RecordPlan } from "./record.ts";
import { maySend, mustBeSent, type NewKeyColumns } from "../values/new-key.ts";

/** What a write answers of its record: as it is read through the view, or, where the view leaves it out, as the table has it. */
export function writtenSchema(
  { write, read }: InsertingPlan,
  schemaOf: (columns: Columns) => JsonSchema,
): JsonSchema {
  return write.readBack
    ? { anyOf: [schemaOf(read.columns), schemaOf(write.shown)] }
    : schemaOf(write.shown);
}

/** What create, update and adjust answer: `done` is what they did with the record. */
export const writeAnswerSchema = (
  plan: InsertingPlan,
  entity: Entity,
  done: "added" | "updated" | "adjusted",
): JsonSchema =>
  wholeObject({
    message: doneSchema(entity, done),
    data: writtenSchema(plan, (columns) => recordSchema(columns, entity.settings)),
  });

/** The message of a write: `suppliers data successfully added`. */
export const doneSchema = (
  { name }: Pick<Entity, "name">,
  done: "added" | "updated" | "deleted" | "restored" | "adjusted",
): JsonSchema => ({ const: `${name} data successfully ${done}` });

/** What a body of create takes. A before handler may add what is missing. */
export function createSchema(plan: InsertingPlan, entity: Entity): JsonSchema {
  const { key, writable, audit } = plan.write;
  const { rules } = entity;
  return closedObject(
    {
      ...newKeySchemas(plan.write, rules),
      ...rules.schemasOf(writable),
      ...actorSchema(audit.createdBy, plan.write.shown),
      ...readOnlySchemas(
        [plan.write.shown, plan.read.columns],
        [...key, ...writable.values(), audit.createdBy],
      ),
    },
    hasHandlers(entity, "onBeforeInsert")
      ? []
      : [...mustBeSent(plan.write).map(({ name }) => name), ...rules.neededOf(writable)],
  );
}

/** What a body of update takes: the key and at least one field that it changes, unless a before handler may add one. */
export function updateSchema(plan: RecordPlan, entity: Entity): JsonSchema {
  const { key, writable, audit } = plan.write;
  const actor = actorSchema(audit.updatedBy, plan.write.shown);
  const properties = entity.rules.schemasOf(writable);
  const changing = Object.keys({ ...properties, ...actor });
  const body = closedObject(
    {
      ...keySchemas(key),
      ...properties,
      ...actor,
      ...readOnlySchemas(
        [plan.write.shown, plan.read.columns],
        [...key, ...writable.values(), audit.updatedBy],
      ),
    },
    key.map(({ name }) => name),
  );
  if (hasHandlers(entity, "onBeforeUpdate")) return body;
  return { ...body, anyOf: changing.map((name) => ({ required: [name] })) };
}

/** The key of a record that is there, or the `named` columns of it; an empty text alone is none. */
export const keySchemas = (named: Key, key: Key = named): Record<string, JsonSchema> =>
  Object.fromEntries(
    named.map((column) => [
      column.name,
      key.length > 1 && columnTypes[column.type].isText
        ? (comparedSchema(column) ?? {})
        : { ...comparedSchema(column), minLength: 1 },
    ]),
  );

/** The key of a new record, by its columns; where the service or the database makes one, several values ask for that. */
export function newKeySchemas(made: NewKeyColumns, rules: Rules): Record<string, JsonSchema> {
  const needed = mustBeSent(made);
  return Object.fromEntries(
    [...made.keyColumns.values()]
      .filter((column) => maySend(column, made))
      .map((column) => {
        const own = rules.schemaOf(column);
        if (needed.includes(column)) return [column.name, own];
        const isPart = made.key.length > 1 && columnTypes[column.type].isText;
        return [column.name, { anyOf: [own, { enum: isPart ? [null] : ["", "-", null] }] }];
      }),
  );
}

/** Who changes the record; empty or null: the service's own word. A hidden column is not named. */
export const actorSchema = (column: Column | null, shown: Columns): Record<string, JsonSchema> =>
  column !== null && shown.has(column.name)
    ? { [column.name]: orNull(acceptedSchema(column)) }
    : {};

/** Members that a body may hold and that set nothing: all columns of `shown` but the `named` ones. */
export function readOnlySchemas(
  shown: readonly Columns[],
  named: Iterable<Column | null>,
): Record<string, JsonSchema> {
  const own = new Set([...named].map((column) => column?.name));
  const others = shown.flatMap((columns) => [...columns.keys()]).filter((name) => !own.has(name));
  return Object.fromEntries(others.map((name) => [name, { readOnly: true }]));
}

/** What delete takes: conditions that name the records, and who deletes them where that is stored in `by`. */
export const deleteSchema = ({ write: { shown } }: RecordPlan, by: Column | null): JsonSchema =>
  closedObject({ where: equalitiesSchema(shown), ...actorSchema(by, shown) }, ["where"]);

/** What restore answers. */
export const restoreAnswerSchema = ({ write }: RecordPlan, entity: Entity): JsonSchema =>
  wholeObject({
    message: doneSchema(entity, "restored"),
    data: wholeObject({
      restored_count: { type: "integer", minimum: 1 },
      restored_items: { type: "array", items: recordSchema(write.shown, entity.settings) },
    }),
  });

export const deleteAnswerSchema = ({ write }: RecordPlan, entity: Entity): JsonSchema =>
  wholeObject({
    message: doneSchema(entity, "deleted"),
    data: wholeObject({
      deleted_count: { type: "integer", minimum: 1 },
      deleted_items: { type: "array", items: recordSchema(write.shown, entity.settings) },
    }),
  });
