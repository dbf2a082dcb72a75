/**
 * JSON in which numbers keep all their digits; `JSON.parse` rounds integers beyond 2^53 and long fractions. Such
 * numbers are replaced by texts with a random mark while JSON's own functions read and write the rest.
 */

const mark = `digits ${crypto.getRandomValues(new Uint32Array(4)).join("-")} `;
const marked = new RegExp(`"${mark}([^"]*)"`, "g");
const textOrNumber = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;
const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
/** A double keeps this many digits of any number. */
const doubleDigits = 15;

/** A number that JavaScript's own numbers would change. */
export class Digits {
  /** @param {string} text a number as JSON has it */
  constructor(text) {
    this.text = text;
  }
  toString() {
    return this.text;
  }
  /** The marked text that `jsonText` turns into the number. */
  toJSON() {
    return mark + this.text;
  }
}

/** @param {string} text a number as JSON has it @returns {number | Digits} */
export function exactNumber(text) {
  const value = Number(text);
  const isKept = Number.isFinite(value) && text.replaceAll(/\D/g, "").length <= doubleDigits;
  return isKept || String(value) === text ? value : new Digits(text);
}

/** Throws SyntaxError. @param {string} text @returns {any} */
export function parseJson(text) {
  if (!/[\d.]{16}|\d[eE][+-]?\d/.test(text)) return JSON.parse(text);
  const safe = text.replaceAll(textOrNumber, (part) =>
    number.test(part) && exactNumber(part) instanceof Digits ? `"${mark}${part}"` : part,
  );
  return JSON.parse(safe, (_, value) =>
    typeof value === "string" && value.startsWith(mark)
      ? new Digits(value.slice(mark.length))
      : value,
  );
}

/** @param {unknown} value @param {number} [indent] */
export const jsonText = (value, indent) =>
  JSON.stringify(value, null, indent).replaceAll(marked, "$1");

/** The name of the text that says it. @typedef {"json.value" | "json.quotes" | "json.name" | "json.colon" | "json.comma" | "json.noComma" | "json.text" | "json.number" | "json.end"} JsonNeed */

const space = /[ \t\n\r]*/y;
const token =
  /("[ !#-[\]-\uffff]*(?:\\(?:["\\/bfnrt]|u[\da-fA-F]{4})[ !#-[\]-\uffff]*)*")|((?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.+-]))|[{}[\],:]/y;

/**
 * Where a text stops being JSON, and what is missing or wrong there; null: it is JSON. Browsers say this each in its
 * own words, in English, and some of them without the place. Line and column count from 1; `sign` would
 * close what is open.
 * @param {string} source @returns {{ at: number, line: number, column: number, need: JsonNeed, sign: string } | null}
 */
export function jsonFault(source) {
  /** What closes the arrays and objects that are open. @type {string[]} */
  const open = [];
  /** What comes next; `first…`: the closing sign can come as well. */
  let state = "value";
  for (let at = 0; ;) {
    space.lastIndex = at;
    at += space.exec(source)?.[0].length ?? 0;
    token.lastIndex = at;
    const [found = "", text, literal] = token.exec(source) ?? [];
    if (state === "end" && at === source.length) return null;
    const next = following(state, {
      found,
      isText: text !== undefined,
      isLiteral: !!literal,
      open,
    });
    if (next === null) {
      const lines = source.slice(0, at).split("\n");
      const need = needAt(state, { rest: source.slice(at, at + 1), found, inside: open.at(-1) });
      return {
        at,
        line: lines.length,
        column: (lines.at(-1)?.length ?? 0) + 1,
        need,
        sign: open.at(-1) ?? "",
      };
    }
    state = next;
    at += found.length;
  }
}

/** Null: this cannot come here. @param {string} state @param {{ found: string, isText: boolean, isLiteral: boolean, open: string[] }} token */
function following(state, { found, isText, isLiteral, open }) {
  const after = () => (open.length === 0 ? "end" : "next");
  if (["next", "firstValue", "firstName"].includes(state) && found && found === open.at(-1)) {
    open.pop();
    return after();
  }
  if (state === "value" || state === "firstValue") {
    if (isText || isLiteral) return after();
    if (found !== "[" && found !== "{") return null;
    open.push(found === "[" ? "]" : "}");
    return found === "[" ? "firstValue" : "firstName";
  }
  if (state === "name" || state === "firstName") return isText ? "colon" : null;
  if (state === "colon") return found === ":" ? "value" : null;
  if (state === "next" && found === ",") return open.at(-1) === "]" ? "value" : "name";
  return null;
}

/** @param {string} state @param {{ rest: string, found: string, inside: string | undefined }} place @returns {JsonNeed} */
function needAt(state, { rest, found, inside }) {
  if (state === "end") return "json.end";
  if (state === "colon") return "json.colon";
  if (state === "next") return "json.comma";
  const isName = state.toLowerCase().endsWith("name");
  if (state === (inside === "]" ? "value" : "name") && found && found === inside)
    return "json.noComma";
  if (rest === '"') return "json.text";
  if (isName) return "json.name";
  if (/[-+.\d]/.test(rest)) return "json.number";
  return /[^\s{}[\],:]/.test(rest) ? "json.quotes" : "json.value";
}
