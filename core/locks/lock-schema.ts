/** Answers of the lock actions as JSON Schemas; the same for every entity. */
import type { JsonSchema } from "../values/json-schema.ts";
import { wholeObject } from "../values/json-shapes.ts";

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
