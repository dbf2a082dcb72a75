/** One form in which a column stores its values, and the conversions to and from it. */
import type { Json } from "../../../../core/values/json.ts";
import type { Scalar } from "../../../../core/values/scalar.ts";
import { showBytes } from "../../../../core/values/types/bytes-type.ts";
import { showDate } from "../../../../core/values/types/date-type.ts";
import { showTimestamp } from "../../../../core/values/types/timestamp-type.ts";
import { type FormType, readers, type Unit } from "./stored-values.ts";

export interface StoredForm {
  /** For the operator: an example, or a description of the values. */
  readonly words: string;
  /** The form that the service itself uses, and expects in columns without values. */
  readonly isUsual: boolean;
  /** Stored values sort like their meaning, so they are compared directly; false: they are compared by meaning. */
  readonly isUniform: boolean;
  /** The unit of the column's numbers. */
  readonly unit: Unit;
  /** Digits of a second's fraction that the form keeps, 0 to 6. */
  readonly fractionDigits: number;
  /** What is stored for a value, and what is compared with the stored values. Never called with null. */
  readonly bind: (value: Exclude<Scalar, null>) => unknown;
  /** Whether a stored value has this form. */
  readonly holds: (raw: unknown) => boolean;
}

/** A form, given by its differences from the usual case. */
export const form = (
  words: string,
  given: Pick<StoredForm, "bind" | "holds"> & Partial<StoredForm>,
): StoredForm => ({
  words,
  isUsual: false,
  isUniform: true,
  unit: "size",
  fractionDigits: 6,
  ...given,
});

/** Values are written in the form `written`, and read in any form. */
export const mixedForm = (written: StoredForm, unit: Unit): StoredForm => ({
  ...written,
  words: "different forms, so that it is compared by value, without an index",
  isUsual: false,
  isUniform: false,
  unit,
  fractionDigits: written.unit === "size" ? 6 : 3,
  bind(value) {
    const bound = written.bind(value);
    // A position between two texts of the form is not an instant.
    return typeof bound === "string" && bound.endsWith("~") ? String(value) : bound;
  },
  holds: () => true,
});

/** What answers show of a stored value: its meaning, or the value itself if it has none. */
export function shown(type: FormType, raw: unknown, unit: Unit): Json {
  const read = readers[type](raw, unit);
  if (read !== null) return read;
  if (raw instanceof Uint8Array) return showBytes(raw);
  if (typeof raw !== "string") return raw as Json;
  return type === "timestamp" ? showTimestamp(raw) : type === "date" ? showDate(raw) : raw;
}
