/**
 * Converts values of each type to MySQL and MariaDB and back. Each is bound in its column's own type, since the server
 * compares text with numbers by guessing. mysql2 returns numbers for integers and floats (text beyond 2^53), text for
 * decimals and times, Buffers for bytes and bits.
 */
import { Buffer } from "node:buffer";
import { sql, type SQL } from "drizzle-orm/sql/sql";
import type { Column } from "../../../core/values/types/column.ts";
import { showBytes } from "../../../core/values/types/bytes-type.ts";
import { showDate } from "../../../core/values/types/date-type.ts";
import { showDecimal } from "../../../core/values/types/decimal-type.ts";
import { showFloat } from "../../../core/values/types/float-type.ts";
import { showJson } from "../../../core/values/types/json-types.ts";
import { showTime } from "../../../core/values/types/time-type.ts";
import { showTimestamp } from "../../../core/values/types/timestamp-type.ts";
import { formsBeside, plainColumn, showing, textForm, type ValueForm } from "../value-forms.ts";
import { decimalDigits, wholeNumber } from "./parameters.ts";

const castToText = (_column: Column, name: SQL): SQL => sql`cast(${name} as char)`;

const plain: ValueForm = { ...textForm, textOf: castToText };

export const valueForms = formsBeside(plain, {
  text: { textOf: plainColumn },
  integer: {
    bind: (_column, value) => wholeNumber(BigInt(value as bigint)),
    decoder: ({ native }, decimals) =>
      native.startsWith("bigint") && decimals === "string" ? String : null,
    // The server's text has leading zeros.
    textOf: (column, name) =>
      column.native.includes("zerofill")
        ? sql`cast(${name} + 0 as char)`
        : castToText(column, name),
  },
  decimal: {
    bind: (_column, value) => decimalDigits(String(value)),
    decoder: (_column, decimals) => (raw) => showDecimal(raw as string, decimals),
    textOf: ({ scale }, name) =>
      scale === 0
        ? sql`cast(${name} as char)`
        : sql`trim(trailing '.' from trim(trailing '0' from cast(${name} as char)))`,
  },
  float: {
    bind(column, value) {
      // A FLOAT is compared as the double that it equals; 1.1 would match none.
      const single = Math.fround(Number(value));
      return isSingle(column) && Number.isFinite(single) ? single : Number(value);
    },
    decoder: (column) =>
      isSingle(column)
        ? (raw) => showFloat(shortestSingle(raw as number))
        : (raw) => showFloat(raw as number),
    textOf: (column, name) => (isSingle(column) ? castToText(column, name) : doubleText(name)),
  },
  boolean: {
    bind: (_column, value) => value === true,
    decoder: () => (raw) =>
      raw instanceof Uint8Array ? raw.some((byte) => byte !== 0) : Boolean(Number(raw)),
    textOf: null,
  },
  date: { bind: (_column, value) => String(value).slice(0, 10), decoder: showing(showDate) },
  timestamp: {
    // The server refuses the `T` and `Z` of ISO 8601.
    bind: (_column, value) => String(value).slice(0, -1).replace("T", " "),
    decoder: showing(showTimestamp),
    textOf: (_column, name) =>
      sql`concat(regexp_replace(date_format(${name}, '%Y-%m-%dT%H:%i:%s.%f'), '0{1,3}$', ''), 'Z')`,
  },
  time: {
    decoder: showing(showTime),
    textOf: (column, name) =>
      column.fractionDigits === 0
        ? castToText(column, name)
        : sql`trim(trailing '.' from trim(trailing '0' from cast(${name} as char)))`,
  },
  uuid: {},
  json: { decoder: showing(showJson), textOf: null },
  file: { decoder: showing(showJson), textOf: null },
  bytes: {
    bind: (_column, value) => {
      const { buffer, byteOffset, byteLength } = value as Uint8Array;
      return Buffer.from(buffer, byteOffset, byteLength);
    },
    decoder: () => (raw) => showBytes(raw as Buffer),
    textOf: null,
  },
  // These servers have no such column.
  array: { textOf: null },
  other: {
    bind({ notation, members }, value) {
      // No digits at all, as a condition may have: that comes before every stored value.
      if (notation === "bits")
        return wholeNumber(value === "" ? -1n : BigInt(`0b${String(value)}`));
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
});

/** A SET takes the text `3` as its first two labels. If 3 is not a label, this makes a text that the server refuses. */
const memberList = (members: readonly string[], value: string): string =>
  /^\s*\d+\s*$/.test(value) && !members.includes(value) ? `?${value}` : value;

const isSingle = ({ native }: Column): boolean => native.startsWith("float");

const digitsOf = (raw: Buffer, length: number): string =>
  BigInt(`0x${raw.toString("hex") || "0"}`)
    .toString(2)
    .padStart(length, "0");

/** The number with the fewest digits that is equal in single precision: 1.1, not 1.100000023841858. */
function shortestSingle(value: number): number {
  for (let digits = 6; digits < 9; digits++) {
    const shorter = Number(value.toPrecision(digits));
    if (Math.fround(shorter) === value) return shorter;
  }
  return Number(value.toPrecision(9));
}

/** JavaScript has exponents for other numbers, with a sign before large ones. */
function doubleText(name: SQL): SQL {
  const text = sql`cast(${name} as char)`;
  const digits = sql`trim(leading '0' from substr(cast(abs(${name}) as char), 3))`;
  const exponent = sql`char_length(cast(abs(${name}) as char)) - 1 - char_length(${digits})`;
  const small = sql`concat(if(${name} < 0, '-', ''), left(${digits}, 1), if(char_length(${digits}) > 1, '.', ''), substr(${digits}, 2), 'e-', ${exponent})`;
  const large = sql`trim(trailing '.' from trim(trailing '0' from cast(cast(${text} as decimal(65, 2)) as char)))`;
  return sql`case when abs(${name}) < 1e-6 and ${name} <> 0 and ${text} not like '%e%' then ${small} when ${text} not like '%e%' or abs(${name}) < 1 then ${text} when abs(${name}) < 1e21 then ${large} else replace(${text}, 'e', 'e+') end`;
}
