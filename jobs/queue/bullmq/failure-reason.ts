/**
 * The reason of a failed job as stored in BullMQ: our own sentence for the client as JSON, which distinguishes it from
 * messages of the library and its server, which clients never see.
 */
import { abandonedError, unknownError } from "../../../core/jobs/jobs.ts";

/** `error`: our own sentence. */
export const reasonOf = (error: string): string => JSON.stringify({ error });

/** The sentence for the client, from a reason of any origin. */
export function errorOf(reason: string | undefined): string {
  if (reason?.includes("stalled")) return abandonedError;
  try {
    const { error } = JSON.parse(reason ?? "") as { error?: unknown };
    return typeof error === "string" ? error : unknownError;
  } catch {
    return unknownError;
  }
}
