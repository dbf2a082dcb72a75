/**
 * How values of each type travel to PostgreSQL and back. Every parameter is a text. What comes back is a number for small
 * integers and floats, a boolean, and else the server's text.
 */
import { Buffer } from "node:buffer";
import { sql, type SQL } from "drizzle-orm/sql/sql";
import { type Column, derivedColumn } from "../../../core/values/column.ts";
import { type Json, parseOwnJson } from "../../../core/values/json.ts";
import type { Scalar } from "../../../core/values/scalar.ts";
import { showBytes } from "../../../core/values/bytes-type.ts";
import { showDate } from "../../../core/values/date-type.ts";
import { showDecimal } from "../../../core/values/decimal-type.ts";
import { showFloat } from "../../../core/values/float-type.ts";
import { showInteger } from "../../../core/values/integer-type.ts";
import { showJson } from "../../../core/values/json-types.ts";
import { showTime } from "../../../core/values/time-type.ts";
import { showTimestamp } from "../../../core/values/timestamp-type.ts";
import type { Decimals } from "../../../core/values/type-definition.ts";
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

/** Types of texts that are not compared as `text` is: one is padded, and one knows no collations. */
const isOtherText = ({ native }: Column): boolean => native === "bpchar" || native === '"char"';

export const valueForms: ValueForms = {
  text: {
    ...plain,
    // The cast takes the padding away.
    output: (column, name) => (column.native === "bpchar" ? sql`${name}::text` : name),
    textOf: (column, name) =>
      isOtherText(column) || column.labels !== null ? sql`${name}::text` : name,
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
    // Every element as its own text, which no other form of the server keeps whole.
    output: (column, name) =>
      isInet(elementOf(column))
        ? sql`to_jsonb(${name})::text`
        : sql`to_jsonb(${name}::text[])::text`,
    decoder(column, decimals) {
      const show = itemDecoder(elementOf(column), decimals);
      return (raw) => itemsOf(JSON.parse(raw as string) as Item, show);
    },
    textOf: null,
  },
  other: {
    ...plain,
    output: (column, name) => textOfOther(column, name),
    textOf: (column, name) => textOfOther(column, name),
  },
};

/** Left to itself, the driver makes numbers of some types. The cast of an inet writes a mask that no answer shows. */
const textOfOther = (column: Column, name: SQL): SQL =>
  isInet(column) ? sql`textin(inet_out(${name}))` : sql`${name}::text`;

const isInet = ({ native }: Column): boolean => native === "inet";

/** An element as the server's text, or a list of them. */
type Item = string | null | readonly Item[];

function itemsOf(item: Item, show: (text: string) => Json): Json {
  if (item === null) return null;
  return typeof item === "string" ? show(item) : item.map((one) => itemsOf(one, show));
}

/** What the driver makes of a column's text, then what answers show of it. */
function itemDecoder(element: Column, decimals: Decimals): (text: string) => Json {
  if (element.type === "boolean") return (text) => text === "true";
  const decode = valueForms[element.type].decoder(element, decimals);
  if (element.type === "integer" && decode === null) return Number;
  return decode ?? asItIs;
}

const asItIs = (text: string): string => text;

const isInfinite = (text: string): boolean => text === "infinity" || text === "-infinity";

/** An array that no table has holds texts. */
const elementOf = ({ element = textElement }: Column): Column => element;

const textElement = derivedColumn("element", "text", {});

/** A JSON array in the server's notation of arrays: `{"a",NULL,{"b"}}`. */
function bindArray(column: Column, value: Exclude<Scalar, null>): string {
  const element = elementOf(column);
  // The text of a box has commas: the server writes arrays of boxes in this way alone.
  const separator = element.native === "box" ? ";" : ",";
  const literal = (item: Json): string => {
    if (item === null) return "NULL";
    if (element.type !== "json" && Array.isArray(item))
      return `{${item.map(literal).join(separator)}}`;
    return `"${itemText(element, item).replace(/["\\]/g, "\\$&")}"`;
  };
  return `{${(parseOwnJson(String(value)) as Json[]).map(literal).join(separator)}}`;
}

function itemText({ type }: Column, item: Json): string {
  if (type === "json") return JSON.stringify(item);
  return type === "bytes"
    ? `\\x${Buffer.from(String(item), "base64").toString("hex")}`
    : String(item);
}
