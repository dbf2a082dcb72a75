/**
 * Finds columns that are hidden from a role in one place but shown to it in another: under another name by a query of
 * the same endpoint, or by another endpoint of the same table. It reads only the files, so it does not know what a view
 * selects.
 */
import { type AccessRules, everyRole } from "../../plans/access-rules.ts";
import type { DetailPlan } from "../../plans/composite-plan.ts";
import type { Entity } from "../../plans/entity.ts";
import type { Columns, Source } from "../../values/types/column.ts";
import { sourceOf } from "../../query/statement.ts";
import type { Path } from "../reading/faults.ts";

export interface HiddenSource {
  /** The endpoint that shows the column. */
  readonly endpoint: string;
  /** In the file of that endpoint. */
  readonly path: Path;
  readonly message: string;
}

/** `entities`: all endpoints of a project. */
export function hiddenSources(entities: ReadonlyMap<string, Entity>): HiddenSource[] {
  const all = [...entities.values()];
  return all.flatMap((entity) => {
    const { access } = entity;
    if (access === null) return [];
    return [...access.hidden].flatMap(([role, columns]) =>
      [...columns].flatMap((column) => {
        const about = { entity, access, role, column };
        const others = all.filter((other) => other !== entity);
        return [...renamedIn(about), ...others.flatMap((other) => shownBy(other, about))];
      }),
    );
  });
}

/** One column that an endpoint hides from one role. */
interface Hidden {
  readonly entity: Entity;
  readonly access: AccessRules;
  readonly role: string;
  readonly column: string;
}

/** Identities of the tables whose column is hidden: the endpoint's own, and those of its details. */
function tablesOf({ entity, access, column }: Hidden): ReadonlySet<string> {
  const lines = entity.composite?.details.filter(({ table }) => table.columns.has(column)) ?? [];
  const tables = [access.table, ...lines.map(({ table }) => table)];
  return new Set(tables.flatMap((table) => table?.identity ?? []));
}

/** A part of an endpoint that shows rows, and the actions that show them. */
interface Shown {
  readonly property: string;
  readonly actions: readonly string[];
  readonly source: Source;
  readonly columns: Columns;
}

/** Actions that answer records which were there before. */
const showingRecords: readonly string[] = [
  "update",
  "delete",
  "restore",
  "adjust",
  "change-status",
  "read-composite",
  "update-composite",
];

/** What the endpoint shows of these tables. */
function partsOfTables(entity: Entity, tables: ReadonlySet<string>): Shown[] {
  const { access, composite } = entity;
  const lines = composite?.details.filter(({ table }) => tables.has(table.identity)) ?? [];
  return [
    ...(access?.table && tables.has(access.table.identity) ? partsOf(entity) : []),
    ...lines.flatMap(linePartsOf),
  ];
}

/** What a document shows of one table of details. */
function linePartsOf({ table, shown, query, queryShown }: DetailPlan): Shown[] {
  const written = { property: "masterDetail", source: sourceOf(table), columns: shown };
  if (query === null) return [{ ...written, actions: ["read-composite", "create-composite"] }];
  const given = query.columns.map((column) => [column.name, column] as const);
  return [
    { ...written, actions: ["create-composite"] },
    {
      property: "detailQuery",
      actions: ["read-composite"],
      source: { kind: "query", text: query.texts.join(":header_id"), columns: new Map(given) },
      columns: new Map(given.filter(([name]) => queryShown.includes(name))),
    },
  ];
}

/** What the endpoint shows of its own table; several parts may share a source. */
function partsOf({ read, grid, export: exporting, lookup, aggregate, write }: Entity): Shown[] {
  const written = write && { source: sourceOf(write.table), columns: write.shown };
  const parts: [string, readonly string[], Pick<Shown, "source" | "columns"> | null][] = [
    ["viewQuery", ["read", "first"], read],
    ["viewQuery", ["aggregate"], aggregate],
    ["tableName", showingRecords, written],
    ["datatablesQuery", ["datatables"], grid],
    ["exportQuery", ["export"], exporting],
    ["viewQuery", ["lookup"], lookup],
  ];
  return parts.flatMap(([property, actions, part]) =>
    part === null ? [] : [{ property, actions, source: part.source, columns: part.columns }],
  );
}

/** `cost AS cost_price` in a query of the endpoint, if `cost_price` is not hidden from the role. */
function renamedIn({ entity, access, role, column }: Hidden): HiddenSource[] {
  const may = access.actions.get(role) ?? new Set();
  const parts = [...partsOf(entity), ...(entity.composite?.details.flatMap(linePartsOf) ?? [])];
  const found = parts.flatMap(({ property, actions, source, columns }) => {
    if (source.kind !== "query" || !actions.some((action) => isUsable(entity, may, action)))
      return [];
    return newNames(source.text, column)
      .filter((name) => columns.has(name) && !access.hidden.get(role)?.has(name))
      .map((name) => ({
        endpoint: entity.name,
        path: [property],
        message: `the query shows ${column} as ${name}, and ${column} is hidden from the role ${role}; hide ${name} as well`,
      }));
  });
  return unique(found);
}

/** New names that a query gives the column with AS. */
function newNames(text: string, column: string): string[] {
  const quoted = column.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  const renaming = new RegExp(
    String.raw`(?<![\w$])${quoted}["\x60\]]?\s+as\s+["\x60[]?([\w$]+)`,
    "gi",
  );
  return [...text.matchAll(renaming)].flatMap(([, name]) =>
    name === undefined || name.toLowerCase() === column.toLowerCase() ? [] : [name],
  );
}

/** Another endpoint that shows the column, of the same table, to callers with the role. */
function shownBy(other: Entity, hidden: Hidden): HiddenSource[] {
  const { access } = other;
  if (access === null) return [];
  const { entity, role, column } = hidden;
  const parts = partsOfTables(other, tablesOf(hidden));
  const shows = parts.filter(({ columns }) => columns.has(column));
  const open = [...new Set([role, everyRole])].find((one) => {
    const may = access.actions.get(one) ?? new Set();
    return (
      !access.hidden.get(one)?.has(column) &&
      shows.some(({ actions }) => actions.some((action) => isUsable(other, may, action)))
    );
  });
  if (open === undefined) return [];
  const message = `the role ${role} can see ${column} here, and ${entity.name} hides it from that role; hide it here as well`;
  return [{ endpoint: other.name, path: ["access", open], message }];
}

const isUsable = ({ enabled }: Entity, may: ReadonlySet<string>, action: string): boolean =>
  enabled.has(action) && may.has(action);

const unique = (found: readonly HiddenSource[]): HiddenSource[] => [
  ...new Map(found.map((one) => [JSON.stringify(one), one])).values(),
];
