/**
 * Locks that all instances share. Each call is one Lua script, which the server runs atomically and by its own clock. A
 * restarted server can have lost locks. So each instance remembers what it granted and restores it when it reconnects;
 * until every instance had time for that, the scripts grant nothing.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { Redis } from "ioredis";
import { unavailable } from "../../core/values/errors.ts";
import { limits } from "../../core/values/limits.ts";
import {
  tooManyLocks,
  type LockOutcome,
  type LockState,
  type LockStore,
} from "../../core/locks/lock-store.ts";
import { createGrants } from "./lock-grants.ts";
import { rememberedServer } from "./redis-run.ts";
import { evaluate, type Script, scriptOf } from "./redis-script.ts";

/** The locks of one project, in one hash slot. */
export type OpenLocks = (project: string) => LockStore;

/** `shareMax`: of one caller, in one project. */
export function createRedisLocks(redis: Redis, shareMax: number = limits.lockCallerMax): OpenLocks {
  const serverOf = rememberedServer(redis);
  const whenReady: (() => Promise<void>)[] = [];
  let connections = redis.status === "ready" ? 1 : 0;
  redis.on("ready", () => {
    connections++;
    for (const putBack of whenReady) void putBack();
  });

  /** Every script gets the project's own keys, those of the locks, and what it needs to see a restart. */
  async function run(script: Script, { project, names, args }: Names): Promise<unknown[]> {
    const server = await serverOf();
    const isFirst = connections === 1;
    const keys = ["run", "fence", ...names.map((name) => `held:${name}`)].map(
      (name) => `rowgate:locks:{${project}}:${name}`,
    );
    const startedRestMs = Math.max(0, Math.ceil(limits.lockSettleMs - server.uptimeMs()));
    const common = [server.run ?? "unnamed", startedRestMs, limits.lockSettleMs];
    const reply = await evaluate(redis, script, [keys.length, ...keys, ...common, ...args]);
    if (reply[0] !== "settling") return reply;
    // A known server has been restarted: the call rejects. A server that is met for the first time could belong to a
    // new installation, where no caller should see an error, so the call waits. Waiting never grants a lock earlier.
    if (!isFirst || script === scripts.settle) throw unavailable(justStarted);
    await pause(Number(reply[1]));
    return run(script, { project, names, args });
  }

  return (project) => {
    const grants = createGrants();
    const putBack = (): Promise<void> => putBackLocks({ redis, run, project, grants });
    whenReady.push(putBack);
    if (redis.status === "ready") void putBack();

    function remember(names: readonly string[], { reply, token, ttlMs }: Reply): LockOutcome {
      const outcome = outcomeOf(reply, names);
      if (outcome.ok) grants.add(names, { ...outcome, token, share: String(reply[4]) }, ttlMs);
      return outcome;
    }

    return {
      async acquire(names, { token, owner, share, ttlMs }) {
        // In the hash slot of the project, like all its keys.
        const shareKey = share === null ? "" : `rowgate:locks:{${project}}:share:${share}`;
        const args = [token, JSON.stringify(owner), ttlMs, grants.lastFence(), shareKey, shareMax];
        const reply = await run(scripts.acquire, { project, names, args }).catch(
          (error: unknown) => {
            // The lock could be granted although the answer is missing. The caller does not know of it: release it.
            run(scripts.release, { project, names, args: [token] }).catch(() => undefined);
            throw error;
          },
        );
        if (reply[0] === "full") throw tooManyLocks();
        return remember(names, { reply, token, ttlMs });
      },
      async extend(names, { token, ttlMs }) {
        const reply = await run(scripts.extend, { project, names, args: [token, ttlMs] });
        return remember(names, { reply, token, ttlMs });
      },
      async release(names, token) {
        grants.remove(names, token);
        const [, count] = await run(scripts.release, { project, names, args: [token] });
        // An extend that was under way has just been answered, and has added them again.
        grants.remove(names, token);
        return Number(count);
      },
      async status(names, tokens) {
        const [, ...states] = await run(scripts.status, { project, names, args: tokens });
        return names.map((_, at) => stateOf(states[at] as unknown[]));
      },
    };
  };
}

interface PuttingBack {
  readonly redis: Redis;
  readonly run: (script: Script, names: Names) => Promise<unknown>;
  readonly project: string;
  readonly grants: ReturnType<typeof createGrants>;
}

/** Restores this instance's locks before new ones are granted; the waiting period for that begins here. */
async function putBackLocks({ redis, run, project, grants }: PuttingBack): Promise<void> {
  const giveUpAtMs = performance.now() + limits.lockSettleMs;
  while (redis.status === "ready" && performance.now() < giveUpAtMs) {
    try {
      for (const { names, lock, remainingMs } of grants.live()) {
        const args = [lock.token, JSON.stringify(lock.owner), remainingMs, lock.fence];
        args.push(lock.acquiredAtMs, lock.share);
        await run(scripts.restore, { project, names, args });
      }
      break;
    } catch {
      await pause(100, undefined, { ref: false });
    }
  }
  await run(scripts.settle, { project, names: [], args: [] }).catch(() => undefined);
}

const justStarted = "The lock server has just started; locks are granted again in a few seconds";
/** The reply to a call that acquires or extends locks. */
interface Reply {
  readonly reply: readonly unknown[];
  readonly token: string;
  readonly ttlMs: number;
}

interface Names {
  readonly project: string;
  readonly names: readonly string[];
  readonly args: readonly (string | number)[];
}

function outcomeOf(reply: readonly unknown[], names: readonly string[]): LockOutcome {
  if (reply[0] === "granted") {
    const [, fence, owner, acquiredAtMs] = reply;
    const held = { owner: JSON.parse(String(owner)), acquiredAtMs: Number(acquiredAtMs) };
    return { ok: true, fence: Number(fence), ...held };
  }
  const [, at, owner, remainingMs] = reply;
  const holder =
    reply[0] === "held"
      ? { owner: JSON.parse(String(owner)), remainingMs: Number(remainingMs) }
      : null;
  return { ok: false, name: names[Number(at) - 1]!, holder };
}

function stateOf([owner, remainingMs, isOwn]: unknown[]): LockState | null {
  if (owner === undefined) return null;
  return { owner: JSON.parse(String(owner)), remainingMs: Number(remainingMs), isOwn: isOwn === 1 };
}

/** KEYS: the settled run, the last fence, the locks. ARGV: the run, the two waiting periods, the script's own. */
function script(text: string, { mayBeUnsettled = false } = {}): Script {
  const whole = `${prelude}\n${mayBeUnsettled ? "" : settled}\n${text}`;
  return scriptOf(whole);
}

const prelude = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local function digits(number) return string.format('%.0f', number) end
local nowMs = math.floor(now / 1000)
local function lock(key) return redis.call('HMGET', key, 'token', 'owner', 'fence', 'at', 'share') end
local function held(at, found) return {'held', at - 2, found[2], redis.call('PTTL', KEYS[at])} end
local function count(share, key, ttl)
  if share == '' then return end
  redis.call('ZADD', share, nowMs + ttl, key)
  local last = redis.call('ZRANGE', share, -1, -1, 'WITHSCORES')
  redis.call('PEXPIRE', share, math.max(1, last[2] - nowMs))
end
local function forget(key)
  local share = redis.call('HGET', key, 'share')
  if share and share ~= '' then redis.call('ZREM', share, key) end
end
local function put(key, token, owner, fence, at, ttl, share)
  forget(key)
  redis.call('HSET', key, 'token', token, 'owner', owner, 'fence', fence, 'at', at, 'share', share)
  redis.call('PEXPIRE', key, ttl)
  count(share, key, ttl)
end`;

/** A new run settles first: the wait counts from its start if no earlier run is known, otherwise from now. */
const settled = `
local run, ready = string.match(redis.call('GET', KEYS[1]) or '', '^(%S+) (%d+)$')
if run ~= ARGV[1] then
  ready = digits(now + (run and ARGV[3] or ARGV[2]) * 1000)
  redis.call('SET', KEYS[1], ARGV[1] .. ' ' .. ready)
end
if now < tonumber(ready) then return {'settling', math.ceil((tonumber(ready) - now) / 1000)} end`;

const scripts = {
  /** ARGV: token, owner, ttl, the last fence known here, the key of the share or nothing, its maximum. */
  acquire: script(`
local further = 0
for at = 3, #KEYS do
  local found = lock(KEYS[at])
  if found[1] and found[1] ~= ARGV[4] then return held(at, found) end
  if not found[1] then further = further + 1 end
end
local share = ARGV[8]
if share ~= '' then
  redis.call('ZREMRANGEBYSCORE', share, '-inf', nowMs)
  if redis.call('ZCARD', share) + further > tonumber(ARGV[9]) then return {'full'} end
end
local last = tonumber(redis.call('GET', KEYS[2]) or '0')
local fence = digits(math.max(last + 1, tonumber(ARGV[7]) + 1, now))
local acquired = digits(math.floor(now / 1000))
redis.call('SET', KEYS[2], fence)
for at = 3, #KEYS do put(KEYS[at], ARGV[4], ARGV[5], fence, acquired, ARGV[6], share) end
return {'granted', fence, ARGV[5], acquired, share}`),

  /** ARGV: token, ttl. */
  extend: script(`
local first
for at = 3, #KEYS do
  local found = lock(KEYS[at])
  if not found[1] then return {'free', at - 2} end
  if found[1] ~= ARGV[4] then return held(at, found) end
  first = first or found
end
for at = 3, #KEYS do
  redis.call('PEXPIRE', KEYS[at], ARGV[5])
  count(lock(KEYS[at])[5] or '', KEYS[at], ARGV[5])
end
return {'granted', first[3], first[2], first[4], first[5] or ''}`),

  /** ARGV: token. Runs during settling too, because it grants nothing. */
  release: script(
    `
local released = 0
for at = 3, #KEYS do
  if redis.call('HGET', KEYS[at], 'token') == ARGV[4] then
    forget(KEYS[at])
    redis.call('DEL', KEYS[at])
    released = released + 1
  end
end
return {'released', released}`,
    { mayBeUnsettled: true },
  ),

  /** ARGV: tokens. */
  status: script(`
local own = {}
for at = 4, #ARGV do own[ARGV[at]] = true end
local states = {'states'}
for at = 3, #KEYS do
  local found = lock(KEYS[at])
  states[at - 1] = found[1]
    and {found[2], redis.call('PTTL', KEYS[at]), own[found[1]] and 1 or 0}
    or {}
end
return states`),

  settle: script("return {'settled'}"),

  /** ARGV: token, owner, ttl, fence, time, share key or nothing. The later grant wins; no existing one is shortened. */
  restore: script(
    `
local last = tonumber(redis.call('GET', KEYS[2]) or '0')
if last < tonumber(ARGV[7]) then redis.call('SET', KEYS[2], ARGV[7]) end
for at = 3, #KEYS do
  local found = lock(KEYS[at])
  if found[1] == ARGV[4] then
    if redis.call('PTTL', KEYS[at]) < tonumber(ARGV[6]) then redis.call('PEXPIRE', KEYS[at], ARGV[6]) end
  elseif not found[1] or tonumber(found[3]) < tonumber(ARGV[7]) then
    put(KEYS[at], ARGV[4], ARGV[5], ARGV[7], ARGV[8], ARGV[6], ARGV[9])
  end
end
return {'restored'}`,
    { mayBeUnsettled: true },
  ),
};
