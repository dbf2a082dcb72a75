/**
 * Facts about an endpoint for forms and grids that JSON Schema cannot express: labels, the key, references to other
 * endpoints, lines, statuses. They are `x-rowgate` of the endpoint's tag, filtered by the caller's rights.
 */
import type { BoundAction } from "../dispatch.ts";
import type { DetailPlan } from "../plans/composite-plan.ts";
import type { Entity } from "../plans/entity.ts";
import type { MarkColumns } from "../plans/soft-delete.ts";
import { fractionOf, scaleOfResult } from "../query/formula.ts";
import { isExact, scaleOf } from "../values/types/arithmetic.ts";
import type { Column, Columns, Table } from "../values/types/column.ts";
import type { Term } from "../values/types/formula-tree.ts";
import type { Json } from "../values/json.ts";
import { limits } from "../values/limits.ts";
import type { ActionView, ViewOf } from "./describe-endpoint.ts";
import { consoleNotes } from "./console-notes.ts";
import { relationNotes, titleFieldOf, type TitleFields } from "./relation-notes.ts";

/** How the endpoints that a caller may use refer to each other. */
export interface Relations {
  /** By the identity of a table: the endpoint that offers its rows for lookup, and the field that identifies them. */
  readonly lookups: ReadonlyMap<string, EndpointField>;
  /** The fields that refer to a table, by its identity. */
  readonly referrers: ReadonlyMap<string, readonly EndpointField[]>;
  /** The endpoint of a table, by its identity. */
  readonly endpoints: ReadonlyMap<string, TableEndpoint>;
  readonly titles: TitleFields;
}

interface TableEndpoint {
  readonly name: string;
  /** Of the fields that it shows. */
  readonly labels: ReadonlyMap<string, string>;
}

interface EndpointField {
  readonly endpoint: string;
  readonly field: string;
}

type ByAction = ReadonlyMap<string, BoundAction>;

export function relationsOf(endpoints: ReadonlyMap<string, ByAction>, viewOf: ViewOf): Relations {
  const lookups = new Map<string, EndpointField>();
  const referrers = new Map<string, EndpointField[]>();
  const names = new Map<string, TableEndpoint>();
  const titles = new Map<string, string>();
  for (const [endpoint, actions] of endpoints) {
    const view = (action: string): Entity | null => {
      const bound = actions.get(action);
      return bound ? viewOf(bound) : null;
    };
    const listed = view("read") ?? view("datatables");
    const shown = view("first") ?? listed;
    const title = shown && titleFieldOf(shown);
    if (title !== null) titles.set(endpoint, title);
    const table = listed && tableOf(listed);
    if (listed && table) {
      if (!names.has(table.identity))
        names.set(table.identity, { name: endpoint, labels: shownLabels(listed) });
      for (const [field, { identity }] of referencesOf(table, listed.read?.columns))
        referrers.set(identity, [...(referrers.get(identity) ?? []), { endpoint, field }]);
    }
    const offering = view("lookup");
    const offered = offering && tableOf(offering);
    if (offering?.lookup && offered && !lookups.has(offered.identity))
      lookups.set(offered.identity, { endpoint, field: offering.lookup.id.name });
  }
  return { lookups, referrers, endpoints: names, titles };
}

function shownLabels({ labels, read, grid }: Entity): ReadonlyMap<string, string> {
  const columns = (read ?? grid)?.columns;
  return new Map([...labels].filter(([name]) => columns?.has(name)));
}

/** `views`: the endpoint as each usable action shows it. Notes about an action are for callers who may use it. */
export function entityNotes(
  endpoint: string,
  views: readonly ActionView[],
  relations: Relations,
): Record<string, Json> {
  const [first] = views;
  if (!first) return { endpoint };
  const entities = views.map(({ entity }) => entity);
  const viewIn = (...actions: string[]): Entity | undefined =>
    views.find(({ action }) => actions.includes(action))?.entity;
  const columns = seenColumns(entities);
  const table = tableOf(first.entity);
  const plan = entities.find(({ write }) => write)?.write ?? null;
  const key = (plan ?? entities.find(({ read }) => read)?.read)?.key ?? [];
  const status = first.entity.workflow?.status.name;
  const workflow = viewIn("change-status", "next-statuses")?.workflow;
  const closed = [...closedStatuses(first.entity)];
  const composite = viewIn("read-composite", "create-composite", "update-composite")?.composite;
  const adjust = viewIn("adjust")?.adjust;
  const marks = viewIn("restore")?.marking?.marks;
  const referrers = table ? (relations.referrers.get(table.identity) ?? []) : [];
  const related = relationNotes(views, relations.titles);
  const title = relations.titles.get(endpoint);
  const [grid, list] = [viewIn("datatables"), viewIn("read")];
  const listed = grid ?? list;
  const shown = consoleNotes(first.entity, {
    listing: listed ? { entity: listed, isGrid: grid !== undefined } : null,
    takesSteps: viewIn("change-status") !== undefined,
  });
  return {
    endpoint,
    key: key.map(({ name }) => name).filter((name) => columns.has(name)),
    ...(title !== undefined && columns.has(title) && { titleField: title }),
    fields: fieldNotes(columns, { labels: first.entity.labels, table, relations }),
    ...(related !== null && { relations: related }),
    ...(shown !== null && { console: shown }),
    ...(referrers.length > 0 && { referencedBy: referrers.map((one) => ({ ...one })) }),
    ...(status !== undefined &&
      columns.has(status) && {
        status: {
          field: status,
          ...(workflow && {
            transitions: workflow.transitions && plainLists(workflow.transitions),
          }),
          ...(closed.length > 0 && { closed }),
        },
      }),
    ...(marks && { deletedField: marksOf(marks, columns) }),
    ...(adjust && { adjust: { reasonRequired: adjust.reasonRequired } }),
    ...(composite && {
      lines: composite.details.map((detail) => lineNotes(detail, { header: columns, relations })),
    }),
  };
}

/** The statuses in which nothing of a record can be changed. */
function closedStatuses({ workflow, insert, statuses }: Entity): Iterable<string> {
  const guarded = statuses.guarded.get(insert?.table.identity ?? "");
  return guarded && guarded.status.name === workflow?.status.name ? guarded.closed : [];
}

/** The field that shows whether a record is deleted: its flag, else the time. Null if the caller sees neither. */
const marksOf = ({ flag, at }: MarkColumns, columns: Columns): string | null => {
  const name = flag?.name ?? at?.name;
  return name !== undefined && columns.has(name) ? name : null;
};

interface LinesPlace {
  /** What the caller sees of the header. */
  readonly header: Columns;
  readonly relations: Relations;
}

function lineNotes(detail: DetailPlan, { header, relations }: LinesPlace): Json {
  const { table, key, foreignKey, shown, queryShown, totals, computed } = detail;
  const seenIn = (columns: Columns, all: readonly Column[]): string[] =>
    all.map(({ name }) => name).filter((name) => columns.has(name));
  const [link] = seenIn(shown, [foreignKey]);
  const own = relations.endpoints.get(table.identity);
  return {
    name: table.name,
    endpoint: own?.name ?? null,
    key: seenIn(shown, key),
    ...(link !== undefined && { foreignKey: link }),
    shown: queryShown.length > 0 ? [...queryShown] : [...shown.keys()],
    fields: fieldNotes(shown, { labels: own?.labels ?? new Map(), table, relations }),
    computed: seenIn(
      shown,
      computed.map(({ column }) => column),
    ),
    totals: seenIn(
      header,
      totals.map(({ column }) => column),
    ),
    ...calculationNotes(detail, header),
  };
}

/**
 * The formulas of which the caller sees every operand, as nested lists: `["round", ["*", "qty", "price"], 2]`. A text
 * alone is a column. `filled`: operands that the service or the database may fill in another way.
 */
function calculationNotes(
  { shown, computed, totals, rules }: DetailPlan,
  header: Columns,
): Record<string, Json> {
  const areSeen = (columns: readonly Column[]) => columns.every(({ name }) => shown.has(name));
  const formulas = computed.filter(({ column, operands }) => areSeen([column, ...operands]));
  const sums = totals.flatMap(({ column, function: name, outputs: [output] }) => {
    const source = output?.column ?? null;
    const { operands } = source?.derived?.kind === "formula" ? source.derived : { operands: [] };
    const used = source === null || operands.length > 0 ? operands : [source];
    const isExactSum = [column, ...used].every(isExact);
    return header.has(column.name) && areSeen(used) && isExactSum
      ? [{ column, name, source, used }]
      : [];
  });
  if (formulas.length + sums.length === 0) return {};
  const results = new Set(formulas.map(({ column }) => column.name));
  const used = [
    ...formulas.flatMap(({ operands }) => operands),
    ...sums.flatMap((one) => one.used),
  ];
  const isFilled = (column: Column): boolean =>
    !results.has(column.name) &&
    (column.hasDefault ||
      column.generated !== "none" ||
      column.isFilledByTrigger === true ||
      rules.wordsOf(column).default !== undefined ||
      computed.some((one) => one.column.name === column.name));
  return {
    calculation: {
      detail: Object.fromEntries(
        formulas.map(({ column, formula }) => {
          const digits = scaleOfResult(column, fractionOf(formula.root));
          return [column.name, rounded(termNote(formula.root), digits)];
        }),
      ),
      header: Object.fromEntries(
        sums.map(({ column, name, source }) => {
          const digits = scaleOf(column) ?? (name === "avg" ? limits.quotientDigitsMax : null);
          return [column.name, rounded([name, ...(source ? [sourceNote(source)] : [])], digits)];
        }),
      ),
      filled: [...new Set(used.filter(isFilled).map(({ name }) => name))],
    },
  };
}

const sourceNote = ({ name, scale, derived }: Column): Json =>
  derived?.kind === "formula" ? rounded(termNote(derived.formula.root), scale) : name;

const rounded = (term: Json, digits: number | null): Json =>
  digits === null ? term : ["round", term, digits];

function termNote(term: Term): Json {
  if (term.kind === "column") return term.name;
  if (term.kind === "number") return ["value", term.digits];
  return [term.operator, termNote(term.left), termNote(term.right)];
}

interface FieldPlace {
  readonly labels: ReadonlyMap<string, string>;
  readonly table: Table | null;
  readonly relations: Relations;
}

function fieldNotes(columns: Columns, { labels, table, relations }: FieldPlace): Json {
  const references = new Map(table ? referencesOf(table, columns) : []);
  const noteOf = ({ name, type, scale }: Column): Json => {
    const label = labels.get(name);
    const reference = references.get(name);
    const target = reference && relations.lookups.get(reference.identity);
    return {
      type,
      ...(label !== undefined && { label }),
      ...(scale !== null && { scale }),
      ...(target?.field === reference?.field && target && { references: { ...target } }),
    };
  };
  return Object.fromEntries([...columns.values()].map((column) => [column.name, noteOf(column)]));
}

/** Those of any action, in the order of the first that has them. */
function seenColumns(entities: readonly Entity[]): Columns {
  const columns = new Map<string, Column>();
  const add = (more: Columns | undefined): void => {
    // A table's column is described more exactly than a view's.
    for (const [name, column] of more ?? [])
      if (!columns.has(name) || columns.get(name)!.scale === null) columns.set(name, column);
  };
  for (const { read, grid, insert } of entities) {
    add(read?.columns);
    add(grid?.columns);
    add(insert?.shown);
  }
  return columns;
}

/** References by one column: the column, the identity of the table that it refers to, and the column there. */
function referencesOf(
  { foreignKeys }: Table,
  columns: Columns | undefined,
): [string, { readonly identity: string; readonly field: string }][] {
  return foreignKeys.flatMap(({ columns: own, referencedIdentity, referencedColumns }) => {
    const [name, second] = own;
    const [field] = referencedColumns;
    const isSeen = name !== undefined && columns?.has(name) === true && second === undefined;
    return isSeen && field !== undefined ? [[name, { identity: referencedIdentity, field }]] : [];
  });
}

/** Null for a view. */
const tableOf = ({ insert }: Entity): Table | null => insert?.table ?? null;

const plainLists = (lists: ReadonlyMap<string, readonly string[]>): Json =>
  Object.fromEntries([...lists].map(([name, list]) => [name, [...list]]));
