/**
 * How values of each type travel to SQLite and back. It has five storage classes and no more: decimals are floating point
 * unless their column is declared as text, timestamps are text in the form of CURRENT_TIMESTAMP, and any column may hold
 * a value of another class than it is declared for, which is then shown as what it is.
 */
import { Buffer } from "node:buffer";
import { sql, type SQL } from "drizzle-orm/sql/sql";
import type { Column } from "../../../core/values/column.ts";
import type { Json } from "../../../core/values/json.ts";
import type { Scalar } from "../../../core/values/scalar.ts";
import { showBytes } from "../../../core/values/bytes-type.ts";
import { showDate } from "../../../core/values/date-type.ts";
import { showDecimal } from "../../../core/values/decimal-type.ts";
import { showFloat } from "../../../core/values/float-type.ts";
import { showJson } from "../../../core/values/json-types.ts";
import { showTime } from "../../../core/values/time-type.ts";
import { showTimestamp } from "../../../core/values/timestamp-type.ts";
import type { Decimals } from "../../../core/values/type-definition.ts";
import { decodesNothing, plainColumn, type ValueForm, type ValueForms } from "../value-forms.ts";
import type { Decode } from "../../statements/dialect.ts";
import { isExactDecimal } from "./types.ts";

const castToText = (_column: Column, name: SQL): SQL => sql`cast(${name} as text)`;

/** Stored and given as what statements carry. */
const plain: ValueForm = {
  bind: (_column, value) => value,
  output: plainColumn,
  decoder: decodesNothing,
  textOf: castToText,
};

const json: ValueForm = {
  ...plain,
  decoder: () => (raw) => (typeof raw === "string" ? showJson(raw) : (raw as Json)),
  textOf: null,
};

export const valueForms: ValueForms = {
  text: { ...plain, textOf: plainColumn },
  integer: {
    ...plain,
    output: (column, name, decimals) =>
      decimals === "string" && isBigint(column) ? sql`cast(${name} as text)` : longAsText(name),
  },
  decimal: {
    bind: (column, value) => (isExactDecimal(column) ? value : Number(value)),
    output: (column, name) => (isExactDecimal(column) ? name : longAsText(name)),
    decoder: decimalDecoder,
    textOf(column, name) {
      if (isExactDecimal(column)) return name;
      return numberText(
        column.scale === null ? name : sql`round(${name}, ${sql.raw(String(column.scale))})`,
      );
    },
  },
  float: {
    ...plain,
    decoder: () => (raw) => (typeof raw === "number" ? showFloat(raw) : (raw as Json)),
    textOf: (_column, name) => numberText(name),
  },
  boolean: {
    ...plain,
    bind: (_column, value) => (value ? 1n : 0n),
    decoder: () => (raw) =>
      typeof raw === "string" ? /^(t|true|y|yes|1)$/i.test(raw) : Boolean(raw),
    textOf: null,
  },
  date: {
    ...plain,
    decoder: () => ofText(showDate),
    textOf: (_column, name) => sql`substr(${name}, 1, 10)`,
  },
  timestamp: {
    ...plain,
    bind: storedTimestamp,
    decoder: () => shownTimestamp,
    textOf: (_column, name) => sql`strftime('%Y-%m-%dT%H:%M:%fZ', ${name})`,
  },
  time: {
    ...plain,
    decoder: () => ofText(showTime),
    textOf: (_column, name) =>
      sql`iif(substr(${name}, 9, 1) = '.', rtrim(rtrim(${name}, '0'), '.'), ${name})`,
  },
  uuid: {
    ...plain,
    decoder: () => ofText((text) => text.toLowerCase()),
    textOf: (_column, name) => sql`lower(${name})`,
  },
  json,
  bytes: {
    ...plain,
    bind(_column, value) {
      const { buffer, byteOffset, byteLength } = value as Uint8Array;
      return Buffer.from(buffer, byteOffset, byteLength);
    },
    decoder: () => (raw) => showBytes(raw instanceof Uint8Array ? raw : Buffer.from(String(raw))),
    textOf: null,
  },
  array: json,
  other: {
    ...plain,
    output: (_column, name) => longAsText(name),
    decoder: () => (raw) => (raw instanceof Uint8Array ? showBytes(raw) : (raw as Json)),
  },
};

/** `decimals: "string"` is about 64-bit integers that are declared as such; every INTEGER of SQLite could be one. */
const isBigint = (column: Column): boolean => /\b(BIGINT|INT8)\b/i.test(column.native);

/**
 * The driver gives integers as doubles. Those that a double cannot hold come as text instead; asking the driver for
 * BigInts would make one of every small number too.
 */
const longAsText = (name: SQL): SQL =>
  sql`case when typeof(${name}) = 'integer' and (${name} > 9007199254740991 or ${name} < -9007199254740991) then cast(${name} as text) else ${name} end`;

/** `YYYY-MM-DD HH:MM:SS`, with the fraction where there is one: comparable with CURRENT_TIMESTAMP. */
function storedTimestamp(_column: Column, value: Exclude<Scalar, null>): string {
  const iso = String(value);
  const fraction = iso.slice(19, -1);
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)}${fraction === ".000" ? "" : fraction}`;
}

/** A blob is shown as one, a number as it is. */
function ofText(show: (text: string) => Json): Decode {
  return (raw) =>
    typeof raw === "string"
      ? show(raw)
      : raw instanceof Uint8Array
        ? showBytes(raw)
        : (raw as Json);
}

const shownTimestamp = ofText((text) =>
  isPlainTimestamp(text) ? `${text.slice(0, 10)}T${text.slice(11)}.000Z` : showTimestamp(text),
);

/** The form that we and CURRENT_TIMESTAMP store. */
const isPlainTimestamp = (text: string): boolean =>
  text.length === 19 &&
  text[4] === "-" &&
  text[10] === " " &&
  text[16] === ":" &&
  !text.startsWith("0000");

/** Floating point sums carry noise behind the declared scale, or behind the fifteenth digit. */
function decimalDecoder({ scale }: Column, decimals: Decimals): Decode {
  const unit = 10 ** Math.min(scale ?? 0, 15);
  return (raw) => {
    if (typeof raw !== "number") return typeof raw === "string" ? showDecimal(raw, decimals) : null;
    // Most numbers carry none, and to see that costs less than to print them.
    const isClean = Math.round(raw * unit) / unit === raw;
    const number = isClean
      ? raw
      : Number(scale === null ? raw.toPrecision(15) : raw.toFixed(Math.min(scale, 100)));
    return decimals === "number" ? showFloat(number) : showDecimal(number, decimals);
  };
}

/** Without the `.0` that SQLite gives whole floating point numbers. */
const numberText = (name: SQL): SQL =>
  sql`cast(case when ${name} = cast(${name} as integer) then cast(${name} as integer) else ${name} end as text)`;
