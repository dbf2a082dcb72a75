/** One attempt of a non-blocking hook call, and the meaning of its outcome. */
import type { HookFailure } from "../../core/workflow/hook-queue.ts";
import type { Outbound, OutboundRequest } from "../../core/plans/outbound-port.ts";

/** Null when the call succeeded. Never rejects. */
export async function attempt(
  outbound: Outbound,
  request: OutboundRequest,
  signal: AbortSignal,
): Promise<HookFailure | null> {
  try {
    const { status } = await outbound.send(request, signal);
    if (status >= 200 && status <= 299) return null;
    return {
      error: new Error(`The hook answered with status ${status}`),
      isFinal: !isPassing(status),
    };
  } catch (error) {
    return { error, isFinal: false };
  }
}

/** Whether the same call can succeed later; any other answer of the service is final. */
const isPassing = (status: number): boolean =>
  status >= 500 || status === 408 || status === 425 || status === 429;
