/**
 * Soft delete over several tables: the foreign keys that point at tables with marks, the details that are marked with
 * their header, and what the statements of each endpoint see. Known only after all endpoints are compiled.
 */
import { auditFields, timesOf } from "../../plans/audit-columns.ts";
import { actions } from "../../actions.ts";
import type { Catalog } from "../../plans/database-catalog.ts";
import type { Cascade } from "../../plans/write-plan.ts";
import type { CompositePlan, DetailPlan } from "../../plans/composite-plan.ts";
import type { Entity } from "../../plans/entity.ts";
import {
  type ChildKey,
  type MarkedTable,
  markNames,
  type ParentKey,
  type SeenRows,
  type Visibility,
} from "../../plans/soft-delete.ts";
import type { Column, ForeignKey, Table } from "../../values/types/column.ts";
import { columnTypes } from "../../values/types/column-types.ts";
import type { Key } from "../../values/types/key.ts";
import { keyAmong } from "../compiling/key-plan.ts";
import {
  marksIn,
  tellsMarked,
  type SoftDelete,
  type SoftDeleteSetting,
} from "../compiling/soft-delete-plan.ts";
import type { Survey } from "../compiling/survey.ts";

/** An endpoint as it was compiled, without regard to others. */
export interface CompiledAlone {
  readonly survey: Survey;
  readonly entity: Entity;
  /** Null: the endpoint has no soft delete. */
  readonly softDelete: SoftDeleteSetting | null;
}

/** Mutable while the foreign keys are resolved, which can form cycles. */
type Draft = { -readonly [Name in keyof MarkedTable]: MarkedTable[Name] } & {
  children: ChildKey[];
  parents: ParentKey[];
};

type Drafts = Map<string, Draft>;

/** The entities with what soft delete adds to them, in the order of `compiled`. Adds faults to the surveys. */
export async function withSoftDelete(
  compiled: readonly CompiledAlone[],
  catalog: Catalog,
): Promise<readonly Entity[]> {
  const drafts: Drafts = new Map();
  for (const one of compiled) addTable(drafts, one, compiled);
  for (const one of compiled) addDetails(drafts, one);
  if (drafts.size === 0) return compiled.map(({ entity }) => entity);
  for (const draft of drafts.values()) await addKeys(draft, drafts, catalog);
  for (const one of compiled) checkReusable(one, drafts);
  for (const one of compiled) noteDetailQueries(one, drafts);
  for (const { softDelete, entity } of compiled)
    if (softDelete) cascadesOf(entity).forEach((cascade) => addCascade(drafts, entity, cascade));
  for (const draft of drafts.values()) draft.timeDigits = leastDigits(draft);
  return compiled.map((one) => ({
    ...one.entity,
    marking: one.softDelete && (drafts.get(one.softDelete.table.identity) ?? null),
    visibility: visibilityOf(one, drafts),
    composite: one.entity.composite && compositeWith(one.entity.composite, drafts),
  }));
}

/** Those of cascadeDelete. */
const cascadesOf = ({ write }: Entity): readonly Cascade[] =>
  write?.cascades.filter(({ by }) => by === "service") ?? [];

/** Two endpoints of one table mark it in the same way. */
function addTable(
  drafts: Drafts,
  { survey, entity, softDelete }: CompiledAlone,
  all: readonly CompiledAlone[],
): void {
  if (softDelete === null) return;
  const { table, marks, reusable } = softDelete;
  const known = drafts.get(table.identity);
  if (known === undefined) {
    const key = entity.write?.key ?? keyAmong(table.columns, table.primaryKey);
    const changeTimes = timesOf(entity.write?.audit ?? [], "update");
    drafts.set(table.identity, draftOf(table, { key, marks, changeTimes, reusable }));
    return;
  }
  const other = all.find((one) => one.softDelete?.table.identity === table.identity)!;
  const isSame = (["flag", "at", "by"] as const).every(
    (member) => marks[member]?.name === known.marks[member]?.name,
  );
  if (!isSame)
    survey.fault(["softDelete"], {
      found: "other columns than those of another endpoint of the same table",
      expected: `the flag, at and by of ${other.entity.name}`,
    });
  const names = new Set(known.reusable.map(({ name }) => name));
  known.reusable = [...known.reusable, ...reusable.filter(({ name }) => !names.has(name))];
}

const draftOf = (
  table: Table,
  given: Pick<MarkedTable, "key" | "marks" | "changeTimes" | "reusable">,
): Draft => ({ table, ...given, timeDigits: 3, children: [], parents: [] });

/** Tables of details that have the columns of their header, and no endpoint that says so. */
function addDetails(drafts: Drafts, { survey, entity, softDelete }: CompiledAlone): void {
  if (softDelete === null) return;
  for (const { table, key } of cascadesOf(entity)) {
    if (drafts.has(table.identity)) continue;
    const { hasAuth } = survey;
    const draft = detailDraft(table, key, { ...softDelete.config, hasAuth });
    if (draft) drafts.set(table.identity, draft);
  }
}

function detailDraft(
  table: Table,
  key: Key,
  config: SoftDelete & { readonly hasAuth: boolean },
): Draft | null {
  const marks = marksIn(table.columns, config, () => {});
  const changeTimes = auditFields.flatMap(({ name, when, kind }) =>
    when === "update" && kind === "time" ? (table.columns.get(name) ?? []) : [],
  );
  return marks && draftOf(table, { key, marks, changeTimes, reusable: [] });
}

async function addKeys(draft: Draft, drafts: Drafts, catalog: Catalog): Promise<void> {
  const { table } = draft;
  for (const incoming of await catalog.referencesTo(table)) {
    const found = await catalog.table(incoming.table);
    if (found === null) continue;
    const child = drafts.get(found.identity) ?? null;
    const own = child?.table ?? found;
    const { referencedColumns } = incoming;
    const columns = keyAmong(own.columns, incoming.columns);
    const names = referencedColumns.length > 0 ? referencedColumns : table.primaryKey;
    const referenced = keyAmong(table.columns, names);
    if (columns.length === 0 || referenced.length !== columns.length) continue;
    const onMark = { refuse: "refuse", cascade: markOr(child, "refuse"), clear: "leave" } as const;
    draft.children.push({
      table: own,
      columns,
      referenced,
      onMark: onMark[incoming.onDelete],
      child,
    });
  }
  for (const key of table.foreignKeys) {
    const parent = drafts.get(key.referencedIdentity);
    const found = parent && parentKey(table, key, parent);
    if (found) draft.parents.push(found);
  }
}

/** The suffix of a marked value would break the references to it. */
function checkReusable({ survey, softDelete }: CompiledAlone, drafts: Drafts): void {
  if (softDelete === null) return;
  const { children = [] } = drafts.get(softDelete.table.identity) ?? {};
  for (const [at, { field }] of softDelete.config.reusable.entries()) {
    const child = children.find(({ referenced }) => referenced.some(({ name }) => name === field));
    if (child === undefined) continue;
    survey.fault(["softDelete", "reusable", at, "field"], {
      found: `${field}, which rows of ${child.table.name} refer to`,
      expected: "a field that no foreign key refers to",
    });
  }
}

/** Deleted details are left out of the operator's query, if it shows the marks. */
function noteDetailQueries({ survey, entity }: CompiledAlone, drafts: Drafts): void {
  for (const { table, query } of entity.composite?.details ?? []) {
    const marked = drafts.get(table.identity);
    if (query === null || marked === undefined) continue;
    const names = markNames(marked.marks);
    if (tellsMarked(names, new Map(query.columns.map((column) => [column.name, column])))) continue;
    const wanted = [names.flag, names.at].filter((name) => name !== null).join(" or ");
    survey.notice(
      `the detailQuery has no column ${wanted}: it must leave out deleted rows of ${table.name} itself`,
    );
  }
}

/** Rows that cannot be named cannot be marked. */
const markOr = <Other extends string>(child: Draft | null, other: Other): "mark" | Other =>
  child !== null && child.key.length > 0 ? "mark" : other;

function parentKey(table: Table, key: ForeignKey, parent: Draft): ParentKey | null {
  const columns = keyAmong(table.columns, key.columns);
  const referenced = keyAmong(parent.table.columns, key.referencedColumns);
  return columns.length > 0 && columns.length === referenced.length
    ? { columns, referenced, parent }
    : null;
}

/** Details are marked with their header, even if their foreign key has another rule. */
function addCascade(drafts: Drafts, { write }: Entity, { table, foreignKey }: Cascade): void {
  const header = drafts.get(write!.table.identity);
  const [key] = write!.key;
  if (header === undefined || key === undefined) return;
  const child = drafts.get(table.identity) ?? null;
  const own = child?.table ?? table;
  const isOther = ({ table: { identity }, columns }: ChildKey): boolean =>
    identity !== table.identity || columns.length > 1 || columns[0]?.name !== foreignKey.name;
  const columns = keyAmong(own.columns, [foreignKey.name]);
  const referenced = keyAmong(header.table.columns, [key.name]);
  const onMark = markOr(child, "leave");
  header.children = [
    ...header.children.filter(isOther),
    { table: own, columns, referenced, onMark, child },
  ];
}

/** Rows marked together are found by an equal time, so it has as many digits as the least precise of their columns. */
function leastDigits(from: MarkedTable): number {
  const reached = new Set([from]);
  for (const { children } of reached)
    for (const { onMark, child } of children) if (onMark === "mark" && child) reached.add(child);
  const digits = [...reached].flatMap(({ marks: { at } }) =>
    at !== null && columnTypes[at.type].isInstant ? [at.fractionDigits] : [],
  );
  return Math.min(3, ...digits);
}

const seenBy: Readonly<Record<SoftDelete["visibility"], SeenRows>> = {
  active_only: "active",
  deleted_only: "marked",
  include_deleted: "all",
};

/** Null if no statement of the entity reads or writes a table with marks. */
function visibilityOf({ entity, softDelete }: CompiledAlone, drafts: Drafts): Visibility | null {
  // A request of aggregate may join the table of any endpoint.
  const isReached =
    entity.enabled.has("aggregate") ||
    [...relatedTables(entity)].some((identity) => drafts.has(identity));
  if (softDelete === null && !isReached) return null;
  const configured = softDelete ? seenBy[softDelete.visibility] : "all";
  const views = [entity.read, entity.grid, entity.export, entity.lookup].flatMap((plan) =>
    plan?.source.kind === "table" && plan.source.identity !== undefined
      ? [plan.source.identity]
      : [],
  );
  return {
    seen: new Map(actions.map(({ name, sees }) => [name, sees ?? configured])),
    own: softDelete?.names ?? null,
    ownIdentities: new Set([...views, ...(entity.insert ? [entity.insert.table.identity] : [])]),
    details: new Set(entity.composite?.details.map(({ table }) => table.identity)),
    tables: drafts,
  };
}

/** Tables that the entity's actions look up, reference, or write as details. */
function relatedTables({ importing, insert, composite }: Entity): ReadonlySet<string> {
  const details = composite?.details.map(({ table }) => table) ?? [];
  const written = [...(insert ? [insert.table] : []), ...details];
  return new Set([
    ...details.map(({ identity }) => identity),
    ...[...(importing?.headings.values() ?? [])].flatMap((heading) =>
      "target" in heading ? [heading.table.identity] : [],
    ),
    ...written.flatMap(({ foreignKeys }) =>
      foreignKeys.map(({ referencedIdentity }) => referencedIdentity),
    ),
  ]);
}

const compositeWith = (plan: CompositePlan, drafts: Drafts): CompositePlan => ({
  ...plan,
  details: plan.details.map((detail) => detailWith(detail, drafts.get(detail.table.identity))),
});

/** No body sets the marks of a detail. */
function detailWith(detail: DetailPlan, marking: Draft | undefined): DetailPlan {
  if (marking === undefined) return detail;
  const { flag, at, by } = marking.marks;
  const closed = new Set([flag, at, by].map((column) => column?.name));
  const own = flag && detail.table.columns.get(flag.name);
  return {
    ...detail,
    writable: new Map([...detail.writable].filter(([name]) => !closed.has(name))),
    flag: own && isUnfilled(own) ? own : null,
    marking: marking.key.length > 0 ? marking : null,
  };
}

/** Whether nothing but the service fills the column of a new row. */
export const isUnfilled = ({ hasDefault, nullable }: Column): boolean => !hasDefault && !nullable;
