/**
 * A new record, or the change of one, whose history needs nothing but its columns: where the database can tell it in the
 * statement itself, no transaction is needed around it.
 */
import type { RecordedTable } from "../plans/change-tables.ts";
import { type Logging, type ToldColumn, toldColumn } from "../query/logging.ts";
import type { DbQueries } from "../query/session.ts";
import type { Insert, Narrowed, UpdateOne } from "../query/statement.ts";
import { hashOf } from "../values/hash.ts";
import type { Scalar } from "../values/scalar.ts";
import type { Column, Table } from "../values/types/column.ts";
import { isOfKey, keyText, type KeyValue } from "../values/types/key.ts";
import { type Author, type ChangeKind, logColumns } from "./change-log.ts";

type ToldTable = Pick<Logging, "told" | "key" | "scoped" | "marks">;

/** Null: its changes need more than one statement. */
const known = new WeakMap<RecordedTable, ToldTable | null>();

/** What a write in one statement tells; null = writes of the table need several. */
export function toldOf(
  recorded: RecordedTable,
  database: Pick<DbQueries, "tells">,
): ToldTable | null {
  const found = known.get(recorded);
  if (found !== undefined) return found;
  const { table, key, columns, kept, stamps, scoped } = recorded;
  const all = columns.map((column, at) => toldColumn(column, at, !stamps.has(column.name)));
  const told = all.filter(({ column }) => kept.has(column.name));
  const isPossible =
    isPlain(recorded) &&
    // A trigger can change any column, the key too.
    table.changesWith !== null &&
    key.every(isFoundAsStored) &&
    told.some(({ counts }) => counts) &&
    database.tells(table, columns);
  const made = isPossible
    ? {
        told,
        key: all.filter(({ column }) => isOfKey(key, column)),
        scoped: all.filter(({ column }) => scoped.has(column.name)),
        marks: recorded.marks,
      }
    : null;
  known.set(recorded, made);
  return made;
}

/** Only logs are told, of nothing but values. Of other columns that change, clients of live lists would be told. */
const isPlain = (recorded: RecordedTable): boolean => {
  const { isLogged, isLive, webhooks, files, columns, kept } = recorded;
  return (
    isLogged &&
    webhooks.length === 0 &&
    files === null &&
    marksOf(recorded).every(({ generated }) => generated !== "computed") &&
    (!isLive || columns.every(({ name }) => kept.has(name)))
  );
};

const marksOf = ({ marks }: RecordedTable): Column[] =>
  [marks?.flag, marks?.at].filter((column) => column != null);

/** Whether a key that finds a row is the one that the row has, character by character. */
const isFoundAsStored = (column: Column): boolean =>
  column.type === "integer" ||
  column.type === "uuid" ||
  (column.type === "text" &&
    !column.isLoose &&
    !column.alike &&
    !column.isLooselyCollated &&
    !column.fixedLength);

/** Whether the update names its row by the table's key, leaves it that and its marks, and answers nothing but columns. */
export function updatesTold(
  recorded: RecordedTable,
  { key: named, set, returning }: UpdateOne,
): boolean {
  const { key } = recorded;
  const left = [...key, ...marksOf(recorded)];
  return (
    named.length === key.length &&
    named.every(({ name }, at) => name === key[at]!.name) &&
    !set.some(({ column }) => isOfKey(left, column)) &&
    returning.every(isOwn)
  );
}

/** Whether it is one row that gives its key, and the statement answers nothing but columns. */
export const insertsTold = (recorded: RecordedTable, insert: Insert): boolean =>
  insert.rows.length === 1 &&
  insert.leavesTaken !== true &&
  keyGiven(recorded, insert).every((value) => value !== null) &&
  insert.returning.every(isOwn);

const isOwn = ({ parts, derived, via, markOf }: Column): boolean =>
  !parts && !derived && !via && !markOf;

const keyGiven = ({ key }: RecordedTable, { columns, rows: [row] }: Insert): KeyValue =>
  key.map(({ name }) => row![columns.findIndex((column) => column.name === name)] ?? null);

/** Those of the columns that the update can change. */
function changing(told: readonly ToldColumn[], { set }: UpdateOne): readonly ToldColumn[] {
  return told.filter(
    ({ column: { name, generated } }) =>
      generated === "computed" || set.some(({ column }) => column.name === name),
  );
}

/** What a write tells by itself, and where. */
export interface ToldWrite extends ToldTable {
  readonly recorded: RecordedTable;
  readonly ledger: Table;
  readonly author: Author;
}

/** The update together with the row of the log that tells it; alone if it changes nothing that is told. */
export function loggedUpdate(update: Narrowed<UpdateOne>, telling: ToldWrite): Narrowed<UpdateOne> {
  const told = changing(telling.told, update);
  if (!told.some(({ counts }) => counts)) return update;
  return { ...update, logging: loggingOf({ ...telling, told }, "update", update.keyValue) };
}

export const loggedInsert = (insert: Narrowed<Insert>, telling: ToldWrite): Narrowed<Insert> => ({
  ...insert,
  logging: loggingOf(telling, "create", keyGiven(telling.recorded, insert)),
});

function loggingOf(
  { recorded, told, key, scoped, marks, ledger, author }: ToldWrite,
  kind: ChangeKind,
  keyValue: KeyValue,
): Logging {
  const { record_key, old_values, new_values, scope_values, ...columns } = logColumns(ledger);
  const values = {
    seq: recorded.isLive ? null : 0n,
    write_id: recorded.isLive ? author.newId() : null,
    at: author.now(),
    table_name: recorded.table.identity,
    record_hash: hashOf(keyText(keyValue)),
    endpoint: author.endpoint,
    action: author.action,
    kind,
    by_user: author.by,
    reason: author.reason,
    request_id: author.requestId,
  } satisfies { readonly [Name in keyof typeof columns]?: Scalar };
  const names = Object.keys(values) as (keyof typeof values)[];
  return {
    ledger,
    columns: names.map((name) => columns[name]),
    values: Object.values(values),
    told,
    key,
    scoped,
    marks,
    objects: {
      key: record_key,
      before: kind === "create" ? null : old_values,
      after: new_values,
      scope: scope_values,
    },
  };
}
