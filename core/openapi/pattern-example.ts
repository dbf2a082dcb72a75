/**
 * A text that matches a regular expression, for examples. Made from the expression piece by piece with the fewest
 * repetitions, and then matched by an engine that cannot backtrack, so that no example is wrong.
 */
import { readLinearPattern } from "../rules/linear-pattern.ts";

/** Null for expressions with syntax that is not followed here (lookaheads, references, properties of Unicode). */
export function textMatching(pattern: string): string | null {
  const known = texts.get(pattern);
  if (known !== undefined) return known;
  if (texts.size >= textsMax) texts.clear();
  const text = makeText(pattern);
  texts.set(pattern, text);
  return text;
}

/** A database has few different patterns, and compiling one takes most of the time. */
const texts = new Map<string, string | null>();
const textsMax = 1_000;

function makeText(pattern: string): string | null {
  const expression = readLinearPattern(pattern);
  if (typeof expression === "string") return null;
  const text = createReader(pattern).alternatives();
  return text !== null && expression.test(text) ? text : null;
}

/**
 * A recursive descent through the expression, in one piece because its functions share the position. Each part returns
 * its text, or null if it is not supported.
 */
function createReader(pattern: string) {
  let at = 0;
  const next = (): string => pattern[at] ?? "";

  /** The text of the first possible alternative: `a|b`. */
  function alternatives(): string | null {
    const texts = [sequence()];
    while (next() === "|") {
      at++;
      texts.push(sequence());
    }
    return texts.find((text) => text !== null && text !== "") ?? texts[0]!;
  }

  function sequence(): string | null {
    let text: string | null = "";
    while (at < pattern.length && next() !== "|" && next() !== ")") {
      const one = atom();
      const times = repetitions();
      text = text === null || one === null ? null : text + one.repeat(times);
    }
    return text;
  }

  function atom(): string | null {
    const sign = next();
    at++;
    switch (sign) {
      case "^":
      case "$":
        return "";
      case ".":
        return "x";
      case "(":
        return group();
      case "[":
        return oneOfClass();
      case "\\":
        return escaped();
      default:
        return sign;
    }
  }

  function group(): string | null {
    const isPlain = next() !== "?";
    if (!isPlain) {
      const isGroup = pattern[at + 1] === ":";
      at = isGroup ? at + 2 : pattern.length;
      if (!isGroup) return null;
    }
    const text = alternatives();
    at++;
    return text;
  }

  function escaped(): string | null {
    const letter = next();
    at++;
    return escapes[letter] ?? (/[A-Za-z0-9]/.test(letter) ? null : letter);
  }

  /** `[A-Z0-9]`: the first character that it takes. */
  function oneOfClass(): string | null {
    const start = at - 1;
    if (next() === "^") at++;
    if (next() === "]") at++;
    while (at < pattern.length && next() !== "]") at += next() === "\\" ? 2 : 1;
    at++;
    const source = pattern.slice(start, at);
    const expression = readLinearPattern(`^${source}$`);
    if (typeof expression === "string") return null;
    return candidates.find((character) => expression.test(character)) ?? null;
  }

  /** The required minimum of repetitions, and 1 if there is none. */
  function repetitions(): number {
    const [whole, least] = /^(?:[*+?]|\{(\d+)(?:,\d*)?\})\??/.exec(pattern.slice(at)) ?? [""];
    at += whole.length;
    return least === undefined ? 1 : Number(least);
  }

  return { alternatives };
}

const escapes: Readonly<Record<string, string>> = {
  d: "1",
  w: "a",
  s: " ",
  S: "a",
  D: "a",
  W: "-",
  b: "",
  t: "\t",
  n: "\n",
};

const candidates = [..."A1a0-_ .,:/@+#'\"!?*()bBcCxXyYzZ23456789äé"];
