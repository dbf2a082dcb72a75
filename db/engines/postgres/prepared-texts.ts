/**
 * The texts that a session has prepared. The driver identifies a prepared statement by its text, so a text whose plan
 * is stale gets one more space, which makes it a new statement.
 */
import { limits } from "../../../core/values/limits.ts";

export interface PreparedText {
  readonly sentAs: string;
  /** It ran before, so it was right when it was prepared. */
  hasRun: boolean;
}

export interface PreparedTexts {
  /** Null: the limit is reached, so the text is not to be prepared. */
  take(text: string): PreparedText | null;
  /** `stale` is not to be used again. */
  renew(text: string, stale: PreparedText): void;
}

/** Driver and server keep every prepared statement, so beyond the limit texts are parsed every time. */
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
      // Another statement that ran at the same time may have renewed it first.
      if (texts.get(text) === stale) prepare(text, `${stale.sentAs} `);
    },
  };
}
