/** What SQLite's planner says of a statement, and the indexes that serve our statements. */
import type { IndexStatements, IndexWish, QueryPlan } from "../../../core/plans/ports.ts";
import type { Connection } from "../engine.ts";
import { indexName, plainTerm, quoted, quotedTable } from "../advised-index.ts";

export async function readPlan(
  connection: Connection,
  text: string,
  params: readonly unknown[],
): Promise<QueryPlan> {
  const { rows } = await connection.run(`explain query plan ${text}`, params, false);
  const steps = rows.map(({ detail }) => String(detail));
  return {
    readsAll: steps.some((step) => step.startsWith("SCAN ")),
    sortsAll: steps.some((step) => step === "USE TEMP B-TREE FOR ORDER BY"),
  };
}

/** No index serves a search within a text: that of FTS5 is another table, which our statements do not read. */
export function indexFor(wish: IndexWish): IndexStatements | null {
  const { column, use } = wish;
  if (use === "contains") return null;
  const purpose = { begins: "search", equals: "equal", sorts: "sort" }[use];
  const create = `create index ${indexName(wish, purpose)} on ${quotedTable(wish.table, '"')}`;
  if (use === "sorts")
    return [`${create} (${wish.order.map((term) => plainTerm(term, '"')).join(", ")})`];
  const name = quoted(column.name, '"');
  // LIKE ignores the case of ASCII letters, so that the index must do the same.
  return [`${create} (${use === "begins" ? `${name} collate nocase` : name})`];
}
