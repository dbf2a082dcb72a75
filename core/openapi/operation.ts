/** Prints an operation. */
import type { Action, Method } from "../calls/action.ts";
import type { Json } from "../values/json.ts";
import type { DraftOperation, OperationPlace } from "./draft-operation.ts";
import { pascalCase } from "./naming.ts";
import { type RequestBody, requestParts } from "./operation-request.ts";
import { responsesOf } from "./operation-responses.ts";
import { securityOf } from "./security.ts";

export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly security?: Json;
  readonly parameters: readonly Json[];
  readonly requestBody?: RequestBody;
  /** By status. */
  readonly responses: Readonly<Record<string, Json>>;
}

/** Operations by path and by method in small letters. */
export type Paths = Readonly<Record<string, Readonly<Record<string, Operation>>>>;

export function printOperation(draft: DraftOperation, place: OperationPlace): Operation {
  const { action, bound } = draft;
  const { parts, base, tag } = place;
  const name = base + pascalCase(action.name);
  return {
    operationId: parts.operationId(idOf(name, draft)),
    tags: [tag],
    summary: action.summary,
    ...securityOf(place.traits.credentials, (caller) => bound.viewFor(caller) !== null),
    ...requestParts(draft, place, name),
    responses: responsesOf(draft, place, name),
  };
}

/** Of an action with two methods, GET is the one that searches. */
function idOf(
  name: string,
  { action, method }: { readonly action: Action; readonly method: Method },
): string {
  const id = name.slice(0, 1).toLowerCase() + name.slice(1);
  return method === "GET" && action.methods.length > 1 ? `${id}Search` : id;
}
