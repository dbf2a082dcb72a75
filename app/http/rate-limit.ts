/**
 * How many requests a caller may send: `rateLimit` of a project.json. The headers are those of the IETF draft "RateLimit header fields for HTTP"
 * (draft-ietf-httpapi-ratelimit-headers-11).
 */
import type { RateLimitSettings } from "../../core/config/project-schema.ts";
import type { Counters, WindowCount } from "../../core/plans/ports.ts";
import { AppError } from "../../core/values/errors.ts";

/** The rate limits of one project. */
export interface RateLimiter {
  /** Counts one request. Rejects only as the counters do. */
  count(request: CountedRequest): Promise<RateVerdict>;
}

export interface CountedRequest {
  /** Whose request it is, as `shareOf` names it. */
  readonly share: string;
  /** As the path names them, whether or not they exist. In `lock/acquire` for a whole project, the endpoint is a part of the action. */
  readonly endpoint: string;
  readonly action: string;
}

export interface RateVerdict {
  /** For the answer, whatever it will be. */
  readonly headers: Readonly<Record<string, string>>;
  /** Null: the request may go on. */
  readonly refusal: AppError | null;
}

export interface RateLimiterOptions {
  readonly project: string;
  readonly settings: RateLimitSettings;
  readonly counters: Counters;
  /** A cryptographic hash as hexadecimal text: names of counters hold no name of a caller. */
  readonly digest: (text: string) => string;
  /** Is told of each refusal, by the name of the limit: `default`, or an action of the settings. */
  readonly onRefused?: ((limit: string) => void) | undefined;
}

const windowSecondsDefault = 60;

const unlimited: RateVerdict = { headers: {}, refusal: null };

/** One limit, and what a request made of it. */
interface Policy {
  readonly name: string;
  readonly max: number;
}

const secondsLeft = ({ endsInMs }: WindowCount): number => Math.max(1, Math.ceil(endsInMs / 1_000));

export function createRateLimiter(options: RateLimiterOptions): RateLimiter {
  const { project, settings, counters, digest, onRefused } = options;
  const { windowSeconds = windowSecondsDefault, max, actions } = settings;
  const ownMaxima = new Map(Object.entries(actions));
  const general: readonly Policy[] = max === undefined ? [] : [{ name: "default", max }];

  /** An action with a limit of its own counts in both. */
  function policiesOf({ endpoint, action }: CountedRequest): readonly Policy[] {
    const name = [action, `${endpoint}/${action}`].find((one) => ownMaxima.has(one));
    return name === undefined ? general : [...general, { name, max: ownMaxima.get(name)! }];
  }

  return {
    async count(request) {
      const policies = policiesOf(request);
      if (policies.length === 0) return unlimited;
      const bucket = digest(request.share).slice(0, 32);
      const names = policies.map(({ name }) => `${project}:${name}:${bucket}`);
      const counts = await counters.count(names, windowSeconds * 1_000);
      const headers = {
        "RateLimit-Policy": policies
          .map((policy) => `"${policy.name}";q=${policy.max};w=${windowSeconds}`)
          .join(", "),
        RateLimit: policies
          .map(({ name, max: most }, at) => {
            const found = counts[at]!;
            return `"${name}";r=${Math.max(0, most - found.count)};t=${secondsLeft(found)}`;
          })
          .join(", "),
      };
      const exceeded = policies.flatMap((policy, at) =>
        counts[at]!.count > policy.max ? [{ policy, seconds: secondsLeft(counts[at]!) }] : [],
      );
      const last = exceeded.toSorted((a, b) => b.seconds - a.seconds)[0];
      if (last) onRefused?.(last.policy.name);
      return { headers, refusal: last ? tooMany(last, settings) : null };
    },
  };
}

function tooMany(
  { policy: { name, max }, seconds }: { policy: Policy; seconds: number },
  { windowSeconds = windowSecondsDefault }: RateLimitSettings,
): AppError {
  const what = name === "default" ? "requests" : `requests of ${name}`;
  return new AppError(
    "tooManyRequests",
    `The limit of ${what} is reached (${max} in ${windowSeconds} s); try again in ${seconds} s`,
    { retryAfterSeconds: seconds },
  );
}
