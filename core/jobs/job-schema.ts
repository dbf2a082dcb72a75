/** What requests and answers say of jobs and their files, as JSON Schemas; the same for every entity. */
import type { JsonSchema } from "../values/json-schema.ts";
import { closedObject, wholeObject } from "../values/json-shapes.ts";
import { exportMediaTypes } from "../lists/export-list.ts";
import type { JobKind } from "../plans/ports.ts";

export const workbookMediaType = exportMediaTypes.xlsx;

/** The multipart body of import-upload. */
export const uploadSchema: JsonSchema = wholeObject({ file: { type: "string", format: "binary" } });

/** The id of a job of one of these kinds. */
export const jobIdSchema = (...kinds: readonly JobKind[]): JsonSchema => idSchema(...kinds);

export const uploadIdSchema = idSchema("upload");

function idSchema(...prefixes: readonly string[]): JsonSchema {
  const kinds = prefixes.length === 1 ? prefixes[0] : `(${prefixes.join("|")})`;
  const uuid = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";
  return { type: "string", pattern: `^${kinds}-${uuid}$` };
}

/** `{job_id}` alone. */
export const jobRequestSchema = (...kinds: readonly JobKind[]): JsonSchema =>
  wholeObject({ job_id: jobIdSchema(...kinds) });

/** The answer to the start of a job. */
export const startedSchema = (kind: JobKind, status: string): JsonSchema =>
  wholeObject({ job_id: jobIdSchema(kind), status: { const: status } });

const count: JsonSchema = { type: "integer", minimum: 0 };
const progress = wholeObject({ processed_rows: count, total_rows: count });

/** States of an export. */
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
const summary = wholeObject({
  valid: count,
  invalid: count,
  skip: count,
  insert: count,
  update: count,
});
const outcomes: JsonSchema = {
  type: "array",
  items: wholeObject({
    from: count,
    to: count,
    outcome: { enum: ["insert", "update", "skip", "invalid"] },
  }),
};

/** States of a preview and of a commit. */
export const importStateSchema: JsonSchema = {
  anyOf: [
    stateSchema("preview", [
      { status: "validating", optional: { progress } },
      { status: "preview_ok", required: { summary }, optional: { outcomes } },
      { status: "preview_error", required: { errors: rowErrors, summary, outcomes } },
    ]),
    stateSchema("commit", [
      { status: "processing", optional: { progress } },
      {
        status: "completed",
        required: {
          result: wholeObject({ inserted: count, updated: count, skipped: count, failed: count }),
        },
      },
    ]),
  ],
};

export const uploadedSchema: JsonSchema = closedObject(
  {
    upload_id: uploadIdSchema,
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

/** One branch for each state, and one for a job that failed, whose answer says `success` itself. */
function stateSchema(kind: JobKind, states: readonly State[]): JsonSchema {
  const job_id = jobIdSchema(kind);
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
