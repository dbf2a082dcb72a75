/** `mcp` of project.json: what AI agents can use over the Model Context Protocol. */
import { z } from "zod";
import { filledText } from "./usual-schemas.ts";

const names = z.array(filledText);

export const mcp = z
  .strictObject({
    endpoints: names
      .min(1)
      .describe(
        "Endpoints that agents can use, within the rights of their credentials. Relations, and joins by the name of a table, lead only to these.",
      ),
    write: names
      .default([])
      .describe(
        'What agents can write: single actions ("orders/create"), or all writing actions of an endpoint ("orders").',
      ),
  })
  .optional()
  .describe(
    "Tools for AI agents at POST /mcp/{project}, over the Model Context Protocol. Absent: none.",
  );

/** `mcp` of a project.json that has it. */
export type McpSettings = NonNullable<z.output<typeof mcp>>;
