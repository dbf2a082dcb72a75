/** The hint of a fault: the known name that was probably meant. */
import { closest } from "../../values/closest.ts";

/** `did you mean "price"?`, or undefined when no known name is similar. */
export function didYouMean(name: string, known: Iterable<string>): string | undefined {
  const near = closest(name, known);
  return near === null ? undefined : `did you mean ${JSON.stringify(near)}?`;
}

/** The hint as the end of a sentence: `; did you mean "price"?`, or nothing. */
export function hintAfter(name: string, known: Iterable<string>): string {
  const hint = didYouMean(name, known);
  return hint === undefined ? "" : `; ${hint}`;
}
