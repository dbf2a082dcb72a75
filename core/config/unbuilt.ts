/**
 * The settings that no plan of this version carries. Those that would protect something are refused, because running
 * without them would be unsafe and silent.
 */
import { faultAt } from "./document.ts";
import type { Fault } from "./faults.ts";
import type { ProjectConfig } from "./read-config.ts";
import type { Survey } from "./survey.ts";

const unavailable =
  "this setting to be removed: it is not available in this version, and ignoring it would be unsafe";

/** Protection that project.json asks for and this version does not give. */
export function unsafeProjectSettings({ document, rateLimit }: ProjectConfig): Fault[] {
  const isAsked: readonly (readonly [boolean, readonly string[]])[] = [
    [Object.keys(rateLimit ?? {}).length > 0, ["rateLimit"]],
  ];
  return isAsked.flatMap(([asked, path]) =>
    asked ? [faultAt(document, path, { found: "it switched on", expected: unavailable })] : [],
  );
}

/** Settings that have no effect yet. */
export function checkUnbuilt({ payload, notice }: Survey): void {
  if (payload.dateTimeFields !== undefined)
    notice("dateTimeFields is not available in this version; dates are ISO 8601");
}
