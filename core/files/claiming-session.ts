/**
 * A session that gives files to records: in what a request writes into a column of files, each id is either a claim of
 * the caller's for that column, which is then used up, or one that the record has in it already. The column gets what
 * the service knows of the file. It sits directly above what records changes (`core/changes`), which settles at the end
 * of the transaction whose the files are. It does not see SQL of handlers. The request is told which claims its writes
 * took: they go if these are undone.
 */
import { type Caller, identityOf } from "../plans/caller.ts";
import type { FilesColumn, FileTable, FileTables } from "../plans/file-tables.ts";
import { findRows } from "../query/find-rows.ts";
import { keyIs } from "../query/key-conditions.ts";
import { PassingSession, PassingTransaction, type RowWrite } from "../query/passing-session.ts";
import type { DbSession, DbTransaction, TransactionOptions } from "../query/session.ts";
import {
  allOf,
  type Insert,
  type Narrowed,
  selectFrom,
  sourceOf,
  type UpdateMany,
  type UpdateOne,
} from "../query/statement.ts";
import { AppError, type FieldErrors, validationFailed } from "../values/errors.ts";
import type { Row } from "../values/row.ts";
import type { Scalar } from "../values/scalar.ts";
import type { Column, Table } from "../values/types/column.ts";
import { entriesIn, type FileEntry } from "../values/types/file-type.ts";
import { type Key, keyText } from "../values/types/key.ts";
import { keyValueOf } from "../totals/row-values.ts";
import {
  findFiles,
  type FileLedger,
  type KnownFile,
  recordHash,
  takeClaims,
} from "./file-ledger.ts";

/** Whose files are given to records, and for which request. */
export interface Claiming {
  readonly tables: FileTables;
  readonly caller: Caller;
  /** The name of the request's action. */
  readonly action: string;
  readonly now: () => string;
  readonly digest: (text: string) => string;
  readonly taken: TakenClaims;
}

/** Ids of the claims that the writes of one request took. */
export class TakenClaims {
  private readonly kept = new Set<string>();
  private readonly lost = new Set<string>();

  get isEmpty(): boolean {
    return this.lost.size + this.kept.size === 0;
  }

  /** Those of writes that were undone, while the request went on. */
  get undone(): readonly string[] {
    return [...this.lost];
  }

  get all(): readonly string[] {
    return [...this.lost, ...this.kept];
  }

  take(ids: readonly string[]): void {
    for (const id of ids) {
      this.lost.delete(id);
      this.kept.add(id);
    }
  }

  /** The write that took them is undone. If the service refused its fields, they stay claims: people correct it. */
  undo(ids: readonly string[], error: unknown): void {
    if (isAboutFields(error)) return this.forget(ids);
    for (const id of ids) {
      this.kept.delete(id);
      this.lost.add(id);
    }
  }

  /** As if they had not been taken: the write begins again. Absent: all of them. */
  forget(ids: readonly string[] = this.all): void {
    for (const id of ids) {
      this.kept.delete(id);
      this.lost.delete(id);
    }
  }
}

/** The session itself if no table of the project has columns of files. */
export const claimingSession = (session: DbSession, claiming: Claiming): DbSession =>
  claiming.tables.size === 0 ? session : new ClaimingSession(session, claiming);

/** Whose claims are the caller's. */
export const claimOwner = (caller: Caller, digest: Claiming["digest"]): string =>
  digest(`files of ${identityOf(caller) ?? ""}`);

/** Whether the service refused the fields of the write; what the database refused has the driver's error as its cause. */
function isAboutFields(error: unknown): boolean {
  if (!(error instanceof AppError)) return false;
  const { kind, cause } = error;
  return kind === "validationFailed" && (cause === undefined || isAboutFields(cause));
}

/** A value that a request writes into a column of files. */
interface Written {
  readonly column: FilesColumn;
  readonly value: Scalar;
  /** What the record has in the column. */
  readonly held: readonly FileEntry[];
  /** Null: it is not known before the record is stored. */
  readonly record: string | null;
  store(value: Scalar): void;
}

class ClaimingTransaction extends PassingTransaction<Claiming & { readonly ledger: () => Table }> {
  /** Ids of the claims that it took, those of undone parts among them. */
  readonly taken: string[] = [];

  protected override mark(): (error: unknown) => void {
    const from = this.taken.length;
    return (error) => this.layer.taken.undo(this.taken.slice(from), error);
  }

  override async insert(insert: Narrowed<Insert>): Promise<Row[]> {
    const files = this.layer.tables.get(insert.table.identity);
    const places = placesIn(files, insert.columns);
    if (places.length === 0) return this.queries.insert(insert);
    const rows = insert.rows.map((row) => [...row]);
    const keyPlaces = insert.key.map((column) => insert.columns.indexOf(column));
    const written = rows.flatMap((row) =>
      places.map(({ column, at }): Written => ({
        column,
        value: row[at] ?? null,
        held: [],
        record: keyPlaces.includes(-1) ? null : recordHash(keyPlaces.map((place) => row[place]!)),
        store: (value) => void (row[at] = value),
      })),
    );
    await this.give(insert.table, written);
    return this.queries.insert({ ...insert, rows });
  }

  override async updateOne(update: Narrowed<UpdateOne>): Promise<Row | null> {
    const { table, key, keyValue, guard } = update;
    const files = this.layer.tables.get(table.identity);
    const set = [...update.set];
    const places = placesIn(
      files,
      set.map(({ column }) => column),
    ).filter(({ at }) => set[at]!.kind === "set");
    if (places.length === 0) return this.queries.updateOne(update);
    const columns = [...key, ...places.map(({ column }) => column.column)];
    const where = allOf(keyIs(key, keyValue), guard);
    const source = sourceOf(table);
    const row = await this.own.one(selectFrom(source, { columns, where, limit: 1, lock: true }));
    if (row === null) return null;
    const written = places.map(({ column, at }): Written => {
      const change = set[at]!;
      return {
        column,
        value: change.kind === "set" ? change.value : null,
        held: entriesIn(row[column.column.name]),
        record: hashIn(row, key),
        store: (value) => void (set[at] = { kind: "set", column: column.column, value }),
      };
    });
    await this.give(table, written);
    return this.queries.updateOne({ ...update, set });
  }

  override async updateMany(update: Narrowed<UpdateMany>): Promise<number> {
    const { table, key } = update;
    const files = this.layer.tables.get(table.identity);
    const same = update.set.flatMap((one) => (one.kind === "set" ? [one] : []));
    const shared = same.filter(({ column }) => files?.columns.has(column.name));
    if (shared.length + placesIn(files, update.columns).length === 0)
      return this.queries.updateMany(update);
    // What is the same for all records may be a claim, which only one of them can get.
    const columns = [...update.columns, ...shared.map(({ column }) => column)];
    const rows = update.rows.map(({ keyValue, values }) => ({
      keyValue,
      values: [...values, ...shared.map(({ value }) => value)],
    }));
    const places = placesIn(files, columns);
    const read = places.map(({ column }) => column.column);
    const search = { source: sourceOf(table), by: key, columns: read, lock: true };
    const found = await findRows(
      this.own,
      search,
      rows.map(({ keyValue }) => keyValue),
    );
    const there = rows.filter(({ keyValue }) => found.has(keyText(keyValue)));
    if (there.length === 0) return 0;
    const written = there.flatMap(({ keyValue, values }) => {
      const [row = {}] = found.get(keyText(keyValue)) ?? [];
      return places.map(({ column, at }): Written => ({
        column,
        value: values[at] ?? null,
        held: entriesIn(row[column.column.name]),
        record: hashIn(row, key),
        store: (value) => void (values[at] = value),
      }));
    });
    await this.give(table, written);
    const set = update.set.filter((one) => !shared.some((other) => other === one));
    return this.queries.updateMany({ ...update, columns, rows: there, set });
  }

  /** Puts what is known of the files into the values. Rejects with `validationFailed`, on the columns. */
  private async give(table: Table, written: readonly Written[]): Promise<void> {
    const asked = written.flatMap((one) => {
      const held = new Map(one.held.map((entry) => [entry.id, entry]));
      const ids = entriesSent(one.value);
      return one.value === null ? [] : [{ ...one, held, ids }];
    });
    const open = asked.flatMap(({ ids, held }) => ids.filter((id) => !held.has(id)));
    const files: FileLedger | null =
      open.length === 0 ? null : { ledger: this.layer.ledger(), own: this.own };
    const known = files
      ? await findFiles(files, [...new Set(open)], { lock: true })
      : new Map<string, KnownFile>();
    const used = new Set<string>();
    const errors: FieldErrors = {};
    for (const { column, ids, held, record, store } of asked) {
      const { name } = column.column;
      const entries = ids.flatMap((id): FileEntry[] => {
        const own = held.get(id);
        if (own !== undefined) return [own];
        const file = known.get(id);
        if (file && !used.has(id) && this.mayHave(file, { table, name, record })) {
          used.add(id);
          return [entryOf(file)];
        }
        errors[name] = [
          "must name files that you uploaded for this field within a day and that no record has, or those of the record",
        ];
        return [];
      });
      const text = JSON.stringify(column.column.holdsMany ? entries : (entries[0] ?? null));
      const { lengthMax, bytesMax } = column.column;
      const isLong = lengthMax !== null && [...text].length > lengthMax;
      if (isLong || (bytesMax !== null && new TextEncoder().encode(text).length > bytesMax))
        errors[name] ??= ["must have fewer files: the column is too short for their descriptions"];
      store(text);
    }
    if (Object.keys(errors).length > 0) throw validationFailed(errors);
    const claims = [...used].filter((id) => known.get(id)!.owner !== null);
    if (!files) return;
    this.taken.push(...claims);
    this.layer.taken.take(claims);
    await takeClaims(files, claims);
  }

  private mayHave(
    file: KnownFile,
    { table, name, record }: { table: Table; name: string; record: string | null },
  ): boolean {
    const { caller, action, now, digest } = this.layer;
    if (!file.isWhole || file.table !== table.identity || file.column !== name) return false;
    if (file.expiresAtMs === null || file.expiresAtMs <= Date.parse(now())) return false;
    if (file.owner !== null) return file.owner === claimOwner(caller, digest);
    return action === "revert" && record !== null && file.record === record;
  }
}

class ClaimingSession extends PassingSession<Claiming> {
  async tx<T>(work: (tx: DbTransaction) => Promise<T>, options?: TransactionOptions): Promise<T> {
    const { layer } = this;
    const ledger = await this.ledgerFor("files");
    let latest: ClaimingTransaction | null = null;
    try {
      return await this.session.tx((tx) => {
        layer.taken.forget(latest?.taken ?? []);
        latest = new ClaimingTransaction(tx, { ...layer, ledger });
        return work(latest);
      }, options);
    } catch (error) {
      layer.taken.undo((latest as ClaimingTransaction | null)?.taken ?? [], error);
      throw error;
    }
  }

  protected over(session: DbSession): DbSession {
    return new ClaimingSession(session, this.layer);
  }

  protected concerns({ kind, table }: RowWrite): boolean {
    return kind !== "delete" && this.layer.tables.has(table.identity);
  }
}

/** The columns of files among these, with their places. */
const placesIn = (
  files: FileTable | undefined,
  columns: readonly Column[],
): { readonly column: FilesColumn; readonly at: number }[] =>
  files === undefined
    ? []
    : columns.flatMap(({ name }, at) => {
        const column = files.columns.get(name);
        return column ? [{ column, at }] : [];
      });

/** The ids in a value that the type of the column has accepted. */
const entriesSent = (value: Scalar): string[] =>
  value === null
    ? []
    : [JSON.parse(String(value)) as { id: string } | { id: string }[]].flat().map(({ id }) => id);

const entryOf = ({ id, name, type, bytes, sha256 }: KnownFile): FileEntry => ({
  id,
  name,
  type,
  bytes,
  sha256,
});

function hashIn(row: Row, key: Key): string | null {
  const [value] = keyValueOf(key, row, key);
  return value === undefined ? null : recordHash(value);
}
