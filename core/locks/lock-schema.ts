/** Bodies and answers of the lock actions as JSON Schemas of one entity. */
import type { Entity } from "../plans/entity.ts";
import { type JsonSchema, orNull } from "../values/json-schema.ts";
import { anyOf, closedObject, wholeObject } from "../values/json-shapes.ts";
import { limits } from "../values/limits.ts";
import type { Key } from "../values/key.ts";
import { comparedSchema } from "../values/schemas.ts";
import { alike } from "../lists/where-schema.ts";
import type { LockPlan } from "./lock-keys.ts";

/** The records, and perhaps the endpoint: all of lock/status, and a part of the others. */
export const lockKeysSchema = (plan: LockPlan, entity: Entity): JsonSchema =>
  closedObject(membersOf(plan, entity), ["lock_keys"]);

/** With the token of an earlier answer it extends its locks. */
export function acquireSchema(plan: LockPlan, entity: Entity): JsonSchema {
  const { lockTtlSecondsMax: maximum } = entity.settings;
  const ttl: JsonSchema = {
    type: ["integer", "null"],
    minimum: 1,
    maximum,
    default: Math.min(limits.lockTtlSecondsDefault, maximum),
  };
  const owner: JsonSchema = { type: ["string", "null"], maxLength: limits.lockOwnerLengthMax };
  const members = membersOf(plan, entity);
  return closedObject({ ...members, ttl, owner, lock_token: orNull(tokenSchema) }, ["lock_keys"]);
}

export const releaseSchema = (plan: LockPlan, entity: Entity): JsonSchema =>
  closedObject({ ...membersOf(plan, entity), lock_token: tokenSchema }, [
    "lock_keys",
    "lock_token",
  ]);

/** As lock/acquire answered it. */
const tokenSchema: JsonSchema = { type: "string", minLength: 1 };

const membersOf = (
  { columns, key }: LockPlan,
  { name }: Pick<Entity, "name">,
): Record<string, JsonSchema> => ({
  resource: { const: name },
  lock_keys: {
    type: "array",
    minItems: 1,
    maxItems: limits.lockKeysMax,
    items: anyOf([
      ...alike(columns).map((pair) => wholeObject({ key: pair.key, value: pair.value })),
      ...(key.length === 0 ? [] : [wholeObject({ record: recordSchemaOf(key) })]),
    ]),
  },
});

/** A record by every column of its key. */
const recordSchemaOf = (key: Key): JsonSchema =>
  wholeObject(Object.fromEntries(key.map((column) => [column.name, comparedSchema(column) ?? {}])));

/** A key as the client named it. */
const shownKeys = (members: Record<string, JsonSchema> = {}): JsonSchema => ({
  anyOf: [
    wholeObject({ key: { type: "string" }, value: {}, ...members }),
    wholeObject({ record: { type: "object" }, ...members }),
  ],
});

const count: JsonSchema = { type: "integer", minimum: 0 };

export const acquiredSchema: JsonSchema = wholeObject({
  data: wholeObject({
    lock_token: { type: "string" },
    resource: { type: "string" },
    locked_keys: { type: "array", items: shownKeys() },
    ttl: { type: "integer" },
    owner: { type: ["string", "null"] },
    acquired_at: { type: "string", format: "date-time" },
    fence: { type: "integer" },
  }),
});

export const releasedSchema: JsonSchema = wholeObject({
  data: wholeObject({ released_keys: count, total_keys: count }),
});

export const lockStatesSchema: JsonSchema = wholeObject({
  data: wholeObject({
    keys: {
      type: "array",
      items: shownKeys({
        locked: { type: "boolean" },
        owner: { type: ["string", "null"] },
        ttl_remaining: { type: "integer" },
      }),
    },
  }),
});
