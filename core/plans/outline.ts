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
