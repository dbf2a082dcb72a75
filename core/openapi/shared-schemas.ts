/** The schemas that every endpoint has alike: a document names each of them once. */
import { actions } from "../actions.ts";
import {
  commitStateSchema,
  exportCancelSchema,
  exportStateSchema,
  importCancelSchema,
  importStateSchema,
  startedSchema,
  uploadedSchema,
} from "../jobs/job-schema.ts";
import { aggregateAnswerSchema } from "../actions/aggregate.ts";
import { joinedRequestSchema } from "../lists/aggregate-request.ts";
import { cursorPaginationSchema } from "../lists/cursor.ts";
import { numberedPaginationSchema } from "../lists/page.ts";
import { acquiredSchema, lockStatesSchema, releasedSchema } from "../locks/lock-schema.ts";
import { namedWhereSchema } from "../query/where.ts";
import type { JsonSchema } from "../values/json-schema.ts";
import { allowedStatusesSchema } from "../workflow/status-grammar.ts";
import { enveloped } from "./envelopes.ts";
import { batchErrorSchema, errorSchema, errorSchemaOf } from "./failures.ts";
import { pascalCase } from "./naming.ts";

/** By name. */
export const sharedSchemas: ReadonlyMap<string, JsonSchema> = new Map([
  ["Error", errorSchema],
  ["BatchError", batchErrorSchema],
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
  ["ExportCancelState", enveloped(exportCancelSchema)],
  ["ImportUploaded", enveloped(uploadedSchema)],
  ["ImportPreviewStarted", enveloped(startedSchema("preview", "validating"))],
  ["ImportCommitState", enveloped(commitStateSchema)],
  ["ImportState", enveloped(importStateSchema)],
  ["ImportCancelState", enveloped(importCancelSchema)],
  ["LockAcquired", enveloped(acquiredSchema)],
  ["LockReleased", enveloped(releasedSchema)],
  ["LockStates", enveloped(lockStatesSchema)],
]);
