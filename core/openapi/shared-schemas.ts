/** The schemas that every endpoint has alike: a document names each of them once. */
import { actions } from "../actions.ts";
import {
  exportStateSchema,
  importStateSchema,
  startedSchema,
  uploadedSchema,
} from "../jobs/job-schema.ts";
import { aggregateAnswerSchema, joinedRequestSchema } from "../lists/aggregate-schema.ts";
import { cursorPaginationSchema, numberedPaginationSchema } from "../lists/list-schema.ts";
import { namedWhereSchema } from "../lists/where-schema.ts";
import { acquiredSchema, lockStatesSchema, releasedSchema } from "../locks/lock-schema.ts";
import type { JsonSchema } from "../values/json-schema.ts";
import { allowedStatusesSchema } from "../workflow/status-schema.ts";
import { enveloped } from "./envelopes.ts";
import { errorSchema, errorSchemaOf } from "./failures.ts";
import { pascalCase } from "./naming.ts";

/** By name. */
export const sharedSchemas: ReadonlyMap<string, JsonSchema> = new Map([
  ["Error", errorSchema],
  ...actions.flatMap((action): [string, JsonSchema][] => {
    const own = errorSchemaOf(action);
    return own === errorSchema ? [] : [[`${pascalCase(action.name)}Error`, own]];
  }),
  ["Pagination", numberedPaginationSchema],
  ["CursorPagination", cursorPaginationSchema],
  ["NamedWhere", namedWhereSchema()],
  ["JoinedAggregate", joinedRequestSchema],
  ["AggregateAnswer", enveloped(aggregateAnswerSchema)],
  ["AllowedStatuses", enveloped(allowedStatusesSchema)],
  ["ExportStarted", enveloped(startedSchema("export", "pending"))],
  ["ExportState", enveloped(exportStateSchema)],
  ["ImportUploaded", enveloped(uploadedSchema)],
  ["ImportPreviewStarted", enveloped(startedSchema("preview", "validating"))],
  ["ImportCommitStarted", enveloped(startedSchema("commit", "processing"))],
  ["ImportState", enveloped(importStateSchema)],
  ["LockAcquired", enveloped(acquiredSchema)],
  ["LockReleased", enveloped(releasedSchema)],
  ["LockStates", enveloped(lockStatesSchema)],
]);
