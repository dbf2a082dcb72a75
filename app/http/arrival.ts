/** Waits for a request body that is still arriving. */
import type { Deadlines } from "../../core/values/deadlines.ts";
import { AppError } from "../../core/values/errors.ts";

export interface ArrivalOptions {
  /** How long the client may take. */
  readonly timeoutMs: number;
  /** Of the app. */
  readonly deadlines: Deadlines;
}

/**
 * The result of `arriving`. Rejects with `requestTimeout` after `timeoutMs`, and with `clientClosed` when the client
 * closed the connection. AppErrors such as `payloadTooLarge` are passed on. Rejects with an Error, which is logged,
 * when other code has already read the body.
 */
export async function arrival<T>(
  arriving: Promise<T>,
  { timeoutMs, deadlines }: ArrivalOptions,
): Promise<T> {
  try {
    return await deadlines.within(arriving, performance.now() + timeoutMs, late);
  } catch (error) {
    throw meaningOf(error);
  }
}

function late(): never {
  const message = "The request body did not arrive in time; send the request again";
  throw new AppError("requestTimeout", message);
}

function meaningOf(error: unknown): unknown {
  if (error instanceof AppError) return error;
  // The code around a mounted service has read the body. These are the messages of Node, node-server, Bun and Deno.
  if (error instanceof TypeError && /unusable|already|disturbed|locked/i.test(error.message))
    return new Error(
      "The body of the request was read before Rowgate got it; put Rowgate before what reads bodies, such as express.json()",
      { cause: error },
    );
  const message = "The client closed the connection before its request was complete";
  return new AppError("clientClosed", message, { cause: error });
}
