/** Waits for a request body that is still arriving. */
import { AppError } from "../../core/values/errors.ts";
import { withTimeout } from "../../core/values/with-timeout.ts";

/**
 * The result of `arriving`. Rejects with `requestTimeout` after `timeoutMs`, and with `clientClosed` when the client
 * closed the connection. AppErrors such as `payloadTooLarge` are passed on. An Error, which is logged, says that somebody else has read the
 * body.
 */
export async function arrival<T>(arriving: Promise<T>, timeoutMs: number): Promise<T> {
  try {
    return await withTimeout(arriving, {
      timeoutMs: Math.max(0, timeoutMs),
      onTimeout: () => {
        throw new AppError(
          "requestTimeout",
          "The request body did not arrive in time; send the request again",
        );
      },
    });
  } catch (error) {
    if (error instanceof AppError) throw error;
    // Of a mounted service: the program around it has read the body. The words are those of Node, node-server, Bun and Deno.
    if (error instanceof TypeError && /unusable|already|disturbed|locked/i.test(error.message))
      throw new Error(
        "The body of the request was read before Rowgate got it; put Rowgate before what reads bodies, such as express.json()",
        { cause: error },
      );
    const message = "The client closed the connection before its request was complete";
    throw new AppError("clientClosed", message, { cause: error });
  }
}
