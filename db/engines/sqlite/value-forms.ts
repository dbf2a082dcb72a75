/**
 * Converts values of each type to SQLite's five storage classes and back. Decimals are floating point unless their
 * column is declared as text. Dates, times, booleans and UUIDs have the form of their column (`stored-forms.ts`).
 * Any column can hold a value of another class than declared, which is then shown as what it is.
 */
import { Buffer } from "node:buffer";
import { sql, type SQL } from "drizzle-orm/sql/sql";
import type { Column } from "../../../core/values/types/column.ts";
import type { Json } from "../../../core/values/json.ts";
import { normalDecimal } from "../../../core/values/decimal.ts";
import { showBytes } from "../../../core/values/types/bytes-type.ts";
import { showDecimal } from "../../../core/values/types/decimal-type.ts";
import { showFloat } from "../../../core/values/types/float-type.ts";
import { showJson } from "../../../core/values/types/json-types.ts";
import type { Decimals } from "../../../core/values/types/type-definition.ts";
import {
  formsBeside,
  plainColumn,
  textForm,
  type ValueForm,
  type ValueForms,
} from "../value-forms.ts";
import type { Decode } from "../../statements/dialect.ts";
import { shownTerm } from "./forms/by-value.ts";
import { shown } from "./forms/stored-form.ts";
import type { StoredForms } from "./forms/stored-forms.ts";
import type { FormType } from "./forms/stored-values.ts";
import { isExactDecimal } from "./types.ts";

const castToText = (_column: Column, name: SQL): SQL => sql`cast(${name} as text)`;

/** Stored and returned as statements carry it. */
const plain: ValueForm = { ...textForm, bind: (_column, value) => value, textOf: castToText };

const json: Partial<ValueForm> = {
  output: (_column, name) => longAsText(name),
  decoder: () => (raw) => (typeof raw === "string" ? showJson(raw) : showStored(raw)),
  textOf: null,
};

export const createValueForms = (forms: StoredForms): ValueForms =>
  formsBeside(plain, {
    text: { decoder: (column) => keeping("string", storedDecoder(column)), textOf: plainColumn },
    integer: {
      decoder: (column) =>
        column.isSampled ? showAnything : keeping("number", storedDecoder(column)),
      output: (column, name, decimals) =>
        decimals === "string" && isBigint(column) ? sql`cast(${name} as text)` : longAsText(name),
    },
    decimal: {
      bind: (column, value) => (isExactDecimal(column) ? value : Number(value)),
      output: (column, name) => (isExactDecimal(column) ? name : longAsText(name)),
      decoder: decimalDecoder,
      textOf(column, name) {
        if (isExactDecimal(column)) return name;
        const { scale } = column;
        return numberText(
          scale === null ? name : sql`round(${name}, ${sql.raw(String(scale))})`,
          sql`rowgate_digits`,
        );
      },
    },
    float: {
      output: ({ isSampled }, name) => (isSampled ? longAsText(name) : name),
      decoder: () => showAnything,
      textOf: (_column, name) => numberText(name, sql`rowgate_float_text`),
    },
    boolean: { ...formed(forms, "boolean", usualBoolean), textOf: null },
    date: formed(forms, "date", usualDate, (name) => sql`substr(${name}, 1, 10)`),
    timestamp: formed(
      forms,
      "timestamp",
      usualTimestamp,
      // The function of SQLite knows milliseconds, and every form.
      (name) =>
        sql`iif(length(${name}) > 23 and substr(${name}, 11, 1) = ' ', replace(${name}, ' ', 'T') || 'Z', strftime('%Y-%m-%dT%H:%M:%fZ', ${name}))`,
    ),
    time: formed(forms, "time", usualTime),
    uuid: formed(forms, "uuid", usualUuid, (name) => sql`lower(${name})`),
    json,
    bytes: {
      bind(_column, value) {
        const { buffer, byteOffset, byteLength } = value as Uint8Array;
        return Buffer.from(buffer, byteOffset, byteLength);
      },
      decoder: ({ isSampled }) =>
        isSampled
          ? showAnything
          : (raw) => showBytes(raw instanceof Uint8Array ? raw : Buffer.from(String(raw))),
      textOf: null,
    },
    array: json,
    file: json,
    other: {
      output: (_column, name) => longAsText(name),
      decoder: ({ notation }) => {
        if (notation === undefined) return showAnything;
        return (raw) => (raw instanceof Uint8Array ? showBytes(raw) : String(raw));
      },
    },
  });

const showAnything = (raw: unknown): Json =>
  typeof raw === "number" ? showFloat(raw) : showStored(raw);

/** Bytes that stand in a column of another type are shown as in a column of bytes. */
const showStored = (raw: unknown): Json =>
  raw instanceof Uint8Array ? showBytes(raw) : (raw as Json);

const storedDecoder = ({ isSampled }: Column): Decode => (isSampled ? showAnything : showStored);

const keeping = (keeps: Exclude<Decode["keeps"], undefined>, decode: Decode): Decode =>
  Object.assign((raw: unknown) => decode(raw), { keeps });

/** `decimals: "string"` is about 64-bit integers that are declared as such; every INTEGER of SQLite could be one. */
const isBigint = (column: Column): boolean => /\b(BIGINT|INT8)\b/i.test(column.native);

/**
 * The driver gives integers as doubles. Those that a double cannot hold come as text instead; asking the driver for
 * BigInts would make one of every small number too.
 */
const longAsText = (name: SQL): SQL =>
  sql`case when typeof(${name}) = 'integer' and (${name} > 9007199254740991 or ${name} < -9007199254740991) then cast(${name} as text) else ${name} end`;

/**
 * A type whose columns have different stored forms. `usual` is a fast path: it shows a value of the usual form, and
 * returns undefined for any other.
 */
function formed(
  forms: StoredForms,
  type: FormType,
  usual: (raw: unknown) => Json | undefined,
  usualText: (name: SQL) => SQL = (name) => name,
): Partial<ValueForm> {
  return {
    bind: (column, value) => forms.of(column, type).bind(value),
    decoder(column) {
      const { isUsual, unit } = forms.of(column, type);
      const other: Decode = (raw) => {
        forms.notice(column, raw);
        return shown(type, raw, unit);
      };
      return isUsual ? (raw) => usual(raw) ?? other(raw) : other;
    },
    textOf: (column, name) => shownTerm(forms, column, name) ?? usualText(name),
  };
}

/** The form that we and CURRENT_TIMESTAMP store, with three digits of a fraction where there is one, or up to six. */
function usualTimestamp(raw: unknown): string | undefined {
  if (typeof raw !== "string" || raw[10] !== " " || raw[4] !== "-" || raw[16] !== ":")
    return undefined;
  if (raw.startsWith("0000")) return undefined;
  if (raw.length === 19) return `${raw.slice(0, 10)}T${raw.slice(11)}.000Z`;
  if (raw[19] !== "." || raw.length < 23 || raw.length > 26) return undefined;
  const isTrimmed = raw.length === 23 ? !raw.endsWith(".000") : !raw.endsWith("0");
  return isTrimmed ? `${raw.slice(0, 10)}T${raw.slice(11)}Z` : undefined;
}

const usualDate = (raw: unknown): string | undefined =>
  typeof raw === "string" && raw.length === 10 && raw[4] === "-" && !raw.startsWith("0000")
    ? raw
    : undefined;

const usualTime = (raw: unknown): string | undefined =>
  typeof raw === "string" && raw.length === 8 && raw[2] === ":" && raw[5] === ":" ? raw : undefined;

const usualBoolean = (raw: unknown): boolean | undefined =>
  raw === 1 || raw === 0 ? raw === 1 : undefined;

const usualUuid = (raw: unknown): string | undefined =>
  typeof raw === "string" && raw === raw.toLowerCase() ? raw : undefined;

/** Floating point sums have rounding noise after the declared scale, or after the fifteenth digit. */
function decimalDecoder({ scale }: Column, decimals: Decimals): Decode {
  const unit = 10 ** Math.min(scale ?? 0, 15);
  return (raw) => {
    // A text that is no number is shown as it is, though JavaScript would read an empty one as 0.
    if (typeof raw === "string" && normalDecimal(raw) !== null) return showDecimal(raw, decimals);
    if (typeof raw !== "number") return showStored(raw);
    // Most numbers carry none, and to see that costs less than to print them.
    const isClean = Math.round(raw * unit) / unit === raw;
    const number = isClean
      ? raw
      : Number(scale === null ? raw.toPrecision(15) : raw.toFixed(Math.min(scale, 100)));
    return decimals === "number" ? showFloat(number) : showDecimal(number, decimals);
  };
}

/**
 * Without the `.0` that SQLite gives whole floating point numbers. `unlike`: the function for texts with an exponent,
 * which answers show in another way. The size tells them sooner than the text, which takes long to make.
 */
function numberText(name: SQL, unlike: SQL): SQL {
  const text = sql`cast(case when ${name} = cast(${name} as integer) then cast(${name} as integer) else ${name} end as text)`;
  // Integers have no exponent, and the least one has no absolute value.
  return sql`case when typeof(${name}) = 'real' and (abs(${name}) > 1e15 or abs(${name}) < 1e-4 and ${name} <> 0) then ${unlike}(${name}) else ${text} end`;
}
