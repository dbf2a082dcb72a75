/**
 * Records in bodies. Rules read the fields; a grammar only lists the members. A body may also hold members that answers
 * show but no body can set (`readOnly`), so that a client can send back the record that it read.
 */
import {
  asSent,
  described,
  type Grammar,
  meaning,
  object,
  type Parts,
  unread,
} from "../grammar/grammar.ts";
import { actorsOf, type AuditField } from "../plans/audit-columns.ts";
import type { Entity } from "../plans/entity.ts";
import type { InsertPlan } from "../plans/write-plan.ts";
import type { Rules } from "../rules/compile-rules.ts";
import type { Column, Columns } from "../values/types/column.ts";
import { columnTypes } from "../values/types/column-types.ts";
import { type AppError, invalidPayload } from "../values/errors.ts";
import { type JsonSchema, orNull } from "../values/json-schema.ts";
import type { Key, KeyValue } from "../values/types/key.ts";
import { maySend, mustBeSent, type NewKeyColumns } from "../values/types/new-key.ts";
import { comparedSchema } from "../values/types/schemas.ts";
import { hasHandlers } from "./events.ts";
import type { InsertingPlan, RecordPlan } from "./record.ts";
import { keyOf } from "./record-key.ts";

/** The body of create. A before handler may add missing fields. */
export const newRecord = (plan: InsertingPlan, entity: Entity): Grammar<Record<string, unknown>> =>
  asSent(() => {
    const columns = recordColumns(plan, entity);
    const required = hasHandlers(entity, "onBeforeInsert") ? [] : neededOf(columns);
    return object(recordMembers(columns, "create"), { required });
  }, notARecord);

/** The error of an item of a list. */
export const notARecord = (index: number): AppError =>
  invalidPayload(`data[${index}] must be an object`);

/** The body of update. The meaning is the key. */
export const changedRecord = (plan: RecordPlan, entity: Entity): Grammar<KeyValue> =>
  meaning(changedRecordBody(plan, entity), (body) => keyOf({ body, entity }, plan.write.key));

/**
 * The key, and either nothing else or at least one field to change. With before handlers, which can add fields, any
 * other members will do.
 */
export function changedRecordBody(
  plan: RecordPlan,
  entity: Entity,
): Grammar<Record<string, unknown>> {
  const { key } = plan.write;
  const shape = (): Grammar<unknown> => {
    const members = recordMembers(recordColumns(plan, entity), "update");
    const body = object(members, { required: namesOf(key) });
    if (hasHandlers(entity, "onBeforeUpdate")) return body;
    const forms = Object.keys(changingMembers(plan, entity)).map((name) => ({ required: [name] }));
    return described(body, { anyOf: [...forms, { maxProperties: key.length }] });
  };
  return asSent(shape, notARecord);
}

/** At least one field to change, without a key. */
export const changedFields = (plan: RecordPlan, entity: Entity): Grammar<Record<string, unknown>> =>
  asSent(() => described(object(changingMembers(plan, entity)), { minProperties: 1 }));

/** The members of a body that change something. */
function changingMembers(plan: RecordPlan, entity: Entity): Parts {
  const actors = actorMembers(actorsOf(plan.write.audit, "update"), plan.write.shown, entity.rules);
  return { ...writableMembers(recordColumns(plan, entity)), ...actors };
}

/** Of a record that a body holds. */
export interface RecordColumns extends NewKeyColumns, Pick<InsertPlan, "writable" | "audit"> {
  readonly rules: Rules;
  /** The columns of the key that name it. Absent: all. */
  readonly lineKey?: Key;
  /** The columns that answers show. */
  readonly answered: readonly Columns[];
}

export const recordColumns = (
  { write, read }: InsertingPlan,
  { rules }: Pick<Entity, "rules">,
): RecordColumns => ({ ...write, rules, answered: [write.shown, read.columns] });

/** `when`: the record is new, or is changed. */
export function recordMembers(columns: RecordColumns, when: AuditField["when"]): Parts {
  const { key, lineKey = key, shown, writable, audit, answered } = columns;
  const actors = actorsOf(audit, when);
  const named = when === "create" ? sentKey(columns) : lineKey;
  return {
    ...(when === "create" ? newKeyMembers(columns) : keyMembers(lineKey, key)),
    ...writableMembers(columns),
    ...actorMembers(actors, shown, columns.rules),
    ...readOnlyMembers(answered, [...named, ...writable.values(), ...actors]),
  };
}

/** Members that a body may set; those that no answer shows are `writeOnly`. */
function writableMembers({ rules, writable, answered }: RecordColumns): Parts {
  const isShown = (name: string): boolean => answered.some((columns) => columns.has(name));
  const schemaOf = (column: Column): JsonSchema =>
    isShown(column.name) ? rules.schemaOf(column) : { ...rules.schemaOf(column), writeOnly: true };
  return Object.fromEntries(
    [...writable].map(([name, column]) => [name, unread(() => schemaOf(column))]),
  );
}

/** The names that a new record must have. */
export const neededOf = (columns: RecordColumns): string[] => [
  ...namesOf(mustBeSent(columns)),
  ...columns.rules.neededOf(columns.writable),
];

/** The key of an existing record, or the `named` columns of it. An empty text is no key by itself. */
export const keyMembers = (named: Key, key: Key = named): Parts =>
  Object.fromEntries(
    named.map((column) => [
      column.name,
      unread(() =>
        key.length > 1 && columnTypes[column.type].isText
          ? (comparedSchema(column) ?? {})
          : { ...comparedSchema(column), minLength: 1 },
      ),
    ]),
  );

/** The columns of a new record's key whose values in a body count. */
const sentKey = (made: NewKeyColumns): Key =>
  [...made.keyColumns.values()].filter((column) => maySend(column, made));

/** The key of a new record, by its columns. If it can be generated, several values request that. */
function newKeyMembers(made: RecordColumns): Parts {
  const needed = mustBeSent(made);
  return Object.fromEntries(
    sentKey(made).map((column) => [
      column.name,
      unread(() => {
        const own = made.rules.schemaOf(column);
        if (needed.includes(column)) return own;
        const isPart = made.key.length > 1 && columnTypes[column.type].isText;
        return { anyOf: [own, { enum: isPart ? [null] : ["", "-", null] }] };
      }),
    ]),
  );
}

/** The user who changes the record; empty or null: the service's default. Hidden columns are left out. */
export const actorMembers = (columns: readonly Column[], shown: Columns, rules: Rules): Parts =>
  Object.fromEntries(
    columns
      .filter(({ name }) => shown.has(name))
      .map((column) => [column.name, unread(() => orNull(rules.schemaOf(column)))]),
  );

/** Members that a body may contain without effect: all columns of `shown` except the `named` ones. */
export function readOnlyMembers(shown: readonly Columns[], named: Iterable<Column>): Parts {
  const own = new Set([...named].map(({ name }) => name));
  const others = shown.flatMap((columns) => [...columns.keys()]).filter((name) => !own.has(name));
  return Object.fromEntries(others.map((name) => [name, readOnly]));
}

const readOnly = unread(() => ({ readOnly: true }));

export const namesOf = (columns: readonly Column[]): string[] => columns.map(({ name }) => name);
