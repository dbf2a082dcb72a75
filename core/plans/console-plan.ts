/** How the console shows an endpoint: its place in the menu, its list as people first see it, its workflow. */
import type { Json } from "../values/json.ts";

/** The icons that the console can draw. */
export const iconNames = [
  "box",
  "building",
  "calendar",
  "cart",
  "chart",
  "coins",
  "document",
  "folder",
  "gear",
  "mail",
  "map",
  "people",
  "person",
  "phone",
  "receipt",
  "star",
  "table",
  "tag",
  "tool",
  "truck",
] as const;

export interface ConsolePlan {
  /** Null: made of the endpoint's name. */
  readonly label: string | null;
  readonly group: string | null;
  readonly icon: (typeof iconNames)[number] | null;
  /** Left out of the menu; what callers may do stays. */
  readonly isHidden: boolean;
  /** Names of columns, and paths, that a list shows first; empty: the console chooses. */
  readonly columns: readonly string[];
  /** Empty: the newest first, where that is known. */
  readonly order: readonly ConsoleOrder[];
  /** Verbs for the buttons that lead to a status, by the status. */
  readonly steps: ReadonlyMap<string, string>;
  readonly views: readonly ConsoleView[];
}

/** Comparisons that a list can show as the filter of a column. */
export const viewOperators = ["=", ">", ">=", "<", "<=", "BETWEEN", "IS NULL"] as const;

/** A list with filters, order and columns of its own, which people open by its name. */
export interface ConsoleView {
  readonly name: string;
  /** All of them hold; one for each column. */
  readonly where: readonly {
    readonly key: string;
    readonly operator: (typeof viewOperators)[number];
    readonly value?: Json | undefined;
  }[];
  readonly searchValue: string | null;
  /** Empty: as the list is first shown. */
  readonly columns: readonly string[];
  readonly order: readonly ConsoleOrder[];
  /** Of an endpoint whose own SQL takes values. */
  readonly params: Readonly<Record<string, string | number | boolean>>;
}

/** The columns, and paths, that a view names. */
export const namedColumns = ({ where, columns, order }: ConsoleView): string[] => [
  ...where.map(({ key }) => key),
  ...columns,
  ...order.map(({ name }) => name),
];

export interface ConsoleOrder {
  readonly name: string;
  readonly isDown: boolean;
}

/** Of an endpoint whose file says nothing of it. */
export const plainPlan: ConsolePlan = {
  label: null,
  group: null,
  icon: null,
  isHidden: false,
  columns: [],
  order: [],
  steps: new Map(),
  views: [],
};
