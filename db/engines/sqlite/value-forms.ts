/**
 * How values of each type travel to SQLite and back. It has five storage classes and no more: decimals are floating point
 * unless their column is declared as text; dates, times, booleans and UUIDs have the form that the column's values have
 * (`stored-forms.ts`); and any column may hold a value of another class than it is declared for, which is then shown as
 * what it is.
 */
import { Buffer } from "node:buffer";
import { sql, type SQL } from "drizzle-orm/sql/sql";
import type { Column } from "../../../core/values/column.ts";
import type { Json } from "../../../core/values/json.ts";
import { showBytes } from "../../../core/values/bytes-type.ts";
import { showDecimal } from "../../../core/values/decimal-type.ts";
import { showFloat } from "../../../core/values/float-type.ts";
import { showJson } from "../../../core/values/json-types.ts";
import type { Decimals } from "../../../core/values/type-definition.ts";
import {
  decodesNothing,
  plainColumn,
  type ValueForm,
  type ValueForms,
  type WriteUsual,
} from "../value-forms.ts";
import type { Decode } from "../../statements/dialect.ts";
import { shownTerm } from "./by-value.ts";
import { shown } from "./stored-form.ts";
import type { StoredForms } from "./stored-forms.ts";
import type { FormType } from "./stored-values.ts";
import { isExactDecimal } from "./types.ts";

const castToText = (_column: Column, name: SQL): SQL => sql`cast(${name} as text)`;

/** Stored and given as what statements carry. */
const plain: ValueForm = {
  bind: (_column, value) => value,
  output: plainColumn,
  decoder: decodesNothing,
  writer: () => writePlain,
  textOf: castToText,
};

/** A value of any class, as what it is. */
const writePlain: WriteUsual = (writer, raw) => {
  if (typeof raw === "string") writer.text(raw);
  else if (typeof raw === "number") writer.number(raw);
  else return false;
  return true;
};

const writeNumber: WriteUsual = (writer, raw) => {
  if (typeof raw !== "number") return false;
  writer.number(raw);
  return true;
};

const json: ValueForm = {
  ...plain,
  decoder: () => (raw) => (typeof raw === "string" ? showJson(raw) : (raw as Json)),
  writer: () => null,
  textOf: null,
};

export const createValueForms = (forms: StoredForms): ValueForms => ({
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
    writer: decimalWriter,
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
    writer: () => writeNumber,
    textOf: (_column, name) => numberText(name),
  },
  boolean: { ...formed(forms, "boolean", usualBoolean), textOf: null },
  date: formed(forms, "date", usualDate),
  timestamp: formed(forms, "timestamp", usualTimestamp),
  time: formed(forms, "time", usualTime),
  uuid: formed(forms, "uuid", usualUuid),
  json,
  bytes: {
    ...plain,
    writer: () => null,
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
    writer: ({ notation }) => (notation === undefined ? writePlain : null),
    output: (_column, name) => longAsText(name),
    decoder: ({ notation }) => {
      const show = notation === undefined ? (raw: unknown) => raw as Json : String;
      return (raw) => (raw instanceof Uint8Array ? showBytes(raw) : show(raw));
    },
  },
});

/** `decimals: "string"` is about 64-bit integers that are declared as such; every INTEGER of SQLite could be one. */
const isBigint = (column: Column): boolean => /\b(BIGINT|INT8)\b/i.test(column.native);

/**
 * The driver gives integers as doubles. Those that a double cannot hold come as text instead; asking the driver for
 * BigInts would make one of every small number too.
 */
const longAsText = (name: SQL): SQL =>
  sql`case when typeof(${name}) = 'integer' and (${name} > 9007199254740991 or ${name} < -9007199254740991) then cast(${name} as text) else ${name} end`;

/** The form in which nearly all columns of a type keep their values. */
interface UsualForm {
  /** What answers show, at little cost; undefined for a value of any other form. */
  readonly show: (raw: unknown) => Json | undefined;
  /** Writes that; false for a value that `show` does not take, and perhaps for others. */
  readonly write: WriteUsual;
  /** The text that answers show; absent: the value itself. */
  readonly text?: (name: SQL) => SQL;
}

/** A type of which columns have different stored forms. */
function formed(
  forms: StoredForms,
  type: FormType,
  { show, write, text = (name) => name }: UsualForm,
): ValueForm {
  return {
    bind: (column, value) => forms.of(column, type).bind(value),
    output: plainColumn,
    decoder(column) {
      const { isUsual, unit } = forms.of(column, type);
      const other: Decode = (raw) => {
        forms.notice(column, raw);
        return shown(type, raw, unit);
      };
      return isUsual ? (raw) => show(raw) ?? other(raw) : other;
    },
    writer: (column) => (forms.of(column, type).isUsual ? write : null),
    textOf: (column, name) => shownTerm(forms, column, name) ?? text(name),
  };
}

/** The form that we and CURRENT_TIMESTAMP store, with three digits of a fraction where there is one, or up to six. */
const usualTimestamp: UsualForm = {
  show(raw) {
    if (!isUsualTimestamp(raw)) return undefined;
    const fraction = raw.length === 19 ? ".000" : "";
    return `${raw.slice(0, 10)}T${raw.slice(11)}${fraction}Z`;
  },
  write: (writer, raw) => isUsualTimestamp(raw) && writer.timestamp(raw),
  // The function of SQLite knows milliseconds, and every form.
  text: (name) =>
    sql`iif(length(${name}) > 23 and substr(${name}, 11, 1) = ' ', replace(${name}, ' ', 'T') || 'Z', strftime('%Y-%m-%dT%H:%M:%fZ', ${name}))`,
};

function isUsualTimestamp(raw: unknown): raw is string {
  if (typeof raw !== "string" || raw[10] !== " " || raw[4] !== "-" || raw[16] !== ":") return false;
  if (raw.startsWith("0000")) return false;
  if (raw.length === 19) return true;
  if (raw[19] !== "." || raw.length < 23 || raw.length > 26) return false;
  return raw.length === 23 ? !raw.endsWith(".000") : !raw.endsWith("0");
}

const usualDate: UsualForm = {
  show: (raw) =>
    typeof raw === "string" && raw.length === 10 && raw[4] === "-" && !raw.startsWith("0000")
      ? raw
      : undefined,
  write: (writer, raw) => typeof raw === "string" && writer.day(raw),
  text: (name) => sql`substr(${name}, 1, 10)`,
};

const usualTime: UsualForm = {
  show: (raw) =>
    typeof raw === "string" && raw.length === 8 && raw[2] === ":" && raw[5] === ":"
      ? raw
      : undefined,
  write: (writer, raw) => typeof raw === "string" && writer.time(raw),
};

const usualBoolean: UsualForm = {
  show: (raw) => (raw === 1 || raw === 0 ? raw === 1 : undefined),
  write(writer, raw) {
    if (raw !== 1 && raw !== 0) return false;
    writer.boolean(raw === 1);
    return true;
  },
};

const usualUuid: UsualForm = {
  show: (raw) => (isLowerCase(raw) ? raw : undefined),
  write(writer, raw) {
    if (!isLowerCase(raw)) return false;
    writer.text(raw);
    return true;
  },
  text: (name) => sql`lower(${name})`,
};

const isLowerCase = (raw: unknown): raw is string =>
  typeof raw === "string" && raw === raw.toLowerCase();

/** Floating point sums carry noise behind the declared scale, or behind the fifteenth digit. */
function decimalDecoder({ scale }: Column, decimals: Decimals): Decode {
  const isClean = cleanTo(scale);
  return (raw) => {
    if (typeof raw !== "number") return typeof raw === "string" ? showDecimal(raw, decimals) : null;
    const number = isClean(raw)
      ? raw
      : Number(scale === null ? raw.toPrecision(15) : raw.toFixed(Math.min(scale, 100)));
    return decimals === "number" ? showFloat(number) : showDecimal(number, decimals);
  };
}

function decimalWriter({ scale }: Column, decimals: Decimals): WriteUsual {
  const isClean = cleanTo(scale);
  return (writer, raw) => {
    if (typeof raw === "string") return writer.digits(raw, decimals === "string");
    if (typeof raw !== "number" || decimals === "string" || !isClean(raw)) return false;
    writer.number(raw);
    return true;
  };
}

/** Most numbers carry none, and to see that costs less than to print them. */
function cleanTo(scale: number | null): (number: number) => boolean {
  const unit = 10 ** Math.min(scale ?? 0, 15);
  return (number) => Math.round(number * unit) / unit === number;
}

/** Without the `.0` that SQLite gives whole floating point numbers. */
const numberText = (name: SQL): SQL =>
  sql`cast(case when ${name} = cast(${name} as integer) then cast(${name} as integer) else ${name} end as text)`;
