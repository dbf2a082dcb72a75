/** What a database reports about itself: its tables and views, their columns, and the columns that a query returns. */
import type { Computation } from "../query/statement.ts";
import type { Column, IncomingKey, Table } from "../values/types/column.ts";
import type { TextIndexAnswer, TextIndexWish } from "../values/types/text-index.ts";

/** The database's metadata about its tables and the columns that a query returns. */
export interface Catalog {
  /** `name` or `schema.name`; null when there is no such table or view. */
  table(name: string): Promise<Table | null>;
  /** The same catalog for several questions at once: metadata about all tables is read only once. */
  together(): Catalog;
  /** The foreign keys of all tables, this one included, that point at the table. */
  referencesTo(table: Pick<Table, "schema" | "name">): Promise<readonly IncomingKey[]>;
  /** The columns that the query returns, without reading rows. Rejects with an Error with the database's message. */
  query(text: string): Promise<readonly Column[]>;
  /** The same for a query around the places of parameters, each of which is bound as that column's values are. */
  parameterQuery(
    texts: readonly string[],
    parameters: readonly Column[],
  ): Promise<readonly Column[]>;
  /** The full-text index of a table, or how to make it. */
  textIndex(table: Table, wish: TextIndexWish): Promise<TextIndexAnswer>;
  /** Whether the database computes the formula with every digit, whatever values its columns hold. */
  computes(calculation: Computation): boolean;
  /** Whether an INSERT answers the row that it stored, without a key to read it back by. */
  readonly answersStoredRows: boolean;
  /**
   * The procedures and functions of that name (`name` or `schema.name`); several where they differ in their parameters.
   * Null: the database has no procedures.
   */
  routines(name: string): Promise<readonly Routine[] | null>;
  /** Names of all tables and views of the default schema, for "did you mean". */
  names(): Promise<readonly string[]>;
  /** Schemas with tables or views that the user can read, default one first. Empty if the database has no schemas. */
  schemas(): Promise<readonly string[]>;
  /** The tables and views of these schemas; if the list is empty, only those of the default one. */
  outline(schemas: readonly string[]): Promise<readonly Outline[]>;
}

/** A procedure or function of the database. */
export interface Routine {
  readonly parameters: readonly RoutineParameter[];
  /** The statements that call it, with values for the parameters that have these names. */
  callTexts(given: readonly string[]): readonly CallText[];
}

export interface RoutineParameter {
  /** Null: it has none. */
  readonly name: string | null;
  readonly mode: "in" | "out" | "inout";
  /** It may be left out. */
  readonly hasDefault: boolean;
}

/** The text of a statement around the places of its values. */
export interface CallText {
  readonly texts: readonly string[];
  /** For each place, which of the given values it takes. */
  readonly order: readonly number[];
}

/** A table or view in a list of all; `Catalog.table` returns the rest. */
export interface Outline {
  /** Null = the connection's default schema. */
  readonly schema: string | null;
  readonly name: string;
  /** Materialised views count as views. */
  readonly kind: "table" | "view";
  /** The comment in the database; null = none. */
  readonly comment: string | null;
  /** By column. */
  readonly columnComments: ReadonlyMap<string, string>;
  /** The conditions of its check constraints, as the engine writes them. */
  readonly checks: readonly string[];
}
