/**
 * A small seeded generator: the same seed gives the same numbers on every machine, which keeps the demo's data, and the
 * answers shown in the README, the same everywhere. Only whole-number arithmetic, so no rounding can differ.
 */
export interface Random {
  /** A whole number from `min` to `max`, both included. */
  int(min: number, max: number): number;
  /** One of the items; throws when there is none. */
  pick<T>(items: readonly T[]): T;
  /** True in `percent` of 100 cases. */
  chance(percent: number): boolean;
  /** A text in the form of a UUID v4. */
  uuid(): string;
}

/** A separate generator for each seed, so that adding rows to one table leaves the other tables unchanged. */
export function randomFrom(seed: string): Random {
  const next = mulberry32(hashOf(seed));
  const int = (min: number, max: number) => min + (next() % (max - min + 1));
  return {
    int,
    pick(items) {
      const item = items[int(0, items.length - 1)];
      if (item === undefined) throw new Error(`Nothing to pick from (seed ${seed})`);
      return item;
    },
    chance: (percent) => int(1, 100) <= percent,
    uuid() {
      const hex = [next(), next(), next(), next()]
        .map((word) => word.toString(16).padStart(8, "0"))
        .join("");
      const variant = "89ab"[int(0, 3)];
      return [
        hex.slice(0, 8),
        hex.slice(8, 12),
        `4${hex.slice(13, 16)}`,
        `${variant}${hex.slice(17, 20)}`,
        hex.slice(20),
      ].join("-");
    },
  };
}

/** Tommy Ettinger's mulberry32 (public domain): 32 bits per call. */
function mulberry32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
}

/** FNV-1a over the UTF-16 units. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}
