/** Keeps a DELETE from taking every row of a table. Asked before one is run, and when one is walked. */
import type { Condition, Delete } from "../../core/query/statement.ts";

/** Refuses to delete every row of a table: an empty condition is a mistake, never a wish. */
export function mustNarrow({ where }: Delete): void {
  if (holdsAlways(where)) throw new Error("A DELETE needs a condition");
}

/** Whether the condition leaves out no row, whatever the values are. */
const holdsAlways = (condition: Condition): boolean => {
  if (condition.kind === "and") return condition.members.every(holdsAlways);
  return condition.kind === "or" && condition.members.some(holdsAlways);
};
