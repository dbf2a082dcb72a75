/** Takes out of a database's message whatever it quotes, which may be a part of somebody's SQL text with values in it. */

/** From the first quotation mark to the last, in whatever language the server speaks. */
export const withoutQuoted = (message: string): string =>
  message.replace(/["'`«„“”‹].*["'`»“”›]/s, "…");

/** In place of a message that may be all value. */
export const hiddenMessage = "An error whose message may contain values";
