/**
 * Which tables the database itself changes when one of them is written. Followed from table to table: a deleted order
 * deletes its lines, and these delete theirs.
 */

/** Tables by their identity. */
export interface TableLinks {
  /** A change of `from` may change rows of `to`. */
  readonly links: readonly { readonly from: string; readonly to: string }[];
  /** Tables with triggers, which may change anything. */
  readonly triggered: ReadonlySet<string>;
}

/** The other tables that change with this one; null when a trigger may change any. */
export function changesWith(
  table: string,
  { links, triggered }: TableLinks,
): readonly string[] | null {
  const reached = new Set([table]);
  // Iterating over a Set includes the items that are added meanwhile.
  for (const from of reached) {
    for (const link of links) if (link.from === from) reached.add(link.to);
  }
  if ([...reached].some((one) => triggered.has(one))) return null;
  reached.delete(table);
  return [...reached];
}
