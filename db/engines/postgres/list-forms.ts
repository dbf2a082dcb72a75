/**
 * Converts the server's texts to JSON directly. A text of the usual form is written as it is, or nearly so. Any other
 * is decoded as in rows (`value-forms.ts`).
 */
import { isUtf8 } from "node:buffer";
import type { Column, ColumnType } from "../../../core/values/types/column.ts";
import type { Json } from "../../../core/values/json.ts";
import type { Decimals } from "../../../core/values/types/type-definition.ts";
import type { ListForms } from "../../statements/dialect.ts";
import { type JsonWriter, utf8Text } from "../../statements/json-writer.ts";
import { valueForms } from "./value-forms.ts";

/** False: the text has another form than the usual one, and nothing was written. */
type WriteUsual = (writer: JsonWriter, raw: Uint8Array) => boolean;

export const createListForms = (decimals: Decimals): ListForms => ({
  received,
  isUtf8,
  write(column) {
    const writeUsual = usual[column.type](column, decimals);
    const decode = valueForms[column.type].decoder(column, decimals);
    const writeDecoded = (writer: JsonWriter, raw: Uint8Array): void => {
      const value = received(column, raw);
      writer.json(decode === null ? (value as Json) : decode(value));
    };
    if (writeUsual === null) return writeDecoded;
    return (writer, raw) => {
      if (!writeUsual(writer, raw)) writeDecoded(writer, raw);
    };
  },
});

/**
 * Reads a text as the driver does in rows. The driver goes by the type that comes with the rows: a text that does not
 * fit the column's type means that the column has another type by now.
 */
function received({ type, native }: Column, raw: Uint8Array): unknown {
  const text = utf8Text(raw);
  if (type === "boolean") return text === "t" ? true : text === "f" ? false : text;
  const isNumber = type === "float" || (type === "integer" && native !== "bigint");
  return isNumber && isNumeric.test(text) ? Number(text) : text;
}

const isNumeric = /^(?:-?(?:Infinity|[\d.]+(?:e[+-]?\d+)?)|NaN)$/i;

const asText = (): WriteUsual => (writer, raw) => {
  writer.text(raw);
  return true;
};
const asNumber: WriteUsual = (writer, raw) => writer.digits(raw);
const asDigits: WriteUsual = (writer, raw) => writer.digits(raw, true);

const letterT = 0x74;

/** Null: every text is decoded. */
const usual: Readonly<
  Record<ColumnType, (column: Column, decimals: Decimals) => WriteUsual | null>
> = {
  text: asText,
  integer: ({ native }, decimals) =>
    native === "bigint" && decimals === "string" ? asDigits : asNumber,
  decimal: (_column, decimals) => (decimals === "string" ? asDigits : asNumber),
  float: () => asNumber,
  boolean: () => (writer, raw) => {
    if (raw.length !== 1) return false;
    writer.boolean(raw[0] === letterT);
    return true;
  },
  date: () => (writer, raw) => writer.day(raw),
  timestamp: () => (writer, raw) => writer.timestamp(raw),
  time: () => (writer, raw) => writer.time(raw),
  uuid: asText,
  json: () => null,
  bytes: () => null,
  array: () => null,
  file: () => null,
  other: asText,
};
