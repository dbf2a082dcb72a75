/**
 * Makes a statement from SQL that the operator wrote and from values for its placeholders: `$1` by number, `?` by
 * place, `:name` by name. A placeholder inside a literal or comment is text. `core/records/events.ts` calls it for the
 * `query` of a handler.
 */
import { derivedColumn } from "../values/types/column.ts";
import { namedPlaces, singleStatement, stretchesOf } from "./query-text.ts";
import { ExactNumber, isObject } from "../values/json.ts";
import type { Native, NativeValue } from "./statement.ts";
import { accept } from "../values/types/accept.ts";

/** By place (`?`, `$1`) or by name (`:name`). A Date is sent as a time; an array or object, as JSON. */
export type NativeParams = readonly unknown[] | Readonly<Record<string, unknown>>;

/**
 * The statement. Throws a TypeError that says what is wrong: more than one statement, one that is not about rows (it
 * could end the transaction), or values that do not fit the placeholders.
 */
export function nativeOf(sql: string, params: NativeParams): Native {
  if (typeof sql !== "string") throw new TypeError("query expects the text of a statement");
  const single = singleStatement(sql);
  if (!single.ok) throw new TypeError(`query found ${single.found}, expected ${single.expected}`);
  const stretches = stretchesOf(single.text);
  if (stretches === null) throw new TypeError("query: pass a text with a backslash as a parameter");
  const code = stretches.map(({ isCode, text }) => (isCode ? text : " ")).join("");
  const word = /^[\s(]*(\w*)/.exec(code)![1]!.toLowerCase();
  if (!rowWords.has(word)) {
    const allowed = [...rowWords].join(", ").toUpperCase();
    throw new TypeError(`query only runs a statement that begins with ${allowed}`);
  }

  const find = finderFor(code, params);
  const texts = [""];
  const order: number[] = [];
  const values: NativeValue[] = [];
  const placed = new Map<string, number>();
  const placeOf = (name: string | undefined): number => {
    const known = name === undefined ? undefined : placed.get(name);
    if (known !== undefined) return known;
    const place = values.push(find.value(name)) - 1;
    if (name !== undefined) placed.set(name, place);
    return place;
  };
  for (const { isCode, text } of stretches) {
    let at = 0;
    for (const match of isCode ? text.matchAll(find.pattern) : []) {
      texts[texts.length - 1] += text.slice(at, match.index);
      texts.push("");
      order.push(placeOf(match[1]));
      at = match.index + match[0].length;
    }
    texts[texts.length - 1] += text.slice(at);
  }
  find.end();
  return { kind: "native", texts, order, values, isRead: isRead(word, code) };
}

/** Statements that read or write rows. Others (COMMIT, CREATE, SET …) would end the transaction or outlive it. */
const rowWords: ReadonlySet<string> = new Set([
  "select",
  "insert",
  "update",
  "delete",
  "merge",
  "replace",
  "values",
  "with",
]);

/** A WITH may write in any of its parts. */
const isRead = (word: string, code: string): boolean =>
  word === "select" ||
  word === "values" ||
  (word === "with" && !/\b(insert|update|delete|merge|replace)\b/i.test(code));

interface Finder {
  readonly pattern: RegExp;
  value(name: string | undefined): NativeValue;
  /** Throws when there are more values than placeholders. */
  end(): void;
}

/** One style per statement, so that `?` and `:` remain operators of PostgreSQL if another style is used. */
function finderFor(code: string, params: NativeParams): Finder {
  if (!Array.isArray(params)) {
    if (!isObject(params)) throw new TypeError("query expects its values in an array or an object");
    return {
      pattern: namedPlaces,
      value(name = "") {
        if (!Object.hasOwn(params, name)) throw new TypeError(`query has no value for :${name}`);
        return nativeValue(params[name], `:${name}`);
      },
      end() {},
    };
  }
  const values: readonly unknown[] = params;
  const isNumbered = /(?<![\w$])\$\d/.test(code);
  let used = 0;
  return {
    pattern: isNumbered ? /(?<![\w$])\$(\d+)/g : /\?/g,
    value(number) {
      const place = number === undefined ? used + 1 : Number(number);
      used = Math.max(used, place);
      if (place < 1 || place > values.length)
        throw new TypeError(`query has ${values.length} values and a placeholder number ${place}`);
      return nativeValue(values[place - 1], `number ${place}`);
    },
    end() {
      if (used < values.length)
        throw new TypeError(`query has ${values.length} values and ${used} placeholders`);
    },
  };
}

function nativeValue(value: unknown, name: string): NativeValue {
  if (value === null) return { type: "text", value };
  if (typeof value === "string") return { type: "text", value };
  if (typeof value === "boolean") return { type: "boolean", value };
  if (typeof value === "bigint") return { type: "integer", value };
  if (Number.isSafeInteger(value)) return { type: "integer", value: BigInt(value as number) };
  if (typeof value === "number" && Number.isFinite(value)) return { type: "float", value };
  if (value instanceof ExactNumber) {
    const { source } = value;
    if (/^-?\d+$/.test(source)) return { type: "integer", value: BigInt(source) };
    return { type: "decimal", value: source };
  }
  if (value instanceof Date) return { type: "timestamp", value: value.toISOString() };
  if (value instanceof Uint8Array) return { type: "bytes", value };
  if (typeof value === "object") {
    const json = accept(jsonColumn, value);
    if (json.ok) return { type: "json", value: json.value };
  }
  throw new TypeError(`query cannot send the value ${name}: ${typeof value}`);
}

const jsonColumn = derivedColumn("value", "json", {});
