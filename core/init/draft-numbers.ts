/**
 * Document numbers of a table, as `numbers` of an endpoint's file. A name suggests a column; what is written follows
 * from the values of sample rows, which must have one pattern and count on.
 */
import type { Column, Table } from "../values/types/column.ts";
import { isUniqueIn, type LookAtRows } from "./label-column.ts";
import { auditNames, looksSecret, wordsOf } from "./name-words.ts";

/** The setting of a column in `numbers`. */
interface NumberSetting {
  readonly format: string;
  readonly date?: string;
  readonly start?: number;
}

export interface DraftNumbers {
  /** By column. */
  readonly settings: ReadonlyMap<string, NumberSetting>;
  /** By column: why a person must decide whether it is numbered. */
  readonly doubts: ReadonlyMap<string, string>;
}

/** Reads the values of sample rows; if that fails, as if there were none. */
export async function draftNumbers(table: Table, look: LookAtRows): Promise<DraftNumbers> {
  const settings = new Map<string, NumberSetting>();
  const doubts = new Map<string, string>();
  const dates = [...table.columns.values()].filter(isDate);
  for (const column of [...table.columns.values()].filter((one) => isCandidate(one, table))) {
    const rows = await look(table, [column, ...dates]).catch(() => []);
    const found = judge(rows, { dates, isUnique: isUniqueIn(table, column) });
    if (typeof found === "string") doubts.set(column.name, found);
    else if (found !== null) settings.set(column.name, found);
  }
  return { settings, doubts };
}

/** The table, in which its numbers are columns that something else than a request fills. */
export function withNumbers(table: Table, { settings }: DraftNumbers): Table {
  if (settings.size === 0) return table;
  const columns = [...table.columns].map(
    ([name, column]) =>
      [name, settings.has(name) ? { ...column, isFilledByTrigger: true } : column] as const,
  );
  return { ...table, columns: new Map(columns) };
}

/** Last words of the names of numbers. */
const numberWords: ReadonlySet<string> = new Set(["number", "no", "nr"]);

/** Words before them in names of numbers that somebody else gives, or that count nothing. */
const othersWords: ReadonlySet<string> = new Set(
  (
    "phone telephone mobile cell fax house street room seat flight license licence passport plate vat tax account " +
    "bank card iban social security insurance tracking external supplier vendor foreign model version"
  ).split(" "),
);

function isCandidate(
  column: Column,
  { kind, transactional, foreignKeys, refusals }: Table,
): boolean {
  const { name, type, notation, labels, generated, hasDefault, isFilledByTrigger } = column;
  const words = wordsOf(name);
  return (
    kind === "table" &&
    transactional &&
    refusals?.some(({ statement }) => statement === "insert") !== true &&
    numberWords.has(words.at(-1) ?? "") &&
    !words.some((word) => othersWords.has(word)) &&
    type === "text" &&
    notation === undefined &&
    labels === null &&
    generated === "none" &&
    !hasDefault &&
    isFilledByTrigger !== true &&
    !foreignKeys.some(({ columns }) => columns.includes(name)) &&
    !looksSecret(column)
  );
}

/** Whether a new record is sure to bring it. */
const isDate = ({ name, type, nullable, hasDefault, generated }: Column): boolean =>
  type === "date" && !nullable && !hasDefault && generated === "none" && !auditNames.has(name);

/** Fewer values show no pattern. */
const valuesMin = 3;
/** Values that count on use at least this part of the numbers between the first and the last. */
const usedMin = 0.25;

interface Judged {
  readonly dates: readonly Column[];
  readonly isUnique: boolean;
}

/** A setting, or the doubt; null: nothing tells that the column is a number. */
function judge(
  rows: readonly (readonly unknown[])[],
  { dates, isUnique }: Judged,
): NumberSetting | string | null {
  const filled = rows.filter(([value]) => value !== null && value !== "");
  const texts = filled.map(([value]) => String(value));
  if (texts.length < valuesMin)
    return isUnique ? "it has too few values to tell their pattern" : null;
  const days = dates.map(({ name }, at) => ({
    name,
    values: filled.map((row) => String(row[at + 1])),
  }));
  const pattern = patternOf(texts, days);
  if (pattern === null) return null;
  const { format, date, counts } = pattern;
  const like = `its values look like ${format}`;
  if (!isUnique) return `${like}, but no unique index covers it alone`;
  if (!countOn(counts)) return format === "{seq}" ? null : `${like}, but leave out most numbers`;
  if (filled.length < rows.length)
    return `${like}, but some records have none: if they get it at a status, name that as onStatus`;
  const start = startOf(pattern);
  return { format, ...(date !== null && { date }), ...(start > 1 && { start }) };
}

interface Pattern {
  readonly format: string;
  /** The column whose days the format shows; null = there is none, or no date in the format. */
  readonly date: string | null;
  /** The numbers of each counter. */
  readonly counts: readonly (readonly number[])[];
}

interface Days {
  readonly name: string;
  /** `2026-11-30`, one for each text. */
  readonly values: readonly string[];
}

/** Null if the texts have no common one. */
function patternOf(texts: readonly string[], days: readonly Days[]): Pattern | null {
  const pieces = texts.map((text) => text.match(/\d+|\D+/g)!);
  const count = pieces[0]!.length;
  const lastAt = pieces[0]!.findLastIndex(isDigits);
  if (lastAt < 0 || pieces.some((one) => one.length !== count)) return null;
  let before = "";
  for (let at = 0; at < lastAt; at++) {
    const own = pieces.map((one) => one[at]!);
    const part = partOf(own, { before, days });
    if (part === null) return null;
    before += part;
  }
  const ends = new Set(pieces.map((one) => one.slice(lastAt + 1).join("")));
  const [end = ""] = ends;
  if (ends.size > 1 || /[\d{}]/.test(end)) return null;
  const { dateForm, seqs } = lastPartOf(pieces.map((one) => one[lastAt]!));
  const digits = digitsOf(seqs);
  if (digits === null) return null;
  before += dateForm;
  const starts = texts.map((text, at) =>
    text.slice(0, text.length - end.length - seqs[at]!.length),
  );
  const showsDay = (day: string, at: number) => withDay(before, day) === starts[at];
  const date = before.includes("{") && days.find(({ values }) => values.every(showsDay));
  // Two digits that are always the same could be a year.
  if (!date && /(?<!\d|\})\d\d(?!\d)/.test(before)) return null;
  const byStart = Map.groupBy(seqs.keys(), (at) => starts[at]!);
  return {
    format: `${before}{seq${digits}}${end}`,
    date: date ? date.name : null,
    counts: [...byStart.values()].map((own) => own.map((at) => Number(seqs[at]))),
  };
}

const isDigits = (text: string): boolean => /^\d/.test(text);

const year = String.raw`(?:19|20)\d\d`;
const month = "(?:0[1-9]|1[0-2])";
const day = String.raw`(?:0[1-9]|[12]\d|3[01])`;

/** Digits of dates, the most likely first. */
const dateForms: readonly (readonly [pattern: RegExp, form: string])[] = [
  [new RegExp(`^${year}${month}${day}$`), "{yyyy}{MM}{dd}"],
  [new RegExp(`^${year}${month}$`), "{yyyy}{MM}"],
  [new RegExp(`^${year}$`), "{yyyy}"],
  [new RegExp(String.raw`^\d\d${month}${day}$`), "{yy}{MM}{dd}"],
  [new RegExp(String.raw`^\d\d${month}$`), "{yy}{MM}"],
];

/** After what two digits are a month, or a day. */
const nextForms: readonly (readonly [before: RegExp, pattern: RegExp, form: string])[] = [
  [/\{yyyy\}\D$/, new RegExp(`^${month}$`), "{MM}"],
  [/\{MM\}\D$/, new RegExp(`^${day}$`), "{dd}"],
];

/** What one piece of all texts is in a format; null if they differ. */
function partOf(
  pieces: readonly string[],
  { before, days }: { before: string; days: readonly Days[] },
): string | null {
  // Two digits are a year only if a column says so.
  const isYear = ({ values }: Days) =>
    pieces.every((piece, at) => piece === values[at]!.slice(2, 4));
  if (days.some(isYear)) return "{yy}";
  const fits = (pattern: RegExp) => pieces.every((piece) => pattern.test(piece));
  const next = nextForms.find(([after, pattern]) => after.test(before) && fits(pattern));
  const form = next?.[2] ?? dateForms.find(([pattern]) => fits(pattern))?.[1];
  if (form !== undefined) return form;
  const isSame = pieces.every((piece) => piece === pieces[0]) && !/[{}]/.test(pieces[0]!);
  return isSame ? pieces[0]! : null;
}

/** Splits `2026110042` into a date and a number, if the number has zeros in front. */
function lastPartOf(pieces: readonly string[]): { dateForm: string; seqs: readonly string[] } {
  for (const [pattern, dateForm] of dateForms) {
    const length = withDay(dateForm, "2000-01-01").length;
    const seqs = pieces.map((piece) => piece.slice(length));
    const isDated = pieces.every((piece) => pattern.test(piece.slice(0, length)));
    if (isDated && seqs.every((seq) => seq !== "") && digitsOf(seqs) !== "" && digitsOf(seqs))
      return { dateForm, seqs };
  }
  return { dateForm: "", seqs: pieces };
}

/** What follows `seq` in a format; null if no format gives all of them. */
function digitsOf(seqs: readonly string[]): string | null {
  const lengths = new Set(seqs.map(({ length }) => length));
  if (Math.max(...lengths) > 15) return null;
  if (!seqs.some((seq) => seq.length > 1 && seq.startsWith("0"))) return "";
  return lengths.size === 1 ? `:${[...lengths][0]}` : null;
}

const withDay = (form: string, date: string): string =>
  form
    .replace("{yyyy}", date.slice(0, 4))
    .replace("{yy}", date.slice(2, 4))
    .replace("{MM}", date.slice(5, 7))
    .replace("{dd}", date.slice(8, 10));

function countOn(counts: Pattern["counts"]): boolean {
  const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);
  const spans = counts.map((own) => Math.max(...own) - Math.min(...own) + 1);
  return sum(counts.map(({ length }) => length)) >= sum(spans) * usedMin;
}

/** The one counter of a format without dates goes on; those of dates begin where all before them began. */
function startOf({ format, counts }: Pattern): number {
  if (!/\{(?!seq)/.test(format)) return Math.max(...counts.flat()) + 1;
  const firsts = new Set(counts.map((own) => Math.min(...own)));
  return counts.length > 1 && firsts.size === 1 ? [...firsts][0]! : 1;
}
