/**
 * An entity as a caller may see it: the same plans without the columns that are hidden from the caller, and without
 * read-only columns among the writable ones. Compiled once per set of rights. Actions work on a view as on the entity
 * itself.
 */
import { deepFreeze } from "../values/freeze.ts";
import type { Column, Columns } from "../values/types/column.ts";
import type { AdjustPlan, InsertPlan, WritePlan } from "../plans/write-plan.ts";
import type { AggregatePlan, DeclaredJoin } from "../plans/aggregate-plan.ts";
import type { CompositePlan } from "../plans/composite-plan.ts";
import type { Entity } from "../plans/entity.ts";
import { exportColumn, type ExportPlan } from "../plans/export-plan.ts";
import type { GridPlan } from "../plans/grid-plan.ts";
import type { ImportPlan } from "../plans/import-plan.ts";
import type { LookupPlan, ReadPlan } from "../plans/read-plan.ts";
import type { WorkflowPlan } from "../plans/workflow-plan.ts";
import { headingKey } from "../values/text.ts";
import type { FieldRights } from "./access.ts";
import { indexAmong } from "../query/full-text.ts";
import { foundAmong, isEmptyPath } from "../query/paths.ts";
import { type Entities, type Naming, namingFrom } from "./related-views.ts";

export interface Views {
  /** The entity itself if the rights hide nothing. */
  viewFor(rights: FieldRights): Entity;
}

/** `entities`: all of the project, to which relations lead. */
export function createViews(entity: Entity, entities: Entities): Views {
  const views = new Map<string, Entity>([["", entity]]);
  return {
    viewFor(rights) {
      const known = views.get(rights.key);
      if (known) return known;
      const view = deepFreeze(viewOf(entity, rights, entities));
      views.set(rights.key, view);
      return view;
    },
  };
}

function viewOf(entity: Entity, rights: FieldRights, entities: Entities): Entity {
  const seen = hiding(rights);
  const naming = namingFrom(entity, rights.related, entities);
  const write = entity.write && writeView(entity.write, rights);
  const insert = write ?? (entity.insert && writeView(entity.insert, rights));
  return {
    ...entity,
    // Answers that are cached for one view must not be used for another.
    definition: JSON.stringify([entity.definition, rights.key]),
    read: entity.read && readView(entity.read, seen, naming),
    write,
    insert,
    procedure: entity.procedure && {
      ...entity.procedure,
      hidden: entity.procedure.hidden.union(rights.hidden),
    },
    adjust: entity.adjust && adjustView(entity.adjust, rights),
    lookup: entity.lookup && lookupView(entity.lookup, seen, naming),
    aggregate: entity.aggregate && aggregateView(entity.aggregate, { seen, naming, rights }),
    grid: entity.grid && gridView(entity.grid, seen, naming),
    composite: entity.composite && write && compositeView(entity.composite, write, rights),
    workflow: entity.workflow && workflowView(entity.workflow, rights),
    export: entity.export && exportView(entity.export, seen, naming),
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
    (column.via !== undefined || !hidden.has(column.name)) &&
    (column.parts ?? []).every((part) => typeof part === "string" || isSeen(part));
  return {
    all: (columns) => without(columns, hidden),
    list: (columns) => columns.filter(isSeen),
    one: (column) => (column !== null && isSeen(column) ? column : null),
  };
}

const without = (columns: Columns, names: ReadonlySet<string>): Columns =>
  new Map([...columns].filter(([name]) => !names.has(name)));

/** A field that the caller cannot set keeps its default. */
const presetsOf = (
  { presets, writable }: Pick<InsertPlan, "presets" | "writable">,
  readOnly: ReadonlySet<string>,
): Columns => new Map([...presets, ...[...writable].filter(([name]) => readOnly.has(name))]);

/** The key still identifies records and ends every order, even when it is hidden. */
function readView(plan: ReadPlan, seen: Seen, naming: Naming): ReadPlan {
  const columns = seen.all(plan.columns);
  return {
    ...plan,
    columns,
    named: naming(columns),
    fullText: indexAmong(plan.fullText, columns),
    times: { create: seen.one(plan.times.create), update: seen.one(plan.times.update) },
  };
}

const writeView = <Plan extends InsertPlan>(
  plan: Plan,
  { hidden, readOnly }: FieldRights,
): Plan => ({
  ...plan,
  shown: without(plan.shown, hidden),
  writable: without(plan.writable, readOnly),
  presets: presetsOf(plan, readOnly),
  // Whether a record has a key would reveal the key.
  namesRecords: plan.namesRecords && !plan.key.some(({ name }) => hidden.has(name)),
  readOnly: plan.readOnly.union(readOnly.difference(hidden)),
});

/** Hidden and read-only names apply to details too. Null unless the header's key is shown, because details show it. */
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
    writable: without(detail.writable, readOnly),
    presets: presetsOf(detail, readOnly),
    readOnly: detail.readOnly.union(readOnly.difference(hidden)),
    queryShown: detail.queryShown.filter((name) => !hidden.has(name)),
  }));
  return {
    ...plan,
    details,
    writable: without(plan.writable, readOnly),
    shownTotals: without(plan.shownTotals, hidden),
  };
}

/** The statuses that may follow would reveal the status. */
const workflowView = (plan: WorkflowPlan, { hidden }: FieldRights): WorkflowPlan | null =>
  hidden.has(plan.status.name) ? null : { ...plan, hookColumns: without(plan.hookColumns, hidden) };

function adjustView(plan: AdjustPlan, { hidden, readOnly }: FieldRights): AdjustPlan {
  const fields = [...plan.fields].filter(([name]) => !hidden.has(name) && !readOnly.has(name));
  return { ...plan, fields: new Map(fields), shown: without(plan.shown, hidden) };
}

function lookupView(plan: LookupPlan, seen: Seen, naming: Naming): LookupPlan | null {
  const [id, text] = [seen.one(plan.id), seen.one(plan.text)];
  if (id === null || (plan.text !== null && text === null)) return null;
  const columns = seen.all(plan.columns);
  const fullText = indexAmong(plan.fullText, columns);
  return namedLookup({ ...plan, id, columns, fullText }, naming);
}

/** The plan with the paths that requests may name, and those of its label. */
export function namedLookup(plan: LookupPlan, naming: Naming): LookupPlan {
  const named = naming(plan.columns);
  const { text } = plan;
  return { ...plan, named, text: text && labelAmong(text, named) };
}

/** The label with the paths that are found; null if nothing is left of it. */
function labelAmong(text: Column, named: Columns): Column | null {
  const found = foundAmong(text, named);
  if (isEmptyPath(found)) return null;
  if (!found.parts?.some((part) => typeof part !== "string" && part.via !== undefined))
    return found;
  const parts = found.parts
    .map((part) => (typeof part === "string" ? part : foundAmong(part, named)))
    .filter((part) => typeof part === "string" || !isEmptyPath(part));
  return parts.every((part) => typeof part === "string") ? null : { ...found, parts };
}

function aggregateView(
  plan: AggregatePlan,
  { seen, naming, rights }: { seen: Seen; naming: Naming; rights: FieldRights },
): AggregatePlan {
  const { tables: limited } = rights;
  const joins = [...plan.joins].map(([name, join]): [string, DeclaredJoin] => {
    const rights = limited.get(join.identity);
    if (!rights) return [name, join];
    // For a table that the caller may not read, this would reveal names of columns.
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
  const columns = seen.all(plan.columns);
  return { ...plan, columns, named: naming(columns), joins: new Map(joins), tables };
}

function gridView(plan: GridPlan, seen: Seen, naming: Naming): GridPlan {
  const columns = seen.all(plan.columns);
  const view = {
    ...plan,
    columns,
    fullText: indexAmong(plan.fullText, columns),
    paneColumns: seen.list(plan.paneColumns),
    builderColumns: seen.list(plan.builderColumns),
    listColumns: seen.list(plan.listColumns),
    nestedNames: new Map([...plan.nestedNames].filter(([name]) => columns.has(name))),
    // A part of the key does not name a row.
    rowId: plan.rowId.every((column) => seen.one(column) !== null) ? plan.rowId : [],
  };
  return namedGrid(view, naming);
}

/** The plan with the paths that requests may name, and those of its lists. */
export function namedGrid(plan: GridPlan, naming: Naming): GridPlan {
  const named = naming(plan.columns);
  const found = (columns: readonly Column[]) => columns.map((column) => foundAmong(column, named));
  return {
    ...plan,
    named,
    paneColumns: found(plan.paneColumns),
    builderColumns: found(plan.builderColumns),
    listColumns: found(plan.listColumns),
  };
}

function exportView(plan: ExportPlan, seen: Seen, naming: Naming): ExportPlan {
  const columns = seen.all(plan.columns);
  const exported = plan.exported.filter(({ column }) => seen.one(column) !== null);
  return namedExport({ ...plan, columns, exported }, naming);
}

/** The plan with the paths that requests may name, and those of its columns. */
export function namedExport(plan: ExportPlan, naming: Naming): ExportPlan {
  const named = naming(plan.columns);
  const exported = plan.exported.map((one) =>
    one.column.via === undefined ? one : exportColumn(foundAmong(one.column, named), plan),
  );
  return { ...plan, named, exported };
}

/** Null for a caller who cannot set what finds the records of a file. */
function importView(
  plan: ImportPlan,
  { write, rights }: { write: WritePlan; rights: FieldRights },
): ImportPlan | null {
  if ([...plan.upsertKeys.keys()].some((name) => rights.readOnly.has(name))) return null;
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
