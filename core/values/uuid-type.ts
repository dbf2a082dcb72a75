/** UUIDs, in lower case. */
import {
  accepted,
  asItIs,
  isAboveByNature,
  refused,
  textFormat,
  textOfShown,
  trimmedCell,
  type TypeDefinition,
} from "./type-definition.ts";

const uuidText = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const schema = { type: "string", format: "uuid" } as const;

export const uuidType: TypeDefinition = {
  accept: (_column, value) =>
    typeof value === "string" && uuidText.test(value)
      ? accepted(value.toLowerCase())
      : refused("must be a UUID"),
  shownSchema: () => schema,
  acceptedSchema: () => schema,
  fromShown: textOfShown,

  ruleNames: ["uuid"],
  strict: null,
  bounds: "number",
  fromOther: asItIs,
  fromCell: trimmedCell(asItIs),
  cellForm: () => ({ words: "UUID", format: textFormat, width: 38 }),
  hasWords: false,
  fromFilter: asItIs,
  exportedAs: "text",

  isCompared: true,
  isAbove: isAboveByNature,
  isSorted: true,
  isGrouped: true,
  hasExtremes: true,
  arithmetic: null,
  isJoined: true,
  hasText: true,
  fromMember: null,
  wordsOf: null,
  findsRows: true,

  isText: false,
  isInstant: false,
  isForeign: false,
  isFolded: false,
  takesNewId: true,
  isShownAsGiven: true,
};
