/** An operation of a whole project, whose request and answer name no endpoint's action. */
import type { BoundAction } from "../dispatch.ts";
import type { Method } from "../calls/action.ts";
import type { Json } from "../values/json.ts";
import type { JsonSchema } from "../values/json-schema.ts";
import { answeredSchema } from "./envelopes.ts";
import { errorSchema, failuresOf } from "./failures.ts";
import type { AnswerHeader, ParameterName } from "./headers.ts";
import { camelCase, pascalCase } from "./naming.ts";
import type { Operation } from "./operation.ts";
import { failureResponses } from "./operation-responses.ts";
import type { ProjectWidePlace } from "./project-wide.ts";
import { createSchemaPrinter } from "./schema-printer.ts";
import { exampleOf } from "./schema-example.ts";
import { securityOf } from "./security.ts";
import { isLimited, type ProjectTraits } from "./traits.ts";

export interface ProjectPlace extends ProjectWidePlace {
  readonly traits: ProjectTraits;
}

interface Described {
  readonly bound: BoundAction;
  /** Begins the names of its operation and schemas. */
  readonly name: string;
  readonly method: Method;
  /** Of a POST; null: it has no body. */
  readonly request: JsonSchema | null;
  /** Members of the body that its example has though they may be absent. */
  readonly exampleMembers?: readonly string[];
  /** Query parameters of a GET. */
  readonly query?: readonly Json[];
  /** The answer without its envelope, or the media type of a stream. */
  readonly answer: JsonSchema | string;
  readonly description: string;
  readonly headers: readonly ParameterName[];
  readonly answerHeaders?: readonly AnswerHeader[];
  /** Of every error, if they have members of the operation's own. */
  readonly error?: JsonSchema;
}

export function projectOperation(
  { bound, name, method, request, answer, ...more }: Described,
  { parts, base, tag, traits }: ProjectPlace,
): Operation {
  const { action } = bound;
  const printer = createSchemaPrinter(parts.schemas, base);
  const answered =
    typeof answer === "string" ? null : answeredSchema({ status: 200, schema: answer }, action);
  for (const schema of [request, answered])
    if (schema !== null) printer.collect(schema, "", action.name);
  const isCounted = isLimited(traits, action.name);
  const always: readonly AnswerHeader[] = [
    "X-Request-Id",
    ...(isCounted ? (["RateLimit-Policy", "RateLimit"] as const) : []),
  ];
  const failures = failuresOf({
    action,
    method,
    entity: null,
    hasCredentials: traits.credentials !== null,
    isCounted,
  });
  const schemaName = base + pascalCase(name);
  const jsonContent = (schema: JsonSchema, as: string, members?: readonly string[]) => {
    const example = exampleOf(schema, members ? { members } : {});
    return { schema: printer.printAs(schema, as), ...(example !== undefined && { example }) };
  };
  return {
    operationId: parts.operationId(camelCase(`${base} ${name}`)),
    tags: [tag],
    summary: action.summary,
    ...securityOf(traits.credentials, (caller) => bound.mayUse(caller)),
    parameters: [...(more.query ?? []), ...more.headers.map(parts.parameter)],
    ...(request !== null && {
      requestBody: {
        required: true,
        content: { "application/json": jsonContent(request, schemaName, more.exampleMembers) },
      },
    }),
    responses: {
      200: {
        description: more.description,
        headers: parts.headers([...always, ...(more.answerHeaders ?? [])]),
        content:
          answered === null
            ? { [String(answer)]: { schema: { type: "string" } } }
            : { "application/json": jsonContent(answered, `${schemaName}Answer`) },
      } satisfies Json,
      ...failureResponses(failures, {
        action,
        always,
        parts,
        printSchema: () => printer.print(more.error ?? errorSchema),
        isOwn: more.error !== undefined,
      }),
    },
  };
}
