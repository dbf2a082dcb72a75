/** Hook calls that no request waits for, and the interface that takes them. */
import type { HookPlace, OutboundRequest } from "./outbound-port.ts";

/** A call that the request does not wait for. Plain data, so that a queue can keep it. */
export interface HookCall {
  /** A UUID; the `Idempotency-Key` of all tries. */
  readonly id: string;
  readonly place: HookPlace;
  /** For the log: `stock-receipts onAfter:notify`. */
  readonly label: string;
  readonly requestId: string;
  readonly request: OutboundRequest;
}

export interface Background {
  /**
   * Queues the calls, which are made soon and retried when they fail. Resolves within `limits.jobTimeoutMs`, once they
   * are stored as safely as possible. Never rejects.
   */
  add(calls: readonly HookCall[]): Promise<void>;
  /** As `add`, and what its caller sends next arrives after the first tries, unless these take long. */
  begin(calls: readonly HookCall[]): Promise<void>;
}
