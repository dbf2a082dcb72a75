/** True and false; 1, 0 and the four as text mean the same. */
import type { Column } from "./column.ts";
import {
  type Accepted,
  accepted,
  asItIs,
  isAboveByNature,
  refused,
  trimmedCell,
  type TypeDefinition,
} from "./type-definition.ts";

export const booleanType: TypeDefinition = {
  accept: acceptBoolean,
  shownSchema: () => ({ type: "boolean" }),
  acceptedSchema: () => ({
    type: ["boolean", "integer", "string"],
    enum: [true, false, 1, 0, "true", "false", "1", "0"],
  }),
  fromShown: (shown) => shown === true,

  ruleNames: ["boolean"],
  strict: {
    jsonType: "boolean",
    holds: (value) => typeof value === "boolean",
    expected: "true or false, not a number or text",
  },
  bounds: "number",
  fromOther: asItIs,
  fromCell: trimmedCell(asItIs),
  cellForm: () => ({ words: "Yes or no", format: null, width: 8 }),
  hasWords: true,
  fromFilter: asItIs,
  exportedAs: "boolean",

  isCompared: true,
  isAbove: isAboveByNature,
  isSorted: true,
  isGrouped: true,
  hasExtremes: false,
  arithmetic: null,
  isJoined: true,
  hasText: false,
  fromMember: null,
  wordsOf: new Map([
    [true, ["true", "1"]],
    [false, ["false", "0"]],
  ]),
  findsRows: true,

  isText: false,
  isInstant: false,
  isForeign: false,
  isFolded: false,
  takesNewId: false,
  isShownAsGiven: false,
};

function acceptBoolean(_column: Column, value: unknown): Accepted {
  if (value === true || value === 1 || value === "true" || value === "1") return accepted(true);
  if (value === false || value === 0 || value === "false" || value === "0") return accepted(false);
  return refused("must be true or false");
}
