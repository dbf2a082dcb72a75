/** The settings that no plan of this version carries. */
import type { Survey } from "./survey.ts";

/** Settings that have no effect yet. */
export function checkUnbuilt({ payload, notice }: Survey): void {
  if (payload.dateTimeFields !== undefined)
    notice("dateTimeFields is not available in this version; dates are ISO 8601");
}
