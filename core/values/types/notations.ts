/** The forms of texts that the service can check without the database. Pure functions. */
import { isAddress4, isAddress6 } from "../addresses.ts";
import type { Column, Notation } from "./column.ts";
import type { JsonSchema } from "../json-schema.ts";

interface Known {
  /** Why the text does not have the form, as the end of a sentence; null when it has. */
  readonly fault: (column: Column, text: string) => string | null;
  readonly schema: JsonSchema;
}

export const notations: Readonly<Record<Notation, Known>> = {
  bits: { fault: bitsFault, schema: { pattern: "^[01]*$", examples: ["101"] } },
  wkt: {
    fault: (_column, text) =>
      isGeometry(text) ? null : "must be a geometry as WKT, such as POINT(1 2)",
    schema: { examples: ["POINT(1 2)"] },
  },
  ip4: {
    fault: (_column, text) => (isAddress4(text) ? null : "must be an IPv4 address"),
    schema: { format: "ipv4" },
  },
  ip6: {
    fault: (_column, text) => (isAddress6(text) ? null : "must be an IPv6 address"),
    schema: { format: "ipv6" },
  },
  year: {
    fault: (_column, text) =>
      yearText.test(text) ? null : "must be a year from 1901 to 2155, or 0000",
    schema: { examples: ["2026"] },
  },
  word32: wordOf(2n ** 32n - 1n),
  word64: wordOf(2n ** 64n - 1n),
  set: { fault: setFault, schema: {} },
  anything: { fault: () => null, schema: {} },
  numberLike: { fault: (_column, text) => numberFault(text), schema: {} },
};

function wordOf(max: bigint): Known {
  const isWord = (text: string): boolean => /^\d{1,20}$/.test(text) && BigInt(text) <= max;
  return {
    fault: (_column, text) =>
      isWord(text) ? null : `must be the digits of a whole number from 0 to ${max}`,
    schema: { pattern: "^[0-9]+$", examples: ["16384"] },
  };
}

const yearText = /^(?:0000|190[1-9]|19[1-9]\d|20\d\d|21[0-4]\d|215[0-5])$/;

/** A number too is refused, unless it is a label: the server takes the text `3` as its first two labels. */
function setFault({ members }: Column, text: string): string | null {
  if (members === undefined || text === "") return null;
  return text.split(",").every((one) => members.includes(one))
    ? null
    : `must be labels with commas between them, of: ${members.join(", ")}`;
}

function bitsFault({ lengthMax, fixedLength }: Column, text: string): string | null {
  if (!/^[01]*$/.test(text)) return "must be a text of the digits 0 and 1";
  if (lengthMax === null || text.length === lengthMax) return null;
  if (fixedLength) return `must have exactly ${lengthMax} digits`;
  return text.length < lengthMax ? null : `must have at most ${lengthMax} digits`;
}

/** Other digits than those of the stored number would be lost. */
function numberFault(text: string): string | null {
  if (!numberText.test(text.trim())) return null;
  const isInteger = /^(?:0|-?[1-9]\d{0,17})$/.test(text);
  const isPlain = !/e/i.test(text) && text.replace(/\D/g, "").length <= 15;
  return isInteger || (isPlain && String(Number(text)) === text)
    ? null
    : `would be stored as the number ${Number(text)}`;
}

const number = String.raw`[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?`;
const numberText = new RegExp(`^${number}$`);
const place = new RegExp(String.raw`^\s*${number}\s+${number}\s*$`);

/** The contents of the brackets of each kind. */
const kinds: ReadonlyMap<string, (inner: string) => boolean> = new Map([
  ["POINT", (inner) => place.test(inner)],
  ["LINESTRING", (inner) => isLine(inner, 2)],
  ["POLYGON", isPolygon],
  ["MULTIPOINT", (inner) => isLine(inner, 1) || isList(inner, (one) => place.test(one))],
  ["MULTILINESTRING", (inner) => isList(inner, (one) => isLine(one, 2))],
  ["MULTIPOLYGON", (inner) => isList(inner, isPolygon)],
]);

const collection = /^(?:GEOMETRYCOLLECTION|GEOMCOLLECTION)$/;

/** Of the kinds, only this one has a value without places. */
const emptyCollection = /^\s*GEOM(?:ETRY)?COLLECTION\s+EMPTY\s*$/i;

const depthMax = 8;

/**
 * Whether the text is a geometry of two dimensions with real numbers. A database may still refuse it, for its kind or
 * its meaning.
 */
export function isGeometry(text: string, depth = 1): boolean {
  if (emptyCollection.test(text)) return true;
  const match = /^\s*([A-Z]+)\s*\((.*)\)\s*$/is.exec(text);
  if (!match) return false;
  const [, word = "", inner = ""] = match;
  const kind = word.toUpperCase();
  if (collection.test(kind))
    return (
      depth < depthMax && partsOf(inner)?.every((part) => isGeometry(part, depth + 1)) === true
    );
  return kinds.get(kind)?.(inner) ?? false;
}

const isLine = (inner: string, min: number): boolean => {
  const places = inner.split(",");
  return places.length >= min && places.every((one) => place.test(one));
};

/** Every ring ends where it begins. */
function isPolygon(inner: string): boolean {
  return isList(inner, (ring) => {
    const places = ring.split(",").map((one) => one.trim().split(/\s+/).map(Number).join(" "));
    return isLine(ring, 4) && places[0] === places.at(-1);
  });
}

/** Whether each part of a list is in brackets with these contents. */
function isList(inner: string, holds: (part: string) => boolean): boolean {
  const parts = partsOf(inner);
  return (
    parts !== null &&
    parts.every((part) => {
      const match = /^\s*\((.*)\)\s*$/s.exec(part);
      return match !== null && holds(match[1]!);
    })
  );
}

/** The parts between the commas outside brackets; null where brackets do not match. */
function partsOf(text: string): string[] | null {
  const parts: string[] = [];
  let depth = 0;
  let begin = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === "(") depth++;
    else if (text[at] === ")" && --depth < 0) return null;
    else if (text[at] === "," && depth === 0) {
      parts.push(text.slice(begin, at));
      begin = at + 1;
    }
  }
  return depth === 0 ? [...parts, text.slice(begin)] : null;
}
