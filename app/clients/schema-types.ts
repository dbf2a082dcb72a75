/** Prints the schemas of an OpenAPI document as TypeScript types. Knows only the keywords that the service writes. */
import { isObject, type Json } from "../../core/values/json.ts";
import { arrayIn, memberOf, referenced, textOf } from "./document-operations.ts";

/** Prints a type. `nameOf`: the type of a shared schema. */
export type PrintType = (schema: Json) => string;

export function createTypePrinter(nameOf: (schema: string) => string): PrintType {
  function print(schema: Json): string {
    if (schema === false) return "never";
    if (!isObject(schema)) return "unknown";
    const name = referenced(schema);
    if (name !== null) return nameOf(name);
    const { const: only, enum: members } = schema;
    if (only !== undefined) return JSON.stringify(only);
    if (members !== undefined) return union(arrayIn(members).map((one) => JSON.stringify(one)));
    const parts = [
      ownType(schema),
      union(meaningful(memberOf(schema, "anyOf")).map(print)),
      ...meaningful(memberOf(schema, "allOf")).map(print),
    ].filter((part) => part !== "");
    const [first = "unknown", ...more] = new Set(parts);
    return more.length === 0 ? first : [first, ...more].map(inParentheses).join(" & ");
  }

  /** The type that the schema's own keywords describe; empty if they describe none. */
  function ownType(schema: Record<string, unknown>): string {
    const { type } = schema;
    const isNothing = isObject(schema["not"]) && Object.keys(schema["not"]).length === 0;
    if (isNothing) return "never";
    if (type === undefined) return isObject(schema["properties"]) ? objectType(schema) : "";
    // The joined schemas describe the objects.
    if (
      type === "object" &&
      !isObject(schema["properties"]) &&
      (schema["anyOf"] ?? schema["allOf"])
    )
      return "";
    return union([type].flat().map((one) => plainType(String(one), schema)));
  }

  function plainType(type: string, schema: Record<string, unknown>): string {
    if (type === "object") return objectType(schema);
    if (type === "array") return arrayType(schema);
    if (type === "string") return schema["format"] === "binary" ? "File" : "string";
    return type === "integer" ? "number" : type;
  }

  function arrayType({ items, maxItems }: Record<string, unknown>): string {
    if (maxItems === 0) return "[]";
    return `${inParentheses(print((items ?? {}) as Json))}[]`;
  }

  function objectType(schema: Record<string, unknown>): string {
    const required = arrayIn(schema["required"] as Json | undefined);
    const properties = Object.entries((schema["properties"] ?? {}) as Record<string, Json>)
      // Read-only: the service shows it, and ignores it in requests.
      .filter(([name, one]) => memberOf(one, "readOnly") !== true || required.includes(name))
      .map(([name, one]) => {
        const sign = required.includes(name) ? "" : "?";
        return `${commentOf(one)}${memberKey(name)}${sign}: ${print(one)};`;
      });
    const others = schema["additionalProperties"];
    const hasSchema = isObject(others) && Object.keys(others).length > 0;
    if (properties.length === 0 && hasSchema) return `Record<string, ${print(others as Json)}>`;
    const isOpen = others === true || hasSchema || (properties.length === 0 && others !== false);
    if (isOpen) properties.push("[name: string]: unknown;");
    return properties.length === 0 ? "Record<string, never>" : `{\n${properties.join("\n")}\n}`;
  }

  return print;
}

/** Schemas that add more than a limit to the keywords beside them; the others have no type. */
const meaningful = (schemas: Json | undefined): readonly Json[] => {
  const list = arrayIn(schemas);
  const says = (schema: Json): boolean =>
    ["type", "$ref", "enum", "const", "anyOf", "allOf"].some(
      (keyword) => memberOf(schema, keyword) !== undefined,
    ) || hasTypedProperty(schema);
  return list.filter(says);
};

/** `{"properties": {"error": {"enum": [...]}}}`, which narrows the type of the schema beside it. */
const hasTypedProperty = (schema: Json): boolean => memberOf(schema, "required") !== undefined;

/** Without duplicates. */
const union = (types: readonly string[]): string => [...new Set(types)].join(" | ");

const inParentheses = (type: string): string => (/[|&]/.test(type) ? `(${type})` : type);

export const memberKey = (name: string): string =>
  /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);

function commentOf(schema: Json): string {
  const description = textOf(memberOf(schema, "description"));
  return description === "" ? "" : `${jsDoc(description)}\n`;
}

/** A text of a document as a comment, which the text cannot end. */
export const jsDoc = (text: string): string =>
  `/** ${text.replaceAll("*/", "* /").replace(/\s+/g, " ").trim()} */`;
