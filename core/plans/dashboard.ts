/** The figures of a project's page: requests to its endpoints, and how their answers are drawn. */

export const tileForms = ["number", "line", "bar", "table"] as const;
export type TileForm = (typeof tileForms)[number];

export interface Dashboard {
  readonly title: string;
  readonly tiles: readonly Tile[];
}

/** A request, and how its answer is drawn. */
export interface Tile {
  readonly title: string;
  readonly endpoint: string;
  readonly action: "read" | "aggregate";
  /** The body of the request. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly show: TileForm;
  /** Of all numbers, as `€` or `kg`. Absent: none. */
  readonly unit?: string | undefined;
  /** Headings of the answer's columns, by their names. */
  readonly labels: Readonly<Record<string, string>>;
  /** The column along the axis, and the columns of numbers: of a line or bars of `read`, else absent. */
  readonly x?: string | undefined;
  readonly y?: readonly string[] | undefined;
  /** Whether it takes the whole width of the page. */
  readonly wide: boolean;
}
