/**
 * Tables of the twins with soft-deleted rows. In `bins` the caller sees which rows are marked; in `drafts` the columns
 * that mark them are hidden from it.
 */
import type { FixtureOptions } from "./harness.ts";
import { closeTenants } from "./tenants.ts";

const [mine, theirs] = closeTenants;

const marks = { is_deleted: "boolean", deleted_at: "timestamp", deleted_by: "text(20)" } as const;

export const markedTables: FixtureOptions["tables"] = [
  {
    name: "bins",
    columns: {
      bin_id: "key",
      tenant: "text(20)",
      label: { type: "text(60)", unique: true },
      parent_id: { type: "text(36)", references: { table: "bins", column: "bin_id" } },
      weight: "integer",
      ...marks,
    },
  },
  { name: "drafts", columns: { draft_id: "key", tenant: "text(20)", label: "text(40)", ...marks } },
];

const reads = { read: true, first: true, lookup: true, datatables: true, aggregate: true };
const changes = { update: true, delete: true, restore: true, lock: true };
const reusable = [{ field: "label", length: 40 }];

const bins = {
  tableName: "bins",
  action: { ...reads, ...changes, create: true, export: true, import: true },
  fieldNameLookup: { id: "bin_id", text: "label", match: "prefix", accents: "ignore" },
  softDelete: { reusable },
  importConfig: { upsertKeys: ["label"] },
  datatables: { rowId: true, searchPanes: ["label"] },
  relations: {
    parent: { endpoint: "bins", column: "parent_id" },
    children: { endpoint: "bins", foreignColumn: "parent_id" },
  },
};

/** Endpoints by the kind of their records, without the rights of the caller. */
export const markedEndpoints = {
  bins,
  trash: {
    ...bins,
    action: { ...reads, ...changes, export: true },
    softDelete: { reusable, visibility: "deleted_only" },
  },
  everyBin: {
    ...bins,
    action: { ...reads, ...changes },
    softDelete: { reusable, visibility: "include_deleted" },
  },
  drafts: {
    tableName: "drafts",
    action: { ...reads, update: true, lock: true },
    fieldNameLookup: { id: "draft_id", text: "label" },
    softDelete: { visibility: "include_deleted" },
  },
};
export const hiddenOfBins = ["weight", "deleted_by"];
export const hiddenOfDrafts = ["is_deleted", "deleted_at", "deleted_by"];

/** `e3` has children that were marked with it; `e6` lies below it. */
export const ownBins = ["e0", "e1", "e2", "e3", "e4", "e5", "e6"] as const;

const at = "2026-01-02 10:00:00";

interface Secrets {
  readonly isLeft: boolean;
  /** Keys of foreign records. */
  readonly foreign: readonly string[];
}

/** One statement for each table, and those that mark: engines write true differently. */
export function markedRows({ isLeft, foreign }: Secrets): string[] {
  const hidden = (place: number): number => (isLeft ? 10 + place : 90 - place);
  const parents: Readonly<Record<string, string>> = { e1: "e0", e4: "e3", e5: "e3", e6: "e3" };
  const valueOf = (text: string | undefined): string => (text === undefined ? "null" : `'${text}'`);
  const own = ownBins.map(
    (id, place) =>
      `('${id}', '${mine}', '${["Álpha", "beta", "gone", "delta", "eta", "zeta", "theta"][place]}', ${valueOf(parents[id])}, ${hidden(place)})`,
  );
  const others = foreign.map(
    (id, place) =>
      `('${id}', '${theirs}', '${place === 0 ? "gamma~0123456789" : `bin ${id} alpha`}', ${valueOf(place > 1 ? foreign[0] : undefined)}, 5)`,
  );
  const marked = ["e2", "e3", "e4", "e5", "e6", ...foreign.filter((_, place) => place % 2 === 0)];
  const markedDrafts = isLeft ? ["f0"] : ["f1", "f2"];
  const mark = (table: string, key: string, keys: readonly string[]): string =>
    `update ${table} set is_deleted = true, deleted_at = '${at}', deleted_by = '${isLeft ? "ann" : "bob"}' where ${key} in (${keys.map(valueOf).join(", ")})`;
  return [
    `insert into bins (bin_id, tenant, label, parent_id, weight) values ${[...own, ...others].join(", ")}`,
    `insert into drafts (draft_id, tenant, label) values ('f0', '${mine}', 'one'), ('f1', '${mine}', 'two'), ('f2', '${mine}', 'three'),
      ${foreign.map((id) => `('${id}', '${theirs}', 'draft ${id}')`).join(", ")}`,
    mark("bins", "bin_id", marked),
    "update bins set deleted_at = '2026-01-01 10:00:00' where bin_id = 'e6'",
    mark("drafts", "draft_id", [...markedDrafts, ...foreign.slice(0, 1)]),
  ];
}
