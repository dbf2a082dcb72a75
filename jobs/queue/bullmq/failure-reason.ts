/**
 * Why a job failed, as it stands in BullMQ: our own sentence for the client as JSON, to tell it from what the library and its
 * server say, which no client gets to see.
 */
import { abandonedError, unknownError } from "../../../core/jobs/jobs.ts";

/** `error`: our own sentence. */
export const reasonOf = (error: string): string => JSON.stringify({ error });

/** The sentence for the client, of a reason that anybody wrote. */
export function errorOf(reason: string | undefined): string {
  if (reason?.includes("stalled")) return abandonedError;
  try {
    const { error } = JSON.parse(reason ?? "") as { error?: unknown };
    return typeof error === "string" ? error : unknownError;
  } catch {
    return unknownError;
  }
}
