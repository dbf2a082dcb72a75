/**
 * Strict requests: finds members of a request that its schema does not know. Only objects that the schema closes
 * (`additionalProperties: false`) are checked; values are checked by the parsers. A schema is prepared once and then
 * used for each request.
 */
import { closest } from "../values/closest.ts";
import { invalidPayload } from "../values/errors.ts";
import { isObject } from "../values/json.ts";
import type { JsonSchema } from "../values/json-schema.ts";

/**
 * Rejects a request with unknown members (Invalid payload) and names them. `place`: the part of the request, for the
 * message.
 */
export type RefuseUnknown = (request: unknown, place: "payload" | "query") => void;

/** `schema`: of the whole request. */
export function refusingUnknown(schema: JsonSchema): RefuseUnknown {
  const known = knownIn([schema]);
  return (request, place) => {
    if (known === null) return;
    const members = unknownIn(request, known, "").take(namedMax).map(described).toArray();
    if (members.length === 0) return;
    const noun = members.length === 1 ? "member" : "members";
    throw invalidPayload(`Unknown ${noun} in the ${place}: ${members.join("; ")}`);
  };
}

/** Limits of one message: named members, and characters of each path. */
const namedMax = 10;
const pathLengthMax = 200;

interface UnknownMember {
  /** As `where.conditions[0].ke`. */
  readonly path: string;
  /** The known name that was probably meant. */
  readonly near: string | null;
}

function described({ path, near }: UnknownMember): string {
  const name = JSON.stringify(path.slice(0, pathLengthMax));
  return near === null ? name : `${name}, did you mean ${JSON.stringify(near)}?`;
}

/** What one place of a request may contain. */
interface Known {
  /** Alternative forms of an object, distinguished by their members. Empty: nothing is known about objects here. */
  readonly objects: readonly KnownObject[];
  /** Null: nothing is known about the items of an array. */
  readonly items: Known | null;
}

interface KnownObject {
  /** Null: any member is allowed. */
  readonly members: ReadonlyMap<string, Known | null>;
  readonly isClosed: boolean;
}

/** What several alternative schemas say about one place; null when anything is allowed there. */
function knownIn(schemas: readonly JsonSchema[]): Known | null {
  const described = schemas.flatMap(alternativesOf);
  if (described.some(isFree)) return null;
  const objects = described.filter(({ properties }) => properties !== undefined);
  const items = described.flatMap(({ items: own }) => own ?? []);
  if (objects.length + items.length === 0) return null;
  const alike = Map.groupBy(objects, (object) => namesIn(object).join("\n"));
  return {
    objects: [...alike.values()].map(knownObject),
    items: items.length === 0 ? null : knownIn(items),
  };
}

/** The alternatives of a schema that only chooses between others. */
const alternativesOf = (schema: JsonSchema): readonly JsonSchema[] =>
  schema.anyOf !== undefined && schema.properties === undefined
    ? schema.anyOf.flatMap(alternativesOf)
    : [schema];

const isFree = ({ type, const: only, enum: members, properties, items }: JsonSchema): boolean =>
  [type, only, members, properties, items].every((keyword) => keyword === undefined);

const namesIn = ({ properties = {} }: JsonSchema): string[] => Object.keys(properties).sort();

/** `objects`: schemas with the same names. */
function knownObject(objects: readonly JsonSchema[]): KnownObject {
  const names = namesIn(objects[0]!);
  const of = (name: string): JsonSchema[] => objects.map(({ properties }) => properties![name]!);
  return {
    members: new Map(names.map((name) => [name, knownIn(of(name))])),
    isClosed: objects.every(({ additionalProperties }) => additionalProperties === false),
  };
}

function* unknownIn(value: unknown, known: Known, path: string): Generator<UnknownMember> {
  if (Array.isArray(value) && known.items !== null) {
    for (const [at, item] of value.entries()) yield* unknownIn(item, known.items, `${path}[${at}]`);
  }
  const object = isObject(value) ? formOf(value, known.objects) : undefined;
  if (!isObject(value) || object === undefined) return;
  for (const [name, member] of Object.entries(value)) {
    const at = path === "" ? name : `${path}.${name}`;
    const own = object.members.get(name);
    if (own) yield* unknownIn(member, own, at);
    else if (own === undefined && object.isClosed)
      yield { path: at, near: closest(name, object.members.keys()) };
  }
}

/** Of several forms, the one that knows most of the object's members. */
function formOf(
  value: Record<string, unknown>,
  objects: readonly KnownObject[],
): KnownObject | undefined {
  if (objects.length < 2) return objects[0];
  const names = Object.keys(value);
  const count = ({ members }: KnownObject): number =>
    names.filter((name) => members.has(name)).length;
  return objects.reduce((best, one) => (count(one) > count(best) ? one : best));
}
