/**
 * The lock on a record during editing: acquired at the first change, extended, released. Its requests are sent one
 * after the other, so that each knows the result of the one before, even over a slow connection.
 */
import { ApiError, post } from "../api.js";
import { keyOf } from "../grid/rows.js";
import { credentials } from "../session.js";
import { t } from "../words.js";

/** @import { Entity, Row } from "../types.d.ts" */
/** Another caller, who holds the lock. @typedef {{ owner: string, seconds: number }} Holder */

/** Browsers let a page in the background act only once a minute. */
const ttlSeconds = 90;
const renewedAfterMs = 30_000;
/** Short at first, because a page that is closed before the answer cannot release its lock. */
const firstTtlSeconds = 20;
const firstRenewedAfterMs = 8000;
/** After a conflict, the first change after this time tries again. */
const pauseMs = 3000;

/** @param {Entity} entity @param {Row} row */
function keysOf({ key }, row) {
  const [only, second] = key;
  if (only !== undefined && second === undefined) return [{ key: only, value: row[only] }];
  return [{ record: keyOf({ key }, row) }];
}

/** @param {unknown} error */
const isConflict = (error) =>
  error instanceof ApiError && error.status === 409 && error.error === "Lock conflict";

/** Whether the lock of the sent token has ended. @param {unknown} error */
const isOver = (error) =>
  isConflict(error) && !(/** @type {ApiError} */ (error).data?.ttl_remaining > 0);

/** @param {Entity} entity @param {Row} row @param {(holder: Holder | null) => void} onHolder is called with another holder of the lock; null: there is none */
export function recordLock(entity, row, onHolder) {
  const lock_keys = keysOf(entity, row);
  // Kept by the tab, for a page that is reloaded before its release arrives.
  const place = `rowgate.lock ${entity.path} ${JSON.stringify(lock_keys)}`;
  const ttlMax = entity.body("lock/acquire")?.properties?.["ttl"]?.maximum ?? ttlSeconds;
  let isWanted = false;
  let isRefusedUntilMs = 0;
  let timer = 0;
  /** @type {string | null} */
  let token = null;
  /** @type {Promise<any>} */
  let last = Promise.resolve();

  /** @template T @param {() => Promise<T>} work @returns {Promise<T>} */
  function inTurn(work) {
    const done = last.then(work);
    last = done.catch(() => null);
    return done;
  }

  /** @param {string} action @param {object} [more] @param {import("../api.js").Options} [options] */
  const ask = (action, more = {}, options = {}) =>
    post(`${entity.path}/lock/${action}`, { lock_keys, ...more }, options);

  /** @param {string | null} value */
  function keep(value) {
    token = value;
    if (value === null) sessionStorage.removeItem(place);
    else sessionStorage.setItem(place, value);
  }

  async function acquire() {
    clearTimeout(timer);
    if (!isWanted) return;
    const isFirst = token === null;
    const owner = credentials()?.name ?? t("lock.console");
    const ttl = Math.min(isFirst ? firstTtlSeconds : ttlSeconds, ttlMax);
    try {
      const renewed = !isFirst && { lock_token: token };
      const { body } = await ask("acquire", { ttl, owner, ...renewed }, { quiet: !isFirst });
      keep(body.data.lock_token);
      onHolder(null);
    } catch (error) {
      if (!isFirst && isOver(error)) {
        keep(null);
        return acquire();
      }
      if (isConflict(error)) {
        keep(null);
        isRefusedUntilMs = Date.now() + pauseMs;
        const { locked_by: by, ttl_remaining: seconds } =
          /** @type {ApiError} */ (error).data ?? {};
        onHolder({ owner: by ?? t("somebody"), seconds: seconds ?? 0 });
        return;
      }
      // Without locks, the ETag still detects changes.
      if (isFirst) return;
    }
    const waitMs = isFirst ? firstRenewedAfterMs : renewedAfterMs;
    timer = setTimeout(() => void inTurn(acquire), waitMs);
  }

  async function giveBack() {
    clearTimeout(timer);
    const held = token;
    keep(null);
    if (held !== null)
      await ask("release", { lock_token: held }, { quiet: true }).catch(() => null);
  }

  /** Releases the lock with `keepalive`, because other requests of a closed page are cancelled. */
  function onHide() {
    clearTimeout(timer);
    if (token !== null)
      void ask("release", { lock_token: token }, { quiet: true, keepalive: true }).catch(
        () => null,
      );
    token = null;
  }

  /** For a page that the browser kept and shows again. @param {PageTransitionEvent} event */
  function onShow({ persisted }) {
    if (persisted) void inTurn(acquire);
  }

  function take() {
    if (!entity.actions.has("lock/acquire") || Date.now() < isRefusedUntilMs) return;
    if (!isWanted) {
      addEventListener("pagehide", onHide);
      addEventListener("pageshow", onShow);
    }
    isWanted = true;
    void inTurn(async () => (token === null ? acquire() : undefined));
  }

  return {
    /** Asks who holds the record. */
    look: () =>
      inTurn(async () => {
        token = sessionStorage.getItem(place);
        await giveBack();
        if (!entity.actions.has("lock/status")) return;
        const [state] = (await ask("status")).body.data.keys;
        if (state?.locked)
          onHolder({ owner: state.owner ?? t("somebody"), seconds: state.ttl_remaining });
      }),
    take,
    /**
     * Sends a write with the token, after a pending request for the lock. If the lock has ended, for example because
     * the computer was asleep, a new one is used. Rejects with ApiError.
     * @template T @param {(headers: Record<string, string>) => Promise<T>} send @returns {Promise<T>}
     */
    write: (send) =>
      inTurn(async () => {
        /** @returns {Record<string, string>} */
        const headers = () => (token === null ? {} : { "X-Lock-Token": token });
        try {
          return await send(headers());
        } catch (error) {
          if (token === null || !isOver(error)) throw error;
          await acquire();
          return send(headers());
        }
      }),
    release() {
      isWanted = false;
      isRefusedUntilMs = 0;
      removeEventListener("pagehide", onHide);
      removeEventListener("pageshow", onShow);
      return inTurn(giveBack);
    },
  };
}
