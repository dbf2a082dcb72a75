/**
 * Settings that this version does not implement. Those for protection are refused, because ignoring them silently would
 * be unsafe.
 */
import { faultAt } from "./document.ts";
import type { Fault } from "./faults.ts";
import type { ProjectConfig } from "./read-config.ts";
import type { Survey } from "./survey.ts";

const unavailable =
  "this setting to be removed: it is not available in this version, and ignoring it would be unsafe";

/** Faults for protection settings in project.json that are not implemented. */
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
