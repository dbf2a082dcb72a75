/**
 * An entity as a caller may see it: the same plans without the columns that are hidden from the caller, and without
 * read-only columns among the writable ones. Compiled once per set of rights. Actions work on a view as on the entity
 * itself.
 */
import { deepFreeze } from "../values/freeze.ts";
import type { Column, Columns } from "../values/column.ts";
import type {
  AdjustPlan,
  AggregatePlan,
  CompositePlan,
  DeclaredJoin,
  Entity,
  ExportPlan,
  GridPlan,
  ImportPlan,
  InsertPlan,
  LookupPlan,
  ReadPlan,
  WorkflowPlan,
  WritePlan,
} from "../plans/entity.ts";
import { headingKey } from "../values/text.ts";
import type { FieldRights } from "./access.ts";

export interface Views {
  /** The entity itself where the rights take nothing away. */
  viewFor(rights: FieldRights): Entity;
}

export function createViews(entity: Entity): Views {
  const views = new Map<string, Entity>([["", entity]]);
  return {
    viewFor(rights) {
      const known = views.get(rights.key);
      if (known) return known;
      const view = deepFreeze(viewOf(entity, rights));
      views.set(rights.key, view);
      return view;
    },
  };
}

function viewOf(entity: Entity, rights: FieldRights): Entity {
  const seen = hiding(rights);
  const write = entity.write && writeView(entity.write, rights);
  const insert = write ?? (entity.insert && writeView(entity.insert, rights));
  return {
    ...entity,
    // Answers that are cached for one view must not be used for another.
    definition: JSON.stringify([entity.definition, rights.key]),
    read: entity.read && readView(entity.read, seen),
    write,
    insert,
    adjust: entity.adjust && adjustView(entity.adjust, rights),
    lookup: entity.lookup && lookupView(entity.lookup, seen),
    aggregate: entity.aggregate && aggregateView(entity.aggregate, seen, rights),
    grid: entity.grid && gridView(entity.grid, seen),
    composite: entity.composite && write && compositeView(entity.composite, write, rights),
    workflow: entity.workflow && workflowView(entity.workflow, rights),
    export: entity.export && exportView(entity.export, seen),
    importing: entity.importing && write && importView(entity.importing, { write, rights }),
  };
}

/** Columns and plans without the hidden columns. */
interface Seen {
  all(columns: Columns): Columns;
  list(columns: readonly Column[]): readonly Column[];
  /** Null for a hidden column. A joined text is hidden when any of its parts is. */
  one(column: Column | null): Column | null;
}

function hiding({ hidden }: FieldRights): Seen {
  const isSeen = (column: Column): boolean =>
    !hidden.has(column.name) &&
    (column.parts ?? []).every((part) => typeof part === "string" || isSeen(part));
  return {
    all: (columns) => without(columns, hidden),
    list: (columns) => columns.filter(isSeen),
    one: (column) => (column !== null && isSeen(column) ? column : null),
  };
}

const without = (columns: Columns, names: ReadonlySet<string>): Columns =>
  new Map([...columns].filter(([name]) => !names.has(name)));

/** The key still identifies records and ends every order, even when it is hidden. */
const readView = (plan: ReadPlan, seen: Seen): ReadPlan => ({
  ...plan,
  columns: seen.all(plan.columns),
  updatedAt: seen.one(plan.updatedAt),
  createdAt: seen.one(plan.createdAt),
});

const writeView = <Plan extends InsertPlan>(
  plan: Plan,
  { hidden, readOnly }: FieldRights,
): Plan => ({
  ...plan,
  shown: without(plan.shown, hidden),
  writable: without(plan.writable, readOnly),
  // Whether a record has a key would tell the key.
  namesRecords: plan.namesRecords && !plan.key.some(({ name }) => hidden.has(name)),
});

/** Hidden names count in the details as well. Details show the key of their header, so there is no document without it. */
function compositeView(
  plan: CompositePlan,
  { namesRecords }: WritePlan,
  { hidden, readOnly }: FieldRights,
): CompositePlan | null {
  if (!namesRecords) return null;
  const details = plan.details.map((detail) => ({
    ...detail,
    shown: without(detail.shown, hidden),
    namesRecords: !detail.lineKey.some(({ name }) => hidden.has(name)),
    writable: without(detail.writable, hidden),
    queryShown: detail.queryShown.filter((name) => !hidden.has(name)),
  }));
  return { ...plan, details, writable: without(plan.writable, readOnly) };
}

/** Which statuses may follow tells the status. */
const workflowView = (plan: WorkflowPlan, { hidden }: FieldRights): WorkflowPlan | null =>
  hidden.has(plan.status.name) ? null : plan;

function adjustView(plan: AdjustPlan, { hidden, readOnly }: FieldRights): AdjustPlan {
  const fields = [...plan.fields].filter(([name]) => !hidden.has(name) && !readOnly.has(name));
  return { ...plan, fields: new Map(fields) };
}

function lookupView(plan: LookupPlan, seen: Seen): LookupPlan | null {
  const [id, text] = [seen.one(plan.id), seen.one(plan.text)];
  return id && text && { ...plan, id, text, columns: seen.all(plan.columns) };
}

function aggregateView(
  plan: AggregatePlan,
  seen: Seen,
  { tables: limited }: FieldRights,
): AggregatePlan {
  const joins = [...plan.joins].map(([name, join]): [string, DeclaredJoin] => {
    const rights = limited.get(join.identity);
    if (!rights) return [name, join];
    // Of a table that the caller may not read, the names of columns would be known from this alone.
    const isReadable = rights.endpoints.size > 0;
    return [
      name,
      { ...join, fields: isReadable ? without(join.fields, rights.hidden) : new Map() },
    ];
  });
  const tables = plan.tables.flatMap((table) => {
    const identity = table.source.kind === "table" ? table.source.identity : undefined;
    const rights = identity === undefined ? undefined : limited.get(identity);
    if (!rights) return [table];
    const hidden = rights.endpoints.get(table.endpoint);
    return hidden ? [{ ...table, columns: without(table.columns, hidden) }] : [];
  });
  return { ...plan, columns: seen.all(plan.columns), joins: new Map(joins), tables };
}

function gridView(plan: GridPlan, seen: Seen): GridPlan {
  const columns = seen.all(plan.columns);
  return {
    ...plan,
    columns,
    searched: seen.all(plan.searched),
    paneColumns: seen.list(plan.paneColumns),
    builderColumns: seen.list(plan.builderColumns),
    listColumns: seen.list(plan.listColumns),
    nestedNames: new Map([...plan.nestedNames].filter(([name]) => columns.has(name))),
    // A part of the key does not name a row.
    rowId: plan.rowId.every((column) => seen.one(column) !== null) ? plan.rowId : [],
  };
}

const exportView = (plan: ExportPlan, seen: Seen): ExportPlan => ({
  ...plan,
  columns: seen.all(plan.columns),
  exported: plan.exported.filter(({ column }) => seen.one(column) !== null),
});

function importView(
  plan: ImportPlan,
  { write, rights }: { write: WritePlan; rights: FieldRights },
): ImportPlan {
  const closed = new Set(
    [...plan.headings].flatMap(([heading, target]) => {
      const column = "target" in target ? target.target : target;
      // Otherwise a caller could find hidden names by guessing.
      const isHidden =
        "target" in target &&
        rights.tables.get(target.table.identity)?.hidden.has(target.name.name) === true;
      return rights.readOnly.has(column.name) || isHidden ? [heading] : [];
    }),
  );
  return {
    ...plan,
    write,
    headings: new Map([...plan.headings].filter(([heading]) => !closed.has(heading))),
    template: plan.template.filter((heading) => !closed.has(headingKey(heading))),
    required: plan.required.filter(({ name }) => !rights.readOnly.has(name)),
  };
}
