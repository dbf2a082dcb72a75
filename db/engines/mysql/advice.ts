/** What the planner of MySQL and MariaDB says of a statement, and the indexes that serve our statements. */
import type { IndexStatements, IndexWish, QueryPlan } from "../../../core/plans/ports.ts";
import type { Connection } from "../engine.ts";
import { indexName, plainTerm, quotedTable } from "../advised-index.ts";

export async function readPlan(
  connection: Connection,
  text: string,
  params: readonly unknown[],
): Promise<QueryPlan> {
  const { rows } = await connection.run(`explain ${text}`, params, false);
  return {
    // An index that could serve is not advised again where the planner finds that reading all is as quick.
    readsAll: rows.some(
      ({ type, possible_keys: usable }) => /^(?:all|index)$/i.test(String(type)) && usable === null,
    ),
    sortsAll: rows.some(({ Extra }) => String(Extra ?? "").includes("Using filesort")),
  };
}

/** FULLTEXT finds words, not texts within a text: no index serves that. The beginning of a text is found where the column ignores case. */
export function indexFor(wish: IndexWish): IndexStatements | null {
  const { column, use } = wish;
  if (use === "contains" || (use === "begins" && column.ignoresCase !== true)) return null;
  // An index would hold the beginning of such a text alone, and sort by nothing else.
  const terms = wish.order.length > 0 ? wish.order : [{ column, direction: "asc" as const }];
  if (terms.some((term) => /text|blob|json|geometry/i.test(term.column.native))) return null;
  const parts = terms.map((term) => plainTerm(term, "`"));
  return [
    `create index ${indexName(wish, use === "equals" ? "equal" : "sort")} on ${quotedTable(wish.table, "`")} (${parts.join(", ")})`,
  ];
}
