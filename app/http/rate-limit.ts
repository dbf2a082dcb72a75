/**
 * How many requests a caller can send: `rateLimit` of a project.json. The headers follow the IETF draft "RateLimit
 * header fields for HTTP" (draft-ietf-httpapi-ratelimit-headers-11).
 */
import type { Runtime } from "../../core/plans/runtime.ts";
import type { RateLimitSettings } from "../../core/config/reading/project-schema.ts";
import type { Counters, WindowCount } from "../../core/plans/counters.ts";
import { AppError } from "../../core/values/errors.ts";
import { limits } from "../../core/values/limits.ts";

/** The rate limits of one project. Rejects only as the counters do. */
export interface RateLimiter {
  /** Counts one request; `isRefused`: its credentials were missing or wrong, or were not looked at. */
  count(request: CountedRequest, options?: { readonly isRefused?: boolean }): Promise<RateVerdict>;
  /**
   * Counts several requests that came as one, which `count` has counted in place of the first. `refusals`: of those that
   * are too many, by index and in their order.
   */
  countSteps(
    steps: readonly CountedRequest[],
  ): Promise<Pick<RateVerdict, "headers"> & { readonly refusals: ReadonlyMap<number, AppError> }>;
  /**
   * Whether credentials will be checked. False once refused requests have used up a limit of the address, unless these
   * credentials were accepted from it in the last ten minutes. Else a client could go on guessing.
   */
  mayTry(attempt: Attempt): Promise<boolean>;
  /** Remembers credentials that were accepted. */
  accepted(attempt: Attempt): Promise<void>;
}

/** The credentials of a request. */
export interface Attempt {
  /** `share` is that of the address. */
  readonly request: CountedRequest;
  readonly credentials: string;
}

export interface CountedRequest {
  /** Whose request it is, as `shareOf` names it. */
  readonly share: string;
  /** As in the path, whether they exist or not. In a project's `lock/acquire`, the endpoint is part of the action. */
  readonly endpoint: string;
  readonly action: string;
}

export interface RateVerdict {
  /** For the answer, whether it succeeds or not. */
  readonly headers: Readonly<Record<string, string>>;
  /** Null: the request is within the limits. */
  readonly refusal: AppError | null;
}

export interface RateLimiterOptions extends Pick<Runtime, "digest"> {
  readonly project: string;
  readonly settings: RateLimitSettings;
  readonly counters: Counters;
  /** Is called for each refusal, with the name of the limit: `default`, or an action of the settings. */
  readonly onRefused?: ((limit: string) => void) | undefined;
}

const windowSecondsDefault = 60;

const unlimited: RateVerdict = { headers: {}, refusal: null };

/** One limit: a name, and the maximum of requests per window. */
interface Policy {
  readonly name: string;
  readonly max: number;
}

/** The count of a policy's window. */
interface PolicyCount extends WindowCount {
  readonly policy: Policy;
}

const isExceeded = ({ count, policy }: PolicyCount): boolean => count > policy.max;

const secondsLeft = ({ endsInMs }: WindowCount): number => Math.max(1, Math.ceil(endsInMs / 1_000));

export function createRateLimiter(options: RateLimiterOptions): RateLimiter {
  const { project, settings, counters, digest, onRefused } = options;
  const { windowSeconds = windowSecondsDefault, max, actions } = settings;
  const ownMaxima = new Map(Object.entries(actions));
  const general: readonly Policy[] = max === undefined ? [] : [{ name: "default", max }];

  /** An action with its own limit counts in both. */
  function policiesOf({ endpoint, action }: CountedRequest): readonly Policy[] {
    const name = [action, `${endpoint}/${action}`].find((one) => ownMaxima.has(one));
    return name === undefined ? general : [...general, { name, max: ownMaxima.get(name)! }];
  }

  const bucketOf = (share: string): string => digest(share).slice(0, 32);
  const refusedNames = ({ share }: CountedRequest, policies: readonly Policy[]): string[] =>
    policies.map(({ name }) => `${project}:refused ${name}:${bucketOf(share)}`);

  const knownHere = knownOver(counters);
  /** Names the counter of one part of the remembered time: a counter's window begins only with its first request. */
  const acceptedName = ({ request, credentials }: Attempt, ago = 0): string => {
    const part = Math.floor(Date.now() / partMs) - ago;
    return `${project}:accepted ${part}:${bucketOf(`${request.share}\n${credentials}`)}`;
  };

  function refusalOf(counts: readonly PolicyCount[]): AppError | null {
    const exceeded = counts.filter(isExceeded);
    const last = exceeded.toSorted((a, b) => secondsLeft(b) - secondsLeft(a))[0];
    if (last) onRefused?.(last.policy.name);
    return last ? tooMany(last, settings) : null;
  }

  const headersOf = (counts: readonly PolicyCount[]): RateVerdict["headers"] => ({
    "RateLimit-Policy": counts
      .map(({ policy: { name, max: most } }) => `"${name}";q=${most};w=${windowSeconds}`)
      .join(", "),
    RateLimit: counts
      .map((found) => {
        const { name, max: most } = found.policy;
        return `"${name}";r=${Math.max(0, most - found.count)};t=${secondsLeft(found)}`;
      })
      .join(", "),
  });

  return {
    async mayTry(attempt) {
      const policies = policiesOf(attempt.request);
      if (policies.length === 0 || knownHere.has(acceptedName(attempt))) return true;
      const accepted = Array.from({ length: parts }, (_, ago) => acceptedName(attempt, ago));
      const names = refusedNames(attempt.request, policies);
      const counts = await counters.read([...names, ...accepted]);
      const isUsedUp = policies.some(({ max: most }, at) => counts[at]! >= most);
      return !isUsedUp || counts.slice(names.length).some((count) => count > 0);
    },
    async accepted(attempt) {
      const name = acceptedName(attempt);
      if (policiesOf(attempt.request).length === 0 || knownHere.has(name)) return;
      if (knownHere.size >= limits.credentialsKnownMax) knownHere.clear();
      knownHere.add(name);
      await counters.count([name], limits.credentialsKnownMs);
    },
    async count(request, { isRefused = false } = {}) {
      const policies = policiesOf(request);
      if (policies.length === 0) return unlimited;
      const bucket = bucketOf(request.share);
      const names = policies.map(({ name }) => `${project}:${name}:${bucket}`);
      if (isRefused) names.push(...refusedNames(request, policies));
      const counts = await counters.count(names, windowSeconds * 1_000);
      const found = counts.map((one, at) => ({ ...one, policy: policies[at % policies.length]! }));
      return { headers: headersOf(found.slice(0, policies.length)), refusal: refusalOf(found) };
    },
    async countSteps(steps) {
      const counted = steps.flatMap((step, index) =>
        policiesOf(step).flatMap((policy) =>
          index === 0 && general.includes(policy)
            ? []
            : [{ index, policy, name: `${project}:${policy.name}:${bucketOf(step.share)}` }],
        ),
      );
      if (counted.length === 0) return { headers: {}, refusals: new Map() };
      const names = counted.map(({ name }) => name);
      const counts = await counters.count(names, windowSeconds * 1_000);
      const found = counts.map((one, at) => ({ ...one, ...counted[at]! }));
      const lastOfEach = [...new Map(found.map((one) => [one.policy.name, one])).values()];
      const exceeded = Map.groupBy(found.filter(isExceeded), ({ index }) => index);
      const refusals = new Map([...exceeded].map(([index, some]) => [index, refusalOf(some)!]));
      return { headers: headersOf(lastOfEach), refusals };
    },
  };
}

const parts = 5;
const partMs = limits.credentialsKnownMs / parts;

/** Names of accepted credentials that this process has already counted; they live as long as the counters. */
const known = new WeakMap<Counters, Set<string>>();

function knownOver(counters: Counters): Set<string> {
  let names = known.get(counters);
  if (names === undefined) known.set(counters, (names = new Set()));
  return names;
}

function tooMany(
  found: PolicyCount,
  { windowSeconds = windowSecondsDefault }: RateLimitSettings,
): AppError {
  const { name, max } = found.policy;
  const seconds = secondsLeft(found);
  const what = name === "default" ? "requests" : `requests of ${name}`;
  return new AppError(
    "tooManyRequests",
    `The limit of ${what} is reached (${max} in ${windowSeconds} s); try again in ${seconds} s`,
    { retryAfterSeconds: seconds },
  );
}
