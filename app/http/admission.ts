/** How a request enters a project: who sends it, and whether it may send one more. */
import type { Project } from "../../core/dispatch.ts";
import { type Caller, nobody, shareOf } from "../../core/plans/caller.ts";
import { addressOf, isOwnCall } from "./client-address.ts";
import type { Exchange } from "./exchange.ts";
import type { Incoming } from "./incoming.ts";
import type { RateLimiter } from "./rate-limit.ts";

export interface AdmissionDeps {
  /** By project; one that is not in it limits nobody. */
  readonly rateLimiters: ReadonlyMap<string, RateLimiter>;
  /** Proxies before the service, whose word counts for the address of the client. */
  readonly trustProxy: number;
}

/** A request to a project; `endpoint` and `action` are empty where its path names none. */
export interface Arrived {
  readonly incoming: Incoming;
  readonly exchange: Exchange;
  readonly project: Project;
  readonly endpoint: string;
  readonly action: string;
}

/**
 * Finds out who sends a request, and counts it; without known credentials it counts for the address. Rejects with
 * `tooManyRequests`, or as `authenticate` does: who may not come in must not learn more by being fast.
 */
export function createAdmission({ rateLimiters, trustProxy }: AdmissionDeps) {
  async function count(
    limiter: RateLimiter,
    { incoming, exchange, project, endpoint, action }: Arrived,
  ): Promise<Caller> {
    const known = await outcomeOf(async () => project.callers.authenticate(incoming.headers));
    const share = shareOf("value" in known ? known.value : nobody, addressOf(incoming, trustProxy));
    const { headers, refusal } = await limiter.count({ share, endpoint, action });
    exchange.answerHeaders = headers;
    if (refusal) throw refusal;
    if ("error" in known) throw known.error;
    return known.value;
  }

  return (arrived: Arrived): Caller | Promise<Caller> => {
    const { incoming, project } = arrived;
    const limiter = isOwnCall(incoming) ? undefined : rateLimiters.get(project.name);
    return limiter ? count(limiter, arrived) : project.callers.authenticate(incoming.headers);
  };
}

const outcomeOf = <Value>(
  work: () => Promise<Value>,
): Promise<{ readonly value: Value } | { readonly error: unknown }> =>
  work().then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
