/**
 * How values of each type travel to PostgreSQL and back. Every parameter is a text. What comes back is a number for small
 * integers and floats, a boolean, and else the server's text.
 */
import { Buffer } from "node:buffer";
import { sql, type SQL } from "drizzle-orm/sql/sql";
import type { Column } from "../../../core/values/column.ts";
import type { Scalar } from "../../../core/values/scalar.ts";
import { showBytes } from "../../../core/values/bytes-type.ts";
import { showDate } from "../../../core/values/date-type.ts";
import { showDecimal } from "../../../core/values/decimal-type.ts";
import { showFloat } from "../../../core/values/float-type.ts";
import { showInteger } from "../../../core/values/integer-type.ts";
import { showArray, showJson } from "../../../core/values/json-types.ts";
import { showTime } from "../../../core/values/time-type.ts";
import { showTimestamp } from "../../../core/values/timestamp-type.ts";
import {
  bindText,
  decodesNothing,
  plainColumn,
  type ValueForm,
  type ValueForms,
} from "../value-forms.ts";

const castToText = (_column: Column, name: SQL): SQL => sql`${name}::text`;

/** Command and given as text, and shown as it is. */
const plain: ValueForm = {
  bind: bindText,
  output: plainColumn,
  decoder: decodesNothing,
  textOf: castToText,
};

export const valueForms: ValueForms = {
  text: {
    ...plain,
    // The cast takes the padding away.
    output: (column, name) => (column.native === "bpchar" ? sql`${name}::text` : name),
    textOf: (column, name) =>
      column.native === "bpchar" || column.labels !== null ? sql`${name}::text` : name,
  },
  integer: {
    ...plain,
    decoder: ({ native }, decimals) =>
      native === "bigint" ? (raw) => showInteger(raw as string, decimals) : null,
  },
  decimal: {
    ...plain,
    decoder: (_column, decimals) => (raw) => showDecimal(raw as string, decimals),
    textOf: (_column, name) => sql`trim_scale(${name})::text`,
  },
  float: { ...plain, decoder: () => (raw) => showFloat(raw as number) },
  boolean: { ...plain, bind: (_column, value) => (value ? "t" : "f"), textOf: null },
  date: {
    ...plain,
    decoder: () => (raw) => (isInfinite(raw as string) ? null : showDate(raw as string)),
  },
  timestamp: {
    ...plain,
    decoder: () => (raw) => (isInfinite(raw as string) ? null : showTimestamp(raw as string)),
    textOf: (_column, name) =>
      sql`regexp_replace(to_char(${name}, 'YYYY-MM-DD"T"HH24:MI:SS.US'), '0{1,3}$', '') || 'Z'`,
  },
  time: {
    ...plain,
    decoder: () => (raw) => showTime(raw as string),
  },
  uuid: plain,
  json: { ...plain, decoder: () => (raw) => showJson(raw as string), textOf: null },
  bytes: {
    ...plain,
    bind: (_column, value) => `\\x${Buffer.from(value as Uint8Array).toString("hex")}`,
    decoder: () => (raw) => showBytes(Buffer.from((raw as string).slice(2), "hex")),
    textOf: null,
  },
  array: {
    bind: bindArray,
    output: (_column, name) => sql`to_jsonb(${name})::text`,
    decoder: ({ native }) => {
      const show = /^jsonb?\[\]$/.test(native) ? showJson : showArray;
      return (raw) => show(raw as string);
    },
    textOf: null,
  },
  other: plain,
};

const isInfinite = (text: string): boolean => text === "infinity" || text === "-infinity";

function bindArray({ native }: Column, value: Exclude<Scalar, null>): string {
  const items = JSON.parse(String(value)) as unknown[];
  return arrayLiteral(
    /^jsonb?\[\]$/.test(native) ? items.map((item) => JSON.stringify(item)) : items,
  );
}

/** A JSON array in the server's notation of arrays: `{"a",NULL,{"b"}}`. */
function arrayLiteral(value: unknown): string {
  if (value === null) return "NULL";
  if (Array.isArray(value)) return `{${value.map(arrayLiteral).join(",")}}`;
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  return `"${text.replace(/["\\]/g, "\\$&")}"`;
}
