/** Names and parts of indexes in statements that are advised to the operator. */
import { type Quote, quoted } from "../statements/quoted.ts";
import type { Column } from "../../core/values/types/column.ts";
import { hashOf } from "../../core/values/hash.ts";
import type { Sort } from "../../core/query/statement.ts";
import type { IndexWish } from "../../core/plans/index-wish.ts";

/** Short enough for every engine: `goods_name_search`, or a hash where that would be too long. */
export function indexName(
  wish: Pick<IndexWish, "table" | "column" | "others">,
  purpose: string,
): string {
  const parts = [wish.table, ...indexedColumns(wish)].map((part) => part.name);
  const name = `${parts.join("_")}_${purpose}`.replace(/\W+/g, "_").toLowerCase();
  return name.length <= 60 ? name : `${name.slice(0, 40)}_${hashOf(name)}`.slice(0, 60);
}

/** All columns of an index without an explicit order. */
export const indexedColumns = ({
  column,
  others = [],
}: Pick<IndexWish, "column" | "others">): readonly Column[] => [column, ...others];

/** A part of an index in an engine that cannot choose where nulls sort. */
export const plainTerm = ({ column, direction }: Sort, quote: Quote): string =>
  `${quoted(column.name, quote)}${direction === "desc" ? " desc" : ""}`;
