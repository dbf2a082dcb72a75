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
 * closed the connection. AppErrors such as `payloadTooLarge` are passed on. An Error, which is logged, says that somebody else has read the
 * body.
 */
export const arrival = <T>(
  arriving: Promise<T>,
  { timeoutMs, deadlines }: ArrivalOptions,
): Promise<T> =>
  new Promise((resolve, reject) => {
    const entry = deadlines.watch(performance.now() + timeoutMs, () =>
      reject(
        new AppError(
          "requestTimeout",
          "The request body did not arrive in time; send the request again",
        ),
      ),
    );
    arriving.then(
      (arrived) => {
        deadlines.unwatch(entry);
        resolve(arrived);
      },
      (error: unknown) => {
        deadlines.unwatch(entry);
        reject(meaningOf(error));
      },
    );
  });

function meaningOf(error: unknown): unknown {
  if (error instanceof AppError) return error;
  // Of a mounted service: the program around it has read the body. The words are those of Node, node-server, Bun and Deno.
  if (error instanceof TypeError && /unusable|already|disturbed|locked/i.test(error.message))
    return new Error(
      "The body of the request was read before Rowgate got it; put Rowgate before what reads bodies, such as express.json()",
      { cause: error },
    );
  const message = "The client closed the connection before its request was complete";
  return new AppError("clientClosed", message, { cause: error });
}
