/**
 * The console's own texts, from the file of one language in `words/`: the one that people chose, else the first of the
 * browser's languages that there is, else English. Modules can use them as soon as they are loaded.
 */

/** @typedef {keyof typeof import("./words/en.json")} TextName */

const place = "rowgate.language";

/** The languages that have a file, as the page lists them. */
export const languages = (document.documentElement.dataset["languages"] ?? "en").split(" ");

const baseOf = (/** @type {string} */ tag) => tag.toLowerCase().split("-")[0];

/** `pt-BR` takes the file `pt-BR`, or else `pt`. @param {string} tag */
const languageFor = (tag) =>
  languages.find((one) => one.toLowerCase() === tag.toLowerCase()) ??
  languages.find((one) => one === baseOf(tag));

const chosen = languages.find((one) => one === localStorage.getItem(place));
const known = chosen ?? navigator.languages.map(languageFor).find((one) => one !== undefined);

/** Of the texts. */
export const language = known ?? "en";

/** Of numbers and dates: the browser's variant of the language, such as `de-AT`. Undefined: that of the browser. */
export const locale =
  known && (navigator.languages.find((one) => baseOf(one) === baseOf(known)) ?? known);

/** What requests send, so that labels and messages have the same language; undefined: what the browser sends. */
export const acceptLanguage = locale && (locale === known ? known : `${locale}, ${known};q=0.9`);

document.documentElement.lang = language;
const response = await fetch(new URL(`./words/${language}.json`, import.meta.url));
/** @type {Record<string, string | Record<string, string>>} */
const texts = await response.json();
const plurals = new Intl.PluralRules(language);
const numbers = new Intl.NumberFormat(locale);

/** `{name}` or `{name:lower}` */
const placeholder = /\{(\w+)(?::(\w+))?\}/g;

/** @param {TextName} name @param {Record<string, unknown>} values */
function templateOf(name, values) {
  const text = texts[name] ?? name;
  if (typeof text === "string") return text;
  return text[plurals.select(Number(values["count"]))] ?? text["other"] ?? name;
}

/** `lower`: within a sentence, where the language writes nouns so. @param {unknown} value @param {string | undefined} form */
function shown(value, form) {
  if (typeof value === "number") return numbers.format(value);
  return form === "lower" ? String(value).toLowerCase() : value;
}

/**
 * A text with its placeholders filled in. `count` chooses the form of a text that has several.
 * @param {TextName} name @param {Record<string, string | number>} [values]
 */
export const t = (name, values = {}) =>
  templateOf(name, values).replaceAll(placeholder, (_, key, form) =>
    String(shown(values[key], form)),
  );

/**
 * The same for the children of an element: values can be elements.
 * @param {TextName} name @param {Record<string, any>} values @returns {any[]}
 */
export const phrase = (name, values) =>
  templateOf(name, values)
    .split(/\{(\w+)\}/)
    .map((part, at) => (at % 2 === 0 ? part : shown(values[part], undefined)));

/** The title of the page: from the view to the whole. @param {...string} names */
export const titled = (...names) => [...names, "Rowgate"].join(" – ");

/** Shows the console in another language, from now on. @param {string} other */
export function chooseLanguage(other) {
  localStorage.setItem(place, other);
  location.reload();
}

/** A language in its own words: `Deutsch`. @param {string} one */
export const nameOf = (one) => new Intl.DisplayNames([one], { type: "language" }).of(one) ?? one;
