/**
 * Grammars define what a request may contain. A grammar reads one place of a request and describes it as JSON Schema.
 * Large ones are composed of small ones. An action's `input` is a grammar, so its parser, the OpenAPI document and
 * strict requests cannot differ.
 */
import { closest } from "../values/closest.ts";
import type { AppError } from "../values/errors.ts";
import { isObject } from "../values/json.ts";
import { anything, type JsonSchema, orNull } from "../values/json-schema.ts";
import { anyOf, closedObject } from "../values/json-shapes.ts";
import { readWholeNumber } from "../values/types/numbers.ts";

export interface Grammar<T> {
  /**
   * The meaning of `sent`, which is undefined if the request has no such member. `index`: its place as an item of a
   * list. Throws an AppError that names the fault.
   */
  read(sent: unknown, index?: number): T;
  /** What `read` accepts. Created on demand, because most schemas are never shown. */
  schema(): JsonSchema;
  /** Parts that the grammar does not know, for strict requests. Absent: there can be none. */
  unknownIn?(sent: unknown, path: string): Iterable<UnknownMember>;
}

/** What a grammar reads. */
export type Meaning<G> = G extends Grammar<infer T> ? T : never;

export interface UnknownMember {
  /** As `where.conditions[0].ke`. */
  readonly path: string;
  /** The known name that was probably meant. */
  readonly near: string | null;
}

/** Creates the error of a faulty place. */
export type MakeError = () => AppError;

export type Parts = Readonly<Record<string, Grammar<unknown>>>;

export type Meanings<M extends Parts> = { readonly [Name in keyof M]: Meaning<M[Name]> };

interface ObjectLimits<Name> {
  readonly fault?: MakeError;
  /** For the schema: the member's own grammar refuses undefined. */
  readonly required?: readonly Name[];
  /** True: any other members are passed over, also by strict requests. */
  readonly isOpen?: boolean;
}

/** An object; members are read in the order given here. */
export function object<M extends Parts>(
  members: M,
  { fault, required = [], isOpen = false }: ObjectLimits<keyof M & string> = {},
): Grammar<Meanings<M>> {
  const entries = Object.entries(members);
  return {
    read(sent) {
      if (!isObject(sent)) throw fault === undefined ? new TypeError("not an object") : fault();
      const meanings: Record<string, unknown> = {};
      for (const [name, member] of entries)
        meanings[name] = member.read(Object.hasOwn(sent, name) ? sent[name] : undefined);
      return meanings as Meanings<M>;
    },
    schema: () => ({ ...closedObject(schemasOf(members), required), additionalProperties: isOpen }),
    *unknownIn(sent, path) {
      if (!isObject(sent)) return;
      // Names only: there may be many, and the caller stops after a few unknown ones.
      for (const name of Object.keys(sent)) {
        const at = path === "" ? name : `${path}.${name}`;
        const member = Object.hasOwn(members, name) ? members[name] : undefined;
        if (member !== undefined) yield* member.unknownIn?.(sent[name], at) ?? [];
        else if (!isOpen) yield { path: at, near: closest(name, Object.keys(members)) };
      }
    },
  };
}

export const schemasOf = (members: Parts): Record<string, JsonSchema> =>
  Object.fromEntries(Object.entries(members).map(([name, member]) => [name, member.schema()]));

/**
 * An object that stays as it was sent, because rules or others read its members. `shape` defines the allowed members.
 * It is called when the schema is first shown or searched for unknown members.
 */
export const asSent = (
  shape: () => Grammar<unknown>,
  fault?: (index: number) => AppError,
): Grammar<Record<string, unknown>> => ({
  ...recursive(shape),
  read(sent, index = 0) {
    if (isObject(sent)) return sent;
    throw fault?.(index) ?? new TypeError("not an object");
  },
});

/** A member that others read. */
export const unread = (schema: () => JsonSchema): Grammar<unknown> => ({ ...whatever, schema });

/** An array of `items`. `fault`: it is not an array, or is empty with `min` 1; `tooMany`: it has more than `max`. */
export function list<T>(
  items: Grammar<T>,
  { fault, min = 0, max, tooMany = fault }: ListLimits,
): Grammar<T[]> {
  return {
    read(sent) {
      if (!Array.isArray(sent) || sent.length < min) throw fault();
      if (max !== undefined && sent.length > max) throw tooMany();
      return sent.map((item, index) => items.read(item, index));
    },
    schema: () => ({
      type: "array",
      items: items.schema(),
      ...(min > 0 && { minItems: min }),
      ...(max !== undefined && { maxItems: max }),
    }),
    *unknownIn(sent, path) {
      if (!Array.isArray(sent)) return;
      for (const [at, item] of sent.entries())
        yield* items.unknownIn?.(item, `${path}[${at}]`) ?? [];
    },
  };
}

interface ListLimits {
  readonly fault: MakeError;
  readonly min?: 0 | 1;
  readonly max?: number;
  readonly tooMany?: MakeError;
}

/** One of several forms; `pick` chooses the one of a request. The schema accepts any of them. */
export const choice = <T>(
  forms: readonly Grammar<T>[],
  pick: (sent: unknown) => Grammar<T>,
): Grammar<T> => ({
  read: (sent) => pick(sent).read(sent),
  schema: () => anyOf(forms.map((form) => form.schema())),
  unknownIn: (sent, path) => pick(sent).unknownIn?.(sent, path) ?? [],
});

/** A grammar that contains itself: `make` is called when it is first used. */
export function recursive<T>(make: () => Grammar<T>): Grammar<T> {
  let made: Grammar<T> | undefined;
  const own = (): Grammar<T> => (made ??= make());
  return {
    read: (sent) => own().read(sent),
    schema: () => own().schema(),
    unknownIn: (sent, path) => own().unknownIn?.(sent, path) ?? [],
  };
}

/** The same requests with another meaning. `schema`: if the grammar's own is too general. */
export const meaning = <T, U>(
  grammar: Grammar<T>,
  mean: (value: T, index: number) => U,
  schema: () => JsonSchema = grammar.schema,
): Grammar<U> => ({
  ...grammar,
  schema,
  read: (sent, index = 0) => mean(grammar.read(sent, index), index),
});

/** `otherwise` if nothing was sent; null counts as nothing. */
export const optional = <T, U>(
  grammar: Grammar<T>,
  otherwise: U,
  schema: () => JsonSchema = () => orNull(grammar.schema()),
): Grammar<T | U> => ({
  ...grammar,
  schema,
  read: (sent) => (sent === undefined || sent === null ? otherwise : grammar.read(sent)),
});

/** `otherwise` if nothing was sent; null is not a value. */
export const absentOr = <T, U>(grammar: Grammar<T>, otherwise: U): Grammar<T | U> => ({
  ...grammar,
  read: (sent) => (sent === undefined ? otherwise : grammar.read(sent)),
});

/** A whole number within these bounds, both included. `fromText`: as digits too, as queries and forms send it. */
export const wholeNumber = (
  { min, max, fromText = false }: { min: number; max: number; fromText?: boolean },
  fault: MakeError,
): Grammar<number> => ({
  read(sent) {
    const number = fromText || typeof sent === "number" ? readWholeNumber(sent) : null;
    if (number !== null && number >= min && number <= max) return number;
    throw fault();
  },
  schema: () => ({ type: "integer", minimum: min, maximum: max }),
});

/** One of these words. */
export const word = <T extends string>(words: readonly T[], fault: MakeError): Grammar<T> =>
  value(
    (sent): sent is T => words.includes(sent as T),
    fault,
    () => ({ enum: words }),
  );

/** The same, with further keywords in its schema. */
export const described = <T>(grammar: Grammar<T>, keywords: JsonSchema): Grammar<T> => ({
  ...grammar,
  schema: () => ({ ...grammar.schema(), ...keywords }),
});

/** A value for which `is` holds. */
export const value = <T>(
  is: (sent: unknown) => sent is T,
  fault: MakeError,
  schema: () => JsonSchema,
): Grammar<T> => ({
  read(sent) {
    if (is(sent)) return sent;
    throw fault();
  },
  schema,
});

const isText = (sent: unknown): sent is string => typeof sent === "string";

export const text = (
  fault: MakeError,
  schema = (): JsonSchema => ({ type: "string" }),
): Grammar<string> => value(isText, fault, schema);

/** Any value, but not a missing one. */
export const present = (fault: MakeError): Grammar<unknown> =>
  value(
    (sent): sent is unknown => sent !== undefined,
    fault,
    () => anything,
  );

/** Any value, unchanged. */
export const whatever: Grammar<unknown> = { read: (sent) => sent, schema: () => anything };
