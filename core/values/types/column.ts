/**
 * Columns, tables and sources as the database reports them; used by statements, values and entities. The engines in
 * `db/` make them, once, at start; `core/config/compile-project.ts` puts them into entities.
 */

import type { Scalar } from "../scalar.ts";
import type { Bucket } from "./bucket.ts";
import type { Formula } from "./formula-tree.ts";

/** The kinds of values that the service distinguishes; `core/values/types/column-types.ts` defines each. */
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
  | "file"
  | "other";

/** A column of a table, view or query, as the database reports it. */
/**
 * `bits`: as many digits 0 and 1 as the column has. `wkt`: geometry as well-known text, such as `POINT(1 2)`. `ip4`,
 * `ip6`: an address. `year`: four digits. `word32`, `word64`: digits of an unsigned integer of 32 or 64 bits. `set`:
 * labels of the column, separated by commas. `anything`: a value of any type, shown as text. `numberLike`: the same,
 * but a text that is a number is stored as that number.
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
  /** False only if the database refuses NULL; columns of views and queries count as nullable. */
  readonly nullable: boolean;
  /** The database fills the column when an INSERT leaves it out (a default, or a generated value). */
  readonly hasDefault: boolean;
  /**
   * `identity`: the database numbers it when it is left out. `computed`: it can never be written, as a number that is
   * GENERATED ALWAYS.
   */
  readonly generated: "none" | "identity" | "computed";
  /** Longest text in characters; null = no limit known. */
  readonly lengthMax: number | null;
  /** Longest text or bytes in bytes (UTF-8), if the engine counts bytes; null = no limit known. */
  readonly bytesMax: number | null;
  /** Texts: the greatest code point of the column's character set; absent = all characters fit, or it is not known. */
  readonly codePointMax?: number;
  /** `char(n)`, `binary(n)`: the engine pads shorter values, so trailing blanks, or fewer bytes, cannot be stored. */
  readonly fixedLength: boolean;
  /** Smallest and largest integer that the column holds; null for other types. */
  readonly range: { readonly min: bigint; readonly max: bigint } | null;
  /** JSON: the integers that the column keeps if the whole value is a number; absent = as those within a value. */
  readonly wholeRange?: Column["range"];
  /** Decimal digits in all; null = no limit known. */
  readonly precision: number | null;
  /** Decimal digits after the decimal point; null = any number of them. */
  readonly scale: number | null;
  /** Decimals: digits, from the first that is not zero, that the engine keeps of a value; absent = all. */
  readonly digitsKept?: number;
  /** Timestamps and times: digits of a second's fraction that the column stores, 0 to 6. */
  readonly fractionDigits: number;
  /** Timestamps: first and last instant (ISO 8601 UTC) that the column holds; null = years 1 to 9999. */
  readonly span: { readonly first: string; readonly last: string } | null;
  /** The labels of an enumerated type, if they are known; null for other types. */
  readonly labels: readonly string[] | null;
  /** Arrays: a column of the type of their elements; absent = an element is any JSON value. */
  readonly element?: Column;
  /** Files: a value is a list of them; absent = it is one. */
  readonly holdsMany?: boolean;
  /** Sets: the labels that a value may have; absent = they are not known. */
  readonly members?: readonly string[];
  /** The type is a domain over `native`, which some operators of that type do not take; absent = they do. */
  readonly isDomain?: boolean;
  /**
   * The service does not know the type: its values are shown and compared as the texts that the database writes, and
   * never written.
   */
  readonly isOpaque?: boolean;
  /**
   * Other types: the form in which their texts are written, where the service knows it; absent = only the database
   * knows it.
   */
  readonly notation?: Notation;
  /** Texts: the column's own comparisons ignore case, and perhaps accents; absent = they do not. */
  readonly ignoresCase?: boolean;
  /**
   * Texts: the table has an index on the text in lower case, by code points, in which a search from the beginning of the
   * text finds its rows in order; absent = it has none, or needs none.
   */
  readonly hasFoldedIndex?: boolean;
  /** Times: they can be below zero and beyond a day, up to 838:59:59; absent = times of day only. */
  readonly isDuration?: boolean;
  /** Times: the end of a day is one, too: 24:00:00; absent = it is none. */
  readonly endsDays?: boolean;
  /**
   * Texts: the collation treats different texts as equal, so the engine cannot match patterns in it; absent = it does
   * not.
   */
  readonly isLooselyCollated?: boolean;
  /** Texts: the collation of their comparisons, if columns of another one may not be compared; absent = they may. */
  readonly comparedIn?: string;
  /** Texts: the column's own `=` may match a text with other case, accents or trailing blanks; absent = it cannot. */
  readonly isLoose?: boolean;
  /** Which different texts the column's own `=` treats as equal; absent = none. */
  readonly alike?: Alike;
  /** Floats: 32 bits (about 7 significant digits); absent = 64. */
  readonly isSingle?: boolean;
  /** A result of `sum`, `avg` or `count`: no table has it, so `native` is empty and the engine uses its own type. */
  readonly isComputed?: boolean;
  /**
   * A column that no table has: its text is that of these columns and literals, one after the other; nulls count as
   * empty.
   */
  readonly parts?: readonly (Column | string)[];
  /**
   * A column that no table has: the position of a row in the order of this one, as a lossless text. Its values are
   * earlier answers of the same engine, or null.
   */
  readonly markOf?: Column;
  /** A column of another record, to which a path leads; absent = a column of the statement's own source. */
  readonly via?: Via;
  /**
   * A column that no table has: the text of this one, in an order that distinguishes all texts, whatever its collation
   * is.
   */
  readonly exactOf?: Column;
  /** A column that no table has: the text of this one, in the order of its folded index (`hasFoldedIndex`). */
  readonly foldedOf?: Column;
  /** A column that no table has: it is computed of others of the same row. */
  readonly derived?: Derived;
  /** If the engine stores values of the type in several forms: identifies what `db/` knows about this column. */
  readonly stored?: StoredIn;
  /**
   * A trigger of the table may give the column a value when an INSERT leaves it out or sends null; absent = no trigger
   * does.
   */
  readonly isFilledByTrigger?: boolean;
  /** The service numbers new records in this column if they have no text there. Absent: false. */
  readonly isNumbered?: true;
  /**
   * The type was derived from the values present when the columns were read, so other types may occur. Absent = the
   * type comes from the database or the query.
   */
  readonly isSampled?: boolean;
  /**
   * Types that a rule of `fieldValidation` may give the column, if the engine does not enforce types; absent = none.
   */
  readonly ruleTypes?: readonly ColumnType[];
}

/**
 * How texts differ that are equal to a database: in the case of A to Z (`ascii case`) or in trailing blanks (`blanks`).
 * `loosely`: unknown, perhaps in case, accents and blanks. With `before` and `behind` only the database can tell: these
 * two parts of SQL around a placeholder give the same value for equal texts (`Db.equalForms`).
 */
export type Alike =
  | "ascii case"
  | "blanks"
  | "loosely"
  | {
      readonly before: string;
      readonly behind: string;
      /** The value of a text of printable ASCII without blanks is those of its characters, one after the other. */
      readonly isByCharacter?: true;
    };

/** A text of a column whose `alike` only the database can tell. */
export interface AlikeText {
  readonly alike: Exclude<Alike, string>;
  readonly text: string;
}

export type Derived =
  | { readonly kind: "bucket"; readonly of: Column; readonly bucket: Bucket }
  /** Null where it divides by zero. `operands`: the columns that the formula names. */
  | { readonly kind: "formula"; readonly formula: Formula; readonly operands: readonly Column[] };

/** The end of a path: `customer.name`. */
export interface Via {
  readonly hop: Hop;
  /** The column of the hop's source. */
  readonly column: Column;
  /** The member of an answered row that holds its value; paths can be longer than the names of a database. */
  readonly member: string;
}

/** A step of a path, from a record to the one or ones whose `right` columns equal its `left` columns. */
export interface Hop {
  /** The step before it; null = it begins at the statement's own source. */
  readonly before: Hop | null;
  /** The endpoint whose rows the step leads to; its scope narrows them. */
  readonly endpoint: string;
  readonly source: Source;
  /** At least one pair; `left` are columns of the source before. */
  readonly on: readonly { readonly left: Column; readonly right: Column }[];
  /** False: only the configuration says that `right` names one row, so a second one is left out. */
  readonly isUnique: boolean;
  /** Of records in between: several of them may link the same two records. */
  readonly repeats?: true;
  /** Of rows that are equal in these columns, only the first one takes part. Absent: in `right`, unless it is unique. */
  readonly onceBy?: readonly Column[];
  /** Names of the cache versions of the endpoint's rows; see `ReadPlan`. */
  readonly dependsOn: readonly string[];
  /** True: its rows are those of an answer already, which the caller may see. Absent: its scope narrows them. */
  readonly isSeen?: true;
  /** The member of an answered row that is null where the step leads to no record. */
  readonly member: string;
}

/** The member of an answered row that holds the column's value. */
export const answeredAs = ({ name, via }: Column): string => via?.member ?? name;

/** The form in which a column's values are stored, as far as only the engine knows it. */
export interface StoredIn {
  /** Only `db/` looks at it. */
  readonly id: string;
  /** What the operator should know about the form, to follow "holds"; null = it is the usual one. */
  readonly note: string | null;
  /** False: the column has several forms, and no index helps to compare them. */
  readonly isUniform: boolean;
}

/** A column that no table has, for a computed value. Without limits except the given ones. */
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

/**
 * The columns of a plan, which do not change, as a list: always the same one, because most requests ask for all of
 * them.
 */
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

/** A foreign key as seen by the table that it points at. */
export interface IncomingKey {
  /** The table that has the key, in the form that `Catalog.table` accepts. */
  readonly table: string;
  readonly columns: readonly string[];
  /** In the order of `columns`; empty = the primary key. */
  readonly referencedColumns: readonly string[];
  /** What a DELETE of the referenced row does: it is refused, deletes the rows too, or clears the columns. */
  readonly onDelete: "refuse" | "cascade" | "clear";
  /** What an UPDATE of the referenced columns does: it is refused, changes the columns too, or clears them. */
  readonly onUpdate: "refuse" | "cascade" | "clear";
}

/** The statements that change rows. */
export type WriteKind = "insert" | "update" | "delete";

/**
 * A statement that the database carries out for no row of a table: a right is missing, or a view or
 * rule does not allow it.
 */
export interface TableRefusal {
  readonly statement: "select" | WriteKind;
  /** Null = on every column. */
  readonly columns: readonly string[] | null;
  /** Follows the table's name and a comma: `on which the database user has no right to INSERT`. */
  readonly reason: string;
  /** The table itself is at fault; absent = its user's rights are, or what it is. */
  readonly isBroken?: true;
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
  /**
   * The columns of check and exclusion constraints, also of domains, where the engine tells them; a name may appear
   * several times.
   */
  readonly checks?: readonly UniqueConstraint[];
  /** Statements that a trigger may silently skip for some rows; absent = none. */
  readonly passesOver?: ReadonlySet<WriteKind>;
  /** Triggers change a row after its INSERT or UPDATE has returned it; absent = none do. */
  readonly changesReturned?: boolean;
  /** INSERTs answer the rows that they stored although other statements of the engine do not. */
  readonly insertsReturn?: boolean;
  /** False: the database cannot lock single rows, for example of a view that groups them; absent = it can. */
  readonly locksRows?: false;
  /** Statements that the database refuses for every row, for example INSERT into a view; absent = none. */
  readonly refusals?: readonly TableRefusal[];
  /** False if the engine's storage cannot roll back (MyISAM). */
  readonly transactional: boolean;
  /** `schema.name`: equal for equal tables, however a configuration spells them, and different for all others. */
  readonly identity: string;
  /**
   * Identities of other tables whose rows may change with this one's (cascades, partitions); null = any table, because
   * there are triggers.
   */
  readonly changesWith: readonly string[] | null;
}

/**
 * Where rows are read from: a table or view, or an operator's own query, wrapped as a subquery. `columns`: all that it
 * has.
 */
export type Source =
  | {
      readonly kind: "table";
      readonly schema: string | null;
      readonly name: string;
      /** See `Table`. */
      readonly identity?: string;
      readonly locksRows?: false;
      /** True: it has no rows of its own, and the database keeps no statistics of it; absent = it is a table. */
      readonly isView?: true;
      readonly columns: Columns;
    }
  | {
      readonly kind: "query";
      readonly text: string;
      readonly columns: Columns;
      /** The places of its parameters; absent = it names none. */
      readonly parameters?: QueryParameters;
      /** A value for each place; only the session adds it, for the caller and the request. */
      readonly values?: readonly Scalar[];
    };

/** Where a query of the configuration names parameters of its endpoint. */
export interface QueryParameters {
  /** The endpoint whose `params` they are. */
  readonly endpoint: string;
  /** The SQL around the places: one text more than there are of those. */
  readonly texts: readonly string[];
  /** The parameter of each place; determines how its value is bound. */
  readonly columns: readonly Column[];
}
