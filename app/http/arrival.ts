/** Waiting for what a client still has to send. */
import { AppError } from "../../core/values/errors.ts";
import { withTimeout } from "../../core/values/with-timeout.ts";

/**
 * What `arriving` gives. Rejects with `requestTimeout` after `timeoutMs`, and with `clientClosed` where the client went away; refusals of
 * our own, such as `payloadTooLarge`, stay what they are.
 */
export async function arrival<T>(arriving: Promise<T>, timeoutMs: number): Promise<T> {
  try {
    return await withTimeout(arriving, {
      timeoutMs: Math.max(0, timeoutMs),
      onTimeout: () => {
        throw new AppError("requestTimeout", "The body did not arrive in time; send it again");
      },
    });
  } catch (error) {
    if (error instanceof AppError) throw error;
    const message = "The client went away before its request was complete";
    throw new AppError("clientClosed", message, { cause: error });
  }
}
