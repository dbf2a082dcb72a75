/** The operation `/api/{project}/_batch`: built from the paths of the actions that the caller may use as steps. */
import { batch, batchName } from "../batch/batch-action.ts";
import type { BoundAction } from "../dispatch.ts";
import type { Json } from "../values/json.ts";
import type { JsonSchema } from "../values/json-schema.ts";
import { anyOf, closedObject, wholeObject } from "../values/json-shapes.ts";
import { limits } from "../values/limits.ts";
import { answeredSchema } from "./envelopes.ts";
import { batchErrorSchema, failuresOf } from "./failures.ts";
import { camelCase, pascalCase } from "./naming.ts";
import type { Operation, Paths } from "./operation.ts";
import { failureResponses } from "./operation-responses.ts";
import type { AnswerHeader } from "./headers.ts";
import type { ProjectWidePlace } from "./project-wide.ts";
import { createSchemaPrinter } from "./schema-printer.ts";
import { exampleOf } from "./schema-example.ts";
import { securityOf } from "./security.ts";
import { isLimited, type ProjectTraits } from "./traits.ts";

export interface BatchPlace extends ProjectWidePlace {
  readonly traits: ProjectTraits;
  readonly stepsMax: number;
}

/** Actions that may be steps, as far as the caller may use them, by endpoint. */
export type StepActions = ReadonlyMap<string, readonly string[]>;

const bodySchema: JsonSchema = {
  type: "object",
  description:
    'As the body of the action. {"$ref": "<id>.data.<member>"} stands for a member of the answer to an earlier step, {"$literal": …} for a value that looks like one of the two.',
};

export function describeBatch(
  bound: BoundAction,
  steps: StepActions,
  { path, parts, base, tag, traits, stepsMax }: BatchPlace,
): Paths {
  if (steps.size === 0) return {};
  const printer = createSchemaPrinter(parts.schemas, base);
  const request = requestSchema(steps, stepsMax);
  const answered = answeredSchema({ status: 200, schema: answerSchema }, batch);
  for (const schema of [request, answered]) printer.collect(schema, "", batchName);
  const isCounted = isLimited(traits, batchName);
  const always: readonly AnswerHeader[] = [
    "X-Request-Id",
    ...(isCounted ? (["RateLimit-Policy", "RateLimit"] as const) : []),
  ];
  const failures = failuresOf({
    action: batch,
    method: "POST",
    entity: null,
    hasCredentials: traits.credentials !== null,
    isCounted,
  });
  const name = base + pascalCase("batch");
  const example = exampleOf(request, { members: ["id", "body"] });
  const schema = printer.printAs(answered, `${name}Answer`);
  const answerExample = exampleOf(answered);
  const operation: Operation = {
    operationId: parts.operationId(camelCase(`${base} batch`)),
    tags: [tag],
    summary: batch.summary,
    ...securityOf(traits.credentials, (caller) => bound.mayUse(caller)),
    parameters: [...(["Idempotency-Key", "Prefer", "X-Request-Id"] as const)].map(parts.parameter),
    requestBody: {
      required: true,
      content: {
        "application/json": {
          schema: printer.printAs(request, name),
          ...(example !== undefined && { example }),
        },
      },
    },
    responses: {
      200: {
        description: "The answers of the steps, in their order.",
        headers: parts.headers([...always, "Idempotency-Replayed", "Preference-Applied"]),
        content: {
          "application/json": {
            schema,
            ...(answerExample !== undefined && { example: answerExample }),
          },
        },
      } satisfies Json,
      ...failureResponses(failures, {
        action: batch,
        always,
        parts,
        printSchema: () => printer.print(batchErrorSchema),
        isOwn: true,
      }),
    },
  };
  return { [`${path}/${batchName}`]: { post: operation } };
}

const requestSchema = (steps: StepActions, stepsMax: number): JsonSchema =>
  closedObject(
    {
      steps: {
        type: "array",
        minItems: 1,
        maxItems: stepsMax,
        items: anyOf([...steps].map(([endpoint, actions]) => stepSchema(endpoint, actions))),
      },
      independent: {
        type: "boolean",
        default: false,
        description: "Only reads, which run side by side; each has its own status.",
      },
      dry_run: {
        type: "boolean",
        default: false,
        description: "Everything happens and is undone.",
      },
    },
    ["steps"],
  );

const stepSchema = (endpoint: string, actions: readonly string[]): JsonSchema =>
  closedObject(
    {
      id: {
        type: ["string", "null"],
        minLength: 1,
        maxLength: limits.batchIdLengthMax,
        description: "A name for references, different in each step.",
      },
      endpoint: { const: endpoint },
      action: { enum: [...actions] },
      body: bodySchema,
      if_match: { type: ["string", "null"], minLength: 1, description: "As the header If-Match." },
      lock_token: {
        type: ["string", "null"],
        minLength: 1,
        description: "As the header X-Lock-Token.",
      },
    },
    ["endpoint", "action"],
  );

const answerSchema: JsonSchema = wholeObject({
  data: {
    type: "array",
    items: wholeObject({
      id: { type: ["string", "null"] },
      status: { type: "integer" },
      body: { type: "object", description: "The whole answer of the action." },
    }),
  },
});
