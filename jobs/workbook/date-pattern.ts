/**
 * Patterns of dates such as `DD/MM/YYYY HH:mm`, as a number format of Excel and as text. Case is ignored, so that
 * `dd/mm/yyyy` works too: an `m` next to hours or seconds means minutes, any other means months.
 * `YYYY YY MMMM MMM MM M DDDD DDD DD D HH H mm m ss s SSS A`; text is in `[…]` or `"…"`.
 */

/** A pattern that was read. */
export interface DatePattern {
  /** As Excel writes it: `dd/mm/yyyy hh:mm`. */
  readonly excelCode: string;
  readonly hasTime: boolean;
  /** The date in this pattern, in UTC, with English names. */
  format(ms: number): string;
}

/** Null when the pattern shows no part of a date. */
export function parseDatePattern(pattern: string): DatePattern | null {
  const parts = partsOf(pattern.slice(0, lengthMax));
  if (!parts.some((part) => part.kind !== "text")) return null;
  const hasHalves = parts.some(({ kind }) => kind === "half");
  return {
    excelCode: parts.map(excelPart).join(""),
    hasTime: parts.some(({ kind }) => "hnsfx".includes(letters[kind])),
    format(ms) {
      const date = new Date(ms);
      return parts.map((part) => formatPart(part, { date, hasHalves })).join("");
    },
  };
}

type Kind = "year" | "month" | "day" | "hour" | "minute" | "second" | "fraction" | "half" | "text";

interface Part {
  readonly kind: Kind;
  /** How often the letter is repeated; for text, the text itself. */
  readonly width: number;
  readonly text: string;
}

const lengthMax = 100;
const partText = /y+|m+|d+|h+|s+|000|am\/pm|a|\[[^\]]*\]|"[^"]*"|\\.|[^]/giu;
const kinds: Readonly<Record<string, Kind>> = {
  y: "year",
  m: "month",
  d: "day",
  h: "hour",
  s: "second",
  a: "half",
};
/** One letter per kind, to tell times from dates. */
const letters: Readonly<Record<Kind, string>> = {
  year: "y",
  month: "m",
  day: "d",
  hour: "h",
  minute: "n",
  second: "s",
  fraction: "f",
  half: "x",
  text: "-",
};

function partsOf(pattern: string): Part[] {
  const parts = (pattern.match(partText) ?? []).map(readPart);
  const shown = parts.filter(({ kind }) => kind !== "text");
  const minutes = new Set(
    shown.filter(
      (part, at) =>
        part.kind === "month" &&
        part.width <= 2 &&
        (shown[at - 1]?.kind === "hour" || shown[at + 1]?.kind === "second"),
    ),
  );
  return parts.map((part) => (minutes.has(part) ? { ...part, kind: "minute" } : part));
}

function readPart(text: string): Part {
  if (text === "000" || text.toLowerCase() === "sss") return { kind: "fraction", width: 3, text };
  const kind = kinds[text[0]!.toLowerCase()];
  if (kind) return { kind, width: text.length, text };
  const isQuoted = text.length > 1 && (text[0] === "[" || text[0] === '"');
  const plain = isQuoted ? text.slice(1, -1) : text.startsWith("\\") ? text.slice(1) : text;
  return { kind: "text", width: plain.length, text: plain };
}

function excelPart(part: Part, at: number, parts: readonly Part[]): string {
  const double = part.width >= 2 ? 2 : 1;
  switch (part.kind) {
    case "year":
      return part.width > 2 ? "yyyy" : "yy";
    case "month":
    case "day":
      return part.kind[0]!.repeat(Math.min(part.width, 4));
    case "hour":
    case "minute":
    case "second":
      return part.kind[0]!.repeat(double);
    case "fraction":
      // Excel supports fractions only after a point.
      return parts[at - 1]?.text === "." ? "000" : "";
    case "half":
      return "AM/PM";
    case "text":
      return part.text.replace(/[^-/:., ]/gu, (character) => `\\${character}`);
  }
}

const monthNames =
  "January February March April May June July August September October November December".split(
    " ",
  );
const dayNames = "Sunday Monday Tuesday Wednesday Thursday Friday Saturday".split(" ");

function formatPart(part: Part, { date, hasHalves }: { date: Date; hasHalves: boolean }): string {
  const digits = (value: number): string => String(value).padStart(part.width >= 2 ? 2 : 1, "0");
  const named = (name: string): string => (part.width === 3 ? name.slice(0, 3) : name);
  switch (part.kind) {
    case "year": {
      const year = String(date.getUTCFullYear()).padStart(4, "0");
      return part.width > 2 ? year : year.slice(-2);
    }
    case "month":
      return part.width > 2
        ? named(monthNames[date.getUTCMonth()]!)
        : digits(date.getUTCMonth() + 1);
    case "day":
      return part.width > 2 ? named(dayNames[date.getUTCDay()]!) : digits(date.getUTCDate());
    case "hour":
      return digits(hasHalves ? date.getUTCHours() % 12 || 12 : date.getUTCHours());
    case "minute":
      return digits(date.getUTCMinutes());
    case "second":
      return digits(date.getUTCSeconds());
    case "fraction":
      return String(date.getUTCMilliseconds()).padStart(3, "0");
    case "half":
      return date.getUTCHours() < 12 ? "AM" : "PM";
    case "text":
      return part.text;
  }
}
