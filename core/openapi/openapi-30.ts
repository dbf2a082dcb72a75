/**
 * An OpenAPI document as version 3.0.3 has it, for importers that know no 3.1. Version 3.0 has no type "null", no lists
 * of types, no `const`, and one `example` in place of `examples`; its schemas take the same values.
 */
import { isObject, type Json } from "../values/json.ts";
import { createBreath } from "../values/breath.ts";
import type { OpenApiDocument } from "./describe.ts";

type Members = Readonly<Record<string, Json>>;

/** A printed schema, or a reference to one. */
type Schema = Members;

export interface OpenApi30Document extends Omit<OpenApiDocument, "openapi" | "paths"> {
  readonly openapi: "3.0.3";
  readonly paths: Members;
}

/** `version` absent: as it is. */
export const inVersion = async (
  document: OpenApiDocument,
  version: string | undefined,
): Promise<OpenApiDocument | OpenApi30Document> =>
  version === "3.0" ? asOpenApi30(document) : document;

/** Other work of the process goes on meanwhile. */
async function asOpenApi30(document: OpenApiDocument): Promise<OpenApi30Document> {
  const breathe = createBreath();
  const { openapi: _version, paths, ...rest } = document;
  const { schemas = {}, ...components } = document.components as Readonly<Record<string, Members>>;
  const converted = async (members: object, convert: (part: Json) => Json): Promise<Members> => {
    const made: Record<string, Json> = {};
    for (const [name, part] of Object.entries(members)) {
      made[name] = convert(part as Json);
      await breathe();
    }
    return made;
  };
  return {
    openapi: "3.0.3",
    ...rest,
    paths: await converted(paths, partsIn),
    components: {
      ...(await converted(components, partsIn)),
      ...(Object.keys(schemas).length > 0 && { schemas: await converted(schemas, schemaOf30) }),
    },
  };
}

/** Whatever holds schemas: paths, operations, bodies, parameters, headers. Examples are values, and stay. */
function partsIn(part: Json): Json {
  if (Array.isArray(part)) return part.map(partsIn);
  if (!isObject(part)) return part;
  return Object.fromEntries(
    Object.entries(part).map(([name, member]) => {
      if (name === "schema") return [name, schemaOf30(member)];
      const isValue = name === "example" || name === "examples" || name.startsWith("x-");
      return [name, isValue ? member : partsIn(member)];
    }),
  );
}

const mapped = (members: Members, map: (member: Json) => Json): Members =>
  Object.fromEntries(Object.entries(members).map(([name, member]) => [name, map(member)]));

/** A printed schema, or a reference to one, as version 3.0 has it. */
export function schemaOf30(schema: Json): Schema {
  if (typeof schema === "boolean") return schema ? {} : { not: {} };
  const { $ref, ...own } = schema as Members;
  if ($ref !== undefined)
    // Beside a reference, nothing else counts.
    return Object.keys(own).length === 0 ? { $ref } : { allOf: [{ $ref }, schemaOf30(own)] };
  const { type, enum: values, const: only, anyOf, allOf, examples, ...others } = own;
  const taken = only === undefined ? (values as readonly Json[] | undefined) : [only];
  const types = type === undefined ? null : ([type].flat() as readonly string[]);
  const branches = anyOf === undefined ? [] : [nullableBranches((anyOf as Json[]).map(schemaOf30))];
  const items = schemaOf30(others["items"] ?? true);
  // Version 3.0 asks for the items of every list.
  const typed = typedBy(types, taken).map((some) =>
    some["type"] === "array" ? { ...some, items } : some,
  );
  if (typed.length > 1) branches.push(typed);
  const [first, ...further] = branches;
  const both = [
    ...((allOf as Json[] | undefined) ?? []).map(schemaOf30),
    ...further.map((some): Schema => ({ anyOf: [...some] })),
  ];
  return {
    ...(typed.length === 1 && typed[0]),
    ...keywordsIn(others),
    ...(first && { anyOf: [...first] }),
    ...(both.length > 0 && { allOf: both }),
    ...(Array.isArray(examples) && examples.length > 0 && { example: examples[0]! }),
  };
}

/** The keywords that hold schemas, or have another form. */
function keywordsIn(own: Members): Members {
  const { exclusiveMinimum, exclusiveMaximum, contentEncoding, ...same } = own;
  const { properties, items, additionalProperties: further, not } = own;
  return {
    ...same,
    ...(properties !== undefined && { properties: mapped(properties as Members, schemaOf30) }),
    ...(items !== undefined && { items: schemaOf30(items) }),
    ...(isObject(further) && { additionalProperties: schemaOf30(further) }),
    ...(not !== undefined && { not: schemaOf30(not) }),
    ...limitIn("minimum", own["minimum"], exclusiveMinimum),
    ...limitIn("maximum", own["maximum"], exclusiveMaximum),
    ...(contentEncoding === "base64" && { format: "byte" }),
  };
}

/** The stricter of two limits, and whether it is left out itself. */
function limitIn(name: "minimum" | "maximum", limit: unknown, exclusive: unknown): Members {
  if (typeof exclusive !== "number") return {};
  const isWithin =
    typeof limit === "number" && (name === "minimum" ? limit > exclusive : limit < exclusive);
  const flag = name === "minimum" ? "exclusiveMinimum" : "exclusiveMaximum";
  return isWithin ? {} : { [name]: exclusive, [flag]: true };
}

/** A schema for each of the types, with those of the values that have it. One that takes null is `nullable`. */
function typedBy(
  types: readonly string[] | null,
  values: readonly Json[] | undefined,
): readonly Schema[] {
  const named = types ?? (values && [...new Set(values.map(typeOf))]);
  if (!named) return [];
  const takesNull = named.includes("null") && (values?.includes(null) ?? true);
  const others = named.filter((type) => type !== "null");
  const schemas = (others.length === 0 ? ["string"] : others).flatMap((type): Schema[] => {
    const own = values?.filter((value) => isOfType(value, type));
    return own?.length === 0 && others.length > 0 ? [] : [{ type, ...(own && { enum: own }) }];
  });
  if (!takesNull) return schemas;
  // Without another type, null is its only value.
  const only = others.length === 0 ? [] : undefined;
  return schemas.map((schema, at) => {
    const own = (schema["enum"] as readonly Json[] | undefined) ?? only;
    return at > 0 ? schema : { ...schema, nullable: true, ...(own && { enum: [...own, null] }) };
  });
}

const typeOf = (value: Json): string =>
  value === null ? "null" : Array.isArray(value) ? "array" : typeof value;

const isOfType = (value: Json, type: string): boolean =>
  type === "integer" ? Number.isInteger(value) : typeOf(value) === type;

/** Of the branches, one that takes only null is a property of another one that has a type. */
function nullableBranches(branches: readonly Schema[]): readonly Schema[] {
  const isNull = ({ nullable, enum: values }: Schema): boolean =>
    nullable === true && Array.isArray(values) && values.length === 1;
  const others = branches.filter((branch) => !isNull(branch));
  const at = others.findIndex(({ type }) => type !== undefined);
  if (others.length === branches.length || at < 0) return branches;
  return others.with(at, orNull(others[at]!));
}

const orNull = (schema: Schema): Schema => {
  const values = schema["enum"] as readonly Json[] | undefined;
  return {
    ...schema,
    nullable: true,
    ...(values && !values.includes(null) && { enum: [...values, null] }),
  };
};
