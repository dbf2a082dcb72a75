/** Turns a request's body into the action's input: unwraps `{data, options}`, checks for unknown members, parses. */
import type { Grammar, UnknownMember } from "../grammar/grammar.ts";
import type { Entity } from "../plans/entity.ts";
import { invalidPayload } from "../values/errors.ts";
import { isObject } from "../values/json.ts";
import type { Scalar } from "../values/scalar.ts";
import { paramsName } from "./params.ts";

/** A request's body, and how it came. */
interface SentPayload<Method> {
  readonly method: Method;
  /** The client's JSON, or the query of a GET; undefined = none. */
  readonly body: unknown;
}

export interface ReadPayload {
  /** Own properties are what the client sent. */
  readonly body: Record<string, unknown>;
  /** The client's `options`; the service itself uses none of them. */
  readonly options: Record<string, unknown>;
  /** Reads `body`. */
  readonly grammar: Grammar<unknown>;
  /** Values for the parameters of the endpoint's queries; absent: the request cannot have any. */
  readonly params?: ReadonlyMap<string, Scalar>;
}

interface Takes<Method> {
  readonly entity: Entity;
  readonly takesOptions: boolean;
  readonly takesEmptyBody: boolean;
  grammarOf(method: Method): Grammar<unknown>;
  readonly params: Grammar<ReadonlyMap<string, Scalar>> | null;
}

/** The function rejects with the action's errors. Grammars are made at the first request of each method. */
export function payloadReader<Method extends "GET" | "POST">({
  entity,
  takesOptions,
  takesEmptyBody,
  grammarOf,
  params,
}: Takes<Method>): (request: SentPayload<Method>) => ReadPayload {
  const grammars = new Map<Method, Grammar<unknown>>();
  const refusesUnknown = entity.settings.unknownMembers !== "ignore";
  return ({ method, body: sent }) => {
    let grammar = grammars.get(method);
    if (grammar === undefined) {
      grammar = grammarOf(method);
      grammars.set(method, grammar);
    }
    const wrapped = takesOptions ? unwrap(sent) : { body: sent, options: {} };
    const body = payloadOf(wrapped.body, takesEmptyBody);
    if (refusesUnknown) refuseUnknown(grammar, body, method === "GET" ? "query" : "payload");
    const values = params?.read(Object.hasOwn(body, paramsName) ? body[paramsName] : undefined);
    return { body, options: wrapped.options, grammar, ...(values && { params: values }) };
  };
}

/** Whether the body itself asks for a dry run. */
export const asksForDryRun = (
  { takesDryRun }: { readonly takesDryRun: boolean },
  body: unknown,
): boolean => takesDryRun && isObject(body) && body["dry_run"] === true;

/** Only `{data: {...}, options: {...}}` is the wrapped form; anything else is a plain body. */
function unwrap(body: unknown): { body: unknown; options: Record<string, unknown> } {
  if (
    isObject(body) &&
    isObject(body["data"]) &&
    isObject(body["options"]) &&
    Object.keys(body).length === 2
  ) {
    return { body: body["data"], options: body["options"] };
  }
  return { body, options: {} };
}

function payloadOf(body: unknown, mayBeEmpty: boolean): Record<string, unknown> {
  const payload = body === undefined ? {} : body;
  if (!isObject(payload)) throw invalidPayload("The payload must be a JSON object");
  if (!mayBeEmpty && Object.keys(payload).length === 0)
    throw invalidPayload("The payload is empty");
  return payload;
}

/** Limits of a message about unknown members: how many are named, and characters of each path. */
const namedMax = 10;
const pathLengthMax = 200;

/** Rejects with Invalid payload, and names the members. `place`: the part of the request, for the message. */
export function refuseUnknown(
  grammar: Grammar<unknown>,
  sent: unknown,
  place: "payload" | "query",
): void {
  const found = grammar.unknownIn?.(sent, "") ?? [];
  const members = Iterator.from(found).take(namedMax).map(described).toArray();
  if (members.length === 0) return;
  const noun = members.length === 1 ? "member" : "members";
  throw invalidPayload(`Unknown ${noun} in the ${place}: ${members.join("; ")}`);
}

function described({ path, near }: UnknownMember): string {
  const name = JSON.stringify(path.slice(0, pathLengthMax));
  return near === null ? name : `${name}, did you mean ${JSON.stringify(near)}?`;
}
