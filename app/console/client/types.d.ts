/** Types of the console's modules, for the compiler that checks their JSDoc. */

export interface Reference {
  endpoint: string;
  field: string;
}

/** What `x-rowgate` in the OpenAPI document says of a field. */
export interface FieldNote {
  type: string;
  label?: string;
  scale?: number;
  references?: Reference;
}

/** How the records of an endpoint lead to others. */
export interface RelationNote {
  endpoint: string;
  /** Absent: to one. */
  many?: true;
  /** The own columns, and those that they are equal to: there, or with `through` in the records between. */
  columns: Record<string, string>;
  /** The records between; their columns, and those of the other records. */
  through?: { endpoint: string; columns: Record<string, string> };
  key: string[];
  titleField?: string;
  /** Of what names the other record. */
  label?: string;
}

export interface Relation extends RelationNote {
  name: string;
}

/** How an endpoint stands in the menu. */
export interface MenuNote {
  label?: string;
  group?: string;
  icon?: string;
  hidden?: true;
}

/** What the console is told to show of an endpoint first. */
export interface ConsoleNote extends MenuNote {
  columns?: string[];
  /** `["-created_at"]` */
  order?: string[];
  views?: ViewNote[];
  /** Columns of related records, by path. */
  paths?: Record<string, FieldNote>;
  /** Verbs for the buttons that lead to a status. */
  steps?: Record<string, string>;
}

/** A list that people open by its name, in the words of `read`. */
export interface ViewNote {
  name: string;
  where?: Condition[];
  search_value?: string;
  order?: string[];
  columns?: string[];
  params?: Record<string, unknown>;
}

export interface Field extends FieldNote {
  /** A field of the records, or the path of what names a related record: `customer.name`. */
  name: string;
  label: string;
  /** Of a path that names a related record: where it leads. */
  relation?: Relation & { titleField: string };
  /** Whether it is another column of a related record. */
  isPath?: true;
}

export interface LinesNote {
  name: string;
  endpoint: string | null;
  key: string[];
  /** Absent: the caller does not see it. */
  foreignKey?: string;
  shown: string[];
  fields: Record<string, FieldNote>;
  computed: string[];
  totals: string[];
  /** Absent: there are no formulas of which the caller sees the operands. */
  calculation?: {
    detail: Record<string, Term>;
    header: Record<string, Term>;
    /** Operands that the service or the database may fill in another way. */
    filled: string[];
  };
}

/** A column, or `["round", ["*", "quantity", "price"], 2]`; digits are `["value", "0.19"]`. */
export type Term = string | [string, ...(Term | number)[]];

export interface EntityNotes {
  project: string;
  endpoint: string;
  key: string[];
  fields: Record<string, FieldNote>;
  titleField?: string;
  relations?: Record<string, RelationNote>;
  referencedBy?: Reference[];
  status?: { field: string; transitions?: Record<string, string[]> | null; closed?: string[] };
  adjust?: { reasonRequired: boolean };
  deletedField?: string | null;
  lines?: LinesNote[];
  live?: true;
  console?: ConsoleNote;
}

export interface Lines extends Omit<LinesNote, "fields"> {
  fields: Map<string, Field>;
}

/** JSON Schema, as far as the console reads it. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  maxItems?: number;
  anyOf?: Schema[];
  allOf?: Schema[];
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  format?: string;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  readOnly?: boolean;
}

/** One endpoint, as the caller may use it. */
export interface Entity {
  project: string;
  endpoint: string;
  title: string;
  /** `api/demo/products` */
  path: string;
  actions: Set<string>;
  key: string[];
  /** Those of the records, and what names related records, by path. */
  fields: Map<string, Field>;
  /** What lists can show, in order: a related record's name in the place of its key. */
  columns: string[];
  /** What lists show first; empty: the console chooses. */
  firstColumns: string[];
  firstOrder: Order[];
  views: ViewNote[];
  /** The fields of the records in lists. */
  listed: string[];
  /** What `read` answers. */
  read: string[];
  /** What one record shows, in order. */
  shown: string[];
  /** The field that names a record to people. */
  titleField: string | null;
  relations: Map<string, Relation>;
  referencedBy: Reference[];
  status: {
    field: string;
    transitions?: Record<string, string[]> | null;
    closed?: string[];
  } | null;
  /** Verbs for the buttons that lead to a status; the others show the status. */
  steps: Map<string, string>;
  adjust: { reasonRequired: boolean; fields: string[] } | null;
  /** The field that says that a record is deleted; null: none does. */
  deletedField: string | null;
  lines: Lines[];
  /** Whether a stream tells of what others change. */
  isLive: boolean;
  /** The schema of an action's body, without `$ref` at its top. */
  body(action: string): Schema | null;
  deref(schema: Schema | undefined): Schema;
}

export interface Order {
  field: string;
  isDown: boolean;
}

export type Row = Record<string, unknown>;

export interface Condition {
  key: string;
  operator: string;
  value?: unknown;
  sensitive?: boolean;
  /** Of a condition on related records. */
  where?: { conditions: (Condition | Group)[] };
}

export interface Group {
  logic: "AND" | "OR";
  conditions: (Condition | Group)[];
}

/** A column of the answer to a tile of a dashboard, or to a chart. */
export interface AnswerColumn {
  name: string;
  label: string | null;
  type: string;
  /** Null: any number of digits behind the point. */
  scale: number | null;
  role: "group" | "value" | "other";
  /** A span of time, a part of dates, or the width of bins; null: each value is a group. */
  by: string | null;
}

export interface Tile {
  title: string;
  endpoint: string;
  action: string;
  body: Record<string, unknown>;
  show: "number" | "line" | "bar" | "table";
  unit: string | null;
  wide: boolean;
  columns: AnswerColumn[];
}

export interface LoggedRequest {
  method: string;
  url: string;
  headers: Record<string, string>;
  body: string | null;
  status: number | null;
  ms: number;
}

export interface Route {
  /** `["demo", "products"]` */
  parts: string[];
  query: URLSearchParams;
}

/** What a view gives back: called when another one takes its place; false keeps it. */
export type Leave = () => boolean | void;

export type View = (place: HTMLElement, route: Route) => Promise<Leave | void> | Leave | void;
