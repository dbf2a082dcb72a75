/** A Lua script that Redis runs atomically, in one round trip. */
import { createHash } from "node:crypto";
import type { Redis } from "ioredis";

export interface Script {
  readonly text: string;
  readonly sha: string;
}

export const scriptOf = (text: string): Script => ({
  text,
  sha: createHash("sha1").update(text).digest("hex"),
});

/** By its digest, which the server knows after the first time; a restarted server gets the text again. */
export async function evaluate(
  redis: Redis,
  { text, sha }: Script,
  [keyCount, ...rest]: [number, ...(string | number)[]],
): Promise<unknown[]> {
  const reply = redis.evalsha(sha, keyCount, ...rest).catch((error: unknown) => {
    if (!(error instanceof Error && error.message.startsWith("NOSCRIPT"))) throw error;
    return redis.eval(text, keyCount, ...rest);
  });
  return (await reply) as unknown[];
}
