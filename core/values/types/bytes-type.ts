/** Bytes, as base64. */
import type { Column } from "./column.ts";
import { fromBase64, toBase64 } from "../formats.ts";
import type { JsonSchema } from "../json-schema.ts";
import {
  type Accepted,
  accepted,
  defineType,
  lengthFacet,
  opaque,
  refused,
} from "./type-definition.ts";

export const bytesType = defineType(opaque, {
  accept: acceptBytes,
  shownSchema: base64Schema,
  acceptedSchema: base64Schema,
  fromShown: (shown) => fromBase64(String(shown)),
  edmType: ({ bytesMax }) => ({ name: "Edm.Binary", facets: lengthFacet(bytesMax) }),
  ruleNames: [],
  cellForm: () => ({ words: "Bytes as base64", format: null, width: 20 }),
});

/** Base64, padded. */
export const showBytes = (bytes: Uint8Array): string => toBase64(bytes);

function acceptBytes(column: Column, value: unknown): Accepted {
  const bytes = typeof value === "string" ? fromBase64(value) : null;
  if (bytes === null) return refused("must be base64 text");
  if (column.fixedLength && bytes.length !== column.bytesMax)
    return refused(`must have exactly ${column.bytesMax} bytes`);
  return column.bytesMax !== null && bytes.length > column.bytesMax
    ? refused(`must have at most ${column.bytesMax} bytes`)
    : accepted(bytes);
}

/** Four characters for three bytes, the padding among them. */
function base64Schema({ bytesMax }: Column): JsonSchema {
  return {
    type: "string",
    contentEncoding: "base64",
    ...(bytesMax !== null && { maxLength: Math.ceil(bytesMax / 3) * 4 }),
  };
}
