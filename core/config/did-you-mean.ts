/** The hint of a fault: the known name that was probably meant, as the sentence that terminals show. */
import { closest } from "../values/closest.ts";

/** `did you mean "price"?`, or undefined when no known name is near. */
export function didYouMean(name: string, known: Iterable<string>): string | undefined {
  const near = closest(name, known);
  return near === null ? undefined : `did you mean ${JSON.stringify(near)}?`;
}
