/** Bodies and answers of the lock actions as JSON Schemas of one entity. */
import type { JsonSchema } from "../json-schema.ts";
import { anyOf, closedObject, wholeObject } from "../json-shapes.ts";
import { limits } from "../limits.ts";
import { alike } from "../lists/where-schema.ts";
import type { LockPlan } from "./lock-keys.ts";

/** What every body names: the records, and perhaps the endpoint. */
export const lockKeyMembers = (
  { columns }: LockPlan,
  endpoint: string,
): Record<string, JsonSchema> => ({
  resource: { const: endpoint },
  lock_keys: {
    type: "array",
    minItems: 1,
    maxItems: limits.lockKeysMax,
    items: anyOf(
      alike(columns).flatMap(({ key, value }) =>
        value === null ? [] : [wholeObject({ key, value })],
      ),
    ),
  },
});

/** As lock/acquire answered it. */
export const lockTokenSchema: JsonSchema = { type: "string", minLength: 1 };

export const lockOwnerSchema: JsonSchema = {
  type: ["string", "null"],
  maxLength: limits.lockOwnerLengthMax,
};

/** `ttlSecondsMax`: the project's largest. */
export const lockTtlSchema = (ttlSecondsMax: number): JsonSchema => ({
  type: ["integer", "null"],
  minimum: 1,
  maximum: ttlSecondsMax,
  default: Math.min(limits.lockTtlSecondsDefault, ttlSecondsMax),
});

const shownKey = { key: { type: "string" }, value: {} } as const;
const count: JsonSchema = { type: "integer", minimum: 0 };

export const acquiredSchema: JsonSchema = wholeObject({
  data: wholeObject({
    lock_token: { type: "string" },
    resource: { type: "string" },
    locked_keys: { type: "array", items: wholeObject(shownKey) },
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
      items: closedObject(
        {
          ...shownKey,
          locked: { type: "boolean" },
          owner: { type: ["string", "null"] },
          ttl_remaining: { type: "integer" },
        },
        ["key", "value", "locked", "owner", "ttl_remaining"],
      ),
    },
  }),
});
