/** Long work in slices, between which other work of the process goes on. */
import { limits } from "./limits.ts";

/** Resolves at once, or after other work if the caller has taken the process for `limits.documentSliceMs`. */
export function createBreath(): () => Promise<void> {
  let sinceMs = performance.now();
  return async () => {
    if (performance.now() - sinceMs < limits.documentSliceMs) return;
    await new Promise((resolve) => setTimeout(resolve));
    sinceMs = performance.now();
  };
}
