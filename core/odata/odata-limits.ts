/** Limits of OData. Those that it shares with the other reading actions are in `core/values/limits.ts`. */
export const odataLimits = {
  /** Records of a page, if the client names no size. */
  pageDefault: 1_000,
  /** The same, if lists of related records are in them. */
  expandedPageDefault: 100,
  /** Words and phrases of one `$search`. */
  searchTermsMax: 20,
} as const;
