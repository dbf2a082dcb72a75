/** A short hash of a text, for uses where a collision is harmless. Used for ETags and cursors. */

/** 53 bits of the text as base 36 (cyrb53, public domain): equal on every runtime, not a secret. */
export function hashOf(text: string): string {
  let high = 0xdeadbeef;
  let low = 0x41c6ce57;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    high = Math.imul(high ^ unit, 2654435761);
    low = Math.imul(low ^ unit, 1597334677);
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  return inBase36(4294967296 * (2097151 & low) + (high >>> 0));
}

/** As `toString(36)`, in two parts that fit 31 bits: with larger numbers, it takes ten times as long as the hash. */
function inBase36(number: number): string {
  const first = Math.floor(number / fiveDigits);
  const rest = (number - first * fiveDigits).toString(36);
  return first === 0 ? rest : first.toString(36) + rest.padStart(5, "0");
}

const fiveDigits = 36 ** 5;
