/** The errors of an operation as responses: one per status, with the names in `error`, and an example of each. */
import type { Action, Method } from "../calls/action.ts";
import { errorTable } from "../calls/error-table.ts";
import type { Entity } from "../plans/entity.ts";
import type { ErrorKind } from "../values/errors.ts";
import type { Json } from "../values/json.ts";
import type { JsonSchema } from "../values/json-schema.ts";
import { closedObject } from "../values/json-shapes.ts";
import { dryRun, exampleTime } from "./envelopes.ts";

/** A failed answer. */
export const errorSchema: JsonSchema = closedObject(
  {
    success: { const: false },
    error: { type: "string", description: "The name of the error." },
    message: { type: "string", description: "What is wrong, for people." },
    errors: {
      type: "object",
      additionalProperties: { type: "array", items: { type: "string" } },
      description: "Messages by the field that they are about.",
    },
    data: {
      ...closedObject({
        count: { type: "integer", description: "Of the records that match." },
        conflicting_key: {
          anyOf: [
            closedObject({ key: { type: "string" }, value: {} }, ["key", "value"]),
            {
              ...closedObject({ record: { type: "object" } }, ["record"]),
              description: "A record whose key has several columns.",
            },
            { type: "null" },
          ],
        },
        locked_by: { type: ["string", "null"] },
        ttl_remaining: { type: "integer" },
        removed_files: {
          type: "array",
          items: { type: "string" },
          description: "Ids of uploaded files that were removed with the undone write.",
        },
      }),
      description: "The lock that is in the way, the number of records, or the removed files.",
    },
    dry_run: dryRun,
    timestamp: { type: "string", format: "date-time" },
  },
  ["success", "error", "message", "timestamp"],
);

/** The same of a batch. */
export const batchErrorSchema: JsonSchema = {
  ...errorSchema,
  properties: {
    ...errorSchema.properties,
    failed_step: {
      ...closedObject({ index: { type: "integer" }, id: { type: ["string", "null"] } }, [
        "index",
        "id",
      ]),
      description: "The step that failed; its index counts from 0.",
    },
  },
};

/** The same of an action that adds members to its errors. */
export function errorSchemaOf(action: Pick<Action, "besideErrors">): JsonSchema {
  const beside = Object.entries(action.besideErrors(undefined));
  if (beside.length === 0) return errorSchema;
  const members = beside.map(([name, value]): [string, JsonSchema] => [
    name,
    Array.isArray(value) ? { type: "array", maxItems: 0 } : { type: "integer" },
  ]);
  return {
    ...errorSchema,
    properties: { ...errorSchema.properties, ...Object.fromEntries(members) },
    required: [...(errorSchema.required ?? []), ...beside.map(([name]) => name)],
  };
}

export interface FailureContext {
  readonly action: Action;
  readonly method: Method;
  /** Null: the operation is about several. */
  readonly entity: Entity | null;
  readonly hasCredentials: boolean;
  /** A limit counts its requests. */
  readonly isCounted: boolean;
}

/** What the operation can fail with, by status, in the order of the statuses. */
export function failuresOf(context: FailureContext): ReadonlyMap<number, readonly ErrorKind[]> {
  const kinds = Object.keys(errorTable) as ErrorKind[];
  const possible = kinds.filter((kind) => isPossible(kind, context));
  const byStatus = Map.groupBy(possible, (kind) => errorTable[kind].status);
  return new Map([...byStatus].toSorted(([a], [b]) => a - b));
}

function isPossible(kind: ErrorKind, context: FailureContext): boolean {
  const { action, method, entity, hasCredentials, isCounted } = context;
  if (kind === "unauthorized") return hasCredentials;
  if (kind === "tooManyRequests" && isCounted) return true;
  if (!action.errors.has(kind)) return false;
  switch (kind) {
    // A document names the methods that there are.
    case "methodNotAllowed":
      return false;
    case "payloadTooLarge":
    case "requestTimeout":
    case "unsupportedMediaType":
      return method === "POST";
    // A DELETE stores no values; only with soft delete it is an UPDATE.
    case "validationFailed":
      return entity === null || entity.marking !== null || action.name !== "delete";
    case "rejectedByHook":
      return entity === null || action.events.some((event) => entity.handlers.has(event));
    case "recordClosed":
      return entity === null || meetsClosed(entity);
    default:
      return true;
  }
}

/** Whether a write of the endpoint, or of its details, can meet a closed record. */
function meetsClosed({ insert, composite, statuses }: Entity): boolean {
  const tables = [insert?.table, ...(composite?.details ?? []).map(({ table }) => table)];
  const { guarded, owners, cascades } = statuses;
  return tables.some((table) => {
    const identity = table?.identity ?? "";
    const closes = (guarded.get(identity)?.closed.size ?? 0) > 0;
    return closes || owners.has(identity) || cascades.has(identity);
  });
}

/** One example for each kind of error, by its name. `beside`: further members of the answer. */
export const failureExamples = (
  kinds: readonly ErrorKind[],
  beside: Readonly<Record<string, unknown>> = {},
): Record<string, { value: Json }> =>
  Object.fromEntries(
    kinds.map((kind) => [
      kind,
      {
        value: {
          success: false,
          error: errorTable[kind].error,
          ...exampleMembers[kind],
          ...(beside as Record<string, Json>),
          timestamp: exampleTime,
        },
      },
    ]),
  );

type ExampleMembers = { readonly message: string } & Readonly<Record<string, Json>>;

const exampleMembers: Readonly<Record<ErrorKind, ExampleMembers>> = {
  invalidPayload: { message: "The payload is empty" },
  invalidParameter: { message: "per_page must be a whole number from 1 to 100" },
  invalidField: { message: 'Unknown column "pric" in select; did you mean "price"?' },
  invalidSelectFields: { message: "Invalid fields in select: pric" },
  invalidRequestMode: { message: "GET lookup needs the header X-Request-Mode: dynamic" },
  validationFailed: { message: "Invalid data", errors: { name: ["is required"] } },
  invalidFile: { message: "The file must be an .xlsx workbook or a .csv file" },
  badRequest: { message: "The request is not valid HTTP" },
  expectationFailed: { message: "The expectation of the request cannot be met" },
  misdirected: { message: "The host name is not allowed; add it to ALLOWED_HOSTS" },
  headersTooLarge: { message: "The headers of the request are too large" },
  requestTimeout: { message: "The request did not arrive in time; send it again" },
  clientClosed: { message: "The client closed the connection" },
  validationError: { message: "having needs group_by" },
  foreignKeyMissing: { message: "A referenced record does not exist" },
  unauthorized: { message: "Credentials are missing or invalid" },
  forbidden: { message: "You may not use this action" },
  notFound: { message: "Unknown endpoint" },
  dataNotFound: { message: "No deleted record of suppliers matches" },
  methodNotAllowed: { message: "Use POST for this action" },
  duplicateEntry: {
    message: "A record with the same value already exists",
    errors: { code: ["already exists"] },
  },
  foreignKeyInUse: { message: "The record is still referenced by other records" },
  constraintViolation: {
    message: "The adjustment would exceed a limit of stock; nothing was changed",
  },
  recordClosed: { message: "The record is closed and cannot be changed" },
  unexpectedCount: {
    message: "13 records match, not 12; nothing was changed",
    data: { count: 13 },
  },
  lockConflict: {
    message: "The record is locked by another client",
    data: { conflicting_key: { key: "id", value: "1" }, locked_by: "anna", ttl_remaining: 12 },
  },
  requestInProgress: {
    message: "The first request with this Idempotency-Key is still running; try again later",
  },
  preconditionFailed: { message: "The record was changed after it was read; read it again" },
  invalidJobState: { message: "The export is not completed; export-status tells how far it is" },
  gone: { message: "The file was deleted; start a new export" },
  payloadTooLarge: { message: "The body must have at most 1048576 bytes" },
  unsupportedMediaType: { message: "Send the body as application/json" },
  tooManyRequests: { message: "The limit of requests is reached (600 in 60 s); try again in 12 s" },
  idempotencyKeyReused: { message: "This Idempotency-Key was sent before, with another body" },
  rejectedByDatabase: { message: "The period is closed" },
  rejectedByHook: { message: "A component handler refused the request" },
  transitionNotAllowed: { message: 'The status "posted" is final and cannot change' },
  hookFailed: { message: "The hook onBefore:notify failed, so the status was not changed" },
  unavailable: { message: "The database of this project is not reachable yet; try again later" },
  lockNotTaken: {
    message:
      "A record is locked by another request, or locks are out of reach; nothing was changed",
  },
  notImplemented: { message: "The query option $apply is not supported" },
  internal: { message: "The request could not be processed" },
};
