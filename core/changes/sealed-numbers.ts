/**
 * Numbers of the log as callers see them. They count the changes of all callers, so whoever saw two of them could tell
 * how much others had written in between. Sealed with a secret of the database they tell nothing, not even which one is
 * the later, and every instance can open them.
 */
import type { Runtime } from "../plans/runtime.ts";

export interface Seal extends Pick<Runtime, "digest"> {
  readonly secret: string;
  /** What the numbers are; those of another kind cannot be opened. */
  readonly kind: "change" | "place";
}

/** Hexadecimal digits of the number (128 bits), and of the check before it. */
const size = 32;

/** The same text each time; a number that shall look different each time needs a random part. */
export function sealNumber(number: bigint, seal: Seal): string {
  const digits = hex(number);
  const check = derived(digits, seal);
  return check + hex(number ^ BigInt(`0x${derived(check, seal)}`));
}

/** Null: the text was not made with this secret, or is of another kind. */
export function unsealNumber(text: string, seal: Seal): bigint | null {
  if (!sealed.test(text)) return null;
  const check = text.slice(0, size);
  const number = BigInt(`0x${text.slice(size)}`) ^ BigInt(`0x${derived(check, seal)}`);
  return derived(hex(number), seal) === check ? number : null;
}

const sealed = new RegExp(`^[0-9a-f]{${2 * size}}$`);

const hex = (number: bigint): string => number.toString(16).padStart(size, "0");

const derived = (digits: string, { digest, secret, kind }: Seal): string =>
  digest(`${secret}\n${kind}\n${digits}`).slice(0, size);
