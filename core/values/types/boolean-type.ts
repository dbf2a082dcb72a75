/** True and false; 1, 0 and the four as text mean the same. */
import type { Column } from "./column.ts";
import { type Accepted, accepted, defineType, edm, refused, usual } from "./type-definition.ts";

export const booleanType = defineType(usual, {
  accept: acceptBoolean,
  shownSchema: () => ({ type: "boolean" }),
  acceptedSchema: () => ({
    type: ["boolean", "integer", "string"],
    enum: [true, false, 1, 0, "true", "false", "1", "0"],
  }),
  fromShown: (shown) => shown === true,
  edmType: edm("Edm.Boolean"),
  ruleNames: ["boolean"],
  strict: {
    jsonType: "boolean",
    holds: (value) => typeof value === "boolean",
    expected: "true or false, not a number or text",
  },
  cellForm: () => ({ words: "Yes or no", format: null, width: 8 }),
  hasWords: true,
  exportedAs: "boolean",
  hasExtremes: false,
  hasText: false,
  wordsOf: new Map([
    [true, ["true", "1"]],
    [false, ["false", "0"]],
  ]),
});

function acceptBoolean(_column: Column, value: unknown): Accepted {
  if (value === true || value === 1 || value === "true" || value === "1") return accepted(true);
  if (value === false || value === 0 || value === "false" || value === "0") return accepted(false);
  return refused("must be true or false");
}
