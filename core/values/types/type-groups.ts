/**
 * What the service does with a column, by its type: everything, everything by its text, or only show it.
 * `docs/types.md` lists the types.
 */
import type { Column } from "./column.ts";

/**
 * `text`: values are the texts of the database, read, compared and written. `shown only`: texts or values that are
 * never written.
 */
export type TypeGroup = "full" | "text" | "shown only";

export function groupOf({ type, generated, element }: Column): TypeGroup {
  if (generated === "computed") return "shown only";
  return (element?.type ?? type) === "other" ? "text" : "full";
}

const needOf = ({ nullable, hasDefault, isFilledByTrigger }: Column): string =>
  nullable || hasDefault || isFilledByTrigger ? "" : "; it is required, so that create fails";

/** Why the column is in its group, as a part of a sentence that begins with its name; null for the full group. */
export function groupReason(column: Column): string | null {
  const { native, isOpaque } = column;
  switch (groupOf(column)) {
    case "full":
      return null;
    case "text":
      return native === ""
        ? "is text (its type is not known)"
        : `is text in the form of the database (${native})`;
    case "shown only":
      if (!isOpaque) return "is only shown (the database fills it)";
      return `is only shown (the service cannot write the type ${native}${needOf(column)})`;
  }
}
