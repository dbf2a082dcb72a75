/** Headers and their lines: which tables clearly are the lines of another one. */
import type { ForeignKey, Table } from "../values/types/column.ts";
import { singular, wordsOf } from "./name-words.ts";

/** The lines of one header. */
export interface Lines {
  readonly table: Table;
  readonly foreignKey: ForeignKey;
}

const lineWords: ReadonlySet<string> = new Set([
  "line",
  "item",
  "detail",
  "row",
  "position",
  "entry",
  "line item",
]);

/** `sales_order_header` has `sales_order_detail`. */
const headWords: ReadonlySet<string> = new Set(["header", "head"]);

/** By the identity of the header. */
export function linesByHeader(tables: readonly Table[]): Map<string, Lines[]> {
  const byIdentity = new Map(tables.map((table) => [table.identity, table]));
  const found = new Map<string, Lines[]>();
  for (const table of tables) {
    for (const foreignKey of table.foreignKeys) {
      const header = byIdentity.get(foreignKey.referencedIdentity);
      if (!header || header === table || !isHeader(header, foreignKey)) continue;
      if (!areLines(table, { header, foreignKey })) continue;
      found.set(header.identity, [...(found.get(header.identity) ?? []), { table, foreignKey }]);
    }
  }
  return found;
}

/** A document is named by a key of one column, and its lines point at that. */
const isHeader = ({ primaryKey }: Table, { columns, referencedColumns }: ForeignKey): boolean =>
  columns.length === 1 && primaryKey.length === 1 && referencedColumns[0] === primaryKey[0];

/** `stock_receipt_lines` of `stock_receipts`, `OrderDetail` of `Order`. */
function areLines(
  table: Table,
  { header, foreignKey }: { header: Table; foreignKey: ForeignKey },
): boolean {
  const { primaryKey } = table;
  const holdsHeader = primaryKey.length > 1 && primaryKey.includes(foreignKey.columns[0] ?? "");
  if (primaryKey.length !== 1 && !holdsHeader) return false;
  const own = wordsOf(table.name).map(singular);
  const head = wordsOf(header.name)
    .map(singular)
    .filter((word, at, { length }) => at < length - 1 || at === 0 || !headWords.has(word));
  const rest = own.slice(head.length).join(" ");
  return head.every((word, at) => own[at] === word) && lineWords.has(rest);
}
