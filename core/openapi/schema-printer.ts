/**
 * Prints schemas into a document. A part that occurs several times becomes a named component, and references replace
 * it. Parts are compared by content, not by object.
 */
import type { Json } from "../values/json.ts";
import type { JsonSchema } from "../values/json-schema.ts";
import { createUniqueNames, pascalCase } from "./naming.ts";

/** The schemas of a document that have names. */
export interface SchemaRegistry {
  /** By name. */
  readonly schemas: Map<string, Json>;
  /** Takes a name; the next one who wants it gets another. */
  readonly uniqueName: (wanted: string) => string;
  /** Parts that no endpoint owns, by their key. */
  readonly shared: ReadonlyMap<string, SharedPart>;
  /** The keys of these parts and of their contents, by content. */
  readonly sharedKeys: ReadonlyMap<string, string>;
}

interface SharedPart {
  readonly name: string;
  /** With references to the parts in `needs`. */
  readonly printed: Json;
  readonly needs: readonly SharedPart[];
}

/** `named`: the parts that no endpoint owns, by name. A part that occurs in another one comes before it. */
export function createSchemaRegistry(named: ReadonlyMap<string, JsonSchema>): SchemaRegistry {
  const { intern, keys: sharedKeys } = createInterning("shared");
  const schemas = new Map<string, Json>();
  const shared = new Map<string, SharedPart>();
  const print = ({ own, parts }: SchemaNode, needs: SharedPart[]): Json =>
    replaceParts(own, (at) => {
      const part = parts[at]!;
      const known = shared.get(part.key);
      if (!known) return print(part, needs);
      needs.push(known);
      return referenceTo(known.name);
    }) as Json;
  const uniqueName = createUniqueNames();
  for (const [name, schema] of named) {
    const node = intern(schema, "");
    const needs: SharedPart[] = [];
    const printed = print(node, needs);
    shared.set(node.key, { name: uniqueName(name), printed, needs });
  }
  return { schemas, uniqueName, shared, sharedKeys };
}

const referenceTo = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });

export interface SchemaPrinter {
  /**
   * Must be called for every schema before the first one is printed, to find parts that occur several times. `owner`:
   * prefix of the names of parts that occur in no other schema.
   */
  collect(schema: JsonSchema, hint: string, owner: string): void;
  /** Gives the part a name wherever it occurs. */
  name(schema: JsonSchema, wanted: string): void;
  /** The schema itself, with references to its named parts; or a reference to it. */
  print(schema: JsonSchema): Json;
  /** Whether it is a part that no endpoint owns. */
  isShared(schema: JsonSchema): boolean;
  /** A reference to the schema, which becomes a separate component. */
  printAs(schema: JsonSchema, wanted: string): Json;
}

/** `prefix`: of the names of parts that occur several times. */
export function createSchemaPrinter(registry: SchemaRegistry, prefix: string): SchemaPrinter {
  const { intern } = createInterning("own", registry.sharedKeys);

  function nameOf(node: SchemaNode): string | null {
    if (node.name !== null) return node.name;
    if (node.uses < 2 || node.length < namedLengthMin || node.hint === "") return null;
    const { owner } = node;
    return (node.name = registry.uniqueName(
      prefix + pascalCase(owner ?? "") + pascalCase(node.hint),
    ));
  }

  function printNode(node: SchemaNode): Json {
    const shared = registry.shared.get(node.key);
    if (shared) return printShared(shared);
    const name = nameOf(node);
    return name === null ? inline(node) : define(name, node);
  }

  function printShared({ name, printed, needs }: SharedPart): Json {
    registry.schemas.set(name, printed);
    for (const part of needs) printShared(part);
    return referenceTo(name);
  }

  function define(name: string, node: SchemaNode): Json {
    if (!registry.schemas.has(name)) {
      // Reserves its place before its parts get theirs.
      registry.schemas.set(name, null);
      registry.schemas.set(name, inline(node));
    }
    return referenceTo(name);
  }

  // A schema is JSON: its members that are not parts are copied.
  const inline = ({ own, parts }: SchemaNode): Json =>
    replaceParts(own, (at) => printNode(parts[at]!)) as Json;

  return {
    collect(schema, hint, owner) {
      const node = intern(schema, hint);
      node.uses++;
      own(node, owner);
    },
    name(schema, wanted) {
      const node = intern(schema, "");
      if (registry.shared.has(node.key)) return;
      node.name ??= registry.uniqueName(wanted);
    },
    print: (schema) => printNode(intern(schema, "")),
    isShared: (schema) => registry.shared.has(intern(schema, "").key),
    printAs(schema, wanted) {
      const node = intern(schema, "");
      const shared = registry.shared.get(node.key);
      return shared ? printShared(shared) : define(registry.uniqueName(wanted), node);
    },
  };
}

/** Shorter parts are just as readable inline. */
const namedLengthMin = 400;

interface SchemaNode {
  /** Equal for schemas with the same content. */
  readonly key: string;
  /** Characters of the schema as text, about. */
  readonly length: number;
  /** With a number in the place of each part. */
  readonly own: Parted<number>;
  readonly parts: readonly SchemaNode[];
  /** The member under which it was found first. */
  hint: string;
  /** The number of its occurrences. */
  uses: number;
  /** The only one of the collected schemas in which it occurs; empty = there are several. */
  owner: string | null;
  name: string | null;
}

function own(node: SchemaNode, owner: string): void {
  if (node.owner === owner || node.owner === "") return;
  node.owner = node.owner === null ? owner : "";
  for (const part of node.parts) own(part, node.owner);
}

/** One node for all schemas with the same content. `known`: existing keys, by content. */
function createInterning(prefix: string, known: ReadonlyMap<string, string> = new Map()) {
  const byText = new Map<string, SchemaNode>();
  const bySchema = new Map<JsonSchema, SchemaNode>();
  const keys = new Map<string, string>();

  function intern(schema: JsonSchema, hint: string): SchemaNode {
    const found = bySchema.get(schema) ?? create(schema, hint);
    bySchema.set(schema, found);
    if (found.hint === "") found.hint = hint;
    return found;
  }

  function create(schema: JsonSchema, hint: string): SchemaNode {
    const parts: SchemaNode[] = [];
    const own = replaceParts<JsonSchema, number>(
      schema,
      (part, place) => parts.push(intern(part, hintFor(place, hint))) - 1,
    );
    const text = `${JSON.stringify(own)} ${parts.map(({ key }) => key).join(" ")}`;
    const found = byText.get(text);
    if (found) return found;
    let length = text.length;
    for (const part of parts) {
      part.uses++;
      length += part.length;
    }
    const key = known.get(text) ?? `${prefix}${keys.size}`;
    keys.set(text, key);
    const node = { key, length, own, parts, hint, uses: 0, owner: null, name: null };
    byText.set(text, node);
    return node;
  }

  return { intern, keys };
}

function hintFor(place: Place, hint: string): string {
  if (place === "branch") return hint;
  return place === "items" ? hint.replace(/(?<=[a-z]{2})s$/, "") : place.name;
}

/** The place of a part: under a name below `properties`, or elsewhere in its schema. */
type Place = { readonly name: string } | "items" | "branch";

/** The schema with each part replaced. */
function replaceParts<Part, Other>(
  schema: Parted<Part>,
  replace: (part: Part, place: Place) => Other,
): Parted<Other> {
  const { properties, items, additionalProperties: further, allOf, anyOf, not, ...own } = schema;
  const branch = (part: Part): Other => replace(part, "branch");
  return {
    ...own,
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, part]) => [name, replace(part, { name })]),
      ),
    }),
    ...(further !== undefined && {
      additionalProperties: typeof further === "boolean" ? further : replace(further, "items"),
    }),
    ...(items !== undefined && { items: replace(items, "items") }),
    ...(allOf && { allOf: allOf.map(branch) }),
    ...(anyOf && { anyOf: anyOf.map(branch) }),
    ...(not !== undefined && { not: branch(not) }),
  };
}

/** A schema whose parts are something else than schemas. */
interface Parted<Part> extends Omit<JsonSchema, PartKeyword> {
  readonly properties?: Readonly<Record<string, Part>>;
  readonly additionalProperties?: boolean | Part;
  readonly items?: Part;
  readonly allOf?: readonly Part[];
  readonly anyOf?: readonly Part[];
  readonly not?: Part;
}

type PartKeyword = "properties" | "additionalProperties" | "items" | "allOf" | "anyOf" | "not";
