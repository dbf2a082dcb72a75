/**
 * The extension SearchPanes: lists of a field's values beside the grid. Selected values of one pane are joined by OR,
 * panes by AND. Each answer contains the options of all configured panes with two counts: `total` of all rows, and
 * `count` of the rows that the request leaves, which is queried only if the page shows it.
 */
import type { Column } from "../values/types/column.ts";
import type { GridPlan } from "../plans/grid-plan.ts";
import { invalidPayload } from "../values/errors.ts";
import { limits } from "../values/limits.ts";
import { isEmptyPath } from "../query/paths.ts";
import { allOf, type Condition } from "../query/statement.ts";
import { isSelected } from "./criterion.ts";
import { type CountValues, htmlLabel } from "./options.ts";
import { isFalse, isTrue, membersOf, placesOf, type Sent } from "./grid-parameters.ts";

export interface Panes {
  /** The condition of each pane in which something is selected. */
  readonly selections: ReadonlyMap<Column, Condition>;
  /** The pane in which something was selected last: its own selection does not narrow its options. */
  readonly last: Column | null;
  /** Whether the page shows what the selection leaves of each option, or only options of which something is left. */
  readonly isRecounted: boolean;
}

/** In the library's form: every value is a text, and a missing value is null. */
export interface PaneOption {
  /** HTML, as in `Option`. */
  readonly label: string;
  readonly value: string | null;
  readonly total: number;
  readonly count: number;
}

/** Panes of columns that are not fields are ignored. Rejects with Invalid payload. */
export function parsePanes(body: Sent, plan: GridPlan): Panes {
  const selections = new Map<Column, Condition>();
  const sent = membersOf(body["searchPanes"], "searchPanes");
  const nulls = membersOf(body["searchPanes_null"], "searchPanes_null");
  let left: number = limits.gridSelectedMax;
  for (const name of new Set([...sent.keys(), ...nulls.keys()])) {
    const column = plan.named.get(name);
    if (column === undefined) continue;
    const [pane, marks] = [sent, nulls].map((all) => placesOf(all.get(name), "A pane"));
    const values = selectedValues(pane!, marks!);
    left -= values.length;
    if (left < 0)
      throw invalidPayload(`searchPanes takes at most ${limits.gridSelectedMax} values`);
    if (values.length > 0) selections.set(column, isSelected(column, values));
  }
  const last = body["searchPanesLast"];
  const options = membersOf(body["searchPanes_options"], "searchPanes_options");
  return {
    selections,
    last: (typeof last === "string" ? plan.named.get(last) : undefined) ?? null,
    isRecounted: isTrue(options.get("cascade")) || isTrue(options.get("viewTotal")),
  };
}

/** The joint selection of all panes; null if nothing is selected. */
export const selectionOf = ({ selections }: Panes): Condition | null =>
  allOf(...selections.values());

/** By field. `rest`: everything else that the request filters by. */
export async function paneOptions(
  columns: readonly Column[],
  { panes, rest, countValues }: { panes: Panes; rest: Condition | null; countValues: CountValues },
): Promise<Record<string, PaneOption[]>> {
  const found = await Promise.all(
    columns.map(async (column): Promise<[string, PaneOption[]]> => {
      if (isEmptyPath(column)) return [column.name, []];
      const where = panes.isRecounted ? filterFor(column, panes, rest) : null;
      const [totals, counts] = await Promise.all([
        countValues(column, null),
        countValues(column, where),
      ]);
      const options = [...totals].map(([value, total]) => ({
        label: htmlLabel(value),
        value,
        total,
        count: counts.get(value) ?? 0,
      }));
      return [column.name, options];
    }),
  );
  return Object.fromEntries(found);
}

/** The filter of a pane's own counts. */
function filterFor(
  column: Column,
  { selections, last }: Panes,
  rest: Condition | null,
): Condition | null {
  const others = [...selections].filter(([own]) => own !== column || own !== last);
  return allOf(rest, ...others.map(([, condition]) => condition));
}

/** The library marks 0 and false as null too, although they are ordinary values. */
function selectedValues(
  values: ReadonlyMap<string, unknown>,
  nulls: ReadonlyMap<string, unknown>,
): unknown[] {
  const marked = [...nulls.keys()].filter((place) => isTrue(nulls.get(place)));
  return [...new Set([...values.keys(), ...marked])].map((place) => {
    const value = values.get(place) ?? null;
    const isValue = isFalse(value) || value === 0 || value === "0" || !marked.includes(place);
    return isValue ? value : null;
  });
}
