/** Which column of a table tells its rows apart for a person: the label of drop-downs, and the names in imports. */
import type { Column, Table } from "../values/column.ts";
import { columnTypes } from "../values/column-types.ts";
import { auditNames, looksSecret, singular, wordsOf } from "./name-words.ts";

/** Endings of names, the best first. */
const labelWords = [
  "name",
  "title",
  "label",
  "subject",
  "caption",
  "code",
  "number",
  "no",
  "sku",
  "email",
  "username",
  "login",
  "slug",
  "description",
];

/** Null when no column has a text. Of equal columns the first one counts. */
export function labelColumn(table: Table): Column | null {
  const columns = [...table.columns.values()].filter((column) => isCandidate(column, table));
  const best = columns
    .map((column, at) => ({ column, rank: rankOf(column, table) * 1_000 + at }))
    .toSorted((a, b) => a.rank - b.rank)[0];
  return best?.column ?? null;
}

/** Where a person has a first and a last name; null = no such columns. */
export function personName({ columns }: Table): readonly [Column, Column] | null {
  const find = (...names: string[]): Column | undefined =>
    [...columns.values()].find(
      (column) =>
        columnTypes[column.type].isText && names.includes(wordsOf(column.name).slice(-2).join(" ")),
    );
  const first = find("first name", "given name", "firstname", "forename");
  const last = find("last name", "family name", "lastname", "surname");
  return first && last ? [first, last] : null;
}

const isCandidate = (column: Column, table: Table): boolean =>
  columnTypes[column.type].hasText &&
  columnTypes[column.type].findsRows &&
  !looksSecret(column.name) &&
  !auditNames.has(column.name) &&
  !table.primaryKey.includes(column.name) &&
  !table.foreignKeys.some(({ columns }) => columns.includes(column.name));

/** The less, the better. */
function rankOf(column: Column, { name }: Table): number {
  const words = wordsOf(column.name);
  const own = singular(wordsOf(name).at(-1) ?? "");
  const word = labelWords.indexOf(words.at(-1) ?? "");
  const isText = columnTypes[column.type].isText;
  if (!isText) return 90;
  const isPlain = words.length === 1 || (words.length === 2 && words[0] === own);
  if (word >= 0) return word * 2 + (isPlain ? 0 : 1);
  // The table's own word, as in a table `genre` with a column `genre`.
  if (words.length === 1 && singular(words[0]!) === own) return 5;
  return (column.lengthMax ?? Infinity) <= 255 ? 60 : 80;
}

/** What lookup shows. */
export interface DraftLookup {
  readonly id: string;
  readonly text: string;
}

/** The key and the best label; null where nothing can be the one or the other. */
export function draftLookup(table: Table, isView: boolean): DraftLookup | null {
  const columns = [...table.columns.values()];
  const id = keyFor(table, isView);
  if (id === undefined) return null;
  const label = labelColumn(table) ?? columns.find(isShowable) ?? null;
  const person = personName(table);
  const isNamed = label !== null && wordsOf(label.name).at(-1) === "name";
  if (person && (!isNamed || person.includes(label)) && canBeJoined(person))
    return { id, text: `${person[0].name} || ' ' || ${person[1].name}` };
  return label && { id, text: label.name };
}

const isShowable = ({ name, type }: Column): boolean =>
  columnTypes[type].hasText && !looksSecret(name);

/** Only plain names can stand in a joined label. */
const canBeJoined = (columns: readonly Column[]): boolean =>
  columns.every(({ name }) => /^\w+$/.test(name));

/** A column that names a row; of a view, which tells none, the one that looks most like a key. */
function keyFor({ primaryKey, unique, columns }: Table, isView: boolean): string | undefined {
  if (primaryKey.length === 1) return primaryKey[0];
  const alone = unique.find((one) => one.columns.length === 1);
  if (alone) return alone.columns[0];
  if (!isView) return undefined;
  return [...columns.keys()].find((name) => wordsOf(name).at(-1) === "id");
}
