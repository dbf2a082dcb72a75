/** Sources of the current time and of new ids, so that tests can replace them. */

/** Now, as ISO 8601 UTC with milliseconds. */
export type Clock = () => string;

/** A new UUID v4. */
export type NewId = () => string;
