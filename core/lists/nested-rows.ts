/** Rows with columns of related records -> records that nest: `customer.name` becomes `{"customer": {"name": …}}`. */
import { answeredAs, type Column, type Hop } from "../values/types/column.ts";
import type { Json } from "../values/json.ts";
import type { Row } from "../values/row.ts";

/** How the columns of an answer become records. */
export interface Nesting {
  /** The columns to read: the shown ones, and for each related record one that tells whether it is there. */
  readonly columns: readonly Column[];
  recordOf(row: Readonly<Row>): Row;
}

/** A record, or a part of one. */
interface Node {
  readonly own: { readonly name: string; readonly member: string }[];
  readonly related: Map<string, Node>;
  /** Null: the record itself. */
  readonly presence: string | null;
}

/** Null: no column is one of a related record, so rows are records. */
export function nestingOf(shown: readonly Column[]): Nesting | null {
  if (shown.every(({ via }) => via === undefined)) return null;
  const root: Node = { own: [], related: new Map(), presence: null };
  const hops = new Set<Hop>();
  for (const column of shown) {
    const path = hopsTo(column);
    // Names of relations contain no dots, but names of columns may.
    const parts = column.name.split(".");
    let node = root;
    path.forEach((hop, at) => {
      hops.add(hop);
      node = nodeIn(node, parts[at]!, hop);
    });
    node.own.push({ name: parts.slice(path.length).join("."), member: answeredAs(column) });
  }
  const columns = [...shown, ...[...hops].map(presenceOf)];
  return { columns, recordOf: (row) => recordOf(root, row) };
}

/** The record that shows these columns of a row, nested or as it is. */
export const recordReader = (
  shown: readonly Column[],
  nesting: Nesting | null,
): Nesting["recordOf"] =>
  nesting?.recordOf ??
  ((row) => Object.fromEntries(shown.map(({ name }) => [name, row[name] ?? null])));

function nodeIn({ own, related }: Node, name: string, { member }: Hop): Node {
  let node = related.get(name);
  if (node === undefined) {
    node = { own: [], related: new Map(), presence: member };
    related.set(name, node);
    own.push({ name, member: "" });
  }
  return node;
}

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

function recordOf({ own, related }: Node, row: Readonly<Row>): Row {
  return Object.fromEntries(
    own.map(({ name, member }): [string, Json] => {
      const node = member === "" ? related.get(name) : undefined;
      if (node === undefined) return [name, row[member] ?? null];
      return [name, row[node.presence!] == null ? null : recordOf(node, row)];
    }),
  );
}
