/** Requests of change-status and next-statuses: the key, by name or (a single column) as `id`, and the new status. */
import {
  asSent,
  described,
  type Grammar,
  type Meaning,
  meaning,
  object,
  optional,
  type Parts,
  text,
  unread,
} from "../grammar/grammar.ts";
import { actorsOf } from "../plans/audit-columns.ts";
import type { Entity } from "../plans/entity.ts";
import type { JsonTemplate, Template } from "../plans/templates.ts";
import type { StatusHook, WorkflowPlan } from "../plans/workflow-plan.ts";
import { keyMembers, namesOf } from "../records/record-grammar.ts";
import { keyOf } from "../records/record-key.ts";
import { invalidPayload, validationFailed } from "../values/errors.ts";
import { type JsonSchema, orNull } from "../values/json-schema.ts";
import { absent, wholeObject } from "../values/json-shapes.ts";
import type { KeyValue } from "../values/types/key.ts";
import type { WorkflowNeeds } from "./workflow.ts";

/** The requested change, from a body or from the handlers' version of it. */
export type SentChange = Meaning<ReturnType<typeof sentChange>>;

export interface StatusRequest {
  readonly keyValue: KeyValue;
  readonly change: SentChange;
}

/** Rejects (400) a status that is missing, is not text, or is refused by the column or its rule. */
export const sentChange = (plan: WorkflowNeeds, entity: Entity) =>
  object(changeMembers(plan, entity));

const changeMembers = ({ write: { audit }, workflow }: WorkflowNeeds, { rules }: Entity) => ({
  status: meaning(
    textOrNull("status"),
    (sent) => {
      const { fields, status: column } = workflow;
      if (sent === null || sent === "") throw invalidPayload("The status is required");
      const { values, errors } = rules.check({ [column.name]: sent }, "update", fields);
      if (errors) throw validationFailed(errors);
      const value = values.get(column) ?? null;
      return { text: String(value), value };
    },
    () => statusSchema(workflow, rules),
  ),
  remarks: textOrNull("remarks"),
  // Used only if the project requires no credentials.
  updated_by: unread(() => {
    const [{ lengthMax } = { lengthMax: null }] = actorsOf(audit, "update");
    return orNull({ type: "string", ...(lengthMax !== null && { maxLength: lengthMax }) });
  }),
});

export const textOrNull = (name: string): Grammar<string | null> =>
  optional(
    text(() => invalidPayload(`${name} must be text`)),
    null,
  );

/** The key, the change, and the members of the body that hooks use. */
export function statusRequest(
  plan: WorkflowNeeds & { readonly change: Grammar<SentChange> },
  entity: Entity,
): Grammar<StatusRequest> {
  const shape = (): Grammar<unknown> => {
    const free = namesForHooks(plan.workflow).map((name) => [name, unread(() => ({}))] as const);
    const own: Parts = { ...idMembers(plan), ...changeMembers(plan, entity) };
    const members = { ...Object.fromEntries(free), ...own };
    return namingKey(plan, object(members, { required: [...requiredKey(plan), "status"] }));
  };
  return meaning(asSent(shape), (body) => ({
    keyValue: keyOrId(body, plan, entity),
    change: plan.change.read(body),
  }));
}

/** The key, by its name or as `id`. */
export const recordRequest = (plan: WorkflowNeeds, entity: Entity): Grammar<KeyValue> =>
  meaning(
    asSent(() => namingKey(plan, object(idMembers(plan), { required: requiredKey(plan) }))),
    (body) => keyOrId(body, plan, entity),
  );

/** The key that the body names; one column also as `id`. Rejects as `keyOf` does. */
function keyOrId(
  body: Record<string, unknown>,
  { write: { key } }: WorkflowNeeds,
  entity: Entity,
): KeyValue {
  const [only, ...others] = key;
  const isById =
    only !== undefined &&
    others.length === 0 &&
    !Object.hasOwn(body, only.name) &&
    Object.hasOwn(body, "id");
  return keyOf({ entity, body: isById ? { [only.name]: body["id"] } : body }, key);
}

const idMembers = ({ write: { key } }: WorkflowNeeds): Parts => ({
  ...(key.length === 1 && { id: unread(() => ({ description: "Another name of the key." })) }),
  ...keyMembers(key),
});

const requiredKey = ({ write: { key } }: WorkflowNeeds): string[] =>
  key.length > 1 || key[0]!.name === "id" ? namesOf(key) : [];

/** One of the two names is required. If the key's own name is there, `id` is ignored. */
function namingKey<T>({ write: { key } }: WorkflowNeeds, body: Grammar<T>): Grammar<T> {
  const [name = ""] = namesOf(key);
  if (key.length > 1 || name === "id") return body;
  const byId: JsonSchema = {
    required: ["id"],
    properties: { id: keyMembers(key)[name]!.schema(), [name]: absent },
  };
  return described(body, { anyOf: [{ required: [name] }, byId] });
}

/** The answer of next-statuses; the same for every entity. */
export const allowedStatusesSchema: JsonSchema = wholeObject({
  data: wholeObject({
    status: orNull({ type: "string" }),
    allowed: { type: ["array", "null"], items: { type: "string" } },
  }),
});

/** The statuses that some status may change to. If any may follow, the texts that the column accepts. */
function statusSchema({ status, transitions }: WorkflowPlan, rules: Entity["rules"]): JsonSchema {
  const targets = new Set([...(transitions?.values() ?? [])].flat());
  if (targets.size > 0) return { enum: [...targets] };
  return status.type === "integer"
    ? { type: "string", pattern: "^-?[0-9]+$" }
    : { ...rules.schemaOf(status), type: "string", minLength: 1 };
}

/** Members of the body that hook texts use as `{{requestData.<name>}}`. */
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
