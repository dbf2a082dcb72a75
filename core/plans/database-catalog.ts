/** What a database says of itself: its tables and views, their columns, and what a query gives. `db/` implements `Catalog`. */
import type { Computation } from "../query/statement.ts";
import type { Column, IncomingKey, Table } from "../values/column.ts";

/** What the database says of its tables and of the columns that a query gives. */
export interface Catalog {
  /** `name` or `schema.name`; null when there is no such table or view. */
  table(name: string): Promise<Table | null>;
  /** The same catalog for questions that are asked together: what concerns all tables is read once. */
  together(): Catalog;
  /** The foreign keys of all tables, this one included, that point at the table. */
  referencesTo(table: Pick<Table, "schema" | "name">): Promise<readonly IncomingKey[]>;
  /** The columns that the query gives, without reading rows. Rejects with an Error that says what the database said. */
  query(text: string): Promise<readonly Column[]>;
  /** The same for a query around the places of a parameter, which is bound as that column's values are. */
  parameterQuery(texts: readonly string[], parameter: Column): Promise<readonly Column[]>;
  /** Whether the database computes the formula with every digit, whatever values its columns hold. */
  computes(calculation: Computation): boolean;
  /** Whether an INSERT answers the row that it stored, without a key to read it back by. */
  readonly answersStoredRows: boolean;
  /** Names of all tables and views of the default schema, for "did you mean". */
  names(): Promise<readonly string[]>;
  /** Schemas with tables or views that the user may read, the default one first; empty where a database has no schemas. */
  schemas(): Promise<readonly string[]>;
  /** The tables and views of these schemas; of the default one alone when the list is empty. */
  outline(schemas: readonly string[]): Promise<readonly Outline[]>;
}

/** What a list of the tables and views of a database says of each; `Catalog.table` says the rest. */
export interface Outline {
  /** Null = the connection's default schema. */
  readonly schema: string | null;
  readonly name: string;
  /** Materialised views count as views. */
  readonly kind: "table" | "view";
  /** What the database's authors wrote about it; null = nothing. */
  readonly comment: string | null;
  /** By column. */
  readonly columnComments: ReadonlyMap<string, string>;
  /** The conditions of its check constraints, as the engine writes them. */
  readonly checks: readonly string[];
}
