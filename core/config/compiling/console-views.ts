/** `console.views`: conditions and parameters of a list that people open by its name. */
import type { ConsoleView } from "../../plans/console-plan.ts";
import { condition } from "../../query/where.ts";
import { AppError } from "../../values/errors.ts";
import { accept } from "../../values/types/accept.ts";
import type { Column, Columns } from "../../values/types/column.ts";
import type { Path } from "../reading/faults.ts";
import type { Survey } from "./survey.ts";

export interface ViewPlace {
  readonly known: Columns;
  readonly path: Path;
}

export const viewPath = ({ name }: ConsoleView): Path => ["console", "views", name];

/** Columns and order of a view are those of any list, which is checked elsewhere. Paths are left to `named-paths.ts`. */
export function checkView(survey: Survey, view: ConsoleView, { known, path }: ViewPlace): void {
  const { where } = view;
  for (const [at, { key }] of where.entries()) {
    const place = [...path, "where", at];
    const column = survey.column(key, known, [...place, "key"], "what its lists show");
    if (where.findIndex((one) => one.key === key) < at)
      survey.fault([...place, "key"], { expected: "one condition for each column" });
    else if (column !== null && column.via === undefined)
      checkViewCondition(survey, { column, condition: where[at]!, path: place });
  }
  checkParams(survey, view, path);
}

/** Whether a filter of a list can say it: to be called with the columns of paths once they are known. */
export function checkViewCondition(
  survey: Survey,
  { column, condition: asked, path }: ViewCondition,
): void {
  const { operator, value } = asked;
  const ranged = ["integer", "decimal", "float", "date", "timestamp", "time"].includes(column.type);
  const single = ["text", "boolean", "uuid"].includes(column.type);
  if (operator !== "IS NULL" && !ranged && !(single && operator === "=")) {
    const takes = single ? "= or IS NULL" : "IS NULL";
    survey.fault([...path, "operator"], {
      found: `${operator} with a ${column.type} column`,
      expected: `${takes}, because lists filter such a column by nothing else`,
    });
    return;
  }
  const days = [value].flat().filter((one) => !/^\d{4}-\d\d-\d\d$/.test(String(one)));
  if (column.type === "timestamp" && operator !== "IS NULL" && days.length > 0) {
    survey.fault([...path, "value"], { expected: "a day, such as 2026-03-14" });
    return;
  }
  try {
    condition(new Map([[asked.key, column]])).read(asked);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    survey.fault(path, { expected: `a valid condition (${error.message})` });
  }
}

interface ViewCondition {
  readonly column: Column;
  readonly condition: ConsoleView["where"][number];
  readonly path: Path;
}

function checkParams(survey: Survey, { params }: ConsoleView, path: Path): void {
  for (const [name, value] of Object.entries(params)) {
    const place = [...path, "params", name];
    const column = survey.column(name, survey.params, place, "the endpoint's params");
    const accepted = column && accept(column, value);
    if (accepted && !accepted.ok)
      survey.fault(place, { expected: `a value that ${accepted.message}` });
  }
}
