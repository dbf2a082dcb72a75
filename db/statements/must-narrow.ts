/** Prevents a DELETE of every row of a table. Checked before a statement runs and when it is printed. */
import type { Condition, Delete } from "../../core/query/statement.ts";

/** Refuses a DELETE of every row of a table: an empty condition is always a mistake. */
export function mustNarrow({ where }: Delete): void {
  if (holdsAlways(where)) throw new Error("A DELETE needs a condition");
}

/** Whether the condition matches every row, whatever the values are. */
const holdsAlways = (condition: Condition): boolean => {
  if (condition.kind === "and") return condition.members.every(holdsAlways);
  return condition.kind === "or" && condition.members.some(holdsAlways);
};
