/**
 * Full-text indexes and what is searched in them. `core/query/full-text.ts` reads a request's text; each engine's
 * `full-text.ts` finds its index in the catalog and prints the search.
 */
import { type Column, derivedColumn } from "./column.ts";

/** A full-text index of a table. */
export interface TextIndex {
  /** The columns that it covers. */
  readonly columns: readonly Column[];
  /** What the engine needs to search in it; only `db/` looks at it. */
  readonly parts: Readonly<Record<string, string | number>>;
  /** Stands for the rank of a row in an order. */
  readonly rank: Column;
}

export const textIndexOf = (columns: readonly Column[], parts: TextIndex["parts"]): TextIndex => ({
  columns,
  parts,
  rank: derivedColumn("rowgate_rank", "float", {}),
});

/** What an index is wanted for. */
export interface TextIndexWish {
  /** Columns of the table, of texts. */
  readonly columns: readonly Column[];
  /** The language whose inflections are found, as PostgreSQL names it; `simple`: none. */
  readonly language: string;
}

/** The index, or how to make it. */
export type TextIndexAnswer =
  | { readonly index: TextIndex }
  /** SQL for the operator, to be run in this order, each statement without its final semicolon. */
  | { readonly statements: readonly string[] }
  /** Why there can be none: `columns whose collations ignore case`, `a table with rowids`. */
  | { readonly expected: string };

/** Words that stand one after the other, or one word. */
export interface TextTerm {
  /** At least one: letters, digits, marks and underscores, with a letter or digit among them. */
  readonly words: readonly string[];
  /** The last word is the beginning of one. */
  readonly isPrefix: boolean;
  /** It must not occur. */
  readonly isNegated: boolean;
}

/** Every term must be met. */
export interface TextSearch {
  readonly index: TextIndex;
  /** At least one. */
  readonly terms: readonly TextTerm[];
}
