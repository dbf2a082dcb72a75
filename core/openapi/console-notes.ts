/** What the notes of an endpoint say for the console: its place in the menu, its list, and the names of its steps. */
import {
  type ConsoleOrder,
  type ConsolePlan,
  type ConsoleView,
  namedColumns,
} from "../plans/console-plan.ts";
import type { Entity } from "../plans/entity.ts";
import type { Json } from "../values/json.ts";

/** How an endpoint stands in a menu; what its file does not say is left out. */
export const menuNotes = (plan: ConsolePlan | null): Record<string, Json> => ({
  ...(plan?.label && { label: plan.label }),
  ...(plan?.group && { group: plan.group }),
  ...(plan?.icon && { icon: plan.icon }),
  ...(plan?.isHidden && { hidden: true }),
});

export interface ConsoleUse {
  /** The endpoint as its list shows it to the caller; null: there is none. */
  readonly listing: { readonly entity: Entity; readonly isGrid: boolean } | null;
  /** Whether the caller may change statuses. */
  readonly takesSteps: boolean;
}

/** Null if there is nothing to say. */
export function consoleNotes(
  { console: plan, labels }: Entity,
  { listing, takesSteps }: ConsoleUse,
): Record<string, Json> | null {
  const source = listing && (listing.isGrid ? listing.entity.grid : listing.entity.read);
  const found = (name: string) => source?.columns.get(name) ?? source?.named.get(name);
  const columns = (plan?.columns ?? []).filter((name) => found(name) !== undefined);
  const order = (plan?.order ?? []).filter(({ name }) => found(name) !== undefined);
  const made = listing?.entity.read?.times.create?.name;
  const newest = made !== undefined && source?.columns.has(made) ? [`-${made}`] : [];
  const terms = order.map(termOf);
  // A view that names what the caller does not see would show other records than its name says.
  const views = (plan?.views ?? []).filter(
    (view) => source && namedColumns(view).every((name) => found(name) !== undefined),
  );
  const used = new Set([
    ...columns,
    ...order.map(({ name }) => name),
    ...views.flatMap(namedColumns),
  ]);
  const paths = [...used].flatMap((name): [string, Json][] => {
    const column = source?.columns.has(name) ? undefined : found(name);
    const label = labels.get(name);
    if (column === undefined) return [];
    const { type, scale } = column;
    return [
      [name, { type, ...(label !== undefined && { label }), ...(scale !== null && { scale }) }],
    ];
  });
  const notes = {
    ...menuNotes(plan),
    ...(columns.length > 0 && { columns }),
    ...(terms.length + newest.length > 0 && { order: terms.length > 0 ? terms : newest }),
    ...(takesSteps && plan && plan.steps.size > 0 && { steps: Object.fromEntries(plan.steps) }),
    ...(views.length > 0 && {
      views: views.map((view) => ({
        name: view.name,
        ...(view.where.length > 0 && { where: view.where.map(conditionNote) }),
        ...(view.searchValue !== null && { search_value: view.searchValue }),
        ...(view.order.length > 0 && { order: view.order.map(termOf) }),
        ...(view.columns.length > 0 && { columns: [...view.columns] }),
        ...(Object.keys(view.params).length > 0 && { params: { ...view.params } }),
      })),
    }),
    ...(paths.length > 0 && { paths: Object.fromEntries(paths) }),
  };
  return Object.keys(notes).length > 0 ? notes : null;
}

const termOf = ({ name, isDown }: ConsoleOrder): string => (isDown ? "-" : "") + name;

const conditionNote = ({ key, operator, value }: ConsoleView["where"][number]): Json => ({
  key,
  operator,
  ...(value !== undefined && { value }),
});
