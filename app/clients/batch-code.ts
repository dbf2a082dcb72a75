/** The part of a generated client for `_batch`: which steps there are, and the types of their answers. */
import { isObject, type Json } from "../../core/values/json.ts";
import { arrayIn, type DocumentOperation, memberOf, textOf } from "./document-operations.ts";
import { jsDoc, memberKey } from "./schema-types.ts";

/** The types are about the client's own `BatchActions`: the bodies and answers of actions, by endpoint and action. */
export const batchRuntime = `/** A member of the answer to an earlier step: "<id>.data.<member>". */
export interface StepReference {
  readonly $ref: string;
}

/** A value that looks like a reference, but is none. */
export interface StepLiteral {
  readonly $literal: unknown;
}

/** The value, or references in its place or within it. */
export type Referring<Value> =
  | StepReference
  | StepLiteral
  | (Value extends readonly (infer Item)[]
      ? readonly Referring<Item>[]
      : Value extends object
        ? { readonly [Name in keyof Value]: Referring<Value[Name]> }
        : Value);

export type BatchStep<Actions> = {
  [Endpoint in keyof Actions & string]: {
    [Action in keyof Actions[Endpoint] & string]: {
      readonly id?: string | null | undefined;
      readonly endpoint: Endpoint;
      readonly action: Action;
      readonly body?: Actions[Endpoint][Action] extends { body: infer Body }
        ? Referring<Body> | undefined
        : never;
      readonly if_match?: string | null | undefined;
      readonly lock_token?: string | null | undefined;
    };
  }[keyof Actions[Endpoint] & string];
}[keyof Actions & string];

/** The answers of the steps, in their order. */
export type StepAnswers<Actions, Steps extends readonly unknown[], Failed> = {
  -readonly [At in keyof Steps]: {
    id: string | null;
    status: number;
    body: Steps[At] extends {
      endpoint: infer Endpoint extends keyof Actions;
      action: infer Action;
    }
      ? Action extends keyof Actions[Endpoint]
        ? Actions[Endpoint][Action] extends { answer: infer Answer }
          ? Answer | Failed
          : never
        : never
      : never;
  };
};

export interface BatchAnswer<Answers> {
  success: true;
  data: Answers;
  dry_run?: true;
  timestamp: string;
}

/** All steps, or none; independent ones are reads, each of which has its own status. */
export type BatchCall<Actions, ErrorName extends string, Header extends string> = <
  const Steps extends readonly BatchStep<Actions>[],
  Independent extends boolean = false,
>(
  steps: Steps,
  options?: CallOptions<Header> & {
    readonly dry_run?: boolean;
    readonly independent?: Independent;
  },
) => Promise<
  Result<
    BatchAnswer<
      StepAnswers<Actions, Steps, Independent extends true ? ServiceError<ErrorName> : never>
    >,
    ErrorName
  >
>;

const batchCall =
  <Actions, ErrorName extends string, Header extends string>(
    client: ClientOptions,
    path: string,
  ): BatchCall<Actions, ErrorName, Header> =>
  (
    steps: readonly unknown[],
    options: CallOptions<Header> & { dry_run?: boolean; independent?: boolean } = {},
  ) => {
    const { dry_run, independent, ...sent } = options;
    const body = { steps, dry_run, independent };
    return call<never, ErrorName>(client, { method: "POST", path, body, options: sent });
  };
`;

const batchEnd = "/_batch";

export const isBatch = ({ path }: DocumentOperation): boolean => path.endsWith(batchEnd);

export interface BatchCode {
  /** The declaration of `BatchActions`. */
  readonly types: string;
  /** The client's member. */
  readonly member: string;
}

export interface BatchContext {
  /** As TypeScript. */
  readonly bodyOf: (operation: DocumentOperation) => string;
  readonly answerOf: (operation: DocumentOperation) => string;
  readonly errors: string;
  readonly headers: string;
  /** Of the member: another one where an endpoint is called batch. */
  readonly name: string;
}

/** `schema`: of the body, without references. */
export function batchCode(
  { path, summary }: DocumentOperation,
  operations: readonly DocumentOperation[],
  { schema, bodyOf, answerOf, errors, headers, name }: BatchContext & { readonly schema: Json },
): BatchCode {
  const byPath = new Map(
    operations.flatMap((one) => (one.method === "POST" ? [[one.path, one] as const] : [])),
  );
  const start = path.slice(0, -batchEnd.length);
  const endpoints = stepsIn(schema).flatMap(([endpoint, actions]) => {
    const members = actions.flatMap((action) => {
      const operation = byPath.get(`${start}/${endpoint}/${action}`);
      if (operation === undefined) return [];
      const types = `{ body: ${bodyOf(operation)}; answer: ${answerOf(operation)} }`;
      return [`${memberKey(action)}: ${types};`];
    });
    return [`${memberKey(endpoint)}: {`, ...members, "};"];
  });
  return {
    types: ["export type BatchActions = {", ...endpoints, "};"].join("\n"),
    member: [
      jsDoc(summary),
      `${name}: batchCall<BatchActions, ${errors}, ${headers}>(client, ${JSON.stringify(path)}),`,
    ].join("\n"),
  };
}

/** The actions that may be steps, by endpoint. */
function stepsIn(schema: Json): [string, string[]][] {
  const items = memberOf(memberOf(memberOf(schema, "properties"), "steps"), "items");
  const alternatives = arrayIn(memberOf(items, "anyOf"));
  return (alternatives.length === 0 ? [items] : alternatives).flatMap((step) => {
    const members = memberOf(step, "properties");
    const endpoint = textOf(memberOf(memberOf(members, "endpoint"), "const"));
    const actions = arrayIn(memberOf(memberOf(members, "action"), "enum")).map(textOf);
    return isObject(members) && endpoint !== "" ? [[endpoint, actions]] : [];
  });
}
