/** The form in which statements carry values. */

/**
 * A value on its way into the database, in the one form for its column's type that `accept` in `core/values/types/accept.ts`
 * makes:
 * text, uuid (lower case), other: string. integer: bigint. decimal: plain digits as string (`-12.5`). float: number.
 * boolean: boolean. date: `YYYY-MM-DD`. timestamp: `YYYY-MM-DDTHH:mm:ss.sssZ`, or with up to six digits of the second.
 * time: `HH:mm:ss`, with up to six digits of the second where they are not zero.
 * json: JSON text. array: JSON text of an array. bytes: Uint8Array.
 */
export type Scalar = string | number | bigint | boolean | Uint8Array | null;

/** Of the texts and bytes among the values, in characters and bytes: what makes a statement large. */
export function lengthOf(values: readonly Scalar[]): number {
  let length = 0;
  for (const value of values)
    if (typeof value === "string" || value instanceof Uint8Array) length += value.length;
  return length;
}
