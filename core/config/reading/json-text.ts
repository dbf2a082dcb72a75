/**
 * Reads the JSON of a configuration file and records the position of each value, so that faults have line and column on
 * every runtime. Unlike `JSON.parse` it also detects data loss: a property written twice, a number with more digits
 * than a double keeps. No library does this (November 2026): @humanwhocodes/momoa 3.3 accepts line breaks and control
 * characters in strings, has no limit of nesting, and reports what it found but not what it expected; jsonc-parser 3.3
 * continues after a fault, so that one line break in a string causes six faults. Neither detects a duplicate property
 * or keeps the digits of a number; adding that to either would take as much code as this file.
 */
import { ExactNumber, parseJson } from "../../values/json.ts";
import { formatPath, type Path } from "./faults.ts";

export interface JsonText {
  readonly value: unknown;
  /** Offset of each value (of a property: of its name) by its formatted path. */
  readonly offsets: ReadonlyMap<string, number>;
  /** Valid JSON that is still not acceptable. */
  readonly slips: readonly {
    readonly path: Path;
    readonly found: string;
    readonly expected: string;
  }[];
}

/** Not JSON; `offset` is where reading stopped. */
export class JsonTextError extends Error {
  override readonly name = "JsonTextError";
  readonly offset: number;
  readonly found: string;
  constructor(offset: number, found: string, expected: string) {
    super(expected);
    this.offset = offset;
    this.found = found;
  }
}

const depthMax = 64;
const spaces = /[ \t\r\n]*/y;
/** The class contains everything except control characters, the quote and the backslash. */
const stringToken = /"(?:[ !#-[\]-\uffff]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const numberToken = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const words: readonly (readonly [string, unknown])[] = [
  ["true", true],
  ["false", false],
  ["null", null],
];

/**
 * The value of the text, and the offsets of its parts. Throws `JsonTextError`. One piece, because the functions of the
 * descent share the position in the text.
 */
export function readJsonText(text: string): JsonText {
  const offsets = new Map<string, number>();
  const slips: { path: Path; found: string; expected: string }[] = [];
  let at = text.startsWith("\uFEFF") ? 1 : 0;

  const fail = (expected: string): never => {
    const found =
      at >= text.length
        ? "the end of the file"
        : JSON.stringify(String.fromCodePoint(text.codePointAt(at)!));
    throw new JsonTextError(at, found, expected);
  };
  const match = (token: RegExp): string | null => {
    token.lastIndex = at;
    const found = token.exec(text)?.[0] ?? null;
    if (found !== null) at += found.length;
    return found;
  };
  const take = (character: string): boolean => {
    if (text[at] !== character) return false;
    at += 1;
    return true;
  };

  function readValue(path: Path): unknown {
    match(spaces);
    const key = formatPath(path);
    if (!offsets.has(key)) offsets.set(key, at);
    if (path.length > depthMax) fail(`at most ${depthMax} levels of nesting`);
    if (take("{")) return readObject(path);
    if (take("[")) return readArray(path);
    if (text[at] === '"') return readString();
    for (const [word, value] of words) {
      if (!text.startsWith(word, at)) continue;
      at += word.length;
      return value;
    }
    const digits = match(numberToken);
    if (digits === null) return fail("a JSON value");
    const number = parseJson(digits);
    if (!(number instanceof ExactNumber)) return number;
    slips.push({
      path,
      found: digits,
      expected: "fewer digits, or the number in quotes, because a JSON number would lose digits",
    });
    return Number(digits);
  }

  function readString(): string {
    const token = match(stringToken);
    return token === null
      ? fail("a text in double quotes, closed on the same line")
      : (JSON.parse(token) as string);
  }

  function readObject(path: Path): Record<string, unknown> {
    const object: Record<string, unknown> = {};
    match(spaces);
    if (take("}")) return object;
    do {
      match(spaces);
      const start = at;
      if (text[at] !== '"') fail("the name of a property in double quotes");
      const name = readString();
      const inner = [...path, name];
      if (name === "__proto__")
        slips.push({ path: inner, found: "a reserved name", expected: "another name" });
      else if (Object.hasOwn(object, name))
        slips.push({
          path: inner,
          found: "the property twice",
          expected: "each property only once",
        });
      else offsets.set(formatPath(inner), start);
      match(spaces);
      if (!take(":")) fail('":" after the name of a property');
      const value = readValue(inner);
      if (name !== "__proto__") object[name] = value;
      match(spaces);
    } while (take(","));
    if (!take("}")) fail('"," or "}"');
    return object;
  }

  function readArray(path: Path): unknown[] {
    const array: unknown[] = [];
    match(spaces);
    if (take("]")) return array;
    do {
      array.push(readValue([...path, array.length]));
      match(spaces);
    } while (take(","));
    if (!take("]")) fail('"," or "]"');
    return array;
  }

  const value = readValue([]);
  match(spaces);
  if (at < text.length) fail("the end of the file after the JSON value");
  return { value, offsets, slips };
}
