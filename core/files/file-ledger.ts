/**
 * The rows of the table `rowgate_files`, one for each stored file. A row is in one of these states:
 * - it arrives: the file is being written, or its process died: it has no hash;
 * - a claim: `owner_hash` names who may give it to a record, until `expires_at`;
 * - a record's own: `record_hash` names the record, and `expires_at` is null;
 * - left: the record has it no more, and may have it back until `expires_at`.
 * What has expired is removed by `record-files.ts`, the file before the row: so no file is without a row.
 */
import { findRows } from "../query/find-rows.ts";
import { ledgerColumns } from "../query/ledger-columns.ts";
import type { UnscopedQueries } from "../query/session.ts";
import {
  allOf,
  type Assignment,
  type Condition,
  equals,
  selectFrom,
  sourceOf,
} from "../query/statement.ts";
import { compares } from "../query/key-conditions.ts";
import { deleteFrom, insertInto, setTo, updateRows } from "../query/write-statements.ts";
import { hashOf } from "../values/hash.ts";
import type { Row } from "../values/row.ts";
import type { Column, Table } from "../values/types/column.ts";
import { keyText, type KeyValue } from "../values/types/key.ts";
import type { FileEntry } from "../values/types/file-type.ts";

/** The table, and statements about all of its rows. */
export interface FileLedger {
  readonly ledger: Table;
  readonly own: UnscopedQueries;
}

/** A row of the table. */
export interface KnownFile extends FileEntry {
  readonly project: string;
  readonly table: string;
  readonly column: string;
  readonly owner: string | null;
  readonly record: string | null;
  /** Milliseconds since 1970; null = never. */
  readonly expiresAtMs: number | null;
  /** False: the file is not there yet. */
  readonly isWhole: boolean;
}

/** Where the file is kept. */
export const fileKey = ({ project, id }: Pick<KnownFile, "project" | "id">): string =>
  `files/${project}/${id}`;

/** Equal for equal keys of a table. */
export const recordHash = (key: KeyValue): string => hashOf(keyText(key));

interface Arriving extends Pick<KnownFile, "id" | "project" | "table" | "column" | "name"> {
  readonly now: string;
  readonly expiresAt: string;
}

/** To be called before the file is written. `column` empty: the request has not named it yet. */
export async function noteArrival(files: FileLedger, arriving: Arriving): Promise<void> {
  const { ledger, own } = files;
  const columns = columnsOf(ledger);
  const { id, project, table, column, name, now, expiresAt } = arriving;
  const values = [
    [columns.file_id, id],
    [columns.project, project],
    [columns.table_name, table],
    [columns.column_name, column],
    [columns.name, name],
    [columns.created_at, now],
    [columns.expires_at, expiresAt],
  ] as const;
  await own.insert(
    insertInto(ledger, {
      key: [columns.file_id],
      columns: values.map(([one]) => one),
      rows: [values.map(([, value]) => value)],
    }),
  );
}

/** The file was written: it is a claim of its owner from now on. False: the row is gone. */
export async function noteClaim(
  files: FileLedger,
  {
    id,
    column,
    owner,
    type,
    bytes,
    sha256,
  }: Omit<FileEntry, "name"> & Pick<KnownFile, "column"> & { readonly owner: string },
): Promise<boolean> {
  const {
    column_name,
    owner_hash,
    media_type,
    bytes: size,
    sha256: hash,
  } = columnsOf(files.ledger);
  const row = await files.own.updateOne({
    ...rowOf(files.ledger, id),
    guard: null,
    set: [
      setTo(column_name, column),
      setTo(owner_hash, owner),
      setTo(media_type, type),
      setTo(size, BigInt(bytes)),
      setTo(hash, sha256),
    ],
    returning: [],
  });
  return row !== null;
}

/** How many claims the owner has. */
export function countClaims(
  { ledger, own }: FileLedger,
  { owner, now }: { owner: string; now: string },
): Promise<number> {
  const { owner_hash, expires_at } = columnsOf(ledger);
  const where = allOf(equals(owner_hash, owner), compares(expires_at, ">", now));
  return own.count({ kind: "count", source: sourceOf(ledger), where });
}

/** Those of the ids that are known. `lock`: until the transaction ends. */
export async function findFiles(
  { ledger, own }: FileLedger,
  ids: readonly string[],
  { lock }: { lock: boolean },
): Promise<Map<string, KnownFile>> {
  const columns = columnsOf(ledger);
  const search = {
    source: sourceOf(ledger),
    by: [columns.file_id],
    columns: Object.values(columns),
    lock,
  };
  const found = await findRows(
    own,
    search,
    ids.toSorted().map((id) => [id]),
  );
  return new Map([...found.values()].flat().map((row) => [String(row["file_id"]), fileOf(row)]));
}

/** Takes claims from their owner. Until `giveFiles` they still expire. */
export const takeClaims = (files: FileLedger, ids: readonly string[]): Promise<void> =>
  changeAll(files, ids, [setTo(columnsOf(files.ledger).owner_hash, null)]);

/** Claims that are still this owner's are nobody's, and expire now. */
export const giveUpClaims = (
  files: FileLedger,
  ids: readonly string[],
  { owner, now }: { owner: string; now: string },
): Promise<void> => {
  const { owner_hash, expires_at } = columnsOf(files.ledger);
  const changes = [setTo(owner_hash, null), setTo(expires_at, now)];
  return changeAll(files, ids, changes, equals(owner_hash, owner));
};

/** Gives files to records. */
export async function giveFiles(
  files: FileLedger,
  given: readonly { readonly id: string; readonly record: string }[],
): Promise<void> {
  if (given.length === 0) return;
  const { file_id, record_hash, expires_at } = columnsOf(files.ledger);
  await files.own.updateMany(
    updateRows(files.ledger, {
      key: [file_id],
      columns: [record_hash],
      rows: given.map(({ id, record }) => ({ keyValue: [id], values: [record] })),
      set: [setTo(expires_at, null)],
    }),
  );
}

/** Records have the files no more. */
export const leaveFiles = (
  files: FileLedger,
  ids: readonly string[],
  expiresAt: string,
): Promise<void> => changeAll(files, ids, [setTo(columnsOf(files.ledger).expires_at, expiresAt)]);

/** Files of the project that have expired, some at most. */
export async function expiredFiles(
  { ledger, own }: FileLedger,
  { project, now, limit }: { project: string; now: string; limit: number },
): Promise<KnownFile[]> {
  const columns = columnsOf(ledger);
  const rows = await own.all(
    selectFrom(sourceOf(ledger), {
      columns: Object.values(columns),
      where: allOf(equals(columns.project, project), hasExpired(columns.expires_at, now)),
      sort: [
        { column: columns.expires_at, direction: "asc" },
        { column: columns.file_id, direction: "asc" },
      ],
      limit,
    }),
  );
  return rows.map(fileOf);
}

/** No record can get the file any more. False: one has got it meanwhile, or it is gone. */
export async function giveUpFile(
  { ledger, own }: FileLedger,
  { id, now }: { id: string; now: string },
): Promise<boolean> {
  const { owner_hash, record_hash, expires_at } = columnsOf(ledger);
  const row = await own.updateOne({
    ...rowOf(ledger, id),
    guard: hasExpired(expires_at, now),
    set: [setTo(owner_hash, null), setTo(record_hash, null)],
    returning: [],
  });
  return row !== null;
}

/** The file is removed. */
export async function forgetFile({ ledger, own }: FileLedger, id: string): Promise<void> {
  const { file_id } = columnsOf(ledger);
  const where = equals(file_id, id);
  await own.delete(deleteFrom(ledger, { key: [file_id], where }));
}

async function changeAll(
  { ledger, own }: FileLedger,
  ids: readonly string[],
  changes: readonly Assignment[],
  guard: Condition | null = null,
): Promise<void> {
  if (ids.length === 0) return;
  await own.updateMany(
    updateRows(ledger, {
      key: [columnsOf(ledger).file_id],
      rows: ids.map((id) => ({ keyValue: [id], values: [] })),
      guard,
      set: changes,
    }),
  );
}

const hasExpired = (column: Column, now: string): Condition => compares(column, "<=", now);

const rowOf = (ledger: Table, id: string) =>
  ({ kind: "update", table: ledger, key: [columnsOf(ledger).file_id], keyValue: [id] }) as const;

function fileOf(row: Row): KnownFile {
  const text = (name: (typeof names)[number]): string | null =>
    (row[name] ?? null) === null ? null : String(row[name]);
  const expires = text("expires_at");
  return {
    id: text("file_id")!,
    project: text("project")!,
    table: text("table_name")!,
    column: text("column_name")!,
    owner: text("owner_hash"),
    record: text("record_hash"),
    name: text("name")!,
    type: text("media_type") ?? "",
    bytes: Number(text("bytes") ?? 0),
    sha256: text("sha256") ?? "",
    expiresAtMs: expires === null ? null : Date.parse(expires),
    isWhole: text("sha256") !== null,
  };
}

const names = [
  "file_id",
  "project",
  "table_name",
  "column_name",
  "owner_hash",
  "record_hash",
  "name",
  "media_type",
  "bytes",
  "sha256",
  "created_at",
  "expires_at",
] as const;

const columnsOf = (ledger: Table) => ledgerColumns(ledger, names);
