/** One form in which a column keeps its values, and how values get into it and out of it. */
import type { Json } from "../../../core/values/json.ts";
import type { Scalar } from "../../../core/values/scalar.ts";
import { showBytes } from "../../../core/values/bytes-type.ts";
import { showDate } from "../../../core/values/date-type.ts";
import { showTimestamp } from "../../../core/values/timestamp-type.ts";
import { type FormType, readers, type Unit } from "./stored-values.ts";

export interface StoredForm {
  /** For the operator: an example, or what the values are. */
  readonly words: string;
  /** The form that the service itself uses, and expects where there are no values. */
  readonly isUsual: boolean;
  /** Stored values compare and sort as what they mean; false: they are compared by their meaning. */
  readonly isUniform: boolean;
  /** What the column's numbers count. */
  readonly unit: Unit;
  /** Digits of a second's fraction that the form keeps, 0 to 6. */
  readonly fractionDigits: number;
  /** What is stored for a value, and what is compared with the stored values. Never called with null. */
  readonly bind: (value: Exclude<Scalar, null>) => unknown;
  /** Whether a stored value is written so. */
  readonly holds: (raw: unknown) => boolean;
}

/** A form of which only what differs from the usual case is given. */
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

/** Values are written as `written` says, and read as whatever they are. */
export const mixedForm = (written: StoredForm, unit: Unit): StoredForm => ({
  ...written,
  words: "different forms, so that it is compared by value, without an index",
  isUsual: false,
  isUniform: false,
  unit,
  fractionDigits: written.unit === "size" ? 6 : 3,
  bind(value) {
    const bound = written.bind(value);
    // A place between two texts of the form is no instant.
    return typeof bound === "string" && bound.endsWith("~") ? String(value) : bound;
  },
  holds: () => true,
});

/** What answers show of a stored value: what it means, or itself where it means nothing. */
export function shown(type: FormType, raw: unknown, unit: Unit): Json {
  const read = readers[type](raw, unit);
  if (read !== null) return read;
  if (raw instanceof Uint8Array) return showBytes(raw);
  if (typeof raw !== "string") return raw as Json;
  return type === "timestamp" ? showTimestamp(raw) : type === "date" ? showDate(raw) : raw;
}
