/**
 * How values of each type travel to MySQL and MariaDB and back: each bound in its column's own type, since the server compares
 * text with numbers by guessing. mysql2 gives numbers for integers and floats (text beyond 2^53), text for decimals and
 * times, Buffers for bytes and bits.
 */
import { Buffer } from "node:buffer";
import { sql, type SQL } from "drizzle-orm/sql/sql";
import type { Column } from "../../../core/values/column.ts";
import { showBytes } from "../../../core/values/bytes-type.ts";
import { showDate } from "../../../core/values/date-type.ts";
import { showDecimal } from "../../../core/values/decimal-type.ts";
import { showFloat } from "../../../core/values/float-type.ts";
import { showJson } from "../../../core/values/json-types.ts";
import { showTime } from "../../../core/values/time-type.ts";
import { showTimestamp } from "../../../core/values/timestamp-type.ts";
import {
  bindText,
  decodesNothing,
  plainColumn,
  type ValueForm,
  type ValueForms,
} from "../value-forms.ts";
import { decimalDigits, wholeNumber } from "./parameters.ts";

const castToText = (_column: Column, name: SQL): SQL => sql`cast(${name} as char)`;

/** Sent as text, given as what is shown. */
const plain: ValueForm = {
  bind: bindText,
  output: plainColumn,
  decoder: decodesNothing,
  textOf: castToText,
};

export const valueForms: ValueForms = {
  text: {
    ...plain,
    textOf: plainColumn,
  },
  integer: {
    ...plain,
    bind: (_column, value) => wholeNumber(BigInt(value as bigint)),
    decoder: ({ native }, decimals) =>
      native.startsWith("bigint") && decimals === "string" ? String : null,
    // The text of the server has the zeros in front.
    textOf: (column, name) =>
      column.native.includes("zerofill")
        ? sql`cast(${name} + 0 as char)`
        : castToText(column, name),
  },
  decimal: {
    ...plain,
    bind: (_column, value) => decimalDigits(String(value)),
    decoder: (_column, decimals) => (raw) => showDecimal(raw as string, decimals),
    textOf: ({ scale }, name) =>
      scale === 0
        ? sql`cast(${name} as char)`
        : sql`trim(trailing '.' from trim(trailing '0' from cast(${name} as char)))`,
  },
  float: {
    ...plain,
    bind(column, value) {
      // A FLOAT is compared as the double that it equals; 1.1 would match none.
      const single = Math.fround(Number(value));
      return isSingle(column) && Number.isFinite(single) ? single : Number(value);
    },
    decoder: (column) =>
      isSingle(column)
        ? (raw) => showFloat(shortestSingle(raw as number))
        : (raw) => showFloat(raw as number),
  },
  boolean: {
    ...plain,
    bind: (_column, value) => value === true,
    decoder: () => (raw) =>
      raw instanceof Uint8Array ? raw.some((byte) => byte !== 0) : Boolean(Number(raw)),
    textOf: null,
  },
  date: {
    ...plain,
    bind: (_column, value) => String(value).slice(0, 10),
    decoder: () => (raw) => showDate(raw as string),
  },
  timestamp: {
    ...plain,
    // The server refuses ISO 8601's `T` and `Z`.
    bind: (_column, value) => String(value).slice(0, -1).replace("T", " "),
    decoder: () => (raw) => showTimestamp(raw as string),
    textOf: (_column, name) =>
      sql`concat(regexp_replace(date_format(${name}, '%Y-%m-%dT%H:%i:%s.%f'), '0{1,3}$', ''), 'Z')`,
  },
  time: {
    ...plain,
    decoder: () => (raw) => showTime(raw as string),
    textOf: (column, name) =>
      column.fractionDigits === 0
        ? castToText(column, name)
        : sql`trim(trailing '.' from trim(trailing '0' from cast(${name} as char)))`,
  },
  uuid: plain,
  json: { ...plain, decoder: () => (raw) => showJson(raw as string), textOf: null },
  bytes: {
    ...plain,
    bind: (_column, value) => {
      const { buffer, byteOffset, byteLength } = value as Uint8Array;
      return Buffer.from(buffer, byteOffset, byteLength);
    },
    decoder: () => (raw) => showBytes(raw as Buffer),
    textOf: null,
  },
  // No column of these servers has it.
  array: { ...plain, textOf: null },
  other: {
    bind({ notation, members }, value) {
      if (notation === "bits") return wholeNumber(BigInt(`0b${String(value)}`));
      return notation === "set" && members ? memberList(members, String(value)) : String(value);
    },
    output: ({ notation }, name) => (notation === "wkt" ? sql`st_astext(${name})` : name),
    decoder({ notation, lengthMax }) {
      if (notation === "bits") return (raw) => digitsOf(raw as Buffer, lengthMax ?? 1);
      if (notation === "year") return (raw) => String(raw).padStart(4, "0");
      return (raw) => (raw instanceof Uint8Array ? showBytes(raw) : String(raw));
    },
    textOf({ notation, lengthMax }, name) {
      if (notation === "wkt") return sql`st_astext(${name})`;
      if (notation === "bits")
        return sql`lpad(conv(${name} + 0, 10, 2), ${sql.raw(String(lengthMax ?? 1))}, '0')`;
      return sql`cast(${name} as char)`;
    },
  },
};

/** A SET takes the text `3` for its first two labels, where 3 is no label: make it a text that the server refuses. */
function memberList(members: readonly string[], value: string): string {
  return /^\s*\d+\s*$/.test(value) && !members.includes(value) ? `?${value}` : value;
}

const isSingle = ({ native }: Column): boolean => native.startsWith("float");

const digitsOf = (raw: Buffer, length: number): string =>
  BigInt(`0x${raw.toString("hex") || "0"}`)
    .toString(2)
    .padStart(length, "0");

/** The number with the fewest digits that is the same in single precision: 1.1, not 1.100000023841858. */
function shortestSingle(value: number): number {
  for (let digits = 6; digits < 9; digits++) {
    const shorter = Number(value.toPrecision(digits));
    if (Math.fround(shorter) === value) return shorter;
  }
  return Number(value.toPrecision(9));
}
