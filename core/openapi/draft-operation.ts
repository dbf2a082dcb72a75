/** One operation of a document before printing: an action of an endpoint by one method, with the caller's rights. */
import type { Action, Method } from "../calls/action.ts";
import type { AnswerForm } from "../calls/answer.ts";
import type { BoundAction } from "../dispatch.ts";
import type { Entity } from "../plans/entity.ts";
import type { JsonSchema } from "../values/json-schema.ts";
import type { DocumentParts } from "./document-parts.ts";
import { answeredSchema } from "./envelopes.ts";
import type { SchemaPrinter } from "./schema-printer.ts";
import type { ProjectTraits } from "./traits.ts";

export interface DraftOperation {
  readonly bound: BoundAction;
  readonly action: Action;
  readonly method: Method;
  readonly input: JsonSchema;
  readonly answer: AnswerForm;
  /** As the caller sees it. */
  readonly entity: Entity;
}

/** Where operations are printed. */
export interface OperationPlace {
  readonly parts: DocumentParts;
  readonly printer: SchemaPrinter;
  /** Begins the names of schemas and, with a small first letter, of operations. */
  readonly base: string;
  readonly tag: string;
  readonly traits: ProjectTraits;
}

/** Null if the view of the entity lacks what the action needs. */
export function draftOperation(
  bound: BoundAction,
  { entity, method }: { readonly entity: Entity; readonly method: Method },
): DraftOperation | null {
  const { action } = bound;
  const input = action.input({ entity, method });
  const answer = action.answer({ entity, method });
  return input && answer && { bound, action, method, input, answer, entity };
}

/** Makes the printer know the operation's schemas. */
export function collectSchemas(
  { method, input, answer, action }: DraftOperation,
  printer: SchemaPrinter,
): void {
  if (method === "POST") printer.collect(input, "", action.name);
  else
    for (const [name, schema] of Object.entries(input.properties ?? {}))
      printer.collect(schema, name, action.name);
  if (!("schema" in answer)) return;
  for (const schema of [answer.schema, ...Object.values(answer.others ?? {})])
    printer.collect(answeredSchema({ ...answer, schema }, action), "", action.name);
}
