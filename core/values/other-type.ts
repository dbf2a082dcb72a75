/** All types that the service does not know: their values travel as the texts that the database writes and reads. */
import {
  accepted,
  asItIs,
  isAboveByNature,
  textFormat,
  textOfShown,
  type TypeDefinition,
} from "./type-definition.ts";
import { acceptText, textOfCell, textOfOther } from "./text-type.ts";

const schema = { type: ["string", "number", "boolean"] } as const;

export const otherType: TypeDefinition = {
  accept: (column, value) =>
    typeof value === "boolean" ? accepted(String(value)) : acceptText(column, value),
  // A view may compute numbers, of which no database says the type beforehand.
  shownSchema: () => schema,
  acceptedSchema: () => schema,
  fromShown: textOfShown,

  ruleNames: [],
  strict: null,
  bounds: "number",
  fromOther: textOfOther,
  fromCell: textOfCell,
  cellForm: () => ({
    words: "Text in the form that the database writes",
    format: textFormat,
    width: 20,
  }),
  hasWords: false,
  fromFilter: asItIs,
  exportedAs: null,

  isCompared: true,
  isAbove: isAboveByNature,
  isSorted: true,
  isGrouped: true,
  hasExtremes: false,
  arithmetic: null,
  isJoined: false,
  hasText: true,
  hasMembers: false,
  wordsOf: null,
  findsRows: true,

  isText: false,
  isInstant: false,
  isForeign: true,
  isFolded: true,
  takesNewId: false,
  isShownAsGiven: false,
};
