/** Removes everything that a database's message quotes: it may be a part of an SQL text with values in it. */

/** From the first quotation mark to the last, in whatever language the server speaks. */
export const withoutQuoted = (message: string): string =>
  message.replace(/["'`«„“”‹].*["'`»“”›]/s, "…");

/** Replaces a message that may consist of values. */
export const hiddenMessage = "An error whose message may contain values";
