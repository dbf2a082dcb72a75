/**
 * The column that identifies a row for a person: the label of drop-downs, and the names in imports. Column names
 * suggest candidates, and sample rows rule some out: a city or a status has few different values.
 */
import type { Column, Table } from "../values/types/column.ts";
import { columnTypes } from "../values/types/column-types.ts";
import { auditNames, looksSecret, singular, wordsOf } from "./name-words.ts";

/** What drop-downs show of a table. */
export interface Label {
  /** One column, or a first and a last name. */
  readonly columns: readonly Column[];
  /** The column is the key, as nothing else names a row. */
  readonly isKey: boolean;
  /** As far as is known, no two rows have the same. */
  readonly isUnique: boolean;
  /** Why a person should look at it; null = there is a good reason for it. */
  readonly doubt: string | null;
}

/**
 * Values of some rows, in the order of `columns`; empty if none were read. `isBrief`: of fewer rows, as the columns may
 * hold texts of any length.
 */
export type LookAtRows = (
  table: Table,
  columns: readonly Column[],
  how?: { readonly isBrief: boolean },
) => Promise<readonly (readonly unknown[])[]>;

export interface LabelSearch {
  readonly isView: boolean;
  /** The last words of the names of all tables, as singulars. */
  readonly things: ReadonlySet<string>;
  readonly look: LookAtRows;
}

/** Null if neither a column nor the key can be shown. */
export async function findLabel(
  table: Table,
  { isView, things, look }: LabelSearch,
): Promise<Label | null> {
  const candidates = candidatesOf(table, things);
  const [best] = candidates;
  const isSure = isView || best === undefined || (best.isUnique && best.rank < codeRank);
  const columns = [...new Set(candidates.flatMap((one) => one.columns))];
  const rows = isSure ? [] : await look(table, columns).catch(() => []);
  let rejected = "";
  for (const { rank, isUnique, ...one } of candidates) {
    const values = rows.map((row) =>
      one.columns
        .map((column) => row[columns.indexOf(column)] ?? "")
        .join(" ")
        .trim(),
    );
    const seen = judge(values);
    if (seen in faults) {
      const name = one.columns.map((column) => column.name).join(" and ");
      rejected ||= `${name} ${faults[seen]}`;
      continue;
    }
    const hasReason = rank < codeRank || isUnique || seen === "unique";
    return {
      ...one,
      isKey: false,
      isUnique: isUnique || seen === "unique" || (seen === "unknown" && hasReason),
      doubt: hasReason ? null : "perhaps not different for each record",
    };
  }
  const [name] = table.primaryKey;
  const key = name === undefined || isView ? undefined : table.columns.get(name);
  if (key === undefined || !columnTypes[key.type].hasText) return null;
  const doubt = `the key, because ${rejected || "no other column looks like a name"}`;
  return { columns: [key], isKey: true, isUnique: true, doubt };
}

/** Fewer rows prove nothing, unless two have the same value. */
const rowsMin = 10;
/** Longer texts, on average, are no names. */
const lengthMax = 80;

/** What is wrong with the values of a column: follows its name. */
const faults: Readonly<Record<string, string>> = {
  repeated: "has the same values again and again",
  empty: "is mostly empty",
  long: "has long texts",
};

function judge(values: readonly string[]): string {
  const filled = values.filter((value) => value !== "");
  const different = new Set(filled).size;
  if (values.length < rowsMin) return different < filled.length ? "fine" : "unknown";
  if (filled.length * 2 < values.length) return "empty";
  if (filled.join("").length > filled.length * lengthMax) return "long";
  if (different === values.length) return "unique";
  return different * 2 < filled.length ? "repeated" : "fine";
}

interface Candidate {
  readonly columns: readonly Column[];
  /** The less, the better. */
  readonly rank: number;
  readonly isUnique: boolean;
}

/** Further columns are ignored. */
const candidatesMax = 8;

/** The best first; of equal columns the first one counts. */
function candidatesOf(table: Table, things: ReadonlySet<string>): Candidate[] {
  const own = [...table.columns.values()].flatMap((column): Candidate[] => {
    const isUnique = isUniqueIn(table, column);
    const rank = isCandidate(column, table) ? rankOf(column, { table, things, isUnique }) : null;
    return rank === null ? [] : [{ columns: [column], rank, isUnique }];
  });
  const person = personName(table);
  const all = person ? [{ columns: person, rank: personRank, isUnique: false }, ...own] : own;
  return all.toSorted((a, b) => a.rank - b.rank).slice(0, candidatesMax);
}

/** Whether the column itself has a unique key. */
export const isUniqueIn = ({ unique }: Table, { name }: Column): boolean =>
  unique.some(({ columns }) => columns.length === 1 && columns[0] === name);

/** First and last name of a person; null = no such columns, or they cannot be part of a joined label. */
function personName({ columns }: Table): readonly [Column, Column] | null {
  const find = (...names: string[]): Column | undefined =>
    [...columns.values()].find(
      (column) =>
        columnTypes[column.type].isText &&
        /^\w+$/.test(column.name) &&
        names.includes(wordsOf(column.name).slice(-2).join(" ")),
    );
  const first = find("first name", "given name", "firstname", "forename");
  const last = find("last name", "family name", "lastname", "surname");
  return first && last ? [first, last] : null;
}

const isCandidate = (column: Column, table: Table): boolean =>
  (columnTypes[column.type].isText || isUniqueIn(table, column)) &&
  columnTypes[column.type].hasText &&
  columnTypes[column.type].findsRows &&
  column.type !== "uuid" &&
  column.labels === null &&
  !looksSecret(column) &&
  !auditNames.has(column.name) &&
  !table.primaryKey.includes(column.name) &&
  !table.foreignKeys.some(({ columns }) => columns.includes(column.name));

/** Last words of names, the best first. */
const nameWords = ["name", "title", "label", "subject", "caption", "headline"];
const codeWords = ["code", "number", "no", "nr", "sku", "isbn", "reference", "ref"];
const loginWords = ["email", "username", "login", "slug"];
const describingWords = ["description", "desc"];

/** After `name` and `company_name`, before `title`. */
const personRank = 1.5;
/** The word of the table itself, as in a table `genre` with a column `genre`. */
const ownWordRank = 20;
const uniqueRank = 22;
/** From here on, a name is not reason enough. */
const codeRank = 30;
const loginRank = 60;
const describingRank = 80;

/** Words of columns that many rows share, or that are too long for a list. */
const sharedWords: ReadonlySet<string> = new Set(
  (
    "status state type kind category class group city town country nation region district province county street " +
    "address zip postal postcode phone telephone mobile fax tenant org organization organisation currency language " +
    "locale timezone zone gender sex color colour price amount total cost rate quantity qty method mode role level " +
    "priority rating unit note comment remark text body content message url link path photo image picture ip version " +
    "mime format extension size uuid guid hash checksum etag"
  ).split(" "),
);

/** Words before a name that belongs to something else: `ship_name` of an order. */
const othersWords: ReadonlySet<string> = new Set(
  "ship shipping bill billing delivery payment recipient sender file host parent manager author".split(
    " ",
  ),
);

/** Parts of a person's name. */
const partWords: ReadonlySet<string> = new Set(
  "first last middle given family maiden nick user login".split(" "),
);

interface Rated {
  readonly table: Table;
  readonly things: ReadonlySet<string>;
  readonly isUnique: boolean;
}

/** The less, the better; null = no label. */
function rankOf(column: Column, { table, things, isUnique }: Rated): number | null {
  const ownWords = wordsOf(table.name).map(singular);
  const words = wordsOf(column.name).map(singular);
  const rest = words.filter((word) => !ownWords.includes(word));
  if (rest.some((word) => sharedWords.has(word))) return null;
  const word = rest.at(-1);
  if (word === undefined) return words.at(-1) === ownWords.at(-1) ? ownWordRank : null;
  const before = rest.slice(0, -1);
  const isPart = words.slice(0, -1).some((one) => partWords.has(one));
  const isOthers = before.some((one) => othersWords.has(one) || things.has(one));
  if (isOthers && !isUnique) return null;
  const far = before.length > 0 ? 1 : 0;
  const among = (list: readonly string[], first: number): number | null =>
    list.includes(word) ? first + list.indexOf(word) * 2 + far : null;
  if (isPart) return loginRank + 10;
  const { isText } = columnTypes[column.type];
  if (isUnique)
    return among(nameWords, 0) ?? among(codeWords, uniqueRank) ?? (isText ? uniqueRank : null);
  return (
    among(nameWords, 0) ??
    among(codeWords, codeRank) ??
    among(loginWords, loginRank) ??
    ((column.lengthMax ?? 0) <= 255 ? among(describingWords, describingRank) : null)
  );
}

/** What lookup shows. */
export interface DraftLookup {
  readonly id: string;
  readonly text: string;
}

/** The key and the label; null if there is no column for one of them. */
export function draftLookup(
  table: Table,
  { isView, label }: { readonly isView: boolean; readonly label: Label | null },
): DraftLookup | null {
  const id = keyFor(table, isView);
  if (id === undefined || label === null) return null;
  return { id, text: label.columns.map(({ name }) => name).join(" || ' ' || ") };
}

/** A column that identifies a row. A view has no known key, so the one that looks most like a key. */
function keyFor({ primaryKey, unique, columns }: Table, isView: boolean): string | undefined {
  if (primaryKey.length === 1) return primaryKey[0];
  const alone = unique.find((one) => one.columns.length === 1);
  if (alone) return alone.columns[0];
  if (!isView) return undefined;
  return [...columns.keys()].find((name) => wordsOf(name).at(-1) === "id");
}
