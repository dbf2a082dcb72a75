/**
 * The `relations` that foreign keys make: each key is one relation of the endpoint that has it, and one of the endpoint
 * that it points at; a table that only links two others becomes `through` on both sides.
 */
import { canRelate, isObjectMember } from "../config/compiling/compile-relations.ts";
import { areUnique } from "../config/compiling/key-plan.ts";
import type { Column, ForeignKey, Table } from "../values/types/column.ts";
import { auditNames, wordsOf } from "./name-words.ts";
import { deletedMarks } from "./deleted-marks.ts";

/** An endpoint that reads a table. */
export interface RelatedEndpoint {
  readonly name: string;
  readonly table: Table;
  /** The columns by which relations without `key` find its records. */
  readonly key: readonly string[];
}

/** A relation of an endpoint, as its file has it. */
export interface DraftRelation {
  readonly name: string;
  /** What the name ends in if it is taken. */
  readonly ending: "_record" | "_list";
  readonly setting: Readonly<Record<string, unknown>>;
  /** The table whose foreign key makes it, and the columns of that key. */
  readonly table: Table;
  readonly columns: readonly string[];
  /** The endpoint that it leads to. */
  readonly endpoint: string;
  /** The identity of the table at its other side; of `through`, of the one in between. */
  readonly next: string;
}

type Made = Omit<DraftRelation, "name"> & { readonly wanted: string };

/** The relations of each endpoint; with several endpoints over one table, the first one is pointed at. */
export function draftRelations(
  endpoints: readonly RelatedEndpoint[],
): ReadonlyMap<RelatedEndpoint, readonly DraftRelation[]> {
  const first = new Map<string, RelatedEndpoint>();
  // In one order, so that the same names result whenever this is asked.
  for (const one of endpoints.toSorted((a, b) => (a.name < b.name ? -1 : 1)))
    if (!first.has(one.table.identity)) first.set(one.table.identity, one);
  return new Map(endpoints.map((one) => [one, named(one.table, relationsOf(one, first))]));
}

type Endpoints = ReadonlyMap<string, RelatedEndpoint>;

function relationsOf(own: RelatedEndpoint, endpoints: Endpoints): readonly Made[] {
  const names = [...own.table.columns.keys()];
  const keys = distinctKeys(own.table).toSorted(
    (a, b) => names.indexOf(a.columns[0]!) - names.indexOf(b.columns[0]!),
  );
  return [
    ...keys.flatMap((key) => toOne(own, key, endpoints) ?? []),
    ...[...endpoints.values()].flatMap((other) => toMany(own, other, endpoints)),
  ];
}

/** A database may hold the same key twice. */
const distinctKeys = ({ foreignKeys }: Table): readonly ForeignKey[] =>
  [
    ...new Map(
      foreignKeys
        .toReversed()
        .map((key) => [
          JSON.stringify([key.referencedIdentity, key.columns, key.referencedColumns]),
          key,
        ]),
    ).values(),
  ].toReversed();

/** The foreign key in the order of the key that it points at; null if it does not identify a record there. */
interface Link {
  readonly columns: readonly string[];
  readonly referenced: readonly string[];
}

function linkOf(from: Table, to: RelatedEndpoint, key: ForeignKey): Link | null {
  const { columns, referencedColumns } = key;
  if (!areUnique(to.table, referencedColumns)) return null;
  const pairs = referencedColumns.map((name, at) => [columns[at]!, name] as const);
  const areComparable = pairs.every(([name, referenced]) => {
    const [left, right] = [from.columns.get(name), to.table.columns.get(referenced)];
    return left !== undefined && right !== undefined && canRelate(left, right);
  });
  if (!areComparable) return null;
  const inOrder = pairs.toSorted(([, a], [, b]) => to.key.indexOf(a) - to.key.indexOf(b));
  return { columns: inOrder.map(([name]) => name), referenced: inOrder.map(([, name]) => name) };
}

/** One column as a text, several as a list. */
const written = (names: readonly string[]): string | readonly string[] =>
  names.length === 1 ? names[0]! : names;

const keyUnlessUsual = ({ key }: RelatedEndpoint, names: readonly string[]): object =>
  names.join("\n") === key.join("\n") ? {} : { key: written(names) };

function toOne(own: RelatedEndpoint, key: ForeignKey, endpoints: Endpoints): Made | null {
  const target = endpoints.get(key.referencedIdentity);
  const link = target && linkOf(own.table, target, key);
  if (!link) return null;
  const [only, ...others] = link.columns;
  const endpoint = target.name;
  return {
    table: own.table,
    columns: key.columns,
    endpoint,
    next: target.table.identity,
    wanted: others.length > 0 ? endpoint : withoutKeyWord(only!, link.referenced[0]!),
    ending: "_record",
    setting: {
      endpoint,
      column: written(link.columns),
      ...keyUnlessUsual(target, link.referenced),
    },
  };
}

/** `category_id` -> `category`, `countryCode` -> `country`, `buyer_email` that refers to `email` -> `buyer`. */
function withoutKeyWord(column: string, referenced: string): string {
  const word = RegExp.escape(referenced.split("_").at(-1)!);
  return column
    .replace(new RegExp(`(?<=.)_(?:${word}|id|code|fk)$`, "i"), "")
    .replace(/(?<=[a-z\d])(?:I[dD]|Code)$/, "");
}

function toMany(own: RelatedEndpoint, other: RelatedEndpoint, endpoints: Endpoints): Made[] {
  const { table } = other;
  const keys = distinctKeys(table).filter(
    ({ referencedIdentity }) => referencedIdentity === own.table.identity,
  );
  const made = keys.flatMap((key): Made[] => {
    const link = linkOf(table, own, key);
    if (link === null) return [];
    const over = throughLink(own, { between: other, key, link }, endpoints);
    const endpoint = over?.target.name ?? other.name;
    return [
      {
        table,
        columns: key.columns,
        endpoint,
        next: table.identity,
        wanted: endpoint,
        ending: "_list",
        setting: over?.setting ?? {
          endpoint,
          foreignColumn: written(link.columns),
          ...keyUnlessUsual(own, link.referenced),
        },
      },
    ];
  });
  // Where several keys point here, only their columns tell them apart.
  return made.length < 2
    ? made
    : made.map((one) => ({ ...one, wanted: `${one.wanted}_by_${one.columns.join("_")}` }));
}

function throughLink(
  own: RelatedEndpoint,
  { between, key, link }: { between: RelatedEndpoint; key: ForeignKey; link: Link },
  endpoints: Endpoints,
): { readonly target: RelatedEndpoint; readonly setting: Made["setting"] } | null {
  if (!onlyLinks(between.table) || isReferredTo(between.table, endpoints)) return null;
  const onwards = distinctKeys(between.table).find((one) => one !== key)!;
  const target = endpoints.get(onwards.referencedIdentity);
  const there = target && linkOf(between.table, target, onwards);
  // Such a relation begins at the key of the record.
  if (!there || link.referenced.join("\n") !== own.key.join("\n")) return null;
  return {
    target,
    setting: {
      endpoint: target.name,
      through: {
        endpoint: between.name,
        column: written(link.columns),
        foreignColumn: written(there.columns),
      },
      ...keyUnlessUsual(target, there.referenced),
    },
  };
}

/** Such a table is more than a link: others go on from its records. */
const isReferredTo = ({ identity }: Table, endpoints: Endpoints): boolean =>
  [...endpoints.values()].some(({ table }) =>
    table.foreignKeys.some(({ referencedIdentity }) => referencedIdentity === identity),
  );

/** `last_update`, `ModifiedDate`, `created`: databases may fill them by triggers, which no default tells. */
const whenWritten =
  /^(last |date |time )?(creat|insert|add|updat|modifi|chang)(e|ed|ion|y)( (at|on|date|time|timestamp))?$/;

const tellsWhenWritten = ({ name, type }: Column): boolean =>
  (type === "timestamp" || type === "date") && whenWritten.test(wordsOf(name).join(" "));

/** A table of two foreign keys, and of a key and columns that are filled by themselves. */
function onlyLinks(table: Table): boolean {
  const { primaryKey, columns } = table;
  const [one, other, ...more] = distinctKeys(table);
  if (one === undefined || other === undefined || more.length > 0) return false;
  const linking = [...one.columns, ...other.columns];
  const marks = deletedMarks(table)?.names;
  return (
    new Set(linking).size === linking.length &&
    [...columns.values()].every(
      (column) =>
        linking.includes(column.name) ||
        primaryKey.includes(column.name) ||
        auditNames.has(column.name) ||
        marks?.has(column.name) === true ||
        (column.type === "timestamp" && column.hasDefault) ||
        tellsWhenWritten(column),
    )
  );
}

/** Names that are free: not those of columns, of each other, or of members that objects have. */
function named({ columns }: Table, made: readonly Made[]): readonly DraftRelation[] {
  const taken = new Set(columns.keys());
  return made.map(({ wanted, ...relation }) => {
    const name = freeName(wanted, relation.ending, taken);
    taken.add(name);
    return { name, ...relation };
  });
}

/** See `freeName`. */
const lengthMax = 63;

/** The wanted name; if it is taken, the name with the ending, then with a number too. */
export function freeName(
  wanted: string,
  ending: string,
  taken: { has(name: string): boolean },
): string {
  const plain = wanted.replace(/[^A-Za-z0-9_]/gu, "_").replace(/^(?=\d|$)/, "_");
  const isFree = (name: string): boolean => !taken.has(name) && !isObjectMember(name);
  const cut = (end: string): string => plain.slice(0, lengthMax - end.length) + end;
  if (isFree(cut(""))) return cut("");
  for (let count = 1; ; count++) {
    const name = cut(count === 1 ? ending : `${ending}${count}`);
    if (isFree(name)) return name;
  }
}
