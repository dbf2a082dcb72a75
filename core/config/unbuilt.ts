/**
 * The settings that no plan of this version carries. Those that would protect something are refused, because running
 * without them would be unsafe and silent.
 */
import { faultAt } from "./document.ts";
import type { Fault } from "./faults.ts";
import type { ProjectConfig } from "./read-config.ts";
import type { Survey } from "./survey.ts";

const unavailable =
  "no such setting: it is not available in this version, and ignoring it would not be safe";

/** Protection that project.json asks for and this version does not give. */
export function unsafeProjectSettings({ document, auth, rateLimit }: ProjectConfig): Fault[] {
  const isAsked: readonly (readonly [boolean, readonly string[]])[] = [
    [Object.keys(auth ?? {}).length > 0, ["auth"]],
    [Object.keys(rateLimit ?? {}).length > 0, ["rateLimit"]],
  ];
  // auth may hold a secret, so what was found is not repeated.
  return isAsked.flatMap(([asked, path]) =>
    asked
      ? [faultAt(document, path, { found: "a setting that is switched on", expected: unavailable })]
      : [],
  );
}

/** The same for an endpoint. */
export function refuseUnsafe(survey: Survey): void {
  const { access, rowScope, hiddenFields, readOnlyFields } = survey.payload;
  for (const [name, value] of Object.entries({ access, rowScope })) {
    if (value !== undefined && Object.keys(value).length > 0)
      survey.fault([name], { expected: unavailable });
  }
  for (const [name, value] of Object.entries({ hiddenFields, readOnlyFields })) {
    if (!Array.isArray(value))
      survey.fault([name], { expected: `a list for everybody; lists per role: ${unavailable}` });
  }
}

/** Settings that have no effect yet. */
export function checkUnbuilt({ payload, notice }: Survey): void {
  if (payload.dateTimeFields !== undefined)
    notice("dateTimeFields is not available in this version; dates are ISO 8601");
}
