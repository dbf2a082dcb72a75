/** `messages/<language>.json` of a project: the texts of rules and the names that people see, in other languages. */
import type { MessageName } from "../rules/rule-definition.ts";

/** The texts of one language. */
export interface LanguageTexts {
  /** With `{<rule>}` in the place of the rule's value. */
  readonly rules: ReadonlyMap<MessageName, string>;
  /** The heading of the reasons in a file of rejected rows; undefined: as in English. */
  readonly importErrors: string | undefined;
  /** Labels of fields in all endpoints, or by endpoint those in that one. */
  readonly fields: ReadonlyMap<string, string | Readonly<Record<string, string>>>;
  /** Names of endpoints for people. */
  readonly endpoints: ReadonlyMap<string, string>;
  /** By the groups of the endpoints' files. */
  readonly groups: ReadonlyMap<string, string>;
  /** By the steps of the endpoints' files. */
  readonly steps: ReadonlyMap<string, string>;
  /** By the texts of dashboard.json: its title, titles of tiles, headings of columns. */
  readonly dashboard: ReadonlyMap<string, string>;
  /** By the names of views in the endpoints' files. */
  readonly views: ReadonlyMap<string, string>;
  /** By field, and by endpoint and field; the second ones come first. */
  labelOf(endpoint: string, field: string): string | undefined;
}

/** By tag, as `de` or `pt-BR`. */
export type Messages = ReadonlyMap<string, LanguageTexts>;

/** The language of the service's own texts. */
export const ownLanguage = "en";

/**
 * The first language of the header Accept-Language that there are texts of: `de-AT` takes those of `de`, too. The
 * service's own if none is.
 */
export function languageFor(header: string | null, messages: Messages): string {
  if (header === null) return ownLanguage;
  const known = new Map([ownLanguage, ...messages.keys()].map((tag) => [tag.toLowerCase(), tag]));
  for (const asked of preferences(header)) {
    const parts = asked.split("-");
    for (; parts.length > 0; parts.pop()) {
      const found = known.get(parts.join("-"));
      if (found !== undefined) return found;
    }
  }
  return ownLanguage;
}

/** More than people ask for. */
const preferencesMax = 20;

/** In lower case, the most wanted one first; those that are refused (`q=0`) are left out. */
function preferences(header: string): string[] {
  return header
    .split(",", preferencesMax)
    .map((one) => {
      const [tag = "", ...parameters] = one.split(";").map((part) => part.trim().toLowerCase());
      const weight = parameters.find((part) => part.startsWith("q="))?.slice(2) ?? "1";
      return { tag, weight: /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(weight) ? Number(weight) : 0 };
    })
    .filter(({ tag, weight }) => weight > 0 && /^[a-z0-9-]{1,35}$/.test(tag))
    .toSorted((left, right) => right.weight - left.weight)
    .map(({ tag }) => tag);
}
