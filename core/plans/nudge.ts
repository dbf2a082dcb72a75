/** What the processes that use the same database tell each other: that something was committed. */
export interface Nudge {
  /** Changes were committed here. Never throws. */
  tell(): void;
  /** Calls when another process told. Calls may be missed. Returns a function that ends listening. */
  listen(hear: () => void): () => void;
}
