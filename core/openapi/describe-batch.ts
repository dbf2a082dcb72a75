/** The operation `/api/{project}/_batch`: built from the paths of the actions that the caller may use as steps. */
import { batchName } from "../batch/batch-action.ts";
import type { BoundAction } from "../dispatch.ts";
import type { JsonSchema } from "../values/json-schema.ts";
import { anyOf, closedObject, wholeObject } from "../values/json-shapes.ts";
import { limits } from "../values/limits.ts";
import { batchErrorSchema } from "./failures.ts";
import type { Paths } from "./operation.ts";
import { type ProjectPlace, projectOperation } from "./project-operation.ts";

export interface BatchPlace extends ProjectPlace {
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
  { stepsMax, ...place }: BatchPlace,
): Paths {
  if (steps.size === 0) return {};
  const operation = projectOperation(
    {
      bound,
      name: "batch",
      method: "POST",
      request: requestSchema(steps, stepsMax),
      exampleMembers: ["id", "body"],
      answer: answerSchema,
      description: "The answers of the steps, in their order.",
      headers: ["Idempotency-Key", "Prefer", "X-Request-Id"],
      answerHeaders: ["Idempotency-Replayed", "Preference-Applied"],
      error: batchErrorSchema,
    },
    place,
  );
  return { [`${place.path}/${batchName}`]: { post: operation } };
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
