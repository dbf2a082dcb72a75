/** `batch` of project.json. */
import { z } from "zod";

export const batchSettings = z.strictObject({
  enabled: z
    .boolean()
    .default(false)
    .describe("Whether POST /api/{project}/_batch runs several actions in one request."),
  maxSteps: z.int().min(1).max(1_000).default(50).describe("Steps of one batch, at most."),
});
