/** Calls to other services. `app/outbound` implements them. */
import type { TraceCarrier } from "./observer.ts";

export interface Outbound {
  /**
   * Status and text of the answer, once it is read. Follows no redirect. Rejects with an Error (only for the log) if
   * the address may not be called, or the answer is too slow or too long.
   */
  send(request: OutboundRequest, signal?: AbortSignal): Promise<OutboundAnswer>;
}

/** An HTTP call to another service, or to this one if the URL is a path. */
export interface OutboundRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Null = none. */
  readonly body: string | null;
  /** For the whole call: resolving the host, connecting, and reading the answer to its end. */
  readonly timeoutMs: number;
  /** The hook that is called; absent: it is no hook. */
  readonly hook?: HookPlace;
  /** The trace that the call continues; absent: that of the request that sends it. */
  readonly trace?: TraceCarrier;
}

export interface OutboundAnswer {
  readonly status: number;
  readonly text: string;
}

/** The place of a hook in the configuration. */
export interface HookPlace {
  readonly project: string;
  readonly endpoint: string;
  /** The status that the record changed to; of a webhook the type of the change: `orders.updated`. */
  readonly status: string;
  /** `onAfter:notify`; of a webhook `webhook:erp`. */
  readonly hook: string;
  /** In its list, from 0. */
  readonly index: number;
}
