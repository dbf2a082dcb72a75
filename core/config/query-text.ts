/**
 * An operator's SQL before it is wrapped as a subquery: exactly one statement, without the semicolon or comment at its end
 * that would cut the wrapping short. Only literals, quoted names and comments are understood; whether it is good SQL the
 * database says afterwards.
 */

export type QueryText =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly found: string; readonly expected: string };

/**
 * Engines differ on whether a backslash escapes a quote, so both readings are tried: the text is at fault only when
 * both find fault, and the database has the last word.
 */
export function singleStatement(sql: string): QueryText {
  const plain = read(sql, false);
  return plain.ok || !sql.includes("\\") ? plain : read(sql, true);
}

/** Whether the text, outside of literals and comments, has the parameter of a detailQuery. */
export function hasHeaderParameter(sql: string): boolean {
  return [...tokens(sql, false)].some(
    ({ kind, text }) => kind === "code" && /(?<!:):header_id\b|\$1\b|\?/.test(text),
  );
}

function read(sql: string, backslash: boolean): QueryText {
  let end = 0;
  let ended = false;
  for (const { kind, text, start } of tokens(sql, backslash)) {
    if (kind === "open")
      return {
        ok: false,
        found: `${JSON.stringify(text.slice(0, 20))} that never ends`,
        expected: "its closing mark",
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
    ? { ok: false, found: "no statement", expected: "a SELECT" }
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
