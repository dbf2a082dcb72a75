/** The member `params` of requests to actions whose query names parameters. */
import type { Grammar } from "../grammar/grammar.ts";
import { checkParams, namesIn, type QueryParams } from "../plans/query-params.ts";
import { type JsonSchema, orNull } from "../values/json-schema.ts";
import { closedObject } from "../values/json-shapes.ts";
import type { Scalar } from "../values/scalar.ts";
import type { Source } from "../values/types/column.ts";

/** The member of a request. */
export const paramsName = "params";

type Values = ReadonlyMap<string, Scalar>;

/** What a request sends for the query; null if it names no parameter. */
export function paramsOfSource(
  params: QueryParams,
  source: Source | undefined,
): Grammar<Values> | null {
  const named = source === undefined ? null : namesIn(source);
  return named && paramsFor(params, named);
}

/** `named`: those that are used. Rejects with Validation failed on `params.<name>`. */
export function paramsFor(params: QueryParams, named: ReadonlySet<string>): Grammar<Values> {
  const needed = (): string[] =>
    params.rules.neededOf(params.sent).filter((name) => named.has(name));
  return {
    read: (sent) => checkParams(params, sent, named),
    schema() {
      const members = [...params.sent].map(([name, column]) => [
        name,
        needed().includes(name)
          ? params.rules.schemaOf({ ...column, nullable: false })
          : orNull(params.rules.schemaOf(column)),
      ]);
      return closedObject(Object.fromEntries(members), needed());
    },
  };
}

/** The same requests with the member; what it holds is read on its own. */
export function withParams<T>(grammar: Grammar<T>, params: Grammar<unknown> | null): Grammar<T> {
  if (params === null) return grammar;
  return {
    ...grammar,
    schema: () => withMember(grammar.schema(), params.schema()),
    *unknownIn(sent, path) {
      for (const one of grammar.unknownIn?.(sent, path) ?? [])
        if (one.path !== paramsName) yield one;
    },
  };
}

/** Each form of the request gets the member. */
function withMember(schema: JsonSchema, params: JsonSchema): JsonSchema {
  const { properties, required = [], anyOf } = schema;
  if (properties === undefined)
    return { ...schema, ...(anyOf && { anyOf: anyOf.map((one) => withMember(one, params)) }) };
  const isNeeded = (params.required ?? []).length > 0;
  return {
    ...schema,
    properties: { ...properties, [paramsName]: isNeeded ? params : orNull(params) },
    ...((isNeeded || required.length > 0) && {
      required: isNeeded ? [...required, paramsName] : required,
    }),
  };
}
