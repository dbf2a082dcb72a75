/**
 * An operator's SQL before it is wrapped as a subquery: exactly one statement, without the semicolon or comment at its
 * end that would cut off the rest of the wrapping. Only literals, quoted names and comments are parsed; the database
 * checks the SQL itself.
 */

export type QueryText =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly found: string; readonly expected: string };

/**
 * Engines differ on whether a backslash escapes a quote, so both readings are tried: the text is refused only when both
 * find a fault, and otherwise the database decides.
 */
export function singleStatement(sql: string): QueryText {
  const plain = read(sql, false);
  return plain.ok || !sql.includes("\\") ? plain : read(sql, true);
}

/**
 * The texts around the header's key in a detailQuery, which is written as `:header_id`, else as `$1`, else as `?`,
 * outside of literals, quoted names, comments and casts. A single text: there is no such place.
 */
export function aroundHeaderKey(stretches: readonly Stretch[]): string[] {
  const isUsed = (name: RegExp) => stretches.some(({ isCode, text }) => isCode && name.test(text));
  const name = headerKeyNames.find(isUsed);
  const texts = [""];
  for (const { isCode, text } of stretches) {
    const [first = "", ...others] = isCode && name ? text.split(name) : [text];
    texts.push(texts.pop()! + first, ...others);
  }
  return texts;
}

/** `:name` outside of casts, array slices and the like. */
export const namedPlaces = /(?<![:\w\]]):([A-Za-z_]\w*)/g;

/** The texts around the places of named parameters, and the name of each place. */
export function aroundNames(stretches: readonly Stretch[]): { texts: string[]; names: string[] } {
  const texts = [""];
  const names: string[] = [];
  for (const { isCode, text } of stretches) {
    let at = 0;
    for (const match of isCode ? text.matchAll(namedPlaces) : []) {
      texts.push(texts.pop()! + text.slice(at, match.index), "");
      names.push(match[1]!);
      at = match.index + match[0].length;
    }
    texts.push(texts.pop()! + text.slice(at));
  }
  return { texts, names };
}

/** A question mark may be an operator if another style is used. */
const headerKeyNames = [/(?<![:\w]):header_id\b/, /(?<!\w)\$1(?!\d)/, /\?/];

/** A stretch of SQL: code, or a literal, quoted name or comment. */
export interface Stretch {
  readonly isCode: boolean;
  readonly text: string;
}

/**
 * The text in stretches that alternate. Null when a literal ends at different places, depending on how the engine reads
 * a backslash.
 */
export function stretchesOf(sql: string): readonly Stretch[] | null {
  const plain = merged(tokens(sql, false));
  if (!sql.includes("\\")) return plain;
  const escaped = merged(tokens(sql, true));
  return JSON.stringify(plain) === JSON.stringify(escaped) ? plain : null;
}

function merged(found: Iterable<Token>): Stretch[] {
  const stretches: { isCode: boolean; text: string }[] = [];
  for (const { kind, text } of found) {
    const isCode = kind === "code";
    const last = stretches.at(-1);
    if (last?.isCode === isCode) last.text += text;
    else stretches.push({ isCode, text });
  }
  return stretches;
}

function read(sql: string, backslash: boolean): QueryText {
  let end = 0;
  let ended = false;
  for (const { kind, text, start } of tokens(sql, backslash)) {
    if (kind === "open")
      return {
        ok: false,
        found: `${JSON.stringify(text.slice(0, 20))} that never ends`,
        expected: "a closing quote or comment mark",
      };
    if (kind === "comment" || text.trim() === "") continue;
    if (text === ";") {
      ended = true;
      continue;
    }
    if (ended)
      return {
        ok: false,
        found: "a second statement after the semicolon",
        expected: "one statement",
      };
    end = start + text.trimEnd().length;
  }
  const text = sql.slice(0, end).trim();
  return text === ""
    ? { ok: false, found: "no statement", expected: "a SELECT statement" }
    : { ok: true, text };
}

interface Token {
  /** `open`: a literal or comment without its end. */
  readonly kind: "code" | "quoted" | "comment" | "open";
  readonly text: string;
  readonly start: number;
}

const patterns = {
  plain: tokenPattern("'(?:[^']|'')*'"),
  backslash: tokenPattern("'(?:[^'\\\\]|''|\\\\[^])*'"),
};

function tokenPattern(literal: string): RegExp {
  const comment = "--[^\\n]*|/\\*[^]*?\\*/";
  const quoted =
    `${literal}|"(?:[^"]|"")*"|\`(?:[^\`]|\`\`)*\`|\\$(\\w*)\\$[^]*?\\$\\k<tag>\\$`.replace(
      "(\\w*)",
      "(?<tag>(?:[A-Za-z_]\\w*)?)",
    );
  return new RegExp(
    `(?<comment>${comment})|(?<quoted>${quoted})|(?<open>/\\*|['"\`])|(?<end>;)|[^;'"\`/$-]+|[^]`,
    "g",
  );
}

function* tokens(sql: string, backslash: boolean): Generator<Token> {
  for (const match of sql.matchAll(backslash ? patterns.backslash : patterns.plain)) {
    const { comment, quoted, open } = match.groups!;
    const kind =
      comment !== undefined
        ? "comment"
        : quoted !== undefined
          ? "quoted"
          : open !== undefined
            ? "open"
            : "code";
    yield { kind, text: kind === "open" ? sql.slice(match.index) : match[0], start: match.index };
  }
}
