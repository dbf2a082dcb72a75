/** The `workflow` of an endpoint's file: which status may follow which, who may change it, and whom to call. */
import { z } from "zod";
import { filledText, offByDefault } from "./usual-schemas.ts";

export const hook = z.strictObject({
  name: filledText.describe("Shown in hooksExecuted."),
  url: filledText.describe("Address to call, or a path of this service; {{…}} in it is replaced."),
  method: z.enum(["GET", "POST", "PUT", "PATCH", "DELETE"]).default("POST"),
  blocking: offByDefault.describe("true: the status changes only when the call succeeds."),
  headers: z.record(z.string(), z.string()).optional(),
  body: z
    .record(z.string(), z.unknown())
    .optional()
    .describe("JSON to send; {{…}} in its texts is replaced."),
  timeoutMs: z.int().min(1).max(600_000).optional(),
});

export const workflow = z.strictObject({
  statusField: filledText.default("status").describe("The column that holds the status."),
  transitions: z
    .record(z.string(), z.array(z.string()))
    .optional()
    .describe("For each status, the ones that may follow. An empty list ends the workflow."),
  hooks: z
    .record(
      z.string(),
      z.strictObject({ onBefore: z.array(hook).default([]), onAfter: z.array(hook).default([]) }),
    )
    .optional()
    .describe("Calls around the change to a status."),
  roles: z
    .record(z.string(), z.array(filledText).min(1))
    .optional()
    .describe("For a status, the roles that may change a record to it."),
  closed: z
    .array(z.string())
    .min(1)
    .optional()
    .describe("Statuses in which a record and its details can no longer be changed."),
});
