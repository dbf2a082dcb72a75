/** Rows with columns of related records -> records that nest: `customer.name` becomes `{"customer": {"name": …}}`. */
import { answeredAs, type Column, type Hop } from "../values/types/column.ts";
import type { Row } from "../values/row.ts";

/** How the columns of an answer become records. */
export interface Nesting {
  /** The columns to read: the shown ones, and for each related record one that tells whether it is there. */
  readonly columns: readonly Column[];
  recordOf(row: Readonly<Row>): Row;
}

/** Null: no column is one of a related record, so rows are records. */
export function nestingOf(shown: readonly Column[]): Nesting | null {
  if (shown.every(({ via }) => via === undefined)) return null;
  const hops = new Set(shown.flatMap(hopsTo));
  const columns = [...shown, ...[...hops].map(presenceOf)];
  // Where the database's rows nest already, it is not needed.
  let reader: Nesting["recordOf"] | null = null;
  return { columns, recordOf: (row) => (reader ??= readerOf(membersOf(shown)))(row) };
}

/** The record that shows these columns of a row, nested or as it is. */
export const recordReader = (
  shown: readonly Column[],
  nesting: Nesting | null,
): Nesting["recordOf"] => nesting?.recordOf ?? readerOf(membersOf(shown));

/** A member of a record, or of a part of one. */
export interface RecordMember {
  readonly name: string;
  /** Its value; that of a part is null where there is no related record. */
  readonly column: Column;
  /** The members of the part; null = it is a value. */
  readonly part: readonly RecordMember[] | null;
}

/** The members of the records that `columns` of a nesting show, in the member order of a JavaScript object. */
export const nestedMembers = (columns: readonly Column[]): readonly RecordMember[] =>
  membersOf(columns.filter((column) => column.markOf === undefined && !isPresence(column)));

/** The columns as records show them: each one of a related record within a part. */
function membersOf(shown: readonly Column[]): readonly RecordMember[] {
  const root = new Map<string, Member>();
  for (const column of shown) {
    const path = hopsTo(column);
    // Names of relations contain no dots, but names of columns may.
    const names = column.name.split(".");
    let members = root;
    path.forEach((hop, at) => {
      const name = names[at]!;
      let parts = members.get(name)?.parts;
      if (!parts) members.set(name, { column: presenceOf(hop), parts: (parts = new Map()) });
      members = parts;
    });
    members.set(names.slice(path.length).join("."), { column, parts: null });
  }
  return ordered(root);
}

interface Member {
  readonly column: Column;
  readonly parts: Map<string, Member> | null;
}

const ordered = (members: ReadonlyMap<string, Member>): RecordMember[] =>
  Object.keys(Object.fromEntries(members)).map((name) => {
    const { column, parts } = members.get(name)!;
    return { name, column, part: parts && ordered(parts) };
  });

function hopsTo({ via }: Column): Hop[] {
  const hops: Hop[] = [];
  for (let hop = via?.hop ?? null; hop !== null; hop = hop.before) hops.unshift(hop);
  return hops;
}

const presences = new WeakMap<Hop, Column>();

/** A column that is null where the hop leads to no record. One object per hop: statements are cached by it. */
function presenceOf(hop: Hop): Column {
  let column = presences.get(hop);
  if (column === undefined) {
    const { right } = hop.on[0]!;
    const { member } = hop;
    column = { ...right, name: member, nullable: true, via: { hop, column: right, member } };
    presences.set(hop, column);
  }
  return column;
}

const isPresence = ({ via }: Column): boolean => via !== undefined && via.member === via.hop.member;

/** Makes the record of a row. */
export function readerOf(members: readonly RecordMember[]): (row: Readonly<Row>) => Row {
  const read = members.map(({ name, column, part }) => ({
    name,
    member: answeredAs(column),
    readPart: part && readerOf(part),
  }));
  // Assigning is faster, but would change the prototype.
  const mustDefine = read.some(({ name }) => name === "__proto__");
  return (row) => {
    const record: Row = {};
    for (const { name, member, readPart } of read) {
      const found = row[member] ?? null;
      const value = readPart === null || found === null ? found : readPart(row);
      if (mustDefine) Object.defineProperty(record, name, { ...asMember, value });
      else record[name] = value;
    }
    return record;
  };
}

const asMember = { enumerable: true, configurable: true, writable: true };
