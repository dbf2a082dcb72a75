/** Requests and answers about jobs and their files; the same for every entity. */
import { type Grammar, meaning, object, whatever } from "../grammar/grammar.ts";
import { invalidPayload } from "../values/errors.ts";
import type { JsonSchema } from "../values/json-schema.ts";
import { closedObject, wholeObject } from "../values/json-shapes.ts";
import type { JobKind } from "./job.ts";

/** The multipart body of import-upload; its file is read separately from the fields. */
export const uploadBody: Grammar<unknown> = {
  ...whatever,
  schema: () => wholeObject({ file: { type: "string", format: "binary" } }),
};

/** A request that only names a job or an upload by its id. Rejects with Invalid payload. `kinds`: those it may name. */
export const idRequest = (name: string, ...kinds: readonly string[]): Grammar<string> =>
  meaning(
    object(
      { [name]: { read: (sent) => idIn(sent, name), schema: () => idSchema(...kinds) } },
      { required: [name] },
    ),
    (sent) => sent[name] as string,
  );

function idIn(sent: unknown, name: string): string {
  if (sent === undefined || sent === null || sent === "")
    throw invalidPayload(`${name} is required`);
  if (typeof sent !== "string") throw invalidPayload(`${name} must be text`);
  return sent;
}

function idSchema(...prefixes: readonly string[]): JsonSchema {
  const kinds = prefixes.length === 1 ? prefixes[0] : `(${prefixes.join("|")})`;
  const uuid = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";
  return { type: "string", pattern: `^${kinds}-${uuid}$` };
}

/** The answer to the start of a job. */
export const startedSchema = (kind: JobKind, status: string): JsonSchema =>
  wholeObject({ job_id: idSchema(kind), status: { const: status } });

const count: JsonSchema = { type: "integer", minimum: 0 };
const progress = wholeObject({ processed_rows: count, total_rows: count });

export const exportStateSchema = stateSchema("export", [
  { status: "pending" },
  { status: "processing", required: { progress } },
  { status: "completed", required: { file_url: { type: "string" } } },
]);

const rowErrors: JsonSchema = {
  type: "array",
  items: wholeObject({
    rowIndex: count,
    rowData: { type: "object" },
    messages: { type: "array", items: { type: "string" } },
  }),
};
const summary = wholeObject({ valid: count, invalid: count, skip: count });
const changes = wholeObject({ insert: count, update: count });
const outcomes: JsonSchema = {
  type: "array",
  items: wholeObject({
    from: count,
    to: count,
    outcome: { enum: ["insert", "update", "skip", "invalid"] },
  }),
};

export const commitStateSchema: JsonSchema = stateSchema("commit", [
  { status: "processing", optional: { progress } },
  {
    status: "completed",
    required: {
      result: wholeObject({ inserted: count, updated: count, skipped: count, failed: count }),
    },
  },
]);

/** States of a preview and of a commit. */
export const importStateSchema: JsonSchema = {
  anyOf: [
    stateSchema("preview", [
      { status: "validating", required: { progress } },
      { status: "preview_ok", required: { summary, changes }, optional: { outcomes } },
      { status: "preview_error", required: { errors: rowErrors, summary, changes, outcomes } },
    ]),
    commitStateSchema,
  ],
};

export const exportCancelSchema = asSuccess(exportStateSchema);
export const importCancelSchema = asSuccess(importStateSchema);

export const uploadedSchema: JsonSchema = closedObject(
  {
    upload_id: idSchema("upload"),
    total_rows: count,
    preview: { type: "array", items: { type: "object" } },
    ignored_columns: { type: "array", items: { type: "string" } },
  },
  ["upload_id", "total_rows", "preview"],
);

interface State {
  readonly status: string;
  readonly required?: Readonly<Record<string, JsonSchema>>;
  readonly optional?: Readonly<Record<string, JsonSchema>>;
}

/** One branch per state, and one for a failed job, whose answer contains `success` itself. */
function stateSchema(kind: JobKind, states: readonly State[]): JsonSchema {
  const job_id = idSchema(kind);
  const failed = closedObject(
    {
      success: { const: false },
      job_id,
      status: { const: "failed" },
      error: { type: ["string", "null"] },
    },
    ["success", "job_id", "status", "error"],
  );
  return {
    anyOf: [
      ...states.map(({ status, required = {}, optional = {} }) => {
        const members = { job_id, status: { const: status }, ...required };
        return closedObject({ ...members, ...optional }, Object.keys(members));
      }),
      failed,
    ],
  };
}

/** The states as the answer of a cancel, which is a success also of a failed job. */
function asSuccess({ anyOf, properties, required, ...rest }: JsonSchema): JsonSchema {
  if (anyOf) return { ...rest, anyOf: anyOf.map(asSuccess) };
  const { success: _own, ...members } = properties!;
  return { ...rest, properties: members, required: required!.filter((name) => name !== "success") };
}
