/** UUIDs, in lower case. */
import { accepted, defineType, edm, refused, textFormat, usual } from "./type-definition.ts";

const uuidText = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const schema = { type: "string", format: "uuid" } as const;

export const uuidType = defineType(usual, {
  accept: (_column, value) =>
    typeof value === "string" && uuidText.test(value)
      ? accepted(value.toLowerCase())
      : refused("must be a UUID"),
  shownSchema: () => schema,
  acceptedSchema: () => schema,
  edmType: edm("Edm.Guid"),
  ruleNames: ["uuid"],
  cellForm: () => ({ words: "UUID", format: textFormat, width: 38 }),
  takesNewId: true,
  isShownAsGiven: true,
});
