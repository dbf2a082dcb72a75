/**
 * Arrays: each element is a value of the element type, and is accepted and shown as in a column of that type. The form
 * in statements is JSON text of the elements' forms, where an integer is its digits and bytes are base64.
 */
import type { Column } from "./column.ts";
import { toBase64 } from "../formats.ts";
import { type JsonSchema, orNull } from "../json-schema.ts";
import { acceptJson, jsonType } from "./json-types.ts";
import type { Scalar } from "../scalar.ts";
import { type Accepted, accepted, refused, type TypeDefinition } from "./type-definition.ts";

/** `typeOf` finds the type of a column. */
export const createArrayType = (typeOf: (column: Column) => TypeDefinition): TypeDefinition => ({
  ...jsonType,
  accept(column, value) {
    if (!Array.isArray(value)) return refused("must be an array");
    const { element } = column;
    if (element === undefined || typeOf(element).fromMember !== null)
      return acceptJson(column, value);
    const read = readItems(value, (item) => typeOf(element).accept(element, item));
    return typeof read === "string" ? refused(read) : accepted(JSON.stringify(read));
  },
  fromMember: (member) => [member],
  shownSchema: ({ element }, decimals) =>
    element ? listOf(typeOf(element).shownSchema(element, decimals)) : list,
  acceptedSchema: ({ element }) =>
    element ? listOf(typeOf(element).acceptedSchema(element)) : list,
  cellForm: () => ({ words: 'List as JSON, such as ["a", "b"]', format: null, width: 20 }),
  ruleNames: ["array"],
});

const list = { type: "array" } as const;

/** An array may hold arrays, with the elements in the innermost. */
const listOf = (item: JsonSchema): JsonSchema => ({
  type: "array",
  items: { anyOf: [orNull(item), list] },
});

type Item = Exclude<Scalar, bigint | Uint8Array> | Item[];

/**
 * The elements in their form, or what is wrong with one. Arrays within the array all have one length, as the database
 * requires.
 */
function readItems(
  items: readonly unknown[],
  accept: (item: unknown) => Accepted,
): Item[] | string {
  const read: Item[] = [];
  for (const [at, item] of items.entries()) {
    if (Array.isArray(item) !== Array.isArray(items[0]) || !isAlike(item, items[0]))
      return "must hold only elements, or arrays of one length";
    if (Array.isArray(item)) {
      const inner = readItems(item, accept);
      if (typeof inner === "string") return inner;
      read.push(inner);
      continue;
    }
    const one: Accepted = item === null ? accepted(null) : accept(item);
    if (!one.ok) return `has an element (number ${at + 1}) that ${one.message}`;
    read.push(portable(one.value));
  }
  return read;
}

/** Whether both are elements, or arrays of one length, which is not zero. */
function isAlike(left: unknown, right: unknown): boolean {
  if (!Array.isArray(left) || !Array.isArray(right)) return true;
  return left.length > 0 && left.length === right.length;
}

function portable(value: Scalar): Exclude<Item, Item[]> {
  if (value instanceof Uint8Array) return toBase64(value);
  return typeof value === "bigint" ? String(value) : value;
}
