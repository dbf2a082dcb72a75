/**
 * Tells other instances at once that changes were committed, so that they need not wait for their next look. Nothing
 * depends on it: a message that is lost while Redis is away costs the time until that look.
 */
import type { Redis } from "ioredis";
import { oneAtATime } from "../../core/values/one-at-a-time.ts";
import type { Nudge } from "../../core/plans/nudge.ts";

export interface RedisNudges {
  /** `about`: what instances have in common, for example the database. */
  nudge(about: string): Nudge;
  close(): void;
}

export function createRedisNudges(redis: Redis): RedisNudges {
  const heard = new Map<string, Set<(sender: string) => void>>();
  /** A connection that has subscribed takes no other commands. It is opened by the first one who listens. */
  let subscriber: Redis | null = null;

  /** Also after each loss of the connection. What is not subscribed now is with the next connection. */
  function subscribe(channels: readonly string[]): void {
    if (subscriber?.status === "ready" && channels.length > 0)
      subscriber.subscribe(...channels).catch(() => undefined);
  }

  function open(): Redis {
    const opened = redis.duplicate({ autoResubscribe: false });
    // The service's own connection tells that Redis is away.
    opened.on("error", () => undefined);
    opened.on("ready", () => subscribe([...heard.keys()]));
    opened.on("message", (channel: string, sender: string) => {
      for (const hear of heard.get(channel) ?? []) hear(sender);
    });
    return opened;
  }

  return {
    nudge(about) {
      const channel = `rowgate:changes:${about}`;
      const self = crypto.randomUUID();
      return {
        // Those who hear a message read everything that is committed by then.
        tell: oneAtATime(async () => {
          await redis.publish(channel, self).catch(() => undefined);
        }),
        listen(hear) {
          const hearOthers = (sender: string) => {
            if (sender !== self) hear();
          };
          const known = heard.get(channel) ?? new Set();
          heard.set(channel, known.add(hearOthers));
          if (subscriber === null) subscriber = open();
          else if (known.size === 1) subscribe([channel]);
          return () => {
            known.delete(hearOthers);
            if (known.size > 0) return;
            heard.delete(channel);
            if (subscriber?.status === "ready")
              subscriber.unsubscribe(channel).catch(() => undefined);
          };
        },
      };
    },
    close: () => subscriber?.disconnect(),
  };
}
