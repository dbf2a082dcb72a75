/** Bodies and answers of change-status and next-statuses as JSON Schemas of one entity. */
import type { Entity, StatusHook, WorkflowPlan } from "../plans/entity.ts";
import { type JsonSchema, orNull } from "../values/json-schema.ts";
import { absent, closedObject, wholeObject } from "../values/json-shapes.ts";
import { keySchemas, writtenSchema } from "../records/record-schema.ts";
import { recordSchema } from "../lists/shown-schema.ts";
import type { JsonTemplate, Template } from "../plans/templates.ts";
import type { WorkflowNeeds } from "./workflow.ts";

const text: JsonSchema = { type: "string" };

/** The key, by its name or, of one column, as `id`, the new status, and what hooks take out of the body besides. */
export function changeStatusSchema(plan: WorkflowNeeds, entity: Entity): JsonSchema {
  const { write, workflow } = plan;
  const { lengthMax } = write.audit.updatedBy ?? { lengthMax: null };
  const own = {
    ...keyMembers(plan),
    status: statusSchema(workflow, entity),
    remarks: orNull(text),
    updated_by: orNull({ ...text, ...(lengthMax !== null && { maxLength: lengthMax }) }),
  };
  const free = Object.fromEntries(namesForHooks(workflow).map((name) => [name, {}]));
  return {
    ...closedObject({ ...free, ...own }, [...requiredKey(plan), "status"]),
    ...namesKey(plan),
  };
}

/** The key, by its name or as `id`. */
export const nextStatusesSchema = (plan: WorkflowNeeds): JsonSchema => ({
  ...closedObject(keyMembers(plan), requiredKey(plan)),
  ...namesKey(plan),
});

export const changedStatusSchema = (plan: WorkflowNeeds, { settings }: Entity): JsonSchema =>
  wholeObject({
    message: text,
    data: writtenSchema(plan, (columns) => recordSchema(columns, settings)),
    workflow: wholeObject({
      previousStatus: orNull(text),
      newStatus: text,
      hooksExecuted: { type: "array", items: text },
    }),
  });

export const allowedStatusesSchema: JsonSchema = wholeObject({
  data: wholeObject({
    status: orNull(text),
    allowed: { type: ["array", "null"], items: text },
  }),
});

const keyMembers = ({ write: { key } }: WorkflowNeeds): Record<string, JsonSchema> => ({
  ...(key.length === 1 && { id: { description: "Another name of the key." } }),
  ...keySchemas(key),
});

const requiredKey = ({ write: { key } }: WorkflowNeeds): string[] =>
  key.length > 1 || key[0]!.name === "id" ? key.map(({ name }) => name) : [];

/** One of the two names must be there; beside the key's own, `id` is not looked at. */
function namesKey({ write: { key } }: WorkflowNeeds): JsonSchema {
  const [name = ""] = key.map((column) => column.name);
  if (key.length > 1 || name === "id") return {};
  const byId: JsonSchema = {
    required: ["id"],
    properties: { id: keySchemas(key)[name]!, [name]: absent },
  };
  return { anyOf: [{ required: [name] }, byId] };
}

/** The statuses that some status may change to; where any may follow, what the column takes of texts. */
function statusSchema({ status, transitions }: WorkflowPlan, { rules }: Entity): JsonSchema {
  const targets = new Set([...(transitions?.values() ?? [])].flat());
  if (targets.size > 0) return { enum: [...targets] };
  return status.type === "integer"
    ? { ...text, pattern: "^-?[0-9]+$" }
    : { ...rules.schemaOf(status), ...text, minLength: 1 };
}

/** Members of the body that stand in the texts of hooks as `{{requestData.<name>}}`. */
function namesForHooks({ hooks }: WorkflowPlan): string[] {
  const all = [...hooks.values()].flatMap(({ onBefore, onAfter }) => [...onBefore, ...onAfter]);
  return [...new Set(all.flatMap(templatesOf).flatMap(namesIn))];
}

const templatesOf = ({ url, body }: StatusHook): Template[] => [url, ...textsOf(body)];

function textsOf(template: JsonTemplate | null): Template[] {
  switch (template?.kind) {
    case "text":
      return [template.template];
    case "array":
      return template.items.flatMap(textsOf);
    case "object":
      return template.members.flatMap(([, value]) => textsOf(value));
    default:
      return [];
  }
}

const namesIn = (template: Template): string[] =>
  template.flatMap((part) =>
    typeof part === "object" && part.from === "requestData" ? [part.name] : [],
  );
