/** The paths of the health checks, outside of the API. */
import type { Json } from "../values/json.ts";
import { exampleTime } from "./envelopes.ts";
import { referenceToHeader } from "./headers.ts";
import type { Paths } from "./operation.ts";

export const healthTag = "health";

export const healthPaths: Paths = {
  "/health/live": {
    get: {
      operationId: "healthLive",
      tags: [healthTag],
      summary: "Tells that the process answers.",
      parameters: [],
      responses: { 200: stateResponse("The process answers.", { status: "live", success: true }) },
    },
  },
  "/health/ready": {
    get: {
      operationId: "healthReady",
      tags: [healthTag],
      summary: "Tells whether the database of every project answers.",
      parameters: [],
      responses: {
        200: stateResponse("Every database answers.", { status: "ready", success: true }),
        503: stateResponse("A database does not answer.", {
          status: "unavailable",
          success: false,
        }),
      },
    },
  },
};

/** Operators see more members than these. */
function stateResponse(
  description: string,
  { status, success }: { status: string; success: boolean },
): Json {
  return {
    description,
    headers: { "X-Request-Id": referenceToHeader("X-Request-Id") },
    content: {
      "application/json": {
        schema: {
          type: "object",
          properties: {
            success: { const: success },
            status: { const: status },
            timestamp: { type: "string", format: "date-time" },
          },
          required: ["success", "status", "timestamp"],
        },
        example: { success, status, timestamp: exampleTime },
      },
    },
  };
}
