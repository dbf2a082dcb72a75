/** The part of JSON Schema that the service's schemas use. An unknown keyword or format throws an error. */
import type { JsonSchema } from "../../core/values/json-schema.ts";
import { canonicalJson, isObject } from "../../core/values/json.ts";
import { isDate, readTimestamp } from "../../core/values/formats.ts";
import { characterCount } from "../../core/values/text.ts";

/** Whether the schema takes the JSON value. */
export const takes = (schema: JsonSchema, value: unknown): boolean =>
  Object.entries(schema).every(([keyword, asked]) => {
    if (keyword === "properties" || keyword === "additionalProperties")
      return takesMembers(schema, value);
    const check = keywords[keyword];
    if (check === undefined) throw new Error(`unknown keyword ${keyword}`);
    return check(value, asked);
  });

/** `properties` and `additionalProperties`. */
function takesMembers({ properties = {}, additionalProperties = {} }: JsonSchema, value: unknown) {
  if (!isObject(value)) return true;
  return Object.entries(value).every(([name, member]) => {
    const schema = Object.hasOwn(properties, name) ? properties[name]! : additionalProperties;
    return typeof schema === "boolean" ? schema : takes(schema, member);
  });
}

type Check = (value: unknown, asked: unknown) => boolean;

const ofText =
  (holds: (text: string, asked: string) => boolean): Check =>
  (value, asked) =>
    typeof value !== "string" || holds(value, String(asked));
const ofNumber =
  (holds: (number: number, asked: number) => boolean): Check =>
  (value, asked) =>
    typeof value !== "number" || holds(value, Number(asked));
const ofItems =
  (holds: (items: unknown[], asked: unknown) => boolean): Check =>
  (value, asked) =>
    !Array.isArray(value) || holds(value, asked);

const formats: Record<string, (text: string) => boolean> = {
  date: isDate,
  "date-time": (text) => /T.*Z$/.test(text) && readTimestamp(text) !== null,
  uuid: (text) => /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text),
  email: (text) => /^\S+@\S+$/.test(text),
  uri: (text) => URL.canParse(text),
};

const keywords: Record<string, Check> = {
  type: (value, asked) =>
    [asked as string | string[]].flat().some((type) => isOfType(value, String(type))),
  enum: (value, asked) => (asked as unknown[]).includes(value),
  const: (value, asked) => value === asked,
  allOf: (value, asked) => (asked as JsonSchema[]).every((schema) => takes(schema, value)),
  anyOf: (value, asked) => (asked as JsonSchema[]).some((schema) => takes(schema, value)),
  not: (value, asked) => !takes(asked as JsonSchema, value),
  required: (value, asked) =>
    !isObject(value) || (asked as string[]).every((name) => Object.hasOwn(value, name)),
  minProperties: (value, asked) => !isObject(value) || Object.keys(value).length >= Number(asked),
  maxProperties: (value, asked) => !isObject(value) || Object.keys(value).length <= Number(asked),
  items: (value, asked) =>
    !Array.isArray(value) || value.every((item) => takes(asked as JsonSchema, item)),
  pattern: ofText((text, pattern) => new RegExp(pattern, "u").test(text)),
  format: ofText((text, name) => formats[name]!(text)),
  minLength: ofText((text, min) => characterCount(text) >= Number(min)),
  maxLength: ofText((text, max) => characterCount(text) <= Number(max)),
  minimum: ofNumber((number, min) => number >= min),
  maximum: ofNumber((number, max) => number <= max),
  exclusiveMinimum: ofNumber((number, min) => number > min),
  exclusiveMaximum: ofNumber((number, max) => number < max),
  // 33.41 / 0.01 is 3340.9999999999995.
  multipleOf: ofNumber(
    (number, unit) => Math.abs(number / unit - Math.round(number / unit)) < 1e-6,
  ),
  minItems: ofItems((items, min) => items.length >= Number(min)),
  maxItems: ofItems((items, max) => items.length <= Number(max)),
  uniqueItems: ofItems((items) => new Set(items.map(canonicalJson)).size === items.length),
  // Annotations for readers, which validate nothing.
  description: () => true,
  readOnly: () => true,
  writeOnly: () => true,
  contentEncoding: () => true,
  examples: () => true,
  default: () => true,
};

function isOfType(value: unknown, type: string): boolean {
  if (type === "null") return value === null;
  if (type === "array") return Array.isArray(value);
  if (type === "integer") return Number.isInteger(value);
  return typeof value === type;
}
