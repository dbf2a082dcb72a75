/**
 * The texts that a session has prepared. The driver knows a prepared statement by its text, so a text whose plan is stale gets
 * a blank more: that makes it a new one.
 */
import { limits } from "../../../core/values/limits.ts";

export interface PreparedText {
  readonly sentAs: string;
  /** It was carried out before, so it was right when it was prepared. */
  hasRun: boolean;
}

export interface PreparedTexts {
  /** Null: there are too many already, so it is not to be prepared. */
  take(text: string): PreparedText | null;
  /** `stale` is not to be used again. */
  renew(text: string, stale: PreparedText): void;
}

/** The driver forgets no prepared statement, and the server keeps each: beyond the limit, texts are parsed every time. */
export function createPreparedTexts(): PreparedTexts {
  const texts = new Map<string, PreparedText | null>();
  let count = 0;

  function prepare(text: string, sentAs: string): PreparedText | null {
    const isFull = count >= limits.statementShapesMax;
    if (isFull && !texts.has(text)) return null;
    const made = isFull ? null : { sentAs, hasRun: false };
    if (made !== null) count++;
    texts.set(text, made);
    return made;
  }

  return {
    take(text) {
      const known = texts.get(text);
      return known === undefined ? prepare(text, text) : known;
    },
    renew(text, stale) {
      // Another that was under way may have found out first.
      if (texts.get(text) === stale) prepare(text, `${stale.sentAs} `);
    },
  };
}
