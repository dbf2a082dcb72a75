/** All types that the service does not know: their values travel as the texts that the database writes and reads. */
import {
  type Accepted,
  accepted,
  defineType,
  refused,
  textFormat,
  usual,
} from "./type-definition.ts";
import type { Column } from "./column.ts";
import { notations } from "./notations.ts";
import { acceptText, textOfCell, textOfOther } from "./text-type.ts";

const schema = { type: ["string", "number", "boolean"] } as const;

export const otherType = defineType(usual, {
  accept: acceptOther,
  // A view may compute numbers, whose type no database reports beforehand.
  shownSchema: ({ native, notation }) =>
    native === "" && notation === undefined ? schema : { type: "string" },
  acceptedSchema: ({ notation }) =>
    notation === undefined ? schema : { type: ["string", "number"], ...notations[notation].schema },
  ruleNames: [],
  fromOther: textOfOther,
  fromCell: textOfCell,
  cellForm: () => ({
    words: "Text in the form that the database writes",
    format: textFormat,
    width: 20,
  }),
  exportedAs: null,
  hasExtremes: false,
  isJoined: false,
  isForeign: true,
  isFolded: true,
});

function acceptOther(column: Column, value: unknown): Accepted {
  const { notation } = column;
  if (notation === undefined)
    return typeof value === "boolean" ? accepted(String(value)) : acceptText(column, value);
  const text = acceptText({ ...column, lengthMax: null, fixedLength: false }, value);
  if (!text.ok) return text;
  const fault = notations[notation].fault(column, String(text.value));
  return fault === null ? text : refused(fault);
}
