/** The setting `console`: what the console shows of an endpoint first. It changes nothing that callers may do. */
import { switchedOn } from "../../actions.ts";
import type { ConsoleOrder, ConsolePlan, ConsoleView } from "../../plans/console-plan.ts";
import type { GridPlan } from "../../plans/grid-plan.ts";
import type { ReadPlan } from "../../plans/read-plan.ts";
import { columnTypes } from "../../values/types/column-types.ts";
import { checkView, type ViewPlace, viewPath } from "./console-views.ts";
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
  const isListed = action["datatables"] === true || action["read"] === true;
  for (const property of ["columns", "order", "views"] as const)
    if (!isListed && Object.keys(asked[property]).length > 0)
      survey.fault(["console", property], {
        expected: "the action read or datatables, because there is no list without them",
      });
  const views = Object.entries(asked.views).map(
    ([name, { search_value: searchValue = null, where, params, ...view }]): ConsoleView => ({
      name,
      searchValue,
      where,
      params,
      ...listOf(view),
    }),
  );
  const listing = action["datatables"] === true ? grid : read;
  if (isListed && listing) {
    const known = withPathsOf(survey, listing.columns);
    checkList(survey, listOf(asked), { known, path: ["console"] });
    for (const view of views) {
      const path = viewPath(view);
      checkList(survey, view, { known, path });
      checkView(survey, view, { known, path });
    }
  }
  const steps = new Map(Object.entries(asked.steps));
  if (steps.size > 0 && switchedOn(action, ({ name }) => name === "change-status").length === 0)
    survey.fault(["console", "steps"], {
      expected: "the action change-status, because there are no buttons without it",
    });
  return { label, group, icon, isHidden, ...listOf(asked), views, steps };
}

type List = Pick<ConsolePlan, "columns" | "order">;

const listOf = (asked: { columns: readonly string[]; order: readonly string[] }): List => ({
  columns: [...new Set(asked.columns)],
  order: asked.order.map((text): ConsoleOrder => ({
    name: text.replace(/^-/, ""),
    isDown: text.startsWith("-"),
  })),
});

function checkList(survey: Survey, { columns, order }: List, { known, path }: ViewPlace): void {
  survey.columns(columns, known, [...path, "columns"], "what its lists show");
  for (const [at, { name }] of order.entries()) {
    const column = survey.column(name, known, [...path, "order", at], "what its lists show");
    if (column === null || column.via !== undefined || columnTypes[column.type].isSorted) continue;
    survey.fault([...path, "order", at], {
      found: `${JSON.stringify(name)}, a ${column.type} column`,
      expected: "a column of a type that can be sorted",
    });
  }
}
