/** Admits requests to a project: finds the sender and checks the rate limits. */
import type { StepName } from "../../core/calls/handler.ts";
import type { Project } from "../../core/dispatch.ts";
import { type Caller, nobody, shareOf } from "../../core/plans/caller.ts";
import { AppError, unauthorized } from "../../core/values/errors.ts";
import { addressOf, isOwnCall } from "./client-address.ts";
import type { Exchange } from "./exchange.ts";
import type { Incoming } from "./incoming.ts";
import type { RateLimiter } from "./rate-limit.ts";

export interface AdmissionDeps {
  /** By project; a project without an entry has no limit. */
  readonly rateLimiters: ReadonlyMap<string, RateLimiter>;
  /** How many proxies before the service are trusted to name the client's address. */
  readonly trustProxy: number;
}

/** A request to a project; `endpoint` and `action` are absent where its path names none. */
export interface Arrived {
  readonly incoming: Incoming;
  readonly exchange: Exchange;
  readonly project: Pick<Project, "name" | "callers">;
  readonly endpoint?: string;
  readonly action?: string;
}

/**
 * Identifies the sender of a request and counts the request: for the caller, or without valid credentials for the
 * address. Rejects with `tooManyRequests`, or as `authenticate` does. Guesses beyond the limit are refused without a
 * check.
 */
export function createAdmission({ rateLimiters, trustProxy }: AdmissionDeps) {
  async function count(
    limiter: RateLimiter,
    { incoming, exchange, project, endpoint = "", action = "" }: Arrived,
  ): Promise<Caller> {
    const address = addressOf(incoming, trustProxy);
    const atAddress = { share: shareOf(nobody, address), endpoint, action };
    const credentials = credentialsOf(incoming);
    const attempt = credentials === null ? null : { request: atAddress, credentials };

    async function refuse(error: unknown, isRefused: boolean): Promise<never> {
      const { headers, refusal } = await limiter.count(atAddress, { isRefused });
      exchange.answerHeaders = headers;
      throw refusal ?? error;
    }

    if (attempt && !(await limiter.mayTry(attempt))) return refuse(unlooked, true);
    const known = await outcomeOf(async () => project.callers.authenticate(incoming.headers));
    if ("error" in known) {
      const { error } = known;
      return refuse(error, error instanceof AppError && error.kind === "unauthorized");
    }
    const caller = known.value;
    if (attempt && caller.id !== null) {
      // Guesses that were sent at the same moment can have used up the limit meanwhile.
      if (!(await limiter.mayTry(attempt))) return refuse(unlooked, true);
      await limiter.accepted(attempt);
    }
    const { headers, refusal } = await limiter.count({
      ...atAddress,
      share: shareOf(caller, address),
    });
    exchange.answerHeaders = headers;
    if (refusal) throw refusal;
    return caller;
  }

  return (arrived: Arrived): Caller | Promise<Caller> => {
    const { incoming, project } = arrived;
    const limiter = isOwnCall(incoming) ? undefined : rateLimiters.get(project.name);
    return limiter ? count(limiter, arrived) : project.callers.authenticate(incoming.headers);
  };
}

/**
 * Counts the steps of a batch that was admitted. The batch itself was counted as a request, in place of its first step.
 */
export const countingSteps =
  ({ rateLimiters, trustProxy }: AdmissionDeps) =>
  ({ incoming, exchange, project }: Omit<Arrived, "endpoint" | "action">, caller: Caller) =>
  async (steps: readonly StepName[]): Promise<ReadonlyMap<number, AppError>> => {
    const limiter = isOwnCall(incoming) ? undefined : rateLimiters.get(project.name);
    if (!limiter) return new Map();
    const share = shareOf(caller, addressOf(incoming, trustProxy));
    const asked = steps.map(({ endpoint, action }) => ({ share, endpoint, action }));
    const { headers, refusals } = await limiter.countSteps(asked);
    const earlier = exchange.answerHeaders;
    const told = Object.entries(headers).map(([name, items]) => [
      name,
      withItems(earlier[name], items),
    ]);
    exchange.answerHeaders = { ...earlier, ...Object.fromEntries(told) };
    return refusals;
  };

/** The header, with the later items instead of those of the same limits. */
function withItems(earlier = "", later: string): string {
  const items = [earlier, later].filter((text) => text !== "").flatMap((text) => text.split(", "));
  return [...new Map(items.map((item) => [item.split(";")[0], item])).values()].join(", ");
}

/** For the rare case that the window of the limit ended between the two checks. */
const unlooked = unauthorized("Credentials are missing or invalid");

/** The headers that `authenticate` checks; null: none. */
const credentialsOf = ({ headers }: Incoming): string | null =>
  headers.get("x-api-key") ?? headers.get("authorization");

export const hasCredentials = (incoming: Incoming): boolean => credentialsOf(incoming) !== null;

const outcomeOf = <Value>(
  work: () => Promise<Value>,
): Promise<{ readonly value: Value } | { readonly error: unknown }> =>
  work().then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
