/**
 * Paths: names of columns of related records, such as `customer.city.name`. The columns that a caller may name are a
 * map that finds paths too, while its entries are only the own columns. A path that the caller may not use is not
 * found, like one that does not exist.
 */
import {
  type Column,
  type Columns,
  derivedColumn,
  type Hop,
  type Via,
} from "../values/types/column.ts";
import type { Key } from "../values/types/key.ts";

/** Relations to one that a path may go through. */
export const hopsMax = 4;

/** A step from a record to related ones. */
export type RelationStep = Pick<
  Hop,
  "endpoint" | "source" | "on" | "isUnique" | "repeats" | "dependsOn"
>;

/** A relation as one caller may use it. */
export interface UsableRelation {
  readonly isMany: boolean;
  /** One step, or two where records of another table stand between. */
  readonly steps: readonly RelationStep[];
  /** What the caller may name of the related records. */
  related(): Related;
}

/** What a caller may name of the records of an endpoint. */
export interface Related {
  readonly endpoint: string;
  /** The columns that answers show of them. */
  readonly columns: Columns;
  /** The columns that identify them; empty = no such columns are known. */
  readonly key: Key;
  readonly relations: ReadonlyMap<string, UsableRelation>;
}

/** The place to which the relations of a path lead. */
interface Place extends Related {
  readonly hop: Hop;
  readonly prefix: string;
}

/** A relation at the end of a path. */
export interface FoundRelation {
  readonly isMany: boolean;
  /** What requests may name of the related records. */
  readonly columns: PathColumns;
  /** See `Related`. */
  readonly key: Key;
  /** The first one begins where the path to the relation ends. */
  readonly steps: readonly Hop[];
}

/** The own columns of a source; `get` and `has` find the columns of related records by their paths too. */
export class PathColumns extends Map<string, Column> {
  readonly #findRelations: () => ReadonlyMap<string, UsableRelation>;
  #found: ReadonlyMap<string, UsableRelation> | null = null;
  readonly #places = new Map<string, Place>();
  /** By place, because a path may have several readings. */
  readonly #paths = new Map<Place, Map<string, Column>>();
  #pathCount = 0;

  /** `findRelations` is called with the first path. */
  constructor(own: Columns, findRelations: () => ReadonlyMap<string, UsableRelation>) {
    super(own);
    this.#findRelations = findRelations;
  }

  get #relations(): ReadonlyMap<string, UsableRelation> {
    return (this.#found ??= this.#findRelations());
  }

  override get(name: string): Column | undefined {
    return super.get(name) ?? this.#columnAt(name, 0);
  }

  /** The column of the record at the end of `path`, also where another one has the name of the whole path. */
  behind(path: string, name: string): Column | undefined {
    return path === "" ? this.get(name) : this.#columnAt(`${path}.${name}`, path.length);
  }

  override has(name: string): boolean {
    return this.get(name) !== undefined;
  }

  /** All columns of the record at the end of `customer.*`, or undefined if there is no such record. */
  all(path: string): readonly Column[] | undefined {
    const place = this.#placeOf(path);
    return place
      ? [...place.columns].map(([name, column]) => this.#pathColumn(place, name, column))
      : undefined;
  }

  /** The relation with this path; its records may be many. */
  relation(path: string): FoundRelation | undefined {
    const at = path.lastIndexOf(".");
    const place = at < 0 ? null : this.#placeOf(path.slice(0, at));
    if (place === undefined) return undefined;
    const relation = (place?.relations ?? this.#relations).get(path.slice(at + 1));
    if (relation === undefined) return undefined;
    const { isMany } = relation;
    const steps = hopsFrom(place?.hop ?? null, relation);
    const related = relation.related();
    return { isMany, columns: namedAt(related), key: related.key, steps };
  }

  /** The names of the relations that begin here. */
  relationNames(): readonly string[] {
    return [...this.#relations.keys()];
  }

  #pathColumn(place: Place, name: string, column: Column): Column {
    const known = this.#paths.get(place) ?? new Map<string, Column>();
    this.#paths.set(place, known);
    let path = known.get(name);
    // Only what exists is kept, because clients could ask for ever new names.
    if (path === undefined) {
      path = pathColumn(`${place.prefix}${name}`, column, place.hop, this.#pathCount++);
      known.set(name, path);
    }
    return path;
  }

  /** `from`: where the column's own name begins at the earliest. */
  #columnAt(path: string, from: number): Column | undefined {
    // Names of columns may contain dots, names of relations do not.
    for (let at = path.indexOf(".", from), depth = 0; at > 0 && depth < hopsMax; depth++) {
      const place = this.#placeOf(path.slice(0, at));
      if (!place) return undefined;
      const name = path.slice(at + 1);
      const column = place.columns.get(name);
      if (column) return this.#pathColumn(place, name, column);
      at = path.indexOf(".", at + 1);
    }
    return undefined;
  }

  #placeOf(path: string): Place | undefined {
    const known = this.#places.get(path);
    if (known) return known;
    // Before it goes on, because a client could send ever so many names.
    if (path.split(".", hopsMax + 1).length > hopsMax) return undefined;
    const at = path.lastIndexOf(".");
    const before = at < 0 ? null : this.#placeOf(path.slice(0, at));
    if (before === undefined) return undefined;
    const relation = (before?.relations ?? this.#relations).get(path.slice(at + 1));
    if (relation === undefined || relation.isMany) return undefined;
    const [hop] = hopsFrom(before?.hop ?? null, relation, `.p${this.#places.size}`) as [Hop];
    const place = { ...relation.related(), hop, prefix: `${path}.` };
    this.#places.set(path, place);
    return place;
  }
}

/** What descriptions of requests list: the own columns, and paths over one relation. */
export const describedColumns = (columns: Columns): Columns =>
  columns instanceof PathColumns
    ? new Map([
        ...columns,
        ...columns
          .relationNames()
          .flatMap((name) => columns.all(name) ?? [])
          .map(({ name }): [string, Column] => [name, columns.get(name)!]),
      ])
    : columns;

const namedColumns = new WeakMap<Related, PathColumns>();

/** Always the same for the same records, because statements are cached by their columns. */
function namedAt(related: Related): PathColumns {
  let named = namedColumns.get(related);
  if (named === undefined) {
    named = new PathColumns(related.columns, () => related.relations);
    namedColumns.set(related, named);
  }
  return named;
}

function hopsFrom(before: Hop | null, { steps }: UsableRelation, member = ""): readonly Hop[] {
  const hops: Hop[] = [];
  for (const step of steps) hops.push({ before: hops.at(-1) ?? before, ...step, member });
  return hops;
}

const pathColumn = (name: string, column: Column, hop: Hop, at: number): Column => ({
  ...column,
  name,
  nullable: true,
  via: { hop, column, member: `.${at}` },
});

const nowhere: Via = {
  hop: {
    before: null,
    endpoint: "",
    source: { kind: "query", text: "", columns: new Map() },
    on: [],
    isUnique: true,
    dependsOn: [],
    member: "",
  },
  column: derivedColumn("", "text", {}),
  member: "",
};

/** A path that the configuration names, before it is looked up, or for callers who may not use it: without values. */
export const emptyPath = (name: string): Column => derivedColumn(name, "text", { via: nowhere });

export const isEmptyPath = ({ via }: Column): boolean => via === nowhere;

/** The column as it is found among these, if it is one of a related record; else the column itself. */
export const foundAmong = (column: Column, named: Columns): Column =>
  column.via === undefined ? column : (named.get(column.name) ?? emptyPath(column.name));
