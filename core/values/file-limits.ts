/** Limits of the files of records, with their units. */
export const fileLimits = {
  /** Files of one field of a record. */
  ofFieldMax: 100,
  /** Characters of the name of a file. */
  nameLengthMax: 200,
  /** Files of one caller that were uploaded and belong to no record yet. */
  claimsMax: 1_000,
  /** How long such a file is kept. */
  claimMs: 86_400_000,
  /** Files that one look for expired ones removes before it asks again. */
  sweptAtOnce: 100,
  /** Bytes at the beginning of a file by which its type is found out. */
  headBytes: 65_536,
} as const;
