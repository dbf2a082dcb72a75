/** Counters that all instances share: each call is one script, however many names it counts. */
import type { Redis } from "ioredis";
import type { Counters } from "../../core/plans/counters.ts";
import { evaluate, scriptOf } from "./redis-script.ts";

const keyOf = (name: string): string => `rowgate:rate:${name}`;

export function createRedisCounters(redis: Redis): Counters {
  return {
    async count(names, windowMs) {
      const keys = names.map(keyOf);
      const reply = await evaluate(redis, counting, [keys.length, ...keys, windowMs]);
      return names.map((_, at) => ({
        count: Number(reply[2 * at]),
        endsInMs: Number(reply[2 * at + 1]),
      }));
    },
    async read(names) {
      const keys = names.map(keyOf);
      return (await evaluate(redis, reading, [keys.length, ...keys])).map(Number);
    },
  };
}

/** KEYS: the counters. */
const reading = scriptOf(`
local counts = {}
for at, key in ipairs(KEYS) do counts[at] = tonumber(redis.call('GET', key) or '0') end
return counts`);

/** KEYS: the counters. ARGV: the length of a window, which begins with its first request. */
const counting = scriptOf(`
local counts = {}
for at, key in ipairs(KEYS) do
  local count = redis.call('INCR', key)
  local left = redis.call('PTTL', key)
  if left < 0 then
    redis.call('PEXPIRE', key, ARGV[1])
    left = tonumber(ARGV[1])
  end
  counts[2 * at - 1] = count
  counts[2 * at] = left
end
return counts`);
