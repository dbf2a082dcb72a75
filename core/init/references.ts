/** References of a table for imports and joins: names in files that stand for keys, and tables to join by name. */
import type { Outline } from "../plans/database-catalog.ts";
import type { Column, Table } from "../values/types/column.ts";
import type { DraftNumbers } from "./draft-numbers.ts";
import { tableNameOf } from "./file-names.ts";
import type { Label } from "./label-column.ts";
import { columnTypes } from "../values/types/column-types.ts";
import { auditNames, headingOf, looksSecret, withoutId } from "./name-words.ts";

/** A table or view of the database, and the facts known about it. */
export interface Relation {
  readonly outline: Outline;
  readonly table: Table;
  /** Null: no column identifies its rows for a person. */
  readonly label: Label | null;
  readonly numbers: DraftNumbers;
  /** Required columns that may hold an empty text. */
  readonly emptyTexts: ReadonlySet<string>;
}

/** A reference to one column of another table. */
export interface Reference {
  readonly column: Column;
  /** What the column is called without its `_id`. */
  readonly name: string;
  readonly target: Relation;
  /** Of `target`. */
  readonly id: string;
  /** A column of `target` that finds its rows by a name; null = there is none that is unique. */
  readonly label: Column | null;
  /** Of the column in imports that holds such names. */
  readonly heading: string;
}

/** `tables`: all of them, by identity. */
export function referencesOf(
  { table }: Relation,
  tables: ReadonlyMap<string, Relation>,
): Reference[] {
  const used = new Set([...table.columns.keys()].map((name) => headingOf(name).toLowerCase()));
  const names = [...table.columns.keys()];
  const keys = table.foreignKeys.toSorted(
    (a, b) => names.indexOf(a.columns[0]!) - names.indexOf(b.columns[0]!),
  );
  return keys.flatMap((key) => {
    const target = tables.get(key.referencedIdentity);
    const column = table.columns.get(key.columns[0]!);
    if (key.columns.length !== 1 || !target || !column) return [];
    const label = findingColumn(target);
    const name = nameOf(column.name, key.referencedColumns[0]!);
    const heading = freeHeading(name, label, used);
    used.add(heading.toLowerCase());
    return [{ column, name, target, id: key.referencedColumns[0]!, label, heading }];
  });
}

/** The label if it is one column; else another unique text, such as a person's e-mail address. */
function findingColumn({ table: { columns, unique, primaryKey }, label }: Relation): Column | null {
  const [only, second] = label?.columns ?? [];
  if (only && !second && !label?.isKey && label?.isUnique) return only;
  const names = unique.flatMap(({ columns: [one, ...others] }) =>
    one !== undefined && others.length === 0 && !primaryKey.includes(one) ? [one] : [],
  );
  const texts = names.flatMap((name) => columns.get(name) ?? []);
  return texts.find((one) => columnTypes[one.type].isText && !looksSecret(one)) ?? null;
}

/** `category_id` -> `category`; `country_code` -> `country` if it refers to `code`. */
function nameOf(column: string, referenced: string): string {
  const ending = `_${referenced}`.toLowerCase();
  const isLonger = column.toLowerCase().endsWith(ending) && column.length > ending.length;
  return isLonger ? column.slice(0, -ending.length) : withoutId(column);
}

function freeHeading(name: string, label: Column | null, used: ReadonlySet<string>): string {
  const plain = headingOf(name);
  const named = `${plain} ${headingOf(label?.name ?? "name").toLowerCase()}`;
  return [plain, named].find((one) => !used.has(one.toLowerCase())) ?? `${named} (2)`;
}

export function draftImport(
  { table }: Relation,
  references: readonly Reference[],
  labels: Readonly<Record<string, string>>,
): object {
  const headings = new Set(Object.values(labels).map((label) => label.toLowerCase()));
  const lookups = references.filter(
    ({ heading, label }) => label !== null && !headings.has(heading.toLowerCase()),
  );
  return {
    importConfig: {
      upsertKeys: upsertKeysOf(table),
      ...(lookups.length > 0 && {
        lookupFields: Object.fromEntries(lookups.map((one) => [one.heading, importLookup(one)])),
      }),
    },
  };
}

const importLookup = ({ column, target, id, label }: Reference): object => ({
  targetTable: tableNameOf(target.outline),
  targetField: column.name,
  lookupField: label!.name,
  idField: id,
  ...(column.nullable && { required: false }),
});

/** The key that a person knows a row by, otherwise the table's own. */
function upsertKeysOf({ unique, primaryKey, columns }: Table): readonly string[] {
  const known = unique.find(
    (one) =>
      !one.columns.every((name) => primaryKey.includes(name)) &&
      one.columns.every((name) => {
        const column = columns.get(name);
        return column && !column.nullable && column.generated === "none" && !looksSecret(column);
      }),
  );
  return known?.columns ?? primaryKey;
}

/** Types that a table of results can show. */
const joinable = (column: Column): boolean =>
  !["bytes", "json", "array", "other"].includes(column.type) &&
  !looksSecret(column) &&
  !auditNames.has(column.name);

export function draftJoins(references: readonly Reference[]): object {
  if (references.length === 0) return {};
  const joins = new Map<string, object>();
  for (const { column, name, target, id } of references) {
    const fields = [...target.table.columns.values()].filter(joinable).map(({ name }) => name);
    if (fields.length === 0 || joins.has(name)) continue;
    joins.set(name, {
      tableName: tableNameOf(target.outline),
      joinType: "LEFT",
      sourceField: column.name,
      targetField: id,
      fields,
    });
  }
  return { aggregateConfig: { joins: Object.fromEntries(joins) } };
}
