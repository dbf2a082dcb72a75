/** The lock on a record while somebody edits it: taken at the first change, kept alive, given back. */
import { ApiError, post } from "./api.js";
import { credentials } from "./session.js";

/** @typedef {import("./types.d.ts").Entity} Entity */
/** @typedef {import("./types.d.ts").Row} Row */

const ttlSeconds = 60;

/** @param {Entity} entity @param {Row} row */
function keysOf({ key }, row) {
  const [only, second] = key;
  if (only !== undefined && second === undefined) return [{ key: only, value: row[only] }];
  return [{ record: Object.fromEntries(key.map((name) => [name, row[name]])) }];
}

/**
 * Who else holds the record; null = nobody.
 * @param {Entity} entity @param {Row} row @returns {Promise<{ owner: string, seconds: number } | null>}
 */
export async function lockHolder(entity, row) {
  if (!entity.actions.has("lock/status")) return null;
  const { body } = await post(`${entity.path}/lock/status`, { lock_keys: keysOf(entity, row) });
  const state = body.data.keys[0];
  return state?.locked ? { owner: state.owner ?? "somebody", seconds: state.ttl_remaining } : null;
}

/** @param {Entity} entity @param {Row} row */
export function recordLock(entity, row) {
  const isThere = entity.actions.has("lock/acquire");
  const lock_keys = keysOf(entity, row);
  /** @type {string | null} */
  let token = null;
  let timer = 0;
  /** @type {Promise<void> | null} */
  let taking = null;

  async function acquire() {
    const owner = credentials()?.name ?? "somebody in the console";
    const { body } = await post(
      `${entity.path}/lock/acquire`,
      { lock_keys, ttl: ttlSeconds, owner, ...(token !== null && { lock_token: token }) },
      { quiet: token !== null },
    );
    token = body.data.lock_token;
    timer = setTimeout(() => void acquire().catch(lost), (ttlSeconds * 1000) / 2);
  }

  function lost() {
    token = null;
  }

  return {
    /** Resolves to who holds the record instead; null: it is ours, or there are no locks. */
    async take() {
      if (!isThere || token !== null) return null;
      try {
        await (taking ??= acquire());
        return null;
      } catch (error) {
        taking = null;
        if (error instanceof ApiError && error.status === 409)
          return {
            owner: error.data?.locked_by ?? "somebody",
            seconds: error.data?.ttl_remaining ?? 0,
          };
        // Without locks the ETag still tells of changes.
        return null;
      }
    },
    /** @returns {Record<string, string>} headers for a write */
    headers: () => (token === null ? {} : { "X-Lock-Token": token }),
    async release() {
      clearTimeout(timer);
      taking = null;
      const held = token;
      token = null;
      if (held === null) return;
      await post(
        `${entity.path}/lock/release`,
        { lock_keys, lock_token: held },
        { quiet: true },
      ).catch(() => null);
    },
  };
}
