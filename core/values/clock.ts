/** What the outer world gives that differs each time: the moment, and new ids. */

/** Now, as ISO 8601 UTC with milliseconds. */
export type Clock = () => string;

/** A new UUID v4. */
export type NewId = () => string;
