/** Sources of the current time and of new ids, so that tests can replace them. */

/** Now, as ISO 8601 UTC with milliseconds. */
export type Clock = () => string;

/** A new UUID v4. */
export type NewId = () => string;

let lastMs = NaN;
let lastText = "";

/**
 * The time of the machine. Many requests end in the same millisecond, and writing the text takes longer than reading
 * the clock.
 */
export const systemClock: Clock = () => {
  const nowMs = Date.now();
  if (nowMs !== lastMs) {
    lastMs = nowMs;
    lastText = new Date(nowMs).toISOString();
  }
  return lastText;
};
