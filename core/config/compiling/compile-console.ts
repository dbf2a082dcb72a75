/** The setting `console`: what the console shows of an endpoint first. It changes nothing that callers may do. */
import { switchedOn } from "../../actions.ts";
import type { ConsolePlan } from "../../plans/console-plan.ts";
import type { GridPlan } from "../../plans/grid-plan.ts";
import type { ReadPlan } from "../../plans/read-plan.ts";
import { columnTypes } from "../../values/types/column-types.ts";
import { withPathsOf } from "./named-paths.ts";
import type { Survey } from "./survey.ts";

/** Null where the file says nothing of it. Paths are checked once all endpoints are known. */
export function consoleOf(
  survey: Survey,
  { grid, read }: { readonly grid: GridPlan | null; readonly read: ReadPlan | null },
): ConsolePlan | null {
  const { console: asked, action } = survey.payload;
  if (asked === undefined) return null;
  const { label = null, group = null, icon = null, hidden: isHidden } = asked;
  const columns = [...new Set(asked.columns)];
  const order = asked.order.map((text) => ({
    name: text.replace(/^-/, ""),
    isDown: text.startsWith("-"),
  }));
  const isListed = action["datatables"] === true || action["read"] === true;
  for (const property of ["columns", "order"] as const)
    if (!isListed && asked[property].length > 0)
      survey.fault(["console", property], {
        expected: "the action read or datatables, because there is no list without them",
      });
  const listing = action["datatables"] === true ? grid : read;
  if (isListed && listing) {
    const known = withPathsOf(survey, listing.columns);
    survey.columns(asked.columns, known, ["console", "columns"], "what its lists show");
    for (const [at, { name }] of order.entries()) {
      const path = ["console", "order", at];
      const column = survey.column(name, known, path, "what its lists show");
      if (column === null || column.via !== undefined || columnTypes[column.type].isSorted)
        continue;
      survey.fault(path, {
        found: `${JSON.stringify(name)}, a ${column.type} column`,
        expected: "a column of a type that can be sorted",
      });
    }
  }
  const steps = new Map(Object.entries(asked.steps));
  if (steps.size > 0 && switchedOn(action, ({ name }) => name === "change-status").length === 0)
    survey.fault(["console", "steps"], {
      expected: "the action change-status, because there are no buttons without it",
    });
  return { label, group, icon, isHidden, columns, order, steps };
}
