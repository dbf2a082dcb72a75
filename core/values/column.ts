/**
 * Columns, tables and sources as the database reports them; used by statements, values and entities. The engines in
 * `db/` make them, once, at start; `core/config/compile-project.ts` puts them into entities.
 */

/** The kinds of values that the service distinguishes; `core/values/column-types.ts` defines each. */
export type ColumnType =
  | "text"
  | "integer"
  | "decimal"
  | "float"
  | "boolean"
  | "date"
  | "timestamp"
  | "time"
  | "uuid"
  | "json"
  | "bytes"
  | "array"
  | "other";

/** A column of a table, view or query, as the database reports it. */
/**
 * `bits`: digits 0 and 1, as many as the column has. `wkt`: geometry as well-known text, such as `POINT(1 2)`. `ip4`, `ip6`: an address.
 * `year`: four digits. `word32`, `word64`: digits of a whole number of so many bits, from 0. `set`: labels of the column with commas between them.
 * `anything`: a value of any type, shown as text. `numberLike`: the same, where a text that is a number is stored as that number.
 */
export type Notation =
  | "bits"
  | "wkt"
  | "ip4"
  | "ip6"
  | "year"
  | "word32"
  | "word64"
  | "set"
  | "anything"
  | "numberLike";

export interface Column {
  readonly name: string;
  readonly type: ColumnType;
  /** The engine's own name of the type (`character varying(20)`); only `db/` looks at it. */
  readonly native: string;
  /** False only where the database refuses NULL; columns of views and queries count as nullable. */
  readonly nullable: boolean;
  /** The database fills the column when an INSERT leaves it out (a default, or a generated value). */
  readonly hasDefault: boolean;
  /** `identity`: the database numbers it when left out. `computed`: it can never be written, as a number that is GENERATED ALWAYS. */
  readonly generated: "none" | "identity" | "computed";
  /** Longest text in characters; null = no limit known. */
  readonly lengthMax: number | null;
  /** Longest text or bytes in bytes (UTF-8), where the engine counts bytes; null = no limit known. */
  readonly bytesMax: number | null;
  /** `char(n)`, `binary(n)`: the engine pads what is shorter, so trailing blanks, or fewer bytes, cannot be kept. */
  readonly fixedLength: boolean;
  /** Smallest and largest integer that the column holds; null for other types. */
  readonly range: { readonly min: bigint; readonly max: bigint } | null;
  /** Decimal digits in all; null = no limit known. */
  readonly precision: number | null;
  /** Decimal digits after the decimal point; null = any number of them. */
  readonly scale: number | null;
  /** Timestamps and times: digits of a second's fraction that the column keeps, 0 to 6. */
  readonly fractionDigits: number;
  /** Timestamps: first and last instant (ISO 8601 UTC) that the column holds; null = years 1 to 9999. */
  readonly span: { readonly first: string; readonly last: string } | null;
  /** The labels of an enumerated type, where they are known; null for other types. */
  readonly labels: readonly string[] | null;
  /** Arrays: a column of the type of their elements; absent = an element is any JSON value. */
  readonly element?: Column;
  /** Sets: the labels that a value may have; absent = they are not known. */
  readonly members?: readonly string[];
  /** The type is a domain over `native`, which some operators of that type do not take; absent = they do. */
  readonly isDomain?: boolean;
  /** The service does not know the type: its values are shown and compared as the texts that the database writes, and never written. */
  readonly isOpaque?: boolean;
  /** Other types: in which form their texts are written, where the service knows it; absent = only the database does. */
  readonly notation?: Notation;
  /** Texts: the column's own comparisons ignore case, and perhaps accents; absent = they may not. */
  readonly ignoresCase?: boolean;
  /** Times: they may be below zero and beyond a day, up to 838:59:59; absent = times of day alone. */
  readonly isDuration?: boolean;
  /** Texts: the collation takes different texts for one, so that the engine cannot match patterns in it; absent = it does not. */
  readonly isLooselyCollated?: boolean;
  /** Texts: the column's own `=` may find a text that differs in case, accents or blanks at the end; absent = it cannot. */
  readonly isLoose?: boolean;
  /** Floats: 32 bits, which keep some seven digits; absent = 64. */
  readonly isSingle?: boolean;
  /** What `sum`, `avg` or `count` give: no table has it, so `native` says nothing and the engine uses its own type. */
  readonly isComputed?: boolean;
  /** A column that no table has: its text is that of these columns and literals, one after the other; nulls count as empty. */
  readonly parts?: readonly (Column | string)[];
  /**
   * A column that no table has: where a row stands in the order of this one, as a text that loses nothing. Its values
   * are what the same engine answered of it before, or null.
   */
  readonly markOf?: Column;
  /** A column that no table has: the text of this one, in an order that tells all texts apart, whatever its collation is. */
  readonly exactOf?: Column;
  /** Where the engine keeps values of the type in several forms: how it finds what it knows of the column's. */
  readonly stored?: StoredIn;
  /** A trigger of the table may give the column a value when an INSERT leaves it out or sends null; absent = none can. */
  readonly isFilledByTrigger?: boolean;
  /** Types that a rule of `fieldValidation` may give the column, where the engine stores values loosely; absent = none. */
  readonly ruleTypes?: readonly ColumnType[];
}

/** The form in which a column's values are stored, as far as only the engine knows it. */
export interface StoredIn {
  /** Only `db/` looks at it. */
  readonly id: string;
  /** What the operator should know of the form, behind "holds"; null = it is the usual one. */
  readonly note: string | null;
  /** False: the column has several forms, and no index helps to compare them. */
  readonly isUniform: boolean;
}

/** A column that no table has, for what a statement computes: without any limit but those given. */
export const derivedColumn = (name: string, type: ColumnType, given: Partial<Column>): Column => ({
  name,
  type,
  native: "",
  nullable: true,
  hasDefault: false,
  generated: "none",
  lengthMax: null,
  bytesMax: null,
  fixedLength: false,
  range: null,
  precision: null,
  scale: null,
  fractionDigits: 0,
  span: null,
  labels: null,
  ...given,
});

/** Columns by name, in the order of the table or query. Look names up here, never in a plain object. */
export type Columns = ReadonlyMap<string, Column>;

const lists = new WeakMap<Columns, readonly Column[]>();

/** The columns of a plan, which do not change, as a list: always the same one, as most requests ask for all of them. */
export function columnList(columns: Columns): readonly Column[] {
  let list = lists.get(columns);
  if (list === undefined) lists.set(columns, (list = [...columns.values()]));
  return list;
}

export interface UniqueConstraint {
  readonly name: string;
  readonly columns: readonly string[];
}

export interface ForeignKey {
  readonly name: string;
  readonly columns: readonly string[];
  readonly referencedTable: string;
  /** `identity` of that table. */
  readonly referencedIdentity: string;
  /** In the order of `columns`. */
  readonly referencedColumns: readonly string[];
}

/** A foreign key as the table sees it that it points at. */
export interface IncomingKey {
  /** The table that has the key, as `Catalog.table` takes its name. */
  readonly table: string;
  readonly columns: readonly string[];
  /** In the order of `columns`; empty = the primary key. */
  readonly referencedColumns: readonly string[];
  /** What a DELETE of the referenced row does: it is refused, deletes the rows too, or clears the columns. */
  readonly onDelete: "refuse" | "cascade" | "clear";
}

/** The statements that change rows. */
export type WriteKind = "insert" | "update" | "delete";

/** A statement that the database carries out for no row of a table: a right is missing, or something stands in its place. */
export interface TableRefusal {
  readonly statement: "select" | WriteKind;
  /** Null = on every column. */
  readonly columns: readonly string[] | null;
  /** Goes behind the table's name and a comma: `on which the database user has no right to INSERT`. */
  readonly reason: string;
}

/** A table or view as the database has it. */
export interface Table {
  readonly kind: "table" | "view";
  /** Null = the connection's default schema. */
  readonly schema: string | null;
  readonly name: string;
  readonly columns: Columns;
  /** Empty for views and for tables without one. */
  readonly primaryKey: readonly string[];
  /** Unique constraints and unique indexes, the primary key among them. */
  readonly unique: readonly UniqueConstraint[];
  readonly foreignKeys: readonly ForeignKey[];
  /** The columns of check and exclusion constraints, of domains too, where the engine tells them; a name may stand there several times. */
  readonly checks?: readonly UniqueConstraint[];
  /** Statements that a trigger may carry out for some of their rows only, without an error; absent = none. */
  readonly passesOver?: ReadonlySet<WriteKind>;
  /** INSERTs answer the rows that they stored although other statements of the engine do not. */
  readonly insertsReturn?: boolean;
  /** False: the database cannot lock single rows, as of a view that groups them; absent = it can. */
  readonly locksRows?: false;
  /** What the database would refuse whatever a row holds, as of a view that takes no INSERT; absent = nothing. */
  readonly refusals?: readonly TableRefusal[];
  /** False where the engine's storage cannot roll back (MyISAM). */
  readonly transactional: boolean;
  /** `schema.name` in lower case: equal for equal tables, however a configuration spells them. */
  readonly identity: string;
  /** Identities of other tables whose rows may change with this one's (cascades, partitions); null = of any, as there are triggers. */
  readonly changesWith: readonly string[] | null;
}

/** Where rows are read from: a table or view, or an operator's own query, wrapped as a subquery. `columns`: all that it has. */
export type Source =
  | {
      readonly kind: "table";
      readonly schema: string | null;
      readonly name: string;
      /** See `Table`. */
      readonly identity?: string;
      readonly locksRows?: false;
      /** True: it has no rows of its own, and none of the database's figures; absent = it is a table. */
      readonly isView?: true;
      readonly columns: Columns;
    }
  | { readonly kind: "query"; readonly text: string; readonly columns: Columns };
