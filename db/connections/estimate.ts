/**
 * The number of rows of a list without counting them. A planner knows the rows of a table, but not those that a condition leaves: it guesses
 * at texts within texts, and at what conditions have to do with each other. So these are counted in a sample of the table.
 */
import type { Count } from "../../core/query/statement.ts";
import type { Dialect } from "../statements/dialect.ts";
import type { Execute } from "./execute.ts";

/** Rows of a sample at least; it has up to twice as many. */
const sampleRowsMin = 16_384;
/**
 * Blocks in which a sample must find rows. Rows that belong together are often in the same block, so it is their blocks that count: with 40 of
 * them, the result is within a factor of two but for one case in thousands.
 */
const foundBlocksMin = 40;

/**
 * Null where an estimate could be wrong by more than a factor of two, or where counting costs no more. Rejects as the statements do: a server
 * may refuse EXPLAIN for what it lets us read.
 */
export async function estimateOf(
  { source, where }: Count,
  { dialect, read }: { readonly dialect: Dialect; readonly read: Execute },
): Promise<number | null> {
  const { estimate } = dialect;
  if (estimate === undefined) return null;
  const isTable = source.kind === "table" && source.isView !== true;
  if (where !== null && (estimate.samples === undefined || !isTable)) return null;
  const expected = estimate.read((await read({ kind: "estimate", source, where: null })).rows);
  if (where === null) return expected;
  const halvings = Math.floor(Math.log2(expected / sampleRowsMin));
  // Half of a table takes nearly as long as all of it.
  if (halvings < 2) return null;
  const { rows } = await read({ kind: "sample", source, where, halvings });
  const sample = rows[0]!;
  if (Number(sample["blocks"]) < foundBlocksMin) return null;
  return Math.round((Number(sample["found"]) / Number(sample["rows"])) * expected);
}
