/**
 * "Did you mean": the known name that an unknown one was probably meant to be. Used for requests and configurations.
 */

/**
 * The candidate with the fewest edits away, if few enough to be a typing error (a third of the name, two at least);
 * else null.
 */
export function closest(name: string, candidates: Iterable<string>): string | null {
  if (name.length > 64) return null;
  let best: string | null = null;
  let fewest = Math.max(2, Math.floor(name.length / 3)) + 1;
  for (const candidate of candidates) {
    const edits = editsBetween(name.toLowerCase(), candidate.toLowerCase(), fewest);
    if (edits < fewest) {
      best = candidate;
      fewest = edits;
    }
  }
  return best;
}

/** Levenshtein distance; anything from `enough` on counts as `enough`. */
function editsBetween(left: string, right: string, enough: number): number {
  if (Math.abs(left.length - right.length) >= enough) return enough;
  let previous = Array.from({ length: right.length + 1 }, (_, at) => at);
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    for (let column = 1; column <= right.length; column++) {
      const replaced = previous[column - 1]! + (left[row - 1] === right[column - 1] ? 0 : 1);
      current.push(Math.min(previous[column]! + 1, current[column - 1]! + 1, replaced));
    }
    previous = current;
  }
  return Math.min(previous[right.length]!, enough);
}
