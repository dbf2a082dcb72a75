/**
 * Reads the XML that buckets answer: flat lists of elements with texts. Four names are needed, so a parser is not
 * worth a dependency. Attributes, comments and CDATA do not occur in these answers.
 */

/** The text of the first element of that name, or null. */
export function textIn(xml: string, name: string): string | null {
  const text = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1];
  return text === undefined ? null : unescaped(text);
}

/** The content of each element of that name; these elements do not nest. */
export const elementsIn = (xml: string, name: string): string[] =>
  Array.from(xml.matchAll(new RegExp(`<${name}>(.*?)</${name}>`, "gs")), ([, inner = ""]) => inner);

const signs: Readonly<Record<string, string>> = {
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  amp: "&",
};

const unescaped = (text: string): string =>
  text.replace(/&(?:#(\d+)|#x([\da-f]+)|(\w+));/gi, (whole, decimal, hex, name) =>
    decimal || hex
      ? String.fromCodePoint(decimal ? Number(decimal) : Number.parseInt(hex, 16))
      : (signs[name] ?? whole),
  );

/** The text escaped for use in an element. */
export const escaped = (text: string): string =>
  text.replace(/[<>&"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
