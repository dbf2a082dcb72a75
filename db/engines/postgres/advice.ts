/** What PostgreSQL's planner reports about a statement, and the indexes that serve our statements. */
import { quoted, quotedTable } from "../../statements/quoted.ts";
import type { IndexStatements, IndexWish } from "../../../core/plans/index-wish.ts";
import type { QueryPlan } from "../../../core/plans/db-port.ts";
import type { Sort } from "../../../core/query/statement.ts";
import { type Connection, rowsFor } from "../engine.ts";
import { indexedColumns, indexName } from "../advised-index.ts";

interface PlanNode {
  readonly "Node Type": string;
  readonly "Index Cond"?: string;
  readonly Plans?: readonly PlanNode[];
}

/**
 * Plans without sequential scans. Otherwise an index that exists would be advised again if the planner finds that
 * reading the whole table is as fast.
 */
export async function readPlan(
  connection: Connection,
  text: string,
  params: readonly unknown[],
): Promise<QueryPlan> {
  await rowsFor(connection, "begin");
  try {
    await rowsFor(connection, "set local enable_seqscan = off");
    const rows = await rowsFor(connection, `explain (format json) ${text}`, params);
    const told = rows[0]!["QUERY PLAN"];
    const [{ Plan }] = (typeof told === "string" ? JSON.parse(told) : told) as [{ Plan: PlanNode }];
    const nodes = nodesOf(Plan);
    return {
      readsAll: nodes.some(readsAll),
      sortsAll: nodes.some((node) => node["Node Type"] === "Sort"),
    };
  } finally {
    await rowsFor(connection, "rollback");
  }
}

const readsAll = (node: PlanNode): boolean =>
  node["Node Type"] === "Seq Scan" ||
  (/^(?:Bitmap )?Index (?:Only )?Scan$/.test(node["Node Type"]) &&
    node["Index Cond"] === undefined);

const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

/**
 * Trigrams serve LIKE without case in the collation of the column, from three characters on. Searches from the beginning
 * use the range of `like.ts`, from one letter on.
 */
export function indexFor(wish: IndexWish): IndexStatements | null {
  const { column, use } = wish;
  const name = quoted(column.name, '"');
  const purpose = purposes[use];
  const create = `create index concurrently ${indexName(wish, purpose)} on ${quotedTable(wish.table, '"')}`;
  if (use === "equals") return [`${create} (${name})`];
  if (use === "sorts") return [`${create} (${wish.order.map(sortTerm).join(", ")})`];
  const columns = indexedColumns(wish);
  if (!columns.every(({ native }) => /^(?:text|character varying|varchar)/.test(native)))
    return null;
  // With the order behind it, the first matches are found without sorting.
  if (use === "begins") {
    const behind = wish.order.filter((term) => term.column !== column).map(sortTerm);
    return [`${create} (${[`lower(${name}) text_pattern_ops`, ...behind].join(", ")})`];
  }
  const terms = columns.map((each) => `${quoted(each.name, '"')} gin_trgm_ops`);
  return ["create extension if not exists pg_trgm", `${create} using gin (${terms.join(", ")})`];
}

/** In the syntax of ORDER BY. */
function sortTerm({ column, direction }: Sort): string {
  const name = quoted(column.name, '"');
  if (!column.nullable) return direction === "asc" ? name : `${name} desc`;
  return direction === "asc" ? `${name} nulls first` : `${name} desc nulls last`;
}

const purposes: Readonly<Record<IndexWish["use"], string>> = {
  contains: "search",
  begins: "search",
  equals: "equal",
  sorts: "sort",
};
