/**
 * A formula as a tree: `core/query/formula.ts` parses it from text, statements carry it, engines print it.
 */

export type Term =
  /** Canonical digits, never negative. */
  | { readonly kind: "number"; readonly digits: string }
  | { readonly kind: "column"; readonly name: string }
  | {
      readonly kind: "operation";
      readonly operator: "+" | "-" | "*" | "/";
      readonly left: Term;
      readonly right: Term;
    };

export interface Formula {
  readonly text: string;
  readonly root: Term;
  /** The columns that it names, each once. */
  readonly names: readonly string[];
}
