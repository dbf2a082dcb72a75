/**
 * Converts values of each type to PostgreSQL and back. Every parameter is a text. The driver returns a number for small
 * integers and floats, a boolean, and otherwise the server's text.
 */
import { Buffer } from "node:buffer";
import { sql, type SQL } from "drizzle-orm/sql/sql";
import { type Column, derivedColumn } from "../../../core/values/types/column.ts";
import { type Json, parseOwnJson } from "../../../core/values/json.ts";
import type { Scalar } from "../../../core/values/scalar.ts";
import { showBytes } from "../../../core/values/types/bytes-type.ts";
import { showDate } from "../../../core/values/types/date-type.ts";
import { showDecimal } from "../../../core/values/types/decimal-type.ts";
import { showFloat } from "../../../core/values/types/float-type.ts";
import { showInteger } from "../../../core/values/types/integer-type.ts";
import { showJson } from "../../../core/values/types/json-types.ts";
import { showTime } from "../../../core/values/types/time-type.ts";
import { showTimestamp } from "../../../core/values/types/timestamp-type.ts";
import type { Decimals } from "../../../core/values/types/type-definition.ts";
import { formsBeside, showing, textForm, type ValueForm, type ValueForms } from "../value-forms.ts";

const castToText = (_column: Column, name: SQL): SQL => sql`${name}::text`;

const plain: ValueForm = { ...textForm, textOf: castToText };

/** Types of texts that are not compared as `text` is: one is padded, and one knows no collations. */
const isOtherText = ({ native }: Column): boolean => native === "bpchar" || native === '"char"';

export const valueForms: ValueForms = formsBeside(plain, {
  text: {
    // The cast removes the padding.
    output: (column, name) => (column.native === "bpchar" ? sql`${name}::text` : name),
    textOf: (column, name) =>
      isOtherText(column) || column.labels !== null ? sql`${name}::text` : name,
  },
  integer: {
    decoder: ({ native }, decimals) =>
      native === "bigint" ? (raw) => showInteger(raw as string, decimals) : null,
  },
  decimal: {
    decoder: (_column, decimals) => (raw) => showDecimal(raw as string, decimals),
    textOf: (_column, name) => sql`trim_scale(${name})::text`,
  },
  float: {
    decoder: () => (raw) => showFloat(raw as number),
    // JavaScript has exponents for other numbers, and fewer digits in them.
    textOf: (_column, name) =>
      sql`case when ${name}::text not like '%e%' then ${name}::text when abs(${name}::float8) between 1e-6 and 999999999999999900000 then ${name}::text::numeric::text else replace(${name}::text, 'e-0', 'e-') end`,
  },
  boolean: { bind: (_column, value) => (value ? "t" : "f"), textOf: null },
  date: { decoder: showing((text) => (isInfinite(text) ? null : showDate(text))) },
  timestamp: {
    decoder: showing((text) => (isInfinite(text) ? null : showTimestamp(text))),
    textOf: (_column, name) =>
      sql`regexp_replace(to_char(${name}, 'YYYY-MM-DD"T"HH24:MI:SS.US'), '0{1,3}$', '') || 'Z'`,
  },
  time: { decoder: showing(showTime) },
  uuid: {},
  json: { decoder: showing(showJson), textOf: null },
  file: { decoder: showing(showJson), textOf: null },
  bytes: {
    bind: (_column, value) => `\\x${Buffer.from(value as Uint8Array).toString("hex")}`,
    decoder: showing((text) => showBytes(Buffer.from(text.slice(2), "hex"))),
    textOf: null,
  },
  array: {
    bind: bindArray,
    // Each element as a separate text: the server's other forms do not preserve it.
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
    output: (column, name) => textOfOther(column, name),
    textOf: (column, name) => textOfOther(column, name),
  },
});

/** By default the driver makes numbers of some types. The cast of an inet adds a mask that answers do not show. */
const textOfOther = (column: Column, name: SQL): SQL =>
  isInet(column) ? sql`textin(inet_out(${name}))` : sql`${name}::text`;

const isInet = ({ native }: Column): boolean => native === "inet";

/** An element as the server's text, or a list of them. */
type Item = string | null | readonly Item[];

function itemsOf(item: Item, show: (text: string) => Json): Json {
  if (item === null) return null;
  return typeof item === "string" ? show(item) : item.map((one) => itemsOf(one, show));
}

/** From a text to the driver's value, and from that to what answers show. */
function itemDecoder(element: Column, decimals: Decimals): (text: string) => Json {
  // The result has no type of the elements: a text that does not fit means that the column has another type by now.
  if (element.type === "boolean")
    return (text) => (text === "true" ? true : text === "false" ? false : text);
  const decode = valueForms[element.type].decoder(element, decimals);
  if (element.type === "integer" && decode === null)
    return (text) => (/^-?\d+$/.test(text) ? Number(text) : text);
  return decode === null ? asItIs : (text) => decode(text) ?? (hasNoJson(text) ? null : text);
}

const asItIs = (text: string): string => text;

const isInfinite = (text: string): boolean => text === "infinity" || text === "-infinity";

/** Texts that a decoder shows as null, other than those of another type. */
const hasNoJson = (text: string): boolean => /^(?:null|NaN|-?[Ii]nfinity)$/.test(text);

/** An array that does not come from a table contains texts. */
const elementOf = ({ element = textElement }: Column): Column => element;

const textElement = derivedColumn("element", "text", {});

/** A JSON array in the server's notation of arrays: `{"a",NULL,{"b"}}`. */
function bindArray(column: Column, value: Exclude<Scalar, null>): string {
  const element = elementOf(column);
  // The text of a box has commas: this is the only way in which the server writes arrays of boxes.
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
