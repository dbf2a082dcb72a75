/**
 * A small streaming XML scanner, only for the parts of a workbook: tags, texts and CDATA; well nested; no document
 * types, so only the five entities of XML itself. It reads each character once and is several times as fast as a
 * general parser. Names lose their prefix (`x:row` is `row`).
 */
import { InvalidWorkbook } from "./invalid-workbook.ts";

/** Called with what the scanner finds. */
export interface XmlHandler {
  /** `attributes`: the text behind the name, for `eachAttribute`. An empty tag is opened and closed. */
  open(name: string, attributes: string): void;
  close(name: string): void;
  /** A piece of text, entities resolved; several pieces can come between two tags. */
  text(text: string): void;
  /**
   * Can read a whole, well-formed element that begins at `at`, and return its end; -1 leaves it to the scanner. For
   * the one element that makes up nearly all of a large part.
   */
  element?(text: string, at: number): number;
}

/** Characters of one tag or text: a cell has up to 32,767, each of which can be an escape. */
const tokenLengthMax = 1024 ** 2;
const depthMax = 200;

/** Feed it with `write`, then `end`. Both throw `InvalidWorkbook`; `part` names the part in its sentence. */
export class XmlScanner {
  readonly #handler: XmlHandler;
  readonly #part: string;
  readonly #root: string;
  /** The open tags with their prefixes, outermost first. */
  readonly #open: string[] = [];
  #rest = "";
  /** Characters of `#rest` from which it is read again: with each piece, a long tag would be read hundreds of times. */
  #enough = 0;
  #hasRoot = false;

  constructor(handler: XmlHandler, { part, root }: { part: string; root: string }) {
    this.#handler = handler;
    this.#part = part;
    this.#root = root;
  }

  write(piece: string): void {
    this.#rest += piece;
    if (this.#rest.length >= this.#enough) this.#scan();
  }

  #scan(): void {
    const text = this.#rest;
    let at = 0;
    while (at < text.length) {
      const start = text.indexOf("<", at);
      if (start < 0) break;
      if (start > at) this.#text(text.slice(at, start));
      at = start;
      let end = this.#handler.element?.(text, start) ?? -1;
      if (end < 0) end = this.#token(text, start);
      if (end < 0) break;
      at = end;
    }
    this.#rest = text.slice(at);
    if (this.#rest.length > tokenLengthMax) throw this.#fault("contains a text that is too long");
    this.#enough = this.#rest.length * 2;
  }

  end(): void {
    this.#scan();
    if (!this.#hasRoot || this.#open.length > 0 || this.#rest.trim() !== "")
      throw this.#fault("ends too early");
  }

  /** Reads the item that begins with the `<` at `start`; returns its end, or -1 if that has not arrived yet. */
  #token(text: string, start: number): number {
    const code = text.charCodeAt(start + 1);
    if (code === slash) return this.#closeTag(text, start);
    if (code === questionMark) return endBehind(text, { mark: "?>", from: start + 2 });
    if (code === exclamationMark) return this.#declaration(text, start);
    const end = this.#tagEnd(text, start + 1);
    if (end < 0) return -1;
    this.#openTag(text, start + 1, end);
    return end + 1;
  }

  /** A comment or CDATA. */
  #declaration(text: string, start: number): number {
    const rest = text.length - start;
    if (rest < "<![CDATA[".length && !text.includes(">", start)) return -1;
    if (text.startsWith("<!--", start)) return endBehind(text, { mark: "-->", from: start + 4 });
    if (!text.startsWith("<![CDATA[", start))
      throw this.#fault("contains a document type declaration");
    const end = endBehind(text, { mark: "]]>", from: start + 9 });
    if (end > 0 && this.#open.length > 0) this.#handler.text(text.slice(start + 9, end - 3));
    return end;
  }

  /** The position of the tag's closing `>`, ignoring those in quotes. */
  #tagEnd(text: string, from: number): number {
    let quote = 0;
    for (let at = from; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (quote !== 0) {
        if (code === quote) quote = 0;
      } else if (code === greaterThan) return at;
      else if (code === doubleQuote || code === singleQuote) quote = code;
      else if (code === lessThan) throw this.#fault("is damaged: a tag has no end");
    }
    return -1;
  }

  #openTag(text: string, start: number, end: number): void {
    const isEmpty = text.charCodeAt(end - 1) === slash;
    const last = isEmpty ? end - 1 : end;
    let nameEnd = start;
    while (nameEnd < last && text.charCodeAt(nameEnd) > space) nameEnd++;
    const fullName = text.slice(start, nameEnd);
    if (fullName === "") throw this.#fault("is damaged: a tag has no name");
    const name = localName(fullName);
    if (this.#open.length === 0) this.#begin(name);
    if (this.#open.length >= depthMax) throw this.#fault("is nested too deep");
    this.#handler.open(name, nameEnd === last ? "" : text.slice(nameEnd, last));
    if (isEmpty) this.#handler.close(name);
    else this.#open.push(fullName);
  }

  #begin(name: string): void {
    if (this.#hasRoot || name !== this.#root)
      throw this.#fault(`does not consist of one ${this.#root}`);
    this.#hasRoot = true;
  }

  #closeTag(text: string, start: number): number {
    const fullName = this.#open.at(-1) ?? "";
    let end = start + 2 + fullName.length;
    while (text.charCodeAt(end) <= space) end++;
    if (end >= text.length) return -1;
    if (fullName === "" || !text.startsWith(fullName, start + 2) || text[end] !== ">")
      throw this.#fault("is damaged: its tags do not match");
    this.#open.pop();
    this.#handler.close(localName(fullName));
    return end + 1;
  }

  #text(raw: string): void {
    if (this.#open.length > 0) this.#handler.text(resolve(raw, () => this.#fault(entityFault)));
    else if (raw.trim() !== "")
      throw this.#fault("is damaged: there is text outside the root element");
  }

  #fault(what: string): InvalidWorkbook {
    return new InvalidWorkbook(`The part ${this.#part} ${what}`);
  }
}

/** Calls `visit` for each attribute, without prefix, entities resolved. Throws `InvalidWorkbook` for bad syntax. */
export function eachAttribute(
  attributes: string,
  visit: (name: string, value: string) => void,
): void {
  let at = 0;
  for (;;) {
    while (at < attributes.length && attributes.charCodeAt(at) <= space) at++;
    if (at >= attributes.length) return;
    const equals = attributes.indexOf("=", at);
    let open = equals + 1;
    while (attributes.charCodeAt(open) <= space) open++;
    const quote = attributes[open];
    const close = quote === '"' || quote === "'" ? attributes.indexOf(quote, open + 1) : -1;
    if (equals < 0 || close < 0) throw badAttribute();
    const fullName = attributes.slice(at, equals);
    const name = fullName.slice(fullName.lastIndexOf(":") + 1).trimEnd();
    visit(name, resolve(attributes.slice(open + 1, close), badAttribute));
    at = close + 1;
  }
}

/** All attributes by name. */
export function readAttributes(attributes: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  eachAttribute(attributes, (name, value) => found.set(name, value));
  return found;
}

const badAttribute = (): InvalidWorkbook =>
  new InvalidWorkbook("A part of the file is damaged: an attribute has no value");
const entityFault = "contains an unknown XML entity";

const [exclamationMark, doubleQuote, singleQuote, slash] = [0x21, 0x22, 0x27, 0x2f];
const [space, lessThan, greaterThan, questionMark] = [0x20, 0x3c, 0x3e, 0x3f];

function localName(fullName: string): string {
  const colonAt = fullName.length === 1 ? -1 : fullName.indexOf(":");
  return colonAt < 0 ? fullName : fullName.slice(colonAt + 1);
}

function endBehind(text: string, { mark, from }: { mark: string; from: number }): number {
  const at = text.indexOf(mark, from);
  return at < 0 ? -1 : at + mark.length;
}

const reference = /&(?:#x([\da-fA-F]{1,6})|#(\d{1,7})|(\w{1,8}));|&/g;
const entities: ReadonlyMap<string, string> = new Map([
  ["amp", "&"],
  ["lt", "<"],
  ["gt", ">"],
  ["quot", '"'],
  ["apos", "'"],
]);

/** Resolves entities and line ends as XML requires. */
function resolve(raw: string, fault: () => InvalidWorkbook): string {
  const text = raw.includes("\r") ? raw.replace(/\r\n?/g, "\n") : raw;
  if (!text.includes("&")) return text;
  return text.replace(reference, (_, hex?: string, decimal?: string, name?: string) => {
    if (name !== undefined) {
      const character = entities.get(name);
      if (character === undefined) throw fault();
      return character;
    }
    const code = hex === undefined ? Number(decimal) : parseInt(hex, 16);
    const isCharacter = code <= 0x10_ffff && (code & 0xff_f800) !== 0xd800;
    if (!isCharacter) throw fault();
    return String.fromCodePoint(code);
  });
}
